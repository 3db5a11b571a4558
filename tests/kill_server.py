"""Kill a collector at random moments, under load, and see that nothing is lost and nothing counts twice.

    python -m tests.kill_server [--cycles 100] [--store postgresql://…] [--seed 1]

A cycle starts a real server, sends it batches over several connections, and kills it with SIGKILL at a random moment:
once it has acknowledged up to 200 of them, while others are under way. What was not acknowledged is sent again, byte
for byte, in the next cycle. In the end every acknowledged batch must be in the store exactly once, no batch may be
there that was not sent, the aggregates must be those of the batches, and the file must open without repair.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import sqlalchemy as sa

import hush
from hush.collect.clock import Clock
from hush.collect.envelope import Envelope, body, new_id
from hush.collect.service import Service
from hush.collect.store import folding, schema, tables
from hush.collect.store.database import Database
from tests.waiting import held_port, wait_until

SENDERS = 4
MAX_BATCHES = 200
"""Batches that are acknowledged before the kill, at most."""


@dataclass
class Sent:
    """What the senders know: all batches, by id, and which of them were acknowledged."""

    key: str
    path: str
    bodies: dict[str, bytes] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    answers: dict[str, bytes] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def outstanding(self) -> list[str]:
        """Batches that may or may not be there."""
        with self.lock:
            return [batch for batch in self.bodies if batch not in self.acknowledged]


def collection(store: str) -> tuple[str, hush.Spec, str]:
    """An open collection in a new store: its id, its spec and a key."""
    spec = hush.Spec(hush.GRR(k=8, epsilon=2.0))
    database = Database(store)
    try:
        schema.upgrade(database)
        service = Service(database, Clock())
        made = service.create(spec=spec.to_dict(), name="killed", target_n=1_000_000, who="test")
        service.open(made["id"], force=True, who="test")
        return made["id"], spec, service.issue_token("ingest", label="test", collection=made["id"], who="test")
    finally:
        database.close()


def ready(port: int) -> bool:
    """Whether a server takes batches."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False


def started(store: str, port: int) -> subprocess.Popen[bytes]:
    """A real server, once it is ready."""
    limits = ["--address-rate", "0", "--key-rate", "0", "--no-access-log"]
    command = [sys.executable, "-m", "hush", "serve", "--store", store, "--port", str(port), *limits]
    with tempfile.TemporaryFile() as errors:
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        try:
            wait_until(lambda: server.poll() is not None or ready(port))
        except AssertionError:
            server.kill()
            raise
        if server.poll() is not None:
            errors.seek(0)
            raise RuntimeError(f"the server does not start: {errors.read().decode()[-2000:]}")
        return server


