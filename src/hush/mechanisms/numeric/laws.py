"""Intervals of means that cover at every n, whoever the people are.

Reports are independent; only the mean of the people's numbers is asked about, so a test must hold for every population
that has it. For Duchi's bits Hoeffding's theorem (Ann. Math. Stat. 1956) says that tails are largest where all people
are alike, up to one step from the mean: the interval is that of Clopper and Pearson. For windows, the exact moment
generating function is convex in a person's number: it is at most its chord, and most for people who are all alike on
that. At the points of the grid its logarithm is convex, too, which tells more of people at the two ends. Between two
points it is not, since numbers there are rounded at random, and exceeds its own chord by an eighth of the squared jump
at most (Hoeffding's lemma). Chernoff's bound of the tails follows from either.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hush.estimation import intervals, laws
from hush.mechanisms.numeric.pieces import Pieces
from hush.types import Floats, Ints

_TILTS = np.geomspace(1e-8, 1e5, 1 << 11)  # any tilt gives a bound, so that the best of many is one


class MeanLaw(ABC):
    """What is known of the law of an estimated mean, which is in steps of the grid, from 0 on."""

    word: ClassVar[str] = "exact"
    """What an interval from it rests on: "exact", or "bound"."""

    @abstractmethod
    def normal(self, tail: float) -> bool:
        """Whether the normal law is as good."""

    @abstractmethod
    def ends(self, tail: float) -> tuple[float, float]:
        """Lower and upper end, each of which misses with a chance of at most `tail`."""


@dataclass(frozen=True)
class Coins(MeanLaw):
    """Bits whose chance of a one grows evenly with the number.

    Args:
        ones: How many there are.
        n: Number of reports.
        base: Chance of a one at the lowest number.
        slope: What a step adds.
        steps: Of the grid.
    """

    ones: int
    n: int
    base: float
    slope: float
    steps: int

    def normal(self, tail: float) -> bool:
        """Where the number of ones varies much."""
        share = min(max(self.ones / self.n, self.base), 1 - self.base)
        return bool(laws.plain(self.n * share * (1 - share), tail))

    def ends(self, tail: float) -> tuple[float, float]:
        """The shares of ones that the binomial tails do not reject, as numbers."""
        low, high = self._least(self.ones, tail), 1 - self._least(self.n - self.ones, tail)
        first, last = (self._place(share) for share in (low, high))
        return first, last

    def _place(self, share: float) -> float:
        """The mean with this share of ones, if any has it; at the ends without rounding."""
        if share <= self.base:
            return 0.0
        return float(self.steps) if share >= 1 - self.base else min((share - self.base) / self.slope, float(self.steps))

    def _least(self, ones: int, tail: float) -> float:
        """The smallest mean chance; one of many may have it all, where there is a single one."""
        if ones < 2:
            return ones * tail / self.n
        return min(intervals.proportion_lower(ones, self.n, tail), (ones - 1) / self.n)


@dataclass(frozen=True, eq=False)
class Windows(MeanLaw):
    """Numbers that are bounded, and whose law is known for people at and next to the two ends.

    Args:
        total: Sum of what the reports say, in steps.
        n: Number of reports.
        steps: Of the grid.
        pieces: The law of what one report says, for people at the ticks of `outermost`.
        bent: Whether the logarithm of the moment generating function is convex over ticks, not only itself.
    """

    total: float
    n: int
    steps: int
    pieces: Pieces
    bent: bool

    word: ClassVar[str] = "bound"

    def normal(self, tail: float) -> bool:
        """Where the sum is not skewed, whoever the people are."""
        return bool(laws.straight(self.n / max(1.0, self._skewness), tail))

    @property
    def _skewness(self) -> float:
        """The largest squared skewness of a report."""
        ends = outermost(self.steps)
        return float(np.max(self.pieces.third(ends) ** 2 / self.pieces.variance(ends) ** 3))

    def ends(self, tail: float) -> tuple[float, float]:
        """Where Chernoff's bound leaves a chance of `tail`, whoever the people are."""
        low, high = self._shares(_TILTS, tail), self._shares(-_TILTS, tail)
        first = min(max(float(np.max(low, initial=0.0)), 0.0), 1.0)
        last = min(max(float(np.min(high, initial=1.0)), 0.0), 1.0)
        return self.steps * first, self.steps * last

    def _shares(self, tilts: Floats, tail: float) -> Floats:
        """For each tilt and bound, the mean, as a share of the range, at which it is `tail`."""
        theta = tilts / self.steps
        with np.errstate(all="ignore"):
            lowest, second, last, highest = self.pieces.cumulants(theta).T
            aim = (math.log(tail) + theta * self.total) / self.n
            share = np.expm1(aim - lowest) / np.expm1(highest - lowest)
            if self.bent:
                jump = np.maximum(np.abs(second - lowest), np.abs(highest - last))
                share = np.append(share, (aim - jump**2 / 8 - lowest) / (highest - lowest))
        return np.asarray(share[np.isfinite(share)])


def outermost(steps: int) -> Ints:
    """The lowest tick and the next, the last but one and the highest: no two neighbours jump further."""
    return np.array([0, 1, steps - 1, steps])
