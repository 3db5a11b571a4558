"""The exact loss of a report about a tuple: of hidden sampling in closed form, of any small law by enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from hush.errors import ParameterError, message
from hush.exact.loss import pair_epsilon, protected_epsilon, protected_ratio
from hush.exact.thresholds import log_ratio
from hush.guarantee import ULDP

if TYPE_CHECKING:
    from hush.multidim.base import Multidim

_MOST_CELLS = 1 << 22
_BITS = 256  # of the candidate ratio that choices are compared by; the ratio itself is exact

Pair = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Extremes:
    """How much likelier an attribute's part of a report is when real than when fake, at its extremes.

    Args:
        changed: Pairs of that ratio under a value that the part favours and under one that it does not.
        unchanged: The least ratio that there is.
        alone: The ratio of a part's probabilities under two values when no fake can be that part; None if all can.
    """

    changed: tuple[Pair, ...]
    unchanged: Fraction
    alone: Fraction | None = None


def hidden(parts: Sequence[Extremes], changed: int) -> float:
    """The loss of RS+FD between tuples that differ in at most so many attributes, from exact integers.

    Given a report, the likelihood of a tuple is, up to a factor, the sum over attributes of how much likelier each
    part is when real than when fake. So the loss is the largest ratio of two such sums. Dinkelbach's iteration finds
    it: for a candidate ratio, numerator less candidate times denominator is a sum of separate choices.
    """
    best, kept = Fraction(1), (1, 1)
    while True:
        pairs = _choices(parts, changed, best)
        above, below = _total([a for a, _ in pairs]), _total([b for _, b in pairs])
        high, low = above[0] * below[1], above[1] * below[0]
        reached = Fraction((high << _BITS) // low, 1 << _BITS)
        if reached <= best:
            break
        best, kept = reached, (high, low)
    for part in parts:
        if part.alone is not None and part.alone.numerator * kept[1] > kept[0] * part.alone.denominator:
            kept = part.alone.as_integer_ratio()
    return log_ratio(*kept)


def _choices(parts: Sequence[Extremes], changed: int, ratio: Fraction) -> list[Pair]:
    """For each attribute, the pair that adds most to numerator less ratio times denominator."""
    pairs = [max(part.changed, key=lambda pair: pair[0] - ratio * pair[1]) for part in parts]
    still = [(part.unchanged, part.unchanged) for part in parts]
    gains = [p[0] - s[0] - ratio * (p[1] - s[1]) for p, s in zip(pairs, still, strict=True)]
    for j in sorted(range(len(parts)), key=lambda j: gains[j], reverse=True)[:changed]:
        if gains[j] > 0:
            still[j] = pairs[j]
    return still


def _total(terms: Sequence[Fraction]) -> tuple[int, int]:
    """Numerator and denominator of a sum, not reduced: halves of the sum first, so that it stays quick."""
    if len(terms) == 1:
        return terms[0].as_integer_ratio()
    (a, b), (c, d) = _total(terms[: len(terms) // 2]), _total(terms[len(terms) // 2 :])
    return a * d + b * c, b * d


def neighbours(m: Multidim, changed: int) -> list[tuple[int, int]]:
    """Ordered pairs of tuples, by position in `m.tuples()`, that differ in 1 to `changed` attributes."""
    listed = list(enumerate(m.tuples()))
    return [
        (i, j)
        for (i, u), (j, v) in itertools.product(listed, listed)
        if 1 <= sum(a != b for a, b in zip(u, v, strict=True)) <= changed
    ]


def enumerated(m: Multidim, changed: int, delta: Fraction) -> float:
    """The loss between tuples that differ in at most so many attributes, by enumeration of all reports.

    With delta, the smallest epsilon of the (epsilon, delta) guarantee; worst over public randomness. Under ULDP, which
    a single attribute may have, among the outputs that a sensitive value can give.
    """
    if math.prod(m.sizes) ** 2 * len(m.outputs()) > _MOST_CELLS:
        rule = f"must leave at most {_MOST_CELLS} pairs of tuples and reports to enumerate"
        raise ParameterError(message("sizes", rule, m.sizes, "use smaller domains or fewer attributes"))
    pairs = neighbours(m, changed)
    worst = 0.0
    for public in m.publics():
        outputs = m.outputs(public)
        law = [[m.weight(y, v) for v in m.tuples()] for y in outputs]
        if isinstance(m.guarantee, ULDP):
            sensitive, copies = m.guarantee.sensitive, [m.copies(y) for y in outputs]
            own = protected_epsilon(law, copies, m.denominator, sensitive, delta)
            worst = max(worst, own if delta else protected_ratio(law, sensitive))
        elif delta:
            copies = [m.copies(y) for y in outputs]
            losses = (pair_epsilon(law, copies, m.denominator, delta, i, j) for i, j in pairs)
            worst = max([worst, *losses])
        else:
            worst = max(worst, _largest_ratio(law, pairs))
    return worst


def _largest_ratio(law: list[list[int]], pairs: list[tuple[int, int]]) -> float:
    high, low = 1, 1
    for row in law:
        for i, j in pairs:
            if row[i] * low > high * row[j]:
                high, low = row[i], row[j]
    return log_ratio(high, low)
