"""Explore: how long the server takes for a change of a slider, at every position that it can stand at.

`live` is one table for `python -m benchmarks workbench`; by itself: `python -m benchmarks.workbench_explore`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

import numpy as np

from benchmarks import report, timing

LIMIT = 0.1  # seconds a change
_TURNS = """
import sys, time
from hush.workbench.explore import EPSILONS, SIZES, explore, html, words
start = time.perf_counter()
explore(20, 1.0, 20_000)
print(time.perf_counter() - start)
"""


def live(quick: bool) -> report.Table:
    """Changes of a slider: numbers of all mechanisms, the front, sentences, and the table as HTML."""
    from hush.workbench.explore import EPSILONS, PEOPLE, SIZES, explore, html, words
    from hush.workbench.explore.numbers import computed

    def change(k: int, epsilon: float, n: int) -> None:
        found = explore(k, epsilon, n)
        words.summary(found)
        html.table(found)

    table = report.Table(
        "Explore, a change of a slider, on the side of the server",
        ("what", "median", "95 in 100", "slowest", "required"),
        note="Positions in a random order; best of two turns, between which all numbers are forgotten.",
    )
    first = float(subprocess.run([sys.executable, "-c", _TURNS], check=True, capture_output=True, text=True).stdout)
    cells = (f"{1000 * first:.0f} ms", "", "", f"< {1000 * LIMIT:.0f} ms")
    late = f"{1000 * first:.0f} ms" if first >= LIMIT else ""
    table.add("the first in a process", *cells, missed=late, first=first)
    change(20, 1.0, 20_000)
    rng = np.random.default_rng(7)
    pairs = [(k, epsilon) for k in SIZES for epsilon in EPSILONS]
    some = [pairs[i] for i in rng.choice(len(pairs), 60 if quick else len(pairs), replace=False)]
    turns = []
    for _ in range(2):
        computed.cache_clear()
        turns.append([timing.seconds(lambda pair=pair: change(*pair, 20_000)) for pair in some])
    taken = [min(pair) for pair in zip(*turns, strict=True)]
    _row(table, f"k and ε, {len(taken):,} positions", taken)
    _row(table, "n, k and ε as before", [timing.seconds(lambda n=n: change(20, 1.0, n)) for n in PEOPLE])
    return table


def _row(table: report.Table, what: str, taken: list[float]) -> None:
    middle, most, worst = statistics.median(taken), float(np.quantile(taken, 0.95)), max(taken)
    cells = [f"{1000 * each:.0f} ms" for each in (middle, most, worst)]
    late = f"{1000 * worst:.0f} ms" if worst >= LIMIT else ""
    table.add(what, *cells, f"< {1000 * LIMIT:.0f} ms", missed=late, median=middle, most=most, worst=worst)


if __name__ == "__main__":
    report.show(live("--quick" in sys.argv))
