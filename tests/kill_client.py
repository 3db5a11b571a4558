"""Kill a client at random moments: nothing is lost, nothing counts twice, and nobody's budget is spent twice.

    python -m tests.kill_client [--cycles 100] [--seed 1] [--noise kept|fresh]

A cycle starts a client in a process of its own, which answers for the same people again and again, one by one and many
at once, period after period; sometimes two of them share a home. It is killed with SIGKILL: from outside, somewhere
between its start and its 25th batch, or by itself, right before a batch is sent, once the server has it and before the
client hears so, or in the middle of a transaction. In the end one client sends what waits. Then:

- every acknowledged batch is in the server once, and none is there twice;
- there are as many reports in the server as the accounts have, and each person and period has one batch;
- the records of each batch in the server are the very bytes that were first kept for it: nothing was drawn again;
- permanent answers survived: whoever holds the same value all along has reported it by the same bytes (with fresh
  noise nothing but the bytes that were kept tells whether an answer was drawn twice);
- the file opens without repair, and is whole.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx

import hush
import hush.longitudinal
from hush.collect import Collector
from hush.collect.client import spool
from hush.collect.client.home import FILE, Home
from hush.collect.envelope import Envelope
from tests.waiting import wait_until

ROOT = Path(__file__).parent.parent
KEPT, FRESH = "kept", "fresh"
SPECS = {
    KEPT: hush.Spec(hush.longitudinal.Memoized(mechanism=hush.OUE(k=128, epsilon=1.0))),
    FRESH: hush.Spec(hush.OUE(k=128, epsilon=1.0)),
}
PEOPLE = 12
"""Who answer one by one; their values never change."""
MANY = range(1000, 1050)
"""Who answer together."""
MAX_BATCHES = 25
"""New batches before a kill from outside, at most; a period has 13."""
OUTSIDE, BEFORE, AFTER, WITHIN = "outside", "before", "after", "within"
WAYS = (OUTSIDE, BEFORE, AFTER, WITHIN)


def value_of(person: int) -> int:
    """What somebody holds, always."""
    return person * 7 % 128


class Dying(httpx.HTTPTransport):
    """A network that kills its process at the so many-th batch: before it is sent, or once the server has it."""

    def __init__(self, way: str, left: int) -> None:
        super().__init__()
        self.way, self.left = way, left

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        post = request.method == "POST"
        self.left -= post
        if post and self.way == BEFORE and self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = super().handle_request(request)
        if post and self.way == AFTER and self.left < 0:
            answer.read()
            os.kill(os.getpid(), signal.SIGKILL)
        return answer


class DyingHome(Home):
    """A home that kills its process when it is about to commit for the so many-th time."""

    left = 0

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[sqlite3.Connection]:
        with super().transaction(write=write) as sql:
            yield sql
            self.left -= write
            if write and self.left < 0:
                os.kill(os.getpid(), signal.SIGKILL)


def noting(log: Path) -> None:
    """Write down the records of each batch when it is first kept, before that is committed."""
    real = spool.insert

    def insert(sql: sqlite3.Connection, collection: int, made: Envelope, part_of: int | None = None) -> int:
        with log.open("a", encoding="utf-8") as file:
            print(made.batch, hashlib.sha256(made.records).hexdigest(), file=file, flush=True)
        return real(sql, collection, made, part_of)

    spool.insert = insert


def work(url: str, key: str, home: str, log: str, way: str, left: int) -> None:
    """The client: answer without end, and write down every receipt. With the way "" it only sends what waits."""
    transport = Dying(way, left) if way in (BEFORE, AFTER) else None
    more: dict[str, Any] = {"maximum_chain": 10**6, "maximum_total": 10**6, "times_known": True, "fresh": 0.2}
    collector = Collector(url, home=home, key=key, transport=transport, **more)
    if not way:
        told = collector.flush(wait=120)
        assert (told.waiting, dict(told.dropped)) == (0, {}), told
        return
    noting(Path(log).with_name("kept.txt"))
    if way == WITHIN:
        collector._home.__class__ = DyingHome
        collector._home.left = left  # type: ignore[attr-defined]
    with open(log, "a", encoding="utf-8") as file:
        print("ready", flush=True)
        while True:
            for person in range(PEOPLE):
                receipt = collector.person(person).answer(value_of(person))
                print(json.dumps([person, receipt.period, receipt.batch, receipt.state]), file=file, flush=True)
            answered = collector.people(MANY).answer([value_of(person) for person in MANY])
            for person, at in zip(MANY, answered.which.tolist(), strict=True):
                receipt = answered.receipts[at]
                line = json.dumps([person, receipt.period, receipt.batch, receipt.state])
                print(line, file=file)
            file.flush()


def started(url: str, key: str, home: Path, log: Path, way: str, left: int) -> subprocess.Popen[str]:
    """A client in a process of its own, once it answers."""
    command = [sys.executable, "-m", "tests.kill_client", "--work", url, key, str(home), str(log), way, str(left)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line == "ready\n" or way == WITHIN, line
    return process


def cycle(url: str, key: str, home: Path, log: Path, rng: random.Random) -> str:
    """One life of a client, or of two that share a home; how it ended."""
    way = rng.choice(WAYS)
    several = [started(url, key, home, log, way, rng.randrange(30)) for _ in range(rng.choice([1, 1, 2]))]
    enough = _number_kept(log) + rng.randint(0, MAX_BATCHES) if way == OUTSIDE else math.inf
    wait_until(lambda: _number_kept(log) >= enough or all(each.poll() is not None for each in several), seconds=600)
    for each in several:
        if each.poll() is None:
            each.kill()
        assert each.wait() == -signal.SIGKILL, "a client failed of itself"
        assert each.stdout is not None
        each.stdout.close()
    return way


def _number_kept(log: Path) -> int:
    kept = log.with_name("kept.txt")
    return kept.read_bytes().count(b"\n") if kept.exists() else 0


def receipts(log: Path) -> Iterator[tuple[int, int, str, str]]:
    """All receipts that were written down: whose, of which period, which batch, and whether it was accepted."""
    for line in log.read_text(encoding="utf-8").splitlines():
        try:
            person, period, batch, state = json.loads(line)
        except ValueError:
            continue  # cut short by a kill
        yield person, period, batch, state


def kept(log: Path) -> Iterator[tuple[str, str]]:
    """The batches that were kept, and the hash of the records of each."""
    for line in log.with_name("kept.txt").read_text(encoding="utf-8").splitlines():
        batch, _, digest = line.partition(" ")
        if len(digest) == 64:  # and not cut short by a kill
            yield batch, digest


def judged(store: str, home: Path, log: Path, noise: str = KEPT) -> dict[str, int]:
    """Compare the server's store with what clients wrote down and with their accounts; raises where they differ."""
    import sqlalchemy as sa

    from hush.collect.store import tables
    from hush.collect.store.database import Database

    database = Database(store)
    try:
        with database.reading() as connection:
            b = tables.batch.c
            rows = connection.execute(sa.select(b.id, b.period, b.records, b.accepted)).all()
    finally:
        database.close()
    there = {bytes(row.id).hex(): row for row in rows}
    assert len(there) == len(rows), "a batch is there twice"
    batches, acknowledged, whose = (
        defaultdict[tuple[int, int], set[str]](set),
        set[str](),
        defaultdict[str, set[int]](set),
    )
    for person, period, batch, state in receipts(log):
        assert state in ("accepted", "waiting"), state
        batches[person, period].add(batch)
        whose[batch].add(person)
        if state == "accepted":
            acknowledged.add(batch)
    assert acknowledged <= there.keys(), f"{len(acknowledged - there.keys())} acknowledged batches are lost"
    assert all(len(each) == 1 for each in batches.values()), "somebody has two answers in one period"
    assert set(whose) <= there.keys(), "an answer was never sent"
    first = defaultdict[str, set[str]](set)
    for batch, digest in kept(log):
        first[batch].add(digest)
    for batch, row in there.items():
        assert first[batch] == {hashlib.sha256(bytes(row.records)).hexdigest()}, (
            "a batch is not what was first kept for it"
        )
    size = SPECS[noise].mechanism.report_dtype.itemsize
    shown = defaultdict[int, set[bytes]](set)
    for batch, people in whose.items():
        row = there[batch]
        records = bytes(row.records)
        assert len(people) <= row.accepted == len(records) // size
        if row.accepted == 1:
            shown[min(people)].add(records)
    assert noise == FRESH or all(len(each) == 1 for each in shown.values()), "a permanent answer was drawn twice"
    with closing(sqlite3.connect(f"{(home / FILE).as_uri()}?mode=ro", uri=True)) as sql, sql:
        assert sql.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (spent,) = sql.execute("SELECT SUM(reports) FROM account").fetchone()
        (most,) = sql.execute("SELECT MAX(reports) FROM account").fetchone()
        waiting = sql.execute("SELECT COUNT(*) FROM batch WHERE state = 'waiting' OR envelope IS NOT NULL").fetchone()
    assert waiting == (0,)
    reports = sum(row.accepted for row in rows)
    assert reports == spent, f"{reports} reports in the server, {spent} in the accounts"
    periods = len({row.period for row in rows})
    assert most <= periods, "somebody has more answers than there were periods"
    return {"batches": len(rows), "reports": reports, "periods": periods, "acknowledged": len(acknowledged)}


