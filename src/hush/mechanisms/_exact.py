"""The exact loss of a small channel, from integer weights."""

from __future__ import annotations

import math
from fractions import Fraction

from hush.mechanisms._thresholds import log_ratio

Law = list[list[int]]
"""Weights, one row for each output, one column for each value."""


def worst_ratio(law: Law) -> float:
    """The largest log-ratio of one output's probabilities under two values."""
    worst = (1, 1)
    for row in law:
        high, low = max(row), min(row)
        if high * worst[1] > worst[0] * low:
            worst = (high, low)
    return log_ratio(*worst)


def smallest_epsilon(law: Law, copies: list[int], denominator: int, delta: Fraction) -> float:
    """The smallest epsilon for which the channel is (epsilon, delta)-private: the hockey-stick divergence, inverted.

    For each pair of values, outputs are sorted by their ratio; on each piece between two ratios the divergence is
    linear in e^epsilon, so the answer is a ratio of integers.
    """
    values = range(len(law[0]))
    return max((_pair(law, copies, denominator, delta, u, v) for u in values for v in values if u != v), default=0.0)


def _pair(law: Law, copies: list[int], denominator: int, delta: Fraction, u: int, v: int) -> float:
    cells = sorted(
        ((c * row[u], c * row[v]) for row, c in zip(law, copies, strict=True) if row[u]),
        key=lambda cell: Fraction(cell[0], cell[1]) if cell[1] else math.inf,
        reverse=True,
    )
    above = below = 0
    slack = delta * denominator
    for mine, theirs in cells:
        # The divergence at this cell's ratio counts only the cells before it.
        if theirs and above - Fraction(mine, theirs) * below > slack:
            break
        above, below = above + mine, below + theirs
    excess = above - slack
    if excess <= below:
        return 0.0
    if below == 0:
        return math.inf
    return log_ratio(excess.numerator, excess.denominator * below)
