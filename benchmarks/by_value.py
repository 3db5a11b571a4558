"""How long a report takes, by the value it is made of: `python -m benchmarks.by_value` writes the tables of two pages.

Batches of one value each take turns, so that a busy moment hits all values alike; times are medians of the processor's,
and only their ratios within one run mean anything. Mechanisms that protect all values do the same work for each. Those
that protect some do not: the first table says so on the page of randomness, the second on their own.
"""

from __future__ import annotations

import re
import statistics
import time
from pathlib import Path

import numpy as np

import hush
from hush.mechanisms.base import FrequencyOracle
from hush.randomness import chunk_generator, chunk_keys

K, EPSILON, SENSITIVE = 100, 1.0, 40
PEOPLE, TURNS = 1 << 15, 41
VALUES = (0, 1, 2, 3, 4, 8, 16, 32, 50, 63, 64, 98, 99)
OWN = {"UE": {"p": 0.7}, "LH": {"g": 3}, "LHO": {"g": 4}}
APPROXIMATE = ("AGRR", "ASUE", "ABLH", "AOLH", "GM", "AGM")
DOCS = Path(__file__).resolve().parents[1] / "docs"
BEGIN, END = "<!-- by value: begin -->", "<!-- by value: end -->"


def nanoseconds(m: FrequencyOracle, batches: list[np.ndarray]) -> list[float]:
    """The median time of one report in each batch."""
    rng = chunk_generator(chunk_keys(None, 1)[0])
    taken: list[list[float]] = [[] for _ in batches]
    for turn in range(TURNS):
        for found, batch in zip(taken, batches, strict=True):
            start = time.process_time_ns()
            m.sample(batch, rng)
            if turn:  # the first compiles
                found.append((time.process_time_ns() - start) / PEOPLE)
    return [statistics.median(found) for found in taken]


def protecting_all() -> str:
    """Every mechanism that protects all values: the fastest value, the slowest, and their ratio."""
    lines = ["| mechanism | fastest value, ns | slowest value, ns | ratio |", "|---|---|---|---|"]
    batches = [np.full(PEOPLE, value) for value in VALUES]
    for name, cls in sorted(hush.registry().items()):
        if issubclass(cls, hush.utility.UtilityOracle):
            continue
        own = {**OWN.get(name, {}), **({"delta": 1e-5} if name in APPROXIMATE else {})}
        found = nanoseconds(cls(k=K, **({} if name == "LHO" else {"epsilon": EPSILON}), **own), batches)
        least, most = min(found), max(found)
        lines.append(f"| `{name}` | {least:.1f} | {most:.1f} | {most / least:.2f} |")
    return "\n".join(lines)


def protecting_some() -> str:
    """Every mechanism that protects some values: sensitive ones, others, and others that are sent at once."""
    lines = ["| mechanism | sensitive value, ns | another value, ns | ratio |", "|---|---|---|---|"]
    batches = [np.full(PEOPLE, 0), np.full(PEOPLE, K - 1)]
    for cls in sorted(hush.utility.MECHANISMS, key=lambda each: each.name()):
        held, other = nanoseconds(cls(k=K, epsilon=EPSILON, sensitive=range(SENSITIVE)), batches)
        lines.append(f"| `{cls.name()}` | {held:.1f} | {other:.1f} | {other / held:.2f} |")
    return "\n".join(lines)


def write(page: str, table: str) -> None:
    """Put a table between the marks of a page."""
    path = DOCS / page
    text, made = re.subn(f"{BEGIN}.*?{END}", f"{BEGIN}\n\n{table}\n\n{END}", path.read_text("utf-8"), flags=re.DOTALL)
    assert made == 1, page
    path.write_text(text, encoding="utf-8")


def main() -> None:
    """Measure, print and write."""
    for page, measure in (("randomness.md", protecting_all), ("uldp.md", protecting_some)):
        table = measure()
        print(table, flush=True)
        write(page, table)


if __name__ == "__main__":
    main()