def run(folder: Path, cycles: int, seed: int, noise: str = KEPT) -> dict[str, int]:
    """Kill clients so many times; what there was in the end."""
    from tests.collectors import in_process, opened  # which a client does without

    rng, home, log = random.Random(seed), folder / "home", folder / "receipts.txt"
    ways = dict.fromkeys(WAYS, 0)
    with in_process(folder) as served:
        one = opened(served, spec=SPECS[noise], period_seconds=1, horizon=100_000)
        url = f"{served.url}/v1/collections/{one.id}"
        for number in range(cycles):
            ways[cycle(url, one.key, home, log, rng)] += 1
            if sys.stderr.isatty():
                print(f"\r{number + 1} of {cycles} kills", end="", file=sys.stderr)
        command = [sys.executable, "-m", "tests.kill_client", "--work", url, one.key, str(home), str(log), "", "0"]
        subprocess.run(command, check=True, cwd=ROOT)
    return {"kills": cycles, **ways, **judged(str(folder / "store.db"), home, log, noise)}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--noise", choices=list(SPECS), default=KEPT)
    parser.add_argument("--work", nargs=6, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work is not None:
        *where, way, left = asked.work
        work(*where, way, int(left))
        return
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), asked.cycles, asked.seed, asked.noise)
    print(", ".join(f"{name}: {number:,}" for name, number in found.items()))
    print("Every acknowledged batch is there once, none twice, and nobody's budget was spent twice.")


if __name__ == "__main__":
    main()
