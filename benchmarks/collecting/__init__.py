"""The collector under load: reports a second, waiting times, and how far it is from what a bare handler can do.

Everything runs on the same cores: the server, its store, and `wrk`, which sends. Everything is switched on: keys,
limits, counters, validation, folding. Beside it, in the same run, the ceiling: a bare Starlette handler that appends
bodies to one file with grouped fsync, and does nothing else. Both take turns, and the best of its turns counts for
each: a disk that others use, too, has slow seconds.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import hush
from benchmarks import report
from benchmarks.collecting import end_to_end, servers, sizes, wrk
from benchmarks.collecting.stores import store
from hush.collect.clock import Clock
from hush.collect.service import Service
from hush.collect.store import folding
from hush.collect.store.database import Database

CONNECTIONS = 64
TURNS = 4


@dataclass(frozen=True)
class Wanted:
    """What is required of a store."""

    reports: float
    singles: float
    p99: float
    ratio: float


WANTED = {"SQLite": Wanted(1e6, 1500, 50, 2), "PostgreSQL": Wanted(7e5, 1500, 100, 3)}
LOADS = {"OLH, k = 266": hush.OLH(k=266, epsilon=1.0), "OUE, k = 1,024": hush.OUE(k=1024, epsilon=1.0)}


def run(quick: bool) -> list[report.Table]:
    """All loads on both stores."""
    if not wrk.there():
        print("collect: skipped, for wrk is not installed; run: apt-get install wrk")
        return []
    seconds = 4.0 if quick else 20.0
    with tempfile.TemporaryDirectory() as folder:
        middle, slow = servers.fsync_milliseconds(Path(folder))
    note = (
        f"{CONNECTIONS} connections, `wrk` on the same cores, the best of {TURNS} turns of {seconds / TURNS:g} s for "
        f"collector and ceiling. The disk takes {middle:.2f} ms to "
        f"make 9 kB durable ({slow:.2f} ms at the 99th of a hundred). Folded: acknowledged reports that are in the "
        "aggregates when the load ends, and how long the rest takes. Half load: 99th percentile at about half the rate."
    )
    columns = (
        "store",
        "load",
        "batches/s",
        "reports/s",
        "required",
        "ceiling, batches/s",
        "times less",
        "required",
        "p99 at half load",
        "required",
        "folded",
        "rest",
        "peak",
    )
    table = report.Table("The collector under load", columns, note=note)
    for name in WANTED:
        for title, mechanism in LOADS.items():
            for reports in (1000, 1):
                if reports == 1 and mechanism is not LOADS["OLH, k = 266"]:
                    continue
                _measure(table, name, title, hush.Spec(mechanism), reports, seconds)
    return [table, _end_to_end(10**5 if quick else 10**7), sizes.table(quick)]


def _end_to_end(n: int) -> report.Table:
    """Ten million reports, each once."""
    table = report.Table(
        f"{n:,} reports end to end, OLH, k = 266",
        (
            "store",
            "sent in",
            "in the estimate after",
            "reports/s",
            "aggregate and estimate equal the direct ones",
            "peak",
        ),
        note="Ten thousand a batch, by a Python program on the same cores. Equal: the same bytes, the same bits.",
    )
    for name in WANTED:
        with store(name) as (where, _):
            found = end_to_end.sent_and_read(where, n)
        table.add(
            name,
            f"{found['sending']:.1f} s",
            f"{found['settled']:.1f} s",
            report.rate(n / found["settled"]),
            "yes" if found["equal"] else "no",
            f"{found['peak'] / 1e6:,.0f} MB",
            missed="" if found["equal"] and found["taken"] == n else "not equal",
            **found,
        )
    return table


def _measure(table: report.Table, name: str, title: str, spec: hush.Spec, reports: int, seconds: float) -> None:
    wanted = WANTED[name]
    with store(name) as (where, folder):
        id, key = servers.collection(where, spec)
        sent = servers.batch(id, key, spec, reports)
        with servers.ceiling(folder / "ceiling") as (bare, _), servers.collector(where) as (url, pid):
            for each in (bare, url):
                wrk.load(each, sent, connections=8, seconds=2)
            taken = [
                [wrk.load(each, sent, connections=CONNECTIONS, seconds=seconds / TURNS) for each in (bare, url)]
                for _ in range(TURNS)
            ]
            most, found = (max(turns, key=lambda load: load.rate) for turns in zip(*taken, strict=True))
            pause = max(1.0, CONNECTIONS / (found.rate / 2) * 1e3 - found.p50 / 4)
            half = wrk.load(url, sent, connections=CONNECTIONS, seconds=seconds / 2, pause=pause)
            peak = servers.peak(pid)
        (folder / "ceiling").unlink()
        share, rest = _folded(where, id)
    loads = [half, *(load for turn in taken for load in turn)]
    assert not any(load.refused or load.failed for load in loads), loads
    required = wanted.reports / 1000 if reports > 1 else wanted.singles
    first = title.startswith("OLH")
    missed = [
        word
        for word, bad in {
            f"{found.rate:,.0f} batches/s": first and found.rate < required,
            f"{most.rate / found.rate:.1f} times below the ceiling": first and most.rate > wanted.ratio * found.rate,
            f"p99 {half.p99:.0f} ms": first and half.p99 > wanted.p99,
        }.items()
        if bad
    ]
    table.add(
        name,
        f"{title}, {reports:,} a batch",
        report.rate(found.rate),
        report.rate(found.rate * reports),
        f"≥ {report.rate(required * reports)}" if first else "–",
        report.rate(most.rate),
        f"{most.rate / found.rate:.2f}",
        f"≤ {wanted.ratio:g}" if first else "–",
        f"{half.p99:.1f} ms at {report.rate(half.rate)}/s",
        f"≤ {wanted.p99:g} ms" if first else "–",
        f"{share:.1%}",
        f"{rest:.1f} s",
        f"{peak / 1e6:,.0f} MB",
        missed=", ".join(missed),
        store=name,
        reports=reports,
        rate=found.rate,
        ceiling=most.rate,
        p99=half.p99,
        peak=peak,
    )


def _folded(store: str, id: str) -> tuple[float, float]:
    """Which share of the reports is in the aggregates once the server has stopped, and how long the rest takes."""
    database = Database(store)
    try:
        service = Service(database, Clock())
        before = service.show(id, whole=True)
        start = time.perf_counter()
        while folding.step(database, service.directory.numbered).batches:
            pass
        rest = time.perf_counter() - start
        after = service.show(id, whole=True)
        in_before = sum(before["builds"].values())
        return in_before / max(sum(after["builds"].values()), 1), rest
    finally:
        database.close()
