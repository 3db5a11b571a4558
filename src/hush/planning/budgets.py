"""Round budgets: epsilons of a few decimal digits in order, and where among them a measure crosses zero.

What a person reads in a plan, and what its spec writes, is such a number; all that is told of it was measured at it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

Measure = Callable[[float], float]

LEAST_EPSILON = 1e-3
MOST_EPSILON = 40.0
"""The budgets that are looked at."""
USUAL, FINEST = 3, 6
"""Decimal digits of a budget; and where the wishes leave no room for that, at most."""
_REACH = 32
"""Places from the first guess to the second one, where nothing is known."""


def rounded(x: float, towards: Callable[[float], int], digits: int = USUAL) -> float:
    """A number with so many digits, up or down.

    >>> rounded(1.06834, math.ceil), rounded(0.0106834, math.floor)
    (1.07, 0.0106)
    """
    places = digits - 1 - math.floor(math.log10(x))
    return round(towards(round(x * 10.0**places, 6)) / 10.0**places, max(places, 0))


def budget(place: int, digits: int = USUAL) -> float:
    """The budget at a place, counted from the least.

    >>> budget(0), budget(900), budget(1 + 3 * 900), budget(1, 5)
    (0.001, 0.01, 1.01, 0.0010001)
    """
    decade, step = divmod(place, 9 * 10 ** (digits - 1))
    return float(f"{10 ** (digits - 1) + step}e{decade - 2 - digits}")


def place(epsilon: float, digits: int = USUAL) -> int:
    """The place of a round budget; of another one, the nearest below it, within the range.

    >>> [place(budget(i, 4), 4) for i in (0, 8_999, 9_000, 27_500)]
    [0, 8999, 9000, 27500]
    """
    inside = min(max(epsilon, LEAST_EPSILON), MOST_EPSILON)
    decade = math.floor(math.log10(inside) + 1e-12)
    step = math.floor(inside * 10.0 ** (digits - 1 - decade) * (1 + 1e-12)) - 10 ** (digits - 1)
    return (decade + 3) * 9 * 10 ** (digits - 1) + step


def first(measure: Measure, start: float) -> int | None:
    """The place of the least usual budget at which a falling measure is at most zero; None where there is none.

    Where it does not fall everywhere, a place where it crosses zero. Which one depends on nothing but the measure and
    the start.
    """
    last = place(MOST_EPSILON)
    found = _settled(lambda i: measure(budget(i)), -1, last + 1, place(start))
    return None if found > last else found


def least(measure: Measure, start: float, most: float | None = None) -> float | None:
    """The least usual budget at which a falling measure is at most zero; None where there is none.

    Args:
        measure: What must not be above zero.
        start: About where it crosses.
        most: The largest that is accepted, if there is one: it stands in where the next usual one is above it.

    >>> least(lambda epsilon: 1.2341 - epsilon, 1.0), least(lambda epsilon: 1.2341 - epsilon, 1.0, 1.2345)
    (1.24, 1.2345)
    """
    at = first(measure, start)
    found = None if at is None else budget(at)
    if most is not None and (found is None or found > most) and measure(most) <= 0:
        return most
    return found


def finer(measure: Measure, at: int, digits: int) -> float:
    """What `first` would find among budgets of more digits, between the usual one at a place and the one before it."""
    low = place(budget(at - 1), digits) if at else -1
    return budget(_settled(lambda i: measure(budget(i, digits)), low, place(budget(at), digits)), digits)


def _settled(measure: Callable[[int], float], low: int, high: int, start: int | None = None) -> int:
    """The place after which it is above zero no more, between two that are known, by secants and halves."""
    seen: dict[int, float] = {}
    reach = _REACH
    at = (low + high) // 2 if start is None else start
    while high - low > 1:
        at = min(max(at, low + 1), high - 1)
        seen[at] = measure(at)
        low, high = (low, at) if seen[at] <= 0 else (at, high)
        rise = seen.get(low, math.inf) - seen.get(high, -math.inf)
        if math.isfinite(rise) and rise > 0 and len(seen) % 3:
            at = low + round((high - low) * seen[low] / rise)
        elif start is None or (low in seen and high in seen):
            at = (low + high) // 2
        else:  # one end is that of the range, and far away
            at = high - reach if high in seen else low + reach
            reach *= 4
    return high
