"""What shuffling is worth among few people: all that they may hold between them is gone through.

`hush.analysis.crowd` has an integral over a time z that bounds delta for people whose values are known. What a report
adds to its sum depends on the value held only by how likely reports are under it, u and v. So values that agree in this
are of one kind: most mechanisms have three, which are u, v and any other. Among few people every number of holders of
each kind is tried, and the worst counts. Each is an upper bound in three steps.

Times. Likelihoods P_w - (1 - z) B are linear in z, and so are they times what a report adds, z (P_u - e^epsilon P_v).
So at a time between s and t somebody's report is a mixture of what it would be at s and at t. To show which can only
tell more, and leaves a polynomial in z of degree n - 1 to integrate: a rule of Gauss does it exactly.

Sums. E[(x + what reports add)+] is convex in x, so chords between the points of a grid lie above it. Likewise the mass
of a report between two points is divided between both such that its mean stays.

Blankets. B need only lie below the laws of what others do hold. If that is u, v and at most one holder of anything
else, it is the least of their laws; where all hold the same, nothing is lost then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import leggauss

from hush.analysis.crowd import DIGITS, DRIFT, ROUNDING, CrowdLaw, lowered
from hush.types import Floats, Ints

_NEAR, _CLOSE = 0.999, 1e-6  # a search ends where so much of delta is used, or epsilon is known so well
_LITTLE = 0.1  # of delta: so much less that epsilon is near its largest
_PARTS, _SOME = 4, 10  # of the times; twice as many where so few make it cheap
_POINTS, _FINER = 50, 4  # of a grid, each distance in so many
_NEXT_TO_NOTHING = 1e-9  # of the largest that a report adds: the grid need not be finer
_MOST_PEOPLE = 100
_MOST_WORK = 2_900  # of one search, in products of a matrix and a vector: about a second in all
_SETTING_OUT = 20  # to write a matrix down, in such products


@dataclass(frozen=True, eq=False)
class _KindOfValue:
    """Values that tell as much of u and v. Reports that are alike under all three are counted together.

    Args:
        row: How likely reports are under one such value.
        other: That it is neither u nor v.
        chances: How likely they are under the blanket, alike ones together.
        first: How much likelier each is under u.
        second: The same under v.
        more: The same under the value itself, less 1.
    """

    row: Floats
    other: bool
    chances: Floats
    first: Floats
    second: Floats
    more: Floats

    @classmethod
    def of(cls, crowd: CrowdLaw, row: Floats, least: Floats) -> _KindOfValue:
        logs = np.column_stack([np.log(law / least) for law in (crowd.first, crowd.second, row)]).round(DIGITS) + 0.0
        alike, which = np.unique(logs, axis=0, return_inverse=True)
        chances = np.bincount(which.ravel(), crowd.weights * least, len(alike)).astype(np.float64)
        other = not any(np.array_equal(row, law) for law in (crowd.first, crowd.second))
        return cls(row, other, chances, np.exp(alike[:, 0]), np.exp(alike[:, 1]), np.expm1(alike[:, 2]))

    def like(self, kind: _KindOfValue) -> bool:
        """Whether reports of both add the same to the sum, as often, at any time."""
        if self.chances.size != kind.chances.size:
            return False
        one, two = (np.stack([each.chances, each.first, each.second, 1 + each.more]) for each in (self, kind))
        return bool((np.abs(one / two - 1) <= DRIFT).all())


class _Interval:
    """The times between two: what reports add, on a grid, at the points of a rule of Gauss.

    Vectors over the grid have one more entry: 1 for a function of x, the excess above the grid for a law of x.
    """

    def __init__(self, kinds: Sequence[_KindOfValue], e: float, others: int, start: float, end: float) -> None:
        points, weights = leggauss(others // 2 + 1)
        share, gamma = (points + 1) / 2, float(kinds[0].chances.sum())
        time = start + share * (end - start)
        mass = 1 - (1 - time) * gamma
        self.weights = weights / 2 * (end - start) * mass**others
        slots = []
        for kind in kinds:
            adds, above = gamma * (kind.first - e * kind.second), kind.more > 0
            early, late = kind.more[above] + start, kind.more + end
            values = np.concatenate([start * adds[above] / early, np.where(above, end * adds / late, adds)])
            at_end = np.where(above, np.outer(share, kind.chances * late), np.outer(time, kind.chances))
            chances = np.column_stack([np.outer(1 - share, kind.chances[above] * early), at_end])
            slots.append((values, chances / mass[:, None]))
        self.grid = _grid(np.concatenate([values for values, _ in slots]), others)
        own = gamma * (kinds[0].first - e * kinds[0].second), kinds[0].chances[None] / gamma
        self.own = self._moved(np.zeros(1), *own)[0, 0]
        self.steps = [self._step(*slot) for slot in slots]
        self.positive = np.append(np.maximum(self.grid, 0.0), 1.0)

    def one(self, held: Sequence[int]) -> float:
        """The integral, if so many hold a value of each kind."""
        worth = np.broadcast_to(self.positive[:, None], (self.weights.size, self.positive.size, 1))
        for step, count in zip(self.steps, held, strict=True):
            for _ in range(count):
                worth = step @ worth
        return float(self.weights @ (worth[:, :, 0] @ self.own))

    def all(self, held: Ints) -> Floats:
        """The integral for all numbers of holders, in the order of `_all_held`."""
        others, (nodes, size) = int(held[0].sum()), (self.weights.size, self.positive.size)
        worth, people = np.broadcast_to(self.positive[:, None], (nodes, size, 1)), np.zeros(1, np.int64)
        for step in self.steps[1:]:
            found, numbers = [worth], [people]
            for _ in range(others):
                room = numbers[-1] < others
                found.append(step @ found[-1][:, :, room])
                numbers.append(numbers[-1][room] + 1)
            worth, people = np.concatenate(found, axis=2), np.concatenate(numbers)
        laws = [np.broadcast_to(self.own, (nodes, 1, size))]
        for _ in range(others):
            laws.append(laws[-1] @ self.steps[0])
        law = np.concatenate(laws, axis=1)[:, held[:, 0]]
        return np.asarray(self.weights @ np.einsum("mcx,mxc->mc", law, worth))

    def _step(self, values: Floats, chances: Floats) -> Floats:
        """What one more report does: matrices, by the points of the rule."""
        moved = self._moved(self.grid, values, chances)
        last = np.zeros((len(chances), 1, self.grid.size + 1))
        last[:, :, -1] = 1.0
        return np.concatenate([moved, last], axis=1)

    def _moved(self, places: Floats, values: Floats, chances: Floats) -> Floats:
        """Where one is after a report from each place: the law, divided between points of the grid."""
        grid, rows = self.grid, np.arange(places.size)
        there = places + values[:, None]
        inside = np.clip(there, grid[0], grid[-1])
        before = np.clip(np.searchsorted(grid, inside) - 1, 0, grid.size - 2)
        share = (inside - grid[before]) / (grid[before + 1] - grid[before])
        found = np.zeros((len(chances), places.size, grid.size + 1))
        for i in range(values.size):
            found[:, rows, before[i]] += np.outer(chances[:, i], 1 - share[i])
            found[:, rows, before[i] + 1] += np.outer(chances[:, i], share[i])
        found[:, :, -1] = chances @ np.maximum(there - grid[-1], 0.0)
        return found


@dataclass(frozen=True, eq=False)
class _FewPeople:
    """People few enough to go through all that they may hold."""

    crowd: CrowdLaw
    others: int
    kinds: Sequence[_KindOfValue]

    @classmethod
    def of(cls, n: int, crowd: CrowdLaw) -> _FewPeople:
        kinds: list[_KindOfValue] = []
        for row in (crowd.first, crowd.second, *crowd.others):
            kind = _KindOfValue.of(crowd, row, crowd.least)
            if not any(kind.like(known) for known in kinds):
                kinds.append(kind)
        return cls(crowd, n - 1, sorted(kinds, key=lambda kind: -kind.chances.size))

    @property
    def work(self) -> int:
        """About how long one delta takes."""
        ways = math.comb(self.others + len(self.kinds) - 1, len(self.kinds) - 1)
        return (self.others // 2 + 1) * (ways + sum(kind.chances.size + _SETTING_OUT for kind in self.kinds))

    def delta(self, e: float) -> float:
        """The worst of all that others may hold: what looks worst is looked at more closely, until that is no use."""
        held = _all_held(self.others, len(self.kinds))
        rough = sum((part.all(held) for part in self._parts(self.kinds, e)), np.zeros(len(held)))
        worst = 0.0
        for at in np.argsort(-rough):
            if rough[at] <= worst:
                break
            worst = max(worst, min(float(rough[at]), self._closer(e, held[at])))
        return worst

    def _closer(self, e: float, held: Ints) -> float:
        """For numbers of holders of each kind, with a blanket of their own, if the values are known."""
        present = [(kind, int(count)) for kind, count in zip(self.kinds, held, strict=True) if count]
        if sum(count for kind, count in present if kind.other) > 1:
            return math.inf
        least = np.min([kind.row for kind, _ in present], axis=0)
        kinds = [_KindOfValue.of(self.crowd, kind.row, least) for kind, _ in present]
        return sum(part.one([count for _, count in present]) for part in self._parts(kinds, e))

    def _parts(self, kinds: Sequence[_KindOfValue], e: float) -> Iterator[_Interval]:
        for start, end in pairwise(np.linspace(0.0, 1.0, (_PARTS if self.others > _SOME else 2 * _PARTS) + 1)):
            yield _Interval(kinds, e, self.others, float(start), float(end))


def few_delta(epsilon: float, n: int, crowd: CrowdLaw) -> float:
    """The delta of n shuffled reports at a central epsilon: an upper bound.

    Args:
        epsilon: The central epsilon, in nats.
        n: Number of reports, the person's own included: some ten or twenty, since time grows with their cube.
        crowd: How likely reports are.
    """
    return _delta(epsilon, _FewPeople.of(n, crowd))


def few_epsilon(delta: float, n: int, crowds: Sequence[CrowdLaw], most: float) -> float:
    """The central epsilon of n shuffled reports at a delta: an upper bound, and at most `most`, which is known to do.

    Args:
        delta: The central delta.
        n: Number of reports.
        crowds: How likely reports are, for all pairs of values; the worst counts.
        most: An epsilon that is known to be enough; also the answer where it would take long to find a better one.
    """
    if not 2 <= n <= _MOST_PEOPLE or not crowds or delta <= 1e-250 or most <= 0:
        return most
    all_of_them = [_FewPeople.of(n, crowd) for crowd in crowds]
    if sum(each.work for each in all_of_them) > _MOST_WORK:
        return most
    return _smallest(lambda epsilon: max(_delta(epsilon, each) for each in all_of_them), delta, most)


def _smallest(delta_of: Callable[[float], float], delta: float, most: float) -> float:
    """The smallest epsilon with at most a delta, from above; `most` if that has more."""

    def ratio(epsilon: float) -> float:
        return delta_of(epsilon) / delta

    high, low, share = most, 0.9 * most, 0.9
    less = ratio(most)
    if less > 1:
        return most
    while (more := ratio(low)) <= 1:
        high, less, share = low, more, max(share * share, 0.1)
        if high < 1e-14:
            return high
        low *= share
    halve, last = False, None
    while less < _NEAR and high - low > _CLOSE * high:
        middle = low + (0.5 if halve else _way(more, less)) * (high - low)
        found = ratio(middle)
        if found > 1:
            low, more = middle, found
        else:
            high, less = middle, found
        halve, last = (found > 1) is last and not halve, found > 1
    return high


def _way(more: float, less: float) -> float:
    """Where between two epsilons a ratio is about 1: it is next to linear near the largest, else its logarithm is."""
    aim = (1 + _NEAR) / 2
    return (more - aim) / (more - less) if less < _LITTLE else math.log(more / aim) / math.log(more / less)


def _delta(epsilon: float, few: _FewPeople) -> float:
    # If likelihoods are off by a drift, reports add no more than at a smaller epsilon, times what is added below.
    e = lowered(math.exp(epsilon))
    alone = few.crowd.alone(e)
    if few.others == 0 or alone == 0 or few.crowd.blanket <= 0:
        return alone
    return min(alone, few.delta(e) * (1 + ROUNDING + DRIFT * (few.others + 1)))


def _all_held(others: int, kinds: int) -> Ints:
    """How many hold a value of each kind, in all ways: the first kind's number is what is left."""
    ways: list[tuple[int, ...]] = [()]
    for _ in range(kinds - 1):
        ways = [(*way, count) for count in range(others + 1) for way in ways if sum(way) + count <= others]
    return np.array([(others - sum(way), *way) for way in ways])


def _grid(values: Floats, others: int) -> Floats:
    """Points from where all sums would end below 0 to where all would end above: denser near 0, which is one."""
    sizes = np.abs(values)
    unit = float(sizes[sizes > _NEXT_TO_NOTHING * sizes.max()].min())
    below, above = (math.asinh(max(others * float(most), unit) / unit) for most in (values.max(), -values.min()))
    left = min(max(round(_POINTS * below / (below + above)), 1), _POINTS - 1)
    lower, upper = np.linspace(-below, 0.0, _FINER * left + 1), np.linspace(0.0, above, _FINER * (_POINTS - left) + 1)
    return np.asarray(unit * np.sinh(np.concatenate([lower[:-1], upper])))
