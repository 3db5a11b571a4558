"""The client for web pages, in Node and in Chromium: reports a second, single reports, tables, loading, sizes.

What runs is the module that collectors serve, minified; what it joins, and is loaded from, is a real collector on the
same machine. Each mechanism has a fresh process of Node and a fresh page of Chromium, so that no figure depends on what
the engine learned from another one.
"""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hush
from benchmarks import report
from benchmarks.browser import engines, loading, peers, specs
from benchmarks.collecting import servers
from hush.collect.clock import Clock
from hush.collect.service import Service
from hush.collect.store import schema
from hush.collect.store.database import Database

SINGLE_LIMIT = 5.0  # milliseconds, 99 of 100 reports at k = 10,000
TABLES_LIMIT = 50.0
PLAIN = {"k": 128, "p": 0.5, "q": 1 / (math.e + 1)}
"""What OUE (128, 1) draws by."""
CONSENT = {"maximum": 40, "delta": 1, "unprotected": True, "timesKnown": True}


def run(quick: bool) -> list[report.Table]:
    """All tables."""
    lacking = engines.missing()
    if lacking:
        print(f"browser: skipped, for {lacking}")
        return []
    large = list(specs.large())
    with (
        engines.modules() as folder,
        _collector([mechanism for _, mechanism in large]) as (url, ids),
        engines.chromium(folder) as chromium,
    ):
        both = (engines.Node(folder), chromium)
        return [
            _rates(both, folder, *((2, 50) if quick else (10, 200))),
            _singles(both, [(*each, f"{url}/v1/collections/{id}") for each, id in zip(large, ids, strict=True)], quick),
            loading.table(*both, f"{url}/client/{hush.__version__}/hush.js", 5 if quick else 31),
            loading.sizes(both[0]),
        ]


@contextmanager
def _collector(mechanisms: list[Any]) -> Iterator[tuple[str, list[str]]]:
    """A collector with a collection for each mechanism, and their ids."""
    with tempfile.TemporaryDirectory() as made:
        store = str(Path(made, "store.db"))
        database = Database(store)
        try:
            schema.upgrade(database)
            service = Service(database, Clock())
            drafts = [
                service.create(spec=hush.Spec(mechanism).to_dict(), name="a benchmark", target_n=10**7, who="benchmark")
                for mechanism in mechanisms
            ]
        finally:
            database.close()
        with servers.collector(store) as (url, _):
            yield url, [draft["id"] for draft in drafts]


def _rates(both: tuple[Any, ...], folder: Path, runs: int, length: int) -> report.Table:
    """Reports a second, and a plain sampler's beside them."""
    peer = peers.installed(folder)
    table = report.Table(
        "The client for web pages: reports a second",
        ("what", *(f"{engine.name}, on one core" for engine in both), "OUE over it", "draws from"),
        note=f"Reports drawn one by one, as bytes; the best of {runs} runs of {length} ms. Plain bits are basic RAPPOR "
        "as programs usually have it: `Math.random` for each bit, with the probabilities of OUE, into bytes, too. "
        f"{peer.told}",
    )
    drawn = [
        (name, [engine.call("measure.js", "drawn", m.to_dict(), runs, length) for engine in both])
        for name, m in report.progress(list(specs.many()), "reports a second")
    ]
    plainly = [engine.call("measure.js", "drawnPlainly", "bits", PLAIN, runs, length) for engine in both]
    for name, found in drawn:
        _rate(table, name, found, "", "the system's secure source")
    ours = drawn[0][1]
    _rate(table, "plain bits (128, 1)", plainly, _over(ours, plainly), "`Math.random`")
    if peer.name:
        theirs = [both[0].call("peer.js", "drawn", peer.name, 128, runs, length)]
        _rate(table, f"{peer.name} (128 bits)", theirs, _over(ours, theirs), "`crypto`, a call for each mask")
    return table


def _over(ours: list[float], theirs: list[float]) -> str:
    return " and ".join(report.ratio(mine / other) for mine, other in zip(ours, theirs, strict=False))


def _rate(table: report.Table, name: str, found: list[float], over: str, source: str) -> None:
    shown = [report.rate(each) for each in found] + ["–"] * (2 - len(found))
    table.add(name, *shown, over, source, what=name, rates=found)


def _singles(both: tuple[Any, ...], cases: list[tuple[str, Any, str]], quick: bool) -> report.Table:
    """Each mechanism at 10,000 values: joining, tables, the first report and the slow ones."""
    count = 100 if quick else 1000
    turns = 1 if quick else 3
    table = report.Table(
        f"The client for web pages at {specs.K:,} values: one report, and what joining builds",
        ("mechanism", "values", "bytes", "joined", "tables", "required", "first report", "p99", "required"),
        note=f"Milliseconds in {both[0].name} / in {both[1].name}, ε = 1. Joined: `join`, with the fetch of the spec "
        "from a collector on the same machine, its hash, what it loses, and tables. Tables: `prepared` alone. Then a "
        f"first report, and {count:,} more, each timed by itself. All in fresh processes and pages, median of {turns}.",
    )
    for name, mechanism, url in report.progress(cases, "single reports"):
        found = [_single(engine, mechanism.to_dict(), url, count, turns) for engine in both]
        late = [
            f"{what} {taken:.1f} ms"
            for each in found
            for what, taken, limit in (("tables", each["tables"], TABLES_LIMIT), ("p99", each["p99"], SINGLE_LIMIT))
            if taken >= limit
        ]
        table.add(
            name,
            f"{values:,}" if (values := getattr(mechanism, "k", None)) else "amounts",
            f"{found[0]['size']:,}",
            *(_shown(found, what) for what in ("joined", "tables")),
            f"tables < {TABLES_LIMIT:g}",
            *(_shown(found, what) for what in ("first", "p99")),
            f"p99 < {SINGLE_LIMIT:g}",
            missed=", ".join(late),
            mechanism=name,
            **dict(zip(("node", "chromium"), found, strict=True)),
        )
    return table


def _shown(found: list[dict[str, float]], what: str) -> str:
    return " / ".join(f"{each[what]:.3f}" if each[what] < 1 else f"{each[what]:.1f}" for each in found)


def _single(engine: Any, spec: dict[str, Any], url: str, count: int, turns: int) -> dict[str, float]:
    """The median over some fresh processes of each figure, and the slowest report of all."""
    found = [engine.call("measure.js", "singles", spec, count) for _ in range(turns)]
    joined = [engine.call("measure.js", "joined", url, CONSENT)["time"] for _ in range(turns)]
    medians = {what: statistics.median(each[what] for each in found) for what in ("tables", "first", "median", "p99")}
    slowest = max(each["slowest"] for each in found)
    return {"joined": statistics.median(joined), **medians, "slowest": slowest, "size": found[0]["size"]}
