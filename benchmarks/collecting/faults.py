"""The long runs that break the collector: servers and clients killed again and again, and a million broken batches.

Each fails with an error where a batch that was acknowledged is lost or counts twice, somebody's budget is spent twice,
or a record that is no report is taken; so a row that stands in the table has passed.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests import fuzz_batches, kill_client, kill_server

from benchmarks import report
from benchmarks.collecting.stores import store

SEED = 1


def run(quick: bool) -> list[report.Table]:
    """Hundred kills of each kind, and a million inputs."""
    kills, inputs = (3, 5000) if quick else (100, 1_000_000)
    table = report.Table(
        "The collector, broken on purpose",
        ("what", "how", "found", "seconds"),
        note="Every acknowledged batch is in the store once, none twice, aggregates are those of the batches, nobody's "
        "budget was spent twice, and no record was taken that is no report.",
    )
    runs: dict[str, tuple[str, Callable[[], str]]] = {
        "server killed, SQLite": (f"{kills} × SIGKILL under load", lambda: _servers("SQLite", kills)),
        "server killed, PostgreSQL": (f"{kills} × SIGKILL under load", lambda: _servers("PostgreSQL", kills)),
        "client killed, kept answers": (f"{kills} × SIGKILL", lambda: _clients(kills, kill_client.KEPT)),
        "client killed, fresh noise": (f"{kills} × SIGKILL", lambda: _clients(kills, "fresh")),
        "broken batches": (f"{inputs:,} inputs", lambda: _said(fuzz_batches.run(inputs, SEED))),
    }
    for what, (how, work) in report.progress(list(runs.items()), "faults"):
        start = time.perf_counter()
        found = work()
        table.add(what, how, found, f"{time.perf_counter() - start:.0f}")
    return [table]


def _servers(name: str, kills: int) -> str:
    with store(name) as (where, _):
        return _said(kill_server.run(where, kills, SEED))


def _clients(kills: int, noise: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return _said(kill_client.run(Path(folder), kills, SEED, noise))


def _said(found: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in found.items())
