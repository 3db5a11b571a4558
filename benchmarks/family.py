"""The public hash family beside affine hashing: reports a second that a server aggregates, in one run."""

from __future__ import annotations

import numpy as np

import hush
from benchmarks import report, timing

CASES = ((100, 1.0), (1024, 1.0), (1024, 2.0), (1024, 4.0))
REQUIRED = {(1024, 1.0): 4.0}  # times affine hashing


def run(quick: bool) -> list[report.Table]:
    """Aggregation of the same people's reports, both ways, in alternation."""
    n, turns = (200_000, 3) if quick else (1_000_000, 9)
    table = report.Table(
        f"Local hashing over a public family: aggregation of {n:,} reports",
        ("k, ε", "g", "affine", "bytes", "g", "family", "bytes", "ratio", "required"),
        note="Reports a second, on all cores, of OLH with either hash; the family's buckets are a power of two.",
    )
    for k, epsilon in report.progress(CASES, "family"):
        _compare(k, epsilon, n, turns, table)
    return [table]


def _compare(k: int, epsilon: float, n: int, turns: int, table: report.Table) -> None:
    values = np.random.default_rng(7).integers(0, k, n)
    pair = [hush.OLH(k=k, epsilon=epsilon, hash=name) for name in ("affine", "family")]
    reports = [m.privatize(values, rng=hush.seeded(7)) for m in pair]
    works = [lambda m=m, r=r: m.aggregate(r) for m, r in zip(pair, reports, strict=True)]
    for work in works:  # compile before the clock runs
        work()
    times = timing.best(works, turns)
    ratio, required = times[0] / times[1], REQUIRED.get((k, epsilon), 0.0)
    cells = [(f"{m.g}", report.rate(n / t), f"{m.report_dtype.itemsize}") for m, t in zip(pair, times, strict=True)]
    table.add(
        f"{k}, {epsilon:g}",
        *cells[0],
        *cells[1],
        report.ratio(ratio),
        f"≥ {required:g}×" if required else "",
        missed=f"{report.ratio(ratio)} of {required:g}×" if ratio < required else "",
        k=k,
        epsilon=epsilon,
        n=n,
        seconds=times,
    )
