"""Where a function crosses zero: regula falsi with the Illinois rule, which needs no heavy import."""

from __future__ import annotations

from collections.abc import Callable


def crossing(function: Callable[[float], float], low: float, high: float, *, width: float) -> float:
    """A zero between two points of different sign, to within a width.

    >>> round(crossing(lambda x: x * x - 2, 0.0, 2.0, width=1e-12), 9)
    1.414213562
    """
    at_low, at_high = function(low), function(high)
    side = 0
    for turn in range(200):
        if abs(high - low) <= width or at_low == 0 or at_high == 0:
            break
        # Every third step halves the interval, so that both ends close in.
        middle = (low + high) / 2 if turn % 3 == 2 else (low * at_high - high * at_low) / (at_high - at_low)
        value = function(middle)
        if (value > 0) == (at_high > 0):
            high, at_high = middle, value
            at_low, side = (at_low / 2 if side > 0 else at_low), 1
        else:
            low, at_low = middle, value
            at_high, side = (at_high / 2 if side < 0 else at_high), -1
    if at_low == 0:
        return low
    return high if at_high == 0 else (low + high) / 2
