"""Intervals of a total of amounts, which cover at every n, whoever the people are.

Reports are independent, and each adds on average its person's amount. Of the people only their total is asked about,
so a test must hold for every population that has it. By Chernoff, a tail is at most the product of the people's moment
generating functions; the logarithm of each is a point over its value's amount, and a straight line above all points
bounds the sum of any people by their total alone. All tilts and all such lines give bounds; the interval keeps what
none of them rejects. The normal law takes over where it is as good, by the rules of `laws`; it then reaches half a
step farther, where totals have steps.

Where nothing is known of what a report adds, the total is one that the intervals of all values together allow.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush.estimation import laws
from hush.types import Complexes, Floats

_TILTS = np.geomspace(1e-2, 1e2, 1 << 7)  # over the deviation of the sum: any tilt gives a bound
_LINES = np.geomspace(1 / 8, 8, 49)  # slopes of lines, in tilts
_CIRCLE = 32  # points around zero, from which a third cumulant follows
_SURE = 6.0  # deviations by which an estimated variance is never too large
_ROUNDING = 1e-7  # of a slope, against amounts
_CELLS = 1 << 21


class TotalLaw(ABC):
    """What is known of the law of an estimated total."""

    word: ClassVar[str] = "bound"
    """What an interval from it rests on."""

    variance: float
    """Of the estimate, estimated."""
    step: float
    """What totals are multiples of, but for a shift; 0 where there is no such step."""

    @abstractmethod
    def normal(self, tail: float) -> bool:
        """Whether the normal law is as good."""

    @abstractmethod
    def ends(self, tail: float) -> tuple[float, float] | None:
        """Lower and upper end, each of which misses with a chance of at most `tail`; None where unknown."""


@dataclass(frozen=True, eq=False)
class OfReports(TotalLaw):
    """A sum over people, each of whose reports adds something whose law is known.

    Args:
        total: What was estimated.
        n: Number of reports.
        amounts: Of each value, which is what a report of it adds on average.
        variances: Of what a report adds, for each value.
        variance: Of the estimate: what the estimated frequencies make of these, as far as any people can have it.
        doubt: The largest variance, over values, of what a report adds to the estimate of that variance.
        less_one: The mean of exp(i t x) less one, where x is what a report adds, for complex t, as [t, value].
        cells: Numbers that one point of it takes.
        step: What totals are multiples of, but for a shift; 0 where there is no such step.
    """

    total: float
    n: int
    amounts: Floats
    variances: Floats
    variance: float
    doubt: float
    less_one: Callable[[npt.NDArray[Any]], Complexes]
    cells: int
    step: float

    def normal(self, tail: float) -> bool:
        """Where the sum is not skewed and its variance is known, whoever the people are whose reports could be these.

        Steps do not show, since an interval reaches half of one farther.
        """
        least = max(self.n * float(self.variances.min()), self.variance - _SURE * math.sqrt(self.n * self.doubt))
        if not least > 0:
            return False
        known = math.inf if self.doubt == 0 else least * least / (self.n * self.doubt)
        if not laws.straight(min(known, self.n), tail):
            return False
        skewed = float(np.abs(self._third).max())
        return bool(laws.straight(math.inf if skewed == 0 else least**3 / (self.n * skewed) ** 2, tail))

    @cached_property
    def _third(self) -> Floats:
        """The third cumulant of what a report adds, for each value: a coefficient of the logarithm, by Cauchy."""
        radius = 0.05 / math.sqrt(float(self.variances.max()))
        around = radius * np.exp(2j * np.pi * np.arange(_CIRCLE) / _CIRCLE)
        logs = np.log1p(self._points(-1j * around)) - around[:, None] * self.amounts
        return np.asarray(6 * (logs / around[:, None] ** 3).mean(axis=0).real)

    def ends(self, tail: float) -> tuple[float, float]:
        """Where no bound rejects the total, within what people can have in all."""
        if not self.variances.max() > 0:
            return self.total, self.total
        low, high = self._least(1, tail), -self._least(-1, tail)
        bottom, top = self.n * float(self.amounts.min()), self.n * float(self.amounts.max())
        low, high = min(max(low, bottom), top), max(min(high, top), bottom)
        return low, max(low, high)

    def _least(self, sign: int, tail: float) -> float:
        """The smallest total that no bound of the upper tail rejects; with a negative sign, of negatives."""
        tilts = _TILTS / math.sqrt(self.n * float(self.variances.max()))
        with np.errstate(all="ignore"):
            logs = np.log1p(self._points(-1j * sign * tilts).real)
            good = self._precise(tilts, logs)
            tilts, logs = tilts[:good], logs[:good]
            aims = (math.log(tail) + tilts * sign * self.total) / self.n
            found = -math.inf
            for slope in _LINES:
                lines = slope * tilts
                over = (logs - lines[:, None] * (sign * self.amounts)).max(axis=1)  # how high the line lies
                each = (aims - over) / lines
                found = max(found, float(np.max(each[np.isfinite(each)], initial=-math.inf)))
        return self.n * found

    def _precise(self, tilts: Floats, logs: Floats) -> int:
        """How many tilts, from the smallest on, have logarithms of full precision.

        They are convex in the tilt. Where almost nothing of a generating function is left, rounding is all that is seen
        of it, and breaks this.
        """
        size = float(np.abs(self.amounts).max()) + math.sqrt(float(self.variances.max()))
        slopes = np.diff(logs, axis=0, prepend=0.0) / np.diff(tilts, prepend=0.0)[:, None]
        risen = np.diff(slopes, axis=0) >= -_ROUNDING * size
        fine = np.isfinite(logs).all(axis=1) & np.append(True, risen.all(axis=1))
        return int(fine.size if fine.all() else np.argmin(fine))

    def _points(self, theta: npt.NDArray[Any]) -> Complexes:
        """The function at many points, so many at a time that they fit into memory."""
        rows = max(1, _CELLS // self.cells)
        parts = [self.less_one(theta[start : start + rows]) for start in range(0, theta.size, rows)]
        return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class OfNoise(TotalLaw):
    """A sum whose variance is known, and little else.

    Args:
        variance: Of the estimate.
        plain: Whether the normal law is as good for the estimates of all values.
        step: What totals are multiples of, but for a shift; 0 where there is no such step.
    """

    variance: float
    plain: Callable[[float], bool]
    step: float = 0.0

    def normal(self, tail: float) -> bool:
        """Where it is for every value."""
        return self.plain(tail)

    def ends(self, tail: float) -> None:
        """Nothing is known."""


def allowed(amounts: Floats, lower: Floats, upper: Floats) -> tuple[float, float]:
    """The least and the largest mean amount of a distribution whose frequencies lie within these ends.

    All people start at their lower ends, and who is left goes where amounts are smallest, or largest. Where the lower
    ends alone add up to more than everybody, or the upper ones to less, no distribution does: these ends then miss, and
    what comes out holds the nearest ones.

    >>> low, high = allowed(np.array([0.0, 1.0, 10.0]), np.array([0.2, 0.1, 0.0]), np.array([0.9, 0.5, 0.3]))
    >>> round(low, 9), round(high, 9)
    (0.1, 3.5)
    """
    low, high = np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
    high = np.maximum(low, high)
    ends = []
    for order in (np.argsort(amounts), np.argsort(-amounts)):
        room = np.maximum(1.0 - low.sum(), 0.0)
        more = np.diff(np.minimum(np.cumsum((high - low)[order]), room), prepend=0.0)
        ends.append(float((low[order] + more) @ amounts[order] / max(float((low[order] + more).sum()), 1e-300)))
    return min(ends), max(ends)
