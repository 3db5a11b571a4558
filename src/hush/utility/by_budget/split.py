"""How the budgets of values bound their bits, exactly.

A bit is one with probability p where its value is held, and else with q. A one tells ln(p/q) for the value, a zero
ln[(1-q)/(1-p)] against it. Bits are independent, so the report that tells most for u and against v has a one for u and
a zero for v: the loss of the pair is what a one of u tells, plus what a zero of v tells. Where it is at most the
smaller budget of the two, a zero of v may tell what is left over by the ones of all other values.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hush.exact.thresholds import SCALE, clamp, exponential

_ROUNDING = 1 - Fraction(1, 10**50)


def left_over(budgets: Sequence[float], one_loss: Sequence[float]) -> list[Fraction]:
    """What a zero of each value may tell, given what ones do: the least that is left of any other pair's budget.

    >>> [float(left) for left in left_over([0.5, 2.0, 2.0], [0.125, 0.375, 0.25])]
    [0.125, 0.375, 0.375]
    """
    exact = {x: Fraction(x) for x in {*budgets, *one_loss}}
    slack = _least_of_others([exact[budget] - exact[one] for budget, one in zip(budgets, one_loss, strict=True)])
    most = _least_of_others([-exact[one] for one in one_loss])
    return [min(own, exact[budget] + other) for budget, own, other in zip(budgets, slack, most, strict=True)]


def _least_of_others(numbers: list[Fraction]) -> list[Fraction]:
    """For each place, the least number at any other place."""
    at = min(range(len(numbers)), key=numbers.__getitem__)
    second = min(number for place, number in enumerate(numbers) if place != at)
    return [second if place == at else numbers[at] for place in range(len(numbers))]


def thresholds(one: Fraction, zero: Fraction) -> tuple[int, int]:
    """Out of 2^64, p and q of a bit whose one tells at most `one`, and whose zero at most `zero`, in nats.

    p is rounded down; q is the least integer that keeps both, at most one more than the exact number.
    """
    for_one, for_zero = (exponential(loss) * _ROUNDING for loss in (one, zero))
    own = clamp(int(SCALE * for_one * (for_zero - 1) / (for_one * for_zero - 1)))
    least = max(own / for_one, SCALE - for_zero * (SCALE - own))
    return own, clamp(-int(-least // 1))
