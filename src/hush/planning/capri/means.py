"""People of whom only the mean is known, and for which of them an estimate of their total errs most.

A collection with a mechanism for means tells how much people hold in all, and not who holds what. What a report errs by
depends on the amount behind it. In steps of a grid of N, at a grid point t, the variance of what a report says is

- a constant less (t - N/2)² under Duchi;
- a constant and r (t - N/2)² under Piecewise, r being the odds of a place that knows nothing of t;
- the mixture of both under Hybrid, a constant and (c r - (1 - c)) (t - N/2)², c being how often it is Piecewise: as
  under Duchi where epsilon is small, and next to a constant beyond, where one nearly makes up for the other.

So the variance of a total is linear in the sum of squares, and of all people with a mean it is extreme for those who
are as alike as can be, or as far apart. (Between grid points, rounding adds to it under Piecewise and Hybrid. Amounts
of one lattice are grid points, unless `steps` says otherwise.)

A probability is not a variance alone. Of Duchi's reports, only the number of ones counts, and with the mean its
expectation is known. To make two people more alike makes every number of ones that is two or more away from it likelier
to be passed (Hoeffding 1956, Gleser 1975: of the others, P(S = c) rises up to the mode, which is next to the mean). So
people as alike as can be are the worst, exactly, wherever all numbers of ones that decide wrongly are two or more away.
There is no such theorem for the other two, and where the variance is the same for all, skew decides. So a third crowd
is looked at: to the first two orders for many people (Edgeworth) the probability depends on sums over people alone, of
variances and of third moments, and is the largest for people at two amounts, those of an edge of an upper hull.

The worst of the three is no bound that is proved but for Duchi. Where all people with a mean were enumerated, ten or
fewer, some exceeded it by up to 0.2 % of the probability under Piecewise and 4 % under Hybrid; of two crowds alone, by
its double. From a hundred people on, of other crowds at two amounts none exceeds it by more than 0.1 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from hush.analysis.capacity import lattice
from hush.mechanisms.numeric.base import Numeric
from hush.people import Domain, Population
from hush.types import Floats

_AGAIN = 3

SPREADS = ("even", "apart", "between", "any")
"""Who decides, of people with one mean: those as alike as can be, as far apart, or at two amounts in between; or all
need the same."""


@dataclass(frozen=True, eq=False)
class OnlyMean:
    """So many people of whom a collection told the mean, and no more.

    Args:
        n: How many they are.
        estimated: Their total as it was estimated, raw.
        domain: Its values are the amounts that they may hold.
        name: What to call them.
        spent: The budget that the collection took from each of them.

    >>> people = OnlyMean(4, 5.2, Domain(size=4, values=[0, 1, 2, 3]))
    >>> people.total, people.even.counts.tolist(), people.apart.counts.tolist()
    (5.0, [3, 1], [2, 1, 1])
    >>> people.even.amounts.tolist(), people.apart.amounts.tolist()
    ([1.0, 2.0], [0.0, 2.0, 3.0])
    """

    n: int
    estimated: float
    domain: Domain
    name: str = ""
    spent: float = 0.0

    @property
    def k(self) -> int:
        """Number of amounts."""
        return self.domain.size

    @property
    def amounts(self) -> Floats:
        """What each value adds to a total."""
        return self.domain.amounts

    @cached_property
    def total(self) -> float:
        """The nearest total that is possible: within the amounts' range, and on their lattice where they have one."""
        return float(self._exact)

    @cached_property
    def even(self) -> Population:
        """People who are as alike as can be: at the amounts next to the mean."""
        at = int(np.searchsorted(self._held, float(self._exact / self.n), side="right"))
        at = min(max(at, 1), self._held.size - 1)
        return self.at(float(self._held[at - 1]), float(self._held[at]))

    @cached_property
    def apart(self) -> Population:
        """People who are as far apart as can be: at the smallest and the largest amount."""
        return self.at(float(self._held[0]), float(self._held[-1]))

    def at(self, low: float, high: float) -> Population:
        """The people at two amounts around the mean; one of them between, where the total needs it."""
        first = _printed(low)
        many, left = divmod(self._exact - self.n * first, _printed(high) - first)
        counts = {low: self.n - many, high: many}
        if left:
            counts[low] -= 1
            odd = float(first + left)
            counts[odd] = counts.get(odd, 0) + 1
        held = sorted(counts)
        people = np.array([counts[amount] for amount in held], np.int64)
        return Population(people, Domain(size=len(held), values=held), estimated=True)

    def hardest(self, m: Numeric, cap: float) -> dict[str, Population]:
        """Those for whom the estimated total falls on the wrong side of the cap most often, or one of them does.

        Args:
            m: The mechanism, at a budget.
            cap: What the total is told from.
        """
        found = {"even": self.even, "apart": self.apart, "between": self._skewed(m, cap)}
        different: dict[str, Population] = {}
        for name, people in found.items():
            if not any(_same(people, other) for other in different.values()):
                different[name] = people
        return different

    def _skewed(self, m: Numeric, cap: float) -> Population:
        """The people at two amounts for whom Edgeworth's expansion has the most on the wrong side of the cap."""
        held, mean = self._held, float(self._exact / self.n)
        spread, skew = m.forms.central(held)
        low, high = _bridge(held, spread, mean)
        for _ in range(_AGAIN):
            variance = self.n * _chord(held, spread, low, high, mean)
            away = abs(self.total - cap) / math.sqrt(variance)
            side = 1.0 if self.total <= cap else -1.0
            worse = away * spread / (2 * variance) + side * (away**2 - 1) * skew / (6 * variance**1.5)
            low, high = _bridge(held, worse, mean)
        return self.at(float(held[low]), float(held[high]))

    @cached_property
    def _held(self) -> Floats:
        """The amounts, each once, in order."""
        return np.unique(self.amounts)

    @cached_property
    def _exact(self) -> Fraction:
        """The total, as amounts are printed."""
        first, last = (self.n * _printed(float(end)) for end in (self._held[0], self._held[-1]))
        total = min(max(Fraction(self.estimated), first), last)
        step = _printed(lattice(self._held.tolist(), from_first=True))
        return first + round((total - first) / step) * step if step else total


def _printed(amount: float) -> Fraction:
    """An amount as it is printed, so that 0.3 is three times 0.1."""
    return Fraction(repr(amount))


def _same(one: Population, other: Population) -> bool:
    people = [{a: c for a, c in zip(each.amounts, each.counts, strict=True) if c} for each in (one, other)]
    return people[0] == people[1]


def _bridge(at: Floats, height: Floats, mean: float) -> tuple[int, int]:
    """The two points, left and right of the mean, whose line is above all others there: an edge of the upper hull.

    Each is looked for beside the other until neither moves; every point is then below the line through both.
    """
    split = min(max(int(np.searchsorted(at, mean, side="right")), 1), at.size - 1)
    low, high = split - 1, split
    for _ in range(at.size):  # never so often, but doubles may disagree about points on one line
        right = split + int(np.argmax((height[split:] - height[low]) / (at[split:] - at[low])))
        left = int(np.argmin((height[right] - height[:split]) / (at[right] - at[:split])))
        if (left, right) == (low, high):
            break
        low, high = left, right
    return low, high


def _chord(at: Floats, height: Floats, low: int, high: int, mean: float) -> float:
    """Where the line through two points is at the mean."""
    part = (mean - at[low]) / (at[high] - at[low])
    return float((1 - part) * height[low] + part * height[high])
