"""Intervals of a million values: each on its own, and all together."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import hush
from benchmarks import report

VALUES = 1_000_000
LIMIT = 1.0  # seconds
CASES = (
    ("OUE", 1.0, 10_000),
    ("OUE", 1.0, 100_000),
    ("OUE", 1.0, 100_000_000),
    ("OUE", 8.0, 10_000_000),
    ("OLH", 2.0, 1_000_000),
    ("GRR", 10.0, 1_000_000_000),
)


def processor(work: Callable[[], Any]) -> float:
    """Processor time of one call, which other programs do not touch."""
    start = time.process_time()
    work()
    return time.process_time() - start


def run(quick: bool) -> list[report.Table]:
    """Tallies of a population in which few values are frequent, drawn from their exact law."""
    table = report.Table(
        "A million intervals",
        ("mechanism", "reports", "different tallies", "each on its own", "all together", "required"),
        note="From a tally of a million values to both ends: processor time of one thread, and what they rest on.",
    )
    rng = np.random.default_rng(7)
    shares = 1 / np.arange(1, VALUES + 1) ** 1.1
    for name, epsilon, n in CASES:
        m = hush.registry()[name](k=VALUES, epsilon=epsilon)
        aggregate = m.simulate(rng.multinomial(n, shares / shares.sum()), rng=hush.seeded(7))
        estimate = m.estimate(aggregate)
        works = [lambda e=estimate, s=s: e.interval(0.95, simultaneous=s) for s in (False, True)]
        words = [work().method for work in works]
        taken = [min(processor(work) for _ in range(1 if quick else 3)) for work in works]
        shown = [f"{seconds:.2f} s, {word}" for seconds, word in zip(taken, words, strict=True)]
        different = np.unique(aggregate.tally).size
        cells = (f"{name} (ε = {epsilon:g})", f"{n:,}", f"{different:,}", *shown, f"< {LIMIT:g} s")
        table.add(
            *cells,
            missed=f"{max(taken):.2f} s" if max(taken) >= LIMIT else "",
            mechanism=m.to_dict(),
            seconds=taken,
        )
    return [table]
