"""The exact loss of a small channel, from integer weights."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable
from fractions import Fraction
from typing import Protocol

from hush.exact.enumeration import Enumerable, enumerated
from hush.exact.thresholds import log_ratio
from hush.guarantee import ULDP, ApproxLDP, Guarantee

Law = list[list[int]]
"""Weights, one row for each output, one column for each value."""


class Promising(Enumerable, Protocol):
    """A mechanism that says what it promises."""

    @property
    def guarantee(self) -> Guarantee:
        """What one report promises."""


def enumerated_loss(m: Promising) -> float:
    """The loss over all outputs: at the promised delta if there is one, among protected outputs under ULDP."""
    promise = m.guarantee
    if isinstance(promise, ULDP):
        return protected_loss(m, promise.sensitive, Fraction(promise.delta))
    return loss_at(m, Fraction(promise.delta) if isinstance(promise, ApproxLDP) else Fraction(0))


def loss_at(m: Enumerable, delta: Fraction) -> float:
    """The loss over all outputs at a delta, whatever the public randomness and whatever is promised."""
    worst = 0.0
    for listing in enumerated(m):
        law = listing.weights
        here = smallest_epsilon(law, listing.copies, m.denominator, delta) if delta else worst_ratio(law)
        worst = max(worst, here)
    return worst


def protected_loss(m: Enumerable, sensitive: Collection[int], delta: Fraction) -> float:
    """The loss at a delta among the outputs that a sensitive value can give, whatever the public randomness."""
    return max(
        (
            protected_epsilon(listing.weights, listing.copies, m.denominator, sensitive, delta)
            if delta
            else protected_ratio(listing.weights, sensitive)
            for listing in enumerated(m)
        ),
        default=0.0,
    )


def protected_epsilon(
    law: Law, copies: list[int], denominator: int, sensitive: Collection[int], delta: Fraction
) -> float:
    """The smallest epsilon at a delta among the outputs that a sensitive value can give: of events made of these.

    As for `protected_ratio`, another output that shows anything but one value breaks the promise.
    """
    if math.isinf(protected_ratio([row for row in law if not any(row[v] for v in sensitive)], sensitive)):
        return math.inf
    inside = [(row, c) for row, c in zip(law, copies, strict=True) if any(row[v] for v in sensitive)]
    return smallest_epsilon([row for row, _ in inside], [c for _, c in inside], denominator, delta)


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
    cells = [(row[u], row[v], c) for row, c in zip(law, copies, strict=True)]
    return cells_epsilon(cells, delta * denominator)


def cells_epsilon(cells: Iterable[tuple[int, int, int]], slack: Fraction) -> float:
    """The smallest epsilon at which the first weights exceed e^epsilon times the second by no more than the slack.

    A cell is the two weights of an output, and how many outputs have them.
    """
    ordered = sorted(
        (cell for cell in cells if cell[0] and cell[2]),
        key=lambda cell: Fraction(cell[0], cell[1]) if cell[1] else math.inf,
        reverse=True,
    )
    above = below = 0
    for mine, theirs, times in ordered:
        # The divergence at this cell's ratio counts only the cells before it.
        if theirs and above * theirs - mine * below > slack * theirs:
            break
        above, below = above + mine * times, below + theirs * times
    excess = above - slack
    if excess <= below:
        return 0.0
    if below == 0:
        return math.inf
    return log_ratio(excess.numerator, excess.denominator * below)
