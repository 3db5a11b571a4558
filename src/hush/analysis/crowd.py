"""What shuffling is worth where it is known how likely a report is under what the others hold.

A person holds u or v, everybody else some known value w. A part B of every law is the blanket, of mass gamma. Whoever's
report came from B could as well have sent the person's: they and the person get independent uniform times, and the
person's report changes places with that of whoever is latest. Then everybody's place is shown, and the time z of the
latest, but not who it was. The multiset follows from what is shown, so this bounds what it tells. Reports that stayed
are draws from P_w - (1 - z) B, and with rho = 1 - (1 - z) gamma

    delta <= integral from 0 to 1 of E[(L + gamma z (V_2 + ... + V_n))+] rho^(n-1) dz,

where L is gamma (P_u - e^epsilon P_v)/B at a draw from B, and V_i is (P_u - e^epsilon P_v)/(P_w - (1 - z) B) at a draw
from the normalized P_w - (1 - z) B, for the value w of person i. What others hold is not known to whoever states the
bound, and no value is the worst in convex order. But for every s with a positive real part

    E[S+] = 1/(2 pi i) integral of E[exp(s S)] / s^2 ds    on a line of constant real part,

and the integral of the absolute values is larger, where each factor is at most the largest of any value. On the line
through the saddle point hardly anything is lost: the factors are real there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise, permutations

import numpy as np

from hush.analysis.roots import crossing
from hush.types import Floats

ROUNDING = 1e-7  # far more than double precision can lose, relative to delta
DRIFT = 2e-13  # of every report's likelihood, relative: alike are those that differ by no more
_SPARED = 1e-3  # of delta, which the times before the first part may cost
_EARLIEST = 0.02  # the first part begins no earlier
DIGITS = 13  # of logarithms of likelihoods that are alike
_MORE = 1e-6  # of epsilon, by which a search may come out too large
_NOISE = 1e-4  # variance of what is added to a sum, relative: it makes the integral end
_FINE, _COARSE, _END = np.arange(0.0, 6.0, 0.02), np.arange(6.0, 20.0, 0.25), np.geomspace(20.0, 900.0, 400)
_POINTS = np.concatenate([_FINE, _COARSE, _END])  # on the line, in standard deviations


@dataclass(frozen=True)
class CrowdLaw:
    """How likely reports are under two values, and under all that others may hold.

    Reports that are alike in all this are counted together.

    Args:
        weights: How many reports there are of each kind, or how likely they are under some law.
        first: How likely one of them is under the person's value, relative to its weight.
        second: The same under the other value.
        others: The same under values of others, a row for each; the two values need not be among them.
        least: The same under the blanket, which is at most that of every value.
    """

    weights: Floats
    first: Floats
    second: Floats
    others: Floats
    least: Floats

    @property
    def blanket(self) -> float:
        """The mass of the blanket, gamma."""
        return float(self.weights @ self.least)

    @classmethod
    def of_levels(cls, patterns: Mapping[tuple[bool, ...], Fraction], high: Fraction, low: Fraction) -> CrowdLaw:
        """Of reports that support the two values and a third, or not, and have two levels of probability.

        Args:
            patterns: How likely reports that support these of the values are, under a law in which no value is special;
                without a third where there are but two values.
            high: How much likelier than under that law a report is that supports the value held.
            low: How likely one is that does not.
        """
        levels = np.array([[float(high if it else low) for it in pattern] for pattern in patterns]).T
        weights = np.array([float(weight) for weight in patterns.values()])
        return cls(weights, levels[0], levels[1], levels[2:], np.full(weights.size, float(low)))

    @classmethod
    def of_law(cls, law: Floats) -> list[CrowdLaw]:
        """Of a law that is listed, by output and value: one for every pair of values that is unlike those before it.

        None where an output is impossible for some value and not for all.
        """
        law = law[law.max(axis=1) > 0]
        if not law.size or law.min() <= 0:
            return []
        least = law.min(axis=1)
        found: dict[frozenset[object], CrowdLaw] = {}
        for u, v in permutations(range(law.shape[1]), 2):
            each = np.round(np.log(law[:, [u, v]] / least[:, None]), DIGITS)
            kinds = [np.column_stack([each, np.log(row / least), np.log(least)]).round(DIGITS) for row in law.T]
            key = frozenset(tuple(sorted(map(tuple, kind.tolist()))) for kind in kinds)
            found.setdefault(key, cls(np.ones(len(law)), law[:, u], law[:, v], law.T, least))
        return list(found.values())

    @property
    def chi_square(self) -> float:
        """What n times the variance of the loss is in a huge crowd of the worst kind."""
        rows = np.vstack([self.others, self.first[None], self.second[None]])
        return float(((self.first - self.second) ** 2 / rows @ self.weights).max())

    def alone(self, e: float) -> float:
        """Delta without anybody else."""
        return float(self.weights @ np.maximum(self.first - e * self.second, 0.0))


@dataclass(frozen=True)
class _Slots:
    """What one report adds, gamma V of the module's docstring, for each value that others may hold."""

    values: Floats  # a row for each value
    chances: Floats

    @classmethod
    def of(cls, crowd: CrowdLaw, e: float, time: float) -> _Slots:
        laws = np.vstack([crowd.others, crowd.first[None], crowd.second[None]]) - (1 - time) * crowd.least
        mass = 1 - (1 - time) * crowd.blanket
        return cls(crowd.blanket * (crowd.first - e * crowd.second) / laws, crowd.weights * laws / mass)

    def growth(self, lean: float) -> tuple[float, float]:
        """The largest log E[exp(lean X)], and the largest variance with such weights."""
        exponents = lean * self.values
        tops = exponents.max(axis=1, keepdims=True)
        tilted = self.chances * np.exp(exponents - tops)
        whole = tilted.sum(axis=1, keepdims=True)
        tilted /= whole
        means = (tilted * self.values).sum(axis=1, keepdims=True)
        spread = (tilted * (self.values - means) ** 2).sum(axis=1)
        return float((tops + np.log(whole)).max()), float(spread.max())

    def sizes(self, lean: float, points: Floats) -> Floats:
        """The largest |E[exp((lean + i t) X)]| for t from each point to the next: an upper bound.

        The square of one divided by its value at 0 has a second derivative of at most twice the variance. So between
        two points it exceeds the larger of theirs by at most variance * distance^2 / 4.
        """
        exponents = lean * self.values
        best = np.zeros(points.size - 1)
        slack = np.diff(points) ** 2 / 4
        for values, chances, exponent in zip(self.values, self.chances, exponents, strict=True):
            top = float(exponent.max())
            tilted = chances * np.exp(exponent - top)
            whole = float(tilted.sum())
            tilted /= whole
            middle = float(tilted @ values)
            spread = float(tilted @ (values - middle) ** 2)
            angles = np.outer(points, values - middle)
            squares = (np.cos(angles) @ tilted) ** 2 + (np.sin(angles) @ tilted) ** 2
            above = np.minimum(np.maximum(squares[:-1], squares[1:]) + spread * slack, 1.0)
            best = np.maximum(best, np.sqrt(above) * (whole * math.exp(top)))
        return best