def new_batches(id: str, spec: hush.Spec, rng: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    """Batches without end, of one to fifty reports each."""
    while True:
        reports = spec.privatize(rng.integers(0, 8, rng.integers(1, 51)), rng=rng)
        batch = new_id()
        yield batch, Envelope(id, spec.hash, batch, 0, "killed/1", 1, reports.tobytes()).to_bytes()


def send(sent: Sent, port: int, again: list[str], fresh: Iterator[tuple[str, bytes]], stop: threading.Event) -> None:
    """Send old and new batches over one connection until it breaks."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        while not stop.is_set():
            with sent.lock:
                if again:
                    batch = again.pop()
                else:
                    batch, envelope = next(fresh)
                    sent.bodies[batch] = envelope
            connection.request("POST", sent.path, body(sent.key, sent.bodies[batch]))
            answer = connection.getresponse()
            told = answer.read()
            if answer.status != 200:
                raise AssertionError(f"{answer.status}: {told.decode()}")
            with sent.lock:
                sent.acknowledged.add(batch)
                assert sent.answers.setdefault(batch, told) == told
    except (OSError, http.client.HTTPException):
        pass
    finally:
        connection.close()


def cycle(store: str, sent: Sent, fresh: Iterator[tuple[str, bytes]], rng: random.Random, *, kill: bool = True) -> None:
    """One life of a server."""
    with held_port() as port:
        _live(started(store, port), port, sent, fresh, rng, kill=kill)


def _live(
    server: subprocess.Popen[bytes],
    port: int,
    sent: Sent,
    fresh: Iterator[tuple[str, bytes]],
    rng: random.Random,
    *,
    kill: bool,
) -> None:
    stop, again, failures = threading.Event(), sent.outstanding(), list[BaseException]()
    enough = len(sent.acknowledged) + rng.randint(1, MAX_BATCHES)

    def watched() -> None:
        try:
            send(sent, port, again, fresh, stop)
        except BaseException as error:
            failures.append(error)

    senders = [threading.Thread(target=watched) for _ in range(SENDERS)]
    for each in senders:
        each.start()
    try:
        wait_until(lambda: failures or (len(sent.acknowledged) >= enough and (kill or not again)))
    except BaseException:
        server.kill()
        raise
    if kill:
        os.kill(server.pid, signal.SIGKILL)
    else:
        stop.set()
        for each in senders:
            each.join()
        server.terminate()
    server.wait()
    stop.set()
    for each in senders:
        each.join()
    if failures:
        raise failures[0]


def judged(store: str, id: str, spec: hush.Spec, sent: Sent) -> dict[str, int]:
    """Compare the store with what was sent; raises where they differ."""
    database = Database(store)
    try:
        schema.upgrade(database)
        service = Service(database, Clock())
        with database.reading() as connection:
            b = tables.batch.c
            rows = connection.execute(sa.select(b.id, b.records, b.accepted)).all()
            if database.embedded:
                assert connection.execute(sa.text("PRAGMA integrity_check")).scalar_one() == "ok"
        there = {bytes(row.id).hex(): row for row in rows}
        assert len(there) == len(rows), "a batch is there twice"
        assert sent.acknowledged <= there.keys(), (
            f"{len(sent.acknowledged - there.keys())} acknowledged batches are lost"
        )
        assert there.keys() <= sent.bodies.keys(), "there are batches that nobody sent"
        for batch, row in there.items():
            assert bytes(row.records) == Envelope.from_bytes(sent.bodies[batch]).records, "a batch is not what was sent"
        while folding.step(database, service.directory.numbered).batches:
            pass
        due = spec.aggregate(np.frombuffer(b"".join(bytes(row.records) for row in rows), np.uint8))
        assert service.aggregate(id) == due.to_bytes(), "the aggregate is not that of the batches"
        return {"sent": len(sent.bodies), "acknowledged": len(sent.acknowledged), "kept": len(rows), "reports": due.n}
    finally:
        database.close()


def run(store: str, cycles: int, seed: int) -> dict[str, int]:
    """Kill a server so many times; what there was in the end."""
    id, spec, key = collection(store)
    sent = Sent(key, f"/v1/collections/{id}/batches")
    rng, fresh = random.Random(seed), new_batches(id, spec, hush.seeded(seed))
    for number in range(cycles):
        cycle(store, sent, fresh, rng)
        if sys.stderr.isatty():
            print(f"\r{number + 1} of {cycles} kills, {len(sent.acknowledged):,} batches", end="", file=sys.stderr)
    in_doubt = len(sent.outstanding())
    cycle(store, sent, fresh, rng, kill=False)
    assert not sent.outstanding(), "a batch could not be sent in the end"
    return {"kills": cycles, "in doubt at the last": in_doubt, **judged(store, id, spec, sent)}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--store", help="a new SQLite file, or an empty PostgreSQL; a temporary file by default")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(asked.store or str(Path(folder, "killed.db")), asked.cycles, asked.seed)
    print(", ".join(f"{name}: {number:,}" for name, number in found.items()))
    print("Every acknowledged batch is there once, none twice.")


if __name__ == "__main__":
    main()
