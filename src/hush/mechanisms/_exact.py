"""The exact loss and the exact variances of a small channel, from integer weights."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hush.mechanisms._thresholds import log_ratio
from hush.mechanisms.guarantee import ULDP

if TYPE_CHECKING:
    from collections.abc import Collection

    from hush.mechanisms._base import FrequencyOracle

Law = list[list[int]]
"""Weights, one row for each output, one column for each value."""


def enumerated_loss(m: FrequencyOracle) -> float:
    """The loss over all outputs: at the mechanism's delta if it has one, among protected outputs under ULDP."""
    delta, promise = Fraction(m._delta), m.guarantee
    worst = 0.0
    for public in m.publics():
        outputs = m.outputs(public)
        law = [[m.weight(y, v) for v in range(m.k)] for y in outputs]
        if isinstance(promise, ULDP):
            loss = protected_ratio(law, promise.sensitive)
        elif delta:
            loss = smallest_epsilon(law, [m.copies(y) for y in outputs], m.denominator, delta)
        else:
            loss = worst_ratio(law)
        worst = max(worst, loss)
    return worst


def enumerated_moments(m: FrequencyOracle) -> npt.NDArray[np.float64]:
    """Variance of the estimate of v from one report of u, as [u, v]."""
    mean, square = np.zeros((m.k, m.k)), np.zeros((m.k, m.k))
    for y in m.outputs(None):
        decoded = m.decode(m.tally(np.asarray(y, m.report_dtype)[None]), 1)
        for u in range(m.k):
            share = m.copies(y) * m.weight(y, u) / m.denominator
            mean[u] += share * decoded
            square[u] += share * decoded**2
    return square - mean**2


def protected_ratio(law: Law, sensitive: Collection[int]) -> float:
    """The largest log-ratio among the outputs that a sensitive value can give.

    Any other output must be possible under one value alone; one that shows anything else breaks the promise, and the
    loss is infinite.
    """
    protected = [row for row in law if any(row[v] for v in sensitive)]
    if any(sum(w > 0 for w in row) > 1 for row in law if not any(row[v] for v in sensitive)):
        return math.inf
    return worst_ratio(protected)


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
    pairs = itertools.permutations(range(len(law[0])), 2)
    return max((pair_epsilon(law, copies, denominator, delta, u, v) for u, v in pairs), default=0.0)


def pair_epsilon(law: Law, copies: list[int], denominator: int, delta: Fraction, u: int, v: int) -> float:
    """The smallest epsilon for one pair of values, in one direction."""
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