def lowered(e: float) -> float:
    """A factor a little below e^epsilon: its delta is more than what drifts, or cancels in doubles, can hide."""
    return e * (1 - 4 * DRIFT)


def crowd_delta(epsilon: float, n: int, crowd: CrowdLaw, aim: float = 1e-9) -> float:
    """The delta of n shuffled reports at a central epsilon: an upper bound.

    Args:
        epsilon: The central epsilon, in nats.
        n: Number of reports, the person's own included.
        crowd: How likely reports are.
        aim: About what delta is expected: how closely to look.
    """
    e, others = math.exp(epsilon), n - 1
    alone, gamma = crowd.alone(lowered(e)), crowd.blanket
    if others == 0 or crowd.alone(e) == 0 or gamma <= 0:
        return alone
    times = _times(others, gamma, aim * _SPARED)
    found = alone * times[0] * math.exp(others * math.log1p(-(1 - times[0]) * gamma))
    for start, end in pairwise(times):
        found += _part(crowd, e, others, start, end)
        if not found < alone:
            return alone
    return min(alone, found * (1 + ROUNDING + DRIFT * n))


def crowd_epsilon(delta: float, n: int, crowd: CrowdLaw, most: float) -> float:
    """The central epsilon of n shuffled reports at a delta: an upper bound, and at most `most`, which is known to do.

    Args:
        delta: The central delta.
        n: Number of reports.
        crowd: How likely reports are.
        most: An epsilon that is known to be enough.
    """
    if delta <= 1e-250 or most <= 0:
        return most

    @cache
    def gap(epsilon: float) -> float:
        return math.log(max(crowd_delta(epsilon, n, crowd, delta), 1e-300) / delta)

    if gap(most) > 0:
        return most
    share, low, high = 0.9, 0.9 * most, most
    while gap(low) <= 0:
        if low < 1e-14:
            return low
        share = max(share * share, 0.1)
        low, high = share * low, low
    found = crossing(gap, low, high, width=_MORE * low)
    while found < high and gap(found) > 0:
        found *= 1 + _MORE
    return min(found, high)


