"""A whole collection drawn by `simulate`, in milliseconds."""

from __future__ import annotations

import statistics

import hush
from benchmarks import report, timing

PEOPLE = 1_000_000
LIMIT = 0.005  # seconds, OUE at k = 1024


def run(quick: bool) -> list[report.Table]:
    """A million clients under OUE and under SS."""
    table = report.Table(
        "A million clients by `simulate`", ("mechanism", "median", "required"), note="From the counts to the aggregate."
    )
    cases = (
        (hush.OUE(k=1024, epsilon=2.0), LIMIT, 101),
        (hush.SS(k=1000, epsilon=1.0), None, 5),
        (hush.GRR(k=1024, epsilon=2.0), None, 101),
        (hush.OLH(k=1024, epsilon=2.0), None, 101),
    )
    for mechanism, limit, turns in cases:
        counts = [PEOPLE // mechanism.k] * mechanism.k
        counts[0] += PEOPLE - sum(counts)
        mechanism.simulate(counts)
        taken = statistics.median(
            timing.seconds(lambda m=mechanism, c=counts: m.simulate(c)) for _ in range(3 if quick else turns)
        )
        table.add(
            f"{mechanism.name()} ({mechanism.k}, {mechanism.epsilon:g})",
            f"{taken * 1e3:.2f} ms",
            f"< {limit * 1e3:g} ms" if limit else "",
            missed=f"{taken * 1e3:.2f} ms" if limit and taken >= limit else "",
            mechanism=mechanism.to_dict(),
            seconds=taken,
        )
    return [table]
