"""Whether simulated numbers follow their law, all of them together: the one way in which studies say so."""

from __future__ import annotations

import math

import numpy as np

from hush.types import Floats
from hush_studies.check import Check, ours
from hush_studies.rule import by_chance
from hush_studies.study import Table


def agree(
    claim: str, off: Floats, *,
    degrees: float = math.inf, among: str = "cells", printed: str = "its law", source: str = "ours",
) -> Check:  # fmt: skip
    """A verdict on standard errors.

    Args:
        claim: What is said.
        off: By how many standard errors each number is off, without signs.
        degrees: Of freedom, where the standard errors are measured too: Student's law in place of the normal one.
        among: What there are so many of.
        printed: What the numbers should be.
        source: Whose law it is.

    >>> agree("a sum", np.array([0.5, 2.0])).computed
    '|z| ≤ 2.00 in 2 cells'
    """
    letter = "z" if math.isinf(degrees) else "t"
    said = f"|{letter}| ≤ {off.max():.2f} in {off.size} {among}"
    return ours(claim, printed, by_chance(off.size, degrees), off, said, source)


def averages(table: Table, measured: str, expected: str, claim: str) -> Check:
    """Of averages over runs, whose standard errors the table has, too."""
    rows = Table(table.columns, [row for row in table.rows if row[table.columns.index(measured)] is not None])
    runs, off = int(rows.column("runs")[0]), rows.numbers(measured) - rows.numbers(expected)
    noise = rows.numbers(f"{measured}_stderr")
    score = np.abs(off) / np.where(noise > 0, noise, np.inf)
    return agree(claim, score, degrees=runs - 1, among=f"cells of {runs} runs")