def _times(others: int, gamma: float, spared: float) -> list[float]:
    """Where the integral is cut: the latest of many is close to 1, and parts are shorter there."""
    reach = -math.expm1(math.log(spared) / others) / gamma
    length = min(1 - _EARLIEST, reach)
    parts = 1 if others > 50_000 else 4 if others > 5_000 else 10
    return [1 - length * (1 - part / parts) ** 2 for part in range(parts)] + [1.0]


def _part(crowd: CrowdLaw, e: float, others: int, start: float, end: float) -> float:
    """The integral from one time to another. Those whose time is between are shown, too: they add nothing."""
    gamma, slots = crowd.blanket, _Slots.of(crowd, e, start)
    kept, shown = 1 - (1 - start) * gamma, (end - start) * gamma
    lean = _lean(slots, others)
    most, variance = slots.growth(lean)
    noise, points = _NOISE * others * variance, _POINTS / math.sqrt(others * variance)
    sizes = kept * slots.sizes(lean, points)
    # the integral of (sizes + gamma (z - start))^others over z, grows with sizes
    grown = (others + 1) * np.log1p(shown / sizes)  # which a tiny blanket leaves above 0
    logs = (others + 1) * np.log(sizes) + grown + np.log(-np.expm1(-grown)) - math.log(gamma * (others + 1))
    before, widths = points[:-1], np.diff(points)
    logs += noise * (lean * lean - before * before) / 2 - np.log(lean * lean + before * before)
    top = float(logs.max())
    inner = float(np.exp(logs - top) @ widths)
    # beyond the last point only what was added makes it small
    ahead = (others + 1) * math.log(kept * math.exp(most) + shown) - math.log(gamma * (others + 1))
    ahead += noise * (lean * lean - points[-1] ** 2) / 2 - math.log(points[-1])
    rest = math.exp(min(ahead - top, 700.0))
    own = max(_own(crowd, e, lean / time) for time in (start, end))
    return end * math.exp(min(own + top, 700.0)) * (inner + rest) / math.pi


def _own(crowd: CrowdLaw, e: float, lean: float) -> float:
    """log E[exp(lean L)], L being the person's own slot."""
    exponents = lean * crowd.blanket * (crowd.first - e * crowd.second) / crowd.least
    top = float(exponents.max())
    return top + math.log(float((crowd.weights * crowd.least / crowd.blanket) @ np.exp(exponents - top)))


def _lean(slots: _Slots, count: int) -> float:
    """Where the line crosses the real axis: any place will do, and the best is near the least of this."""

    @cache
    def height(log_lean: float) -> float:
        return count * slots.growth(math.exp(log_lean))[0] - 2 * log_lean

    at = -math.log(slots.growth(0.0)[1] * count) / 2 + 1
    most = math.log(500 / float(np.abs(slots.values).max()))
    for step in (1.0, 0.25, 0.06):
        while (best := min((at - step, at, min(at + step, most)), key=height)) != at:
            at = best
    return math.exp(at)
