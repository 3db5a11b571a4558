"""Choosing the parameter with the least score, so that every processor chooses the same one.

Around its least value a score is flat, and the last bit of exp and log, which differs between processors, would decide
between neighbours. So whole numbers are taken to be equally good if their scores agree to a part in 10^9, and the first
of them is chosen; of real numbers, the middle of those that agree to a part in 10^8, which is where the least value is,
among decimals of six digits. What is chosen has few digits, and is written into specs, which are read without choosing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from hush.types import Floats

Score = Callable[[Floats], Floats]

DIGITS = 6
"""Of a real parameter that was chosen."""

_FEWER_DIGITS, _REACH = 4, 10  # real numbers are looked at with fewer digits first, then so far around the best
_WHOLE_DIGITS = 5
_SAME, _FLAT = 1e-9, 1e-8
_MANY = 20_000


def first(scores: npt.ArrayLike) -> int:
    """The place of the first score that is the least, or as good.

    >>> first([2.0, 1.0 + 1e-12, 1.0])
    1
    """
    return int(np.argmax(_near(scores, _SAME)))


def middle(scores: npt.ArrayLike) -> int:
    """The middle of the first run of scores that are as good as the least; an end of all, if the run reaches it.

    >>> middle([4.0, 1.0, 0.0, 1.0, 4.0]), middle([0.0, 1e-12, 1.0])
    (2, 0)
    """
    near = _near(scores, _FLAT)
    start = int(np.argmax(near))
    length = int(np.argmin(np.append(near[start:], False)))
    if start == 0 or start + length == near.size:
        return 0 if start == 0 else near.size - 1
    return start + (length - 1) // 2


def _near(scores: npt.ArrayLike, share: float) -> npt.NDArray[np.bool_]:
    found = np.asarray(scores, np.float64)
    found = np.where(np.isnan(found), np.inf, found)
    least = float(found.min())
    return np.asarray(found <= least + share * abs(least))


def whole(score: Score, least: int, most: int) -> int:
    """The integer with the least score, in a range; of a longer one than five digits, the others are zeros.

    All are looked at, or, of very many, a spread and then those around the best.

    >>> whole(lambda x: (x - 7.2) ** 2, 1, 10**6), whole(lambda x: (x - 7_654_321) ** 2 + 1e14, 1, 10**7)
    (7, 7654100)
    """
    grid = integers(least, most)
    with np.errstate(all="ignore"):
        at = first(score(grid))
        if most - least >= _MANY:
            low, high = int(grid[max(at - 1, 0)]), int(grid[min(at + 1, grid.size - 1)])
            step = 10 ** max(0, len(str(high)) - _WHOLE_DIGITS)
            grid = np.unique(np.clip(np.arange(low - low % step, high + step, step, dtype=np.float64), low, high))
            at = first(score(grid))
    return int(grid[at])


def integers(least: int, most: int) -> Floats:
    """All of a range; of very many, a spread that is even by their ratios."""
    if most - least < _MANY:
        return np.arange(least, most + 1.0)
    return np.unique(np.round(np.geomspace(least, most, _MANY)))


def share(score: Score, grid: Floats) -> float:
    """The number in [0, 1] with the least score: of decimals of six digits around the best of a coarse grid.

    >>> share(lambda x: (x - 1 / 3) ** 2 + 1, np.linspace(0.1, 0.9, 20))
    0.333333
    """
    with np.errstate(all="ignore"):
        low, high = _around(middle(score(grid)), grid, 1)
        fewer = np.unique(np.concatenate([[low], decimals(low, high, _FEWER_DIGITS), [high]]))
        fine = decimals(*_around(middle(score(fewer)), fewer, _REACH))
        return float(fine[middle(score(fine))])


def _around(at: int, grid: Floats, reach: int) -> tuple[float, float]:
    return float(grid[max(at - reach, 0)]), float(grid[min(at + reach, grid.size - 1)])


def decimals(low: float, high: float, digits: int = DIGITS) -> Floats:
    """All decimals between two numbers in [0, 1], of so many digits in themselves or in what they lack of one.

    >>> decimals(0.1999998, 0.2000013).tolist()
    [0.2, 0.200001]
    """
    unit = 10 ** _places(min(high, 1 - low), digits)
    while (high - low) * unit > _MANY:  # as near an end, where there is no end to digits
        unit //= 10
    return np.arange(math.ceil(low * unit), math.floor(high * unit) + 1) / unit


def shortened(x: float) -> float:
    """The nearest decimal of six digits: of x itself or, above one half, of 1 - x.

    >>> shortened(1 / 3), shortened(1 - 1 / 3e5)
    (0.333333, 0.99999666667)
    """
    return round(x, _places(min(x, 1 - x), DIGITS))


def _places(size: float, digits: int) -> int:
    """Decimal places of a number of this size with so many digits."""
    return digits - 1 - Decimal(size).adjusted() if size > 0 else digits
