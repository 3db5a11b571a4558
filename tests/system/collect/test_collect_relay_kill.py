"""A relay that is killed at random moments loses nothing that it acknowledged, and passes nothing on twice."""

from __future__ import annotations

import random
import threading
from collections import Counter
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from hush.collect.envelope import Envelope, body
from hush.collect.relay import mixing
from hush.collect.store import tables
from hush.collect.store.database import Database
from tests.collectors import Opened, in_process, opened
from tests.relays import Relayed, settings
from tests.relays import in_process as relay_process
from tests.waiting import wait_until

pytestmark = pytest.mark.nightly

CYCLES, SENDERS, LEAST = 3, 3, 60
MAX_BATCHES = 200
"""Batches that are acknowledged before a kill, at most: a relay that is killed gathers and sends meanwhile."""


class Devices:
    """Send batches, and those without an answer again, byte for byte."""

    def __init__(self, one: Opened, seed: int) -> None:
        self.one, self.random, self.lock = one, random.Random(seed), threading.Lock()
        self.bodies: list[bytes] = []
        self.waiting: set[int] = set()
        self.acknowledged = 0

    def next(self) -> tuple[int, bytes]:
        with self.lock:
            if self.waiting and self.random.random() < 0.5:
                at = self.random.choice(sorted(self.waiting))
            else:
                at, size = len(self.bodies), self.random.randint(1, 25)
                self.bodies.append(body("", self.one.envelope([at % 4] * size, seed=at)))
                self.waiting.add(at)
            return at, self.bodies[at]

    def load(self, relayed: Relayed, stop: threading.Event) -> None:
        with httpx.Client(timeout=30) as client:
            while not stop.is_set():
                at, content = self.next()
                try:
                    answer = client.post(relayed.address(self.one), content=content)
                except httpx.HTTPError:
                    return  # it was killed
                assert answer.status_code == 200, answer.text
                with self.lock:
                    self.waiting.discard(at)
                    self.acknowledged += 1

    def records(self) -> Counter[bytes]:
        found: Counter[bytes] = Counter()
        for each in self.bodies:
            made = Envelope.from_bytes(each[1:])
            found.update(made.records[i : i + made.size] for i in range(0, len(made.records), made.size))
        return found


def collected(store: Path, size: int) -> Counter[bytes]:
    """The records that the collector has, after its end."""
    database = Database(str(store))
    try:
        with database.reading() as connection:
            rows = connection.execute(sa.select(tables.batch.c.records, tables.batch.c.build)).all()
    finally:
        database.close()
    assert {row.build for row in rows} == {mixing.BUILD}
    assert all(len(row.records) >= LEAST * size for row in rows)
    found: Counter[bytes] = Counter()
    for row in rows:
        found.update(bytes(row.records)[i : i + size] for i in range(0, len(row.records), size))
    return found


def test_what_a_killed_relay_acknowledged_reaches_the_collector_once(tmp_path: Path) -> None:
    chance = random.Random(20261117)
    with in_process(tmp_path) as served:
        one = opened(served, relayed_only=True)
        given = settings(tmp_path, served, [one.id], least=LEAST)
        devices = Devices(one, seed=1)
        for _ in range(CYCLES):
            with relay_process(given, tmp_path / "relay.log") as relayed:
                stop = threading.Event()
                threads = [threading.Thread(target=devices.load, args=(relayed, stop)) for _ in range(SENDERS)]
                for each in threads:
                    each.start()
                enough = devices.acknowledged + chance.randint(1, MAX_BATCHES)
                wait_until(lambda enough=enough: devices.acknowledged >= enough)  # type: ignore[misc]
                assert relayed.process is not None
                relayed.process.kill()
                stop.set()
                for each in threads:
                    each.join()
        with relay_process(given, tmp_path / "relay.log") as relayed:
            for at in sorted(devices.waiting):
                assert httpx.post(relayed.address(one), content=devices.bodies[at]).status_code == 200
            devices.bodies.append(body("", one.envelope([0] * LEAST, seed=10**6)))  # so that what waits has company
            stays = body("", one.envelope([0] * LEAST, seed=10**6 + 1))  # as many as stay behind
            for content in (devices.bodies[-1], stays):
                assert httpx.post(relayed.address(one), content=content).status_code == 200
            due = devices.records()

            def settled() -> bool:
                text = httpx.get(f"{relayed.url}/metrics").text
                return f"hush_relay_reports_forwarded {float(due.total())}\n" in text

            wait_until(settled)
    assert collected(tmp_path / "store.db", one.spec.mechanism.report_dtype.itemsize) == due
