"""The public hash family: beside affine hashing, reports a second that a server aggregates; and sketches over it."""

from __future__ import annotations

import itertools

import numpy as np

import hush
from benchmarks import report, timing

CASES = ((100, 1.0), (1024, 1.0), (1024, 2.0), (1024, 4.0))
REQUIRED = {(1024, 1.0): 4.0}  # times affine hashing
SKETCHES = ("CMS", "HCMS", "RAPPOR")
SKETCHED = ((128, 1.0), (1024, 2.0))


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
    sketches = report.Table(
        f"Sketches: reports of {n:,} people",
        ("mechanism", "client", "server", "bytes"),
        note="Reports a second, on all cores: privatize with secure randomness; aggregate and estimate. No peer stands "
        "beside them: the server of pure-ldp's CMS and HCMS does not start with this numpy (it asks for an array of "
        "None numbers), and its RAPPOR decodes by a regression without negative coefficients: another estimate.",
    )
    for name, (k, epsilon) in report.progress(list(itertools.product(SKETCHES, SKETCHED)), "sketches"):
        _sketch(name, k, epsilon, n, turns, sketches)
    return [table, sketches]


def _sketch(name: str, k: int, epsilon: float, n: int, turns: int, table: report.Table) -> None:
    m = getattr(hush, name)(k=k, epsilon=epsilon)
    values = np.random.default_rng(7).integers(0, k, n)
    reports = m.privatize(values)
    works = [lambda: m.privatize(values), lambda: m.estimate(m.aggregate(reports))]
    for work in works:  # compile before the clock runs
        work()
    times = timing.best(works, turns)
    rates = [report.rate(n / seconds) for seconds in times]
    size = m.report_dtype.itemsize
    table.add(f"{name} ({k}, {epsilon:g})", *rates, f"{size}", mechanism=name, k=k, epsilon=epsilon, n=n, seconds=times)


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
