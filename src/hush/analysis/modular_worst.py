"""The largest error of modular subset selection in any fixed population, with a proof.

How much a person of value u adds to the estimate of v through block j, were it alone, is y_j(u), and y_1 + ... + y_l is
1 for u = v and else 0. Blocks share the people, so n times the variance of v's estimate is

    a constant + E[h(u)] - l |E y(u)|² + f_v², which is E[privacy(u)] + l · (the spread of y(u) about its mean),

with u drawn from the population and y less its mean over the blocks. That is concave in the frequencies: a mixture of
values is usually worst. Its maximum over all populations is that of a smallest enclosing ball: for every centre, the
largest over u of privacy(u) + l |y(u) - centre|² is a bound, and the best centre attains it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hush.analysis.modular_system import System
from hush.kernels import chunks
from hush.types import Floats

if TYPE_CHECKING:
    from hush.analysis.modular import Blocks


TOLERANCE = 0.005
"""How far the bound may be above an error that is reached, of itself."""
_PAIRS = 5e8
"""Pairs of values, times blocks, up to which all are looked at: about half a second."""
_POINTS = 5e6
"""Values times blocks up to which balls are made."""
_STEPS, _TRIED = 400, 8
_REFINED = 1e10
"""Terms that may be spent on balls, at the very most."""


@dataclass(frozen=True)
class Worst:
    """The largest error, for one person, and what is known of it.

    Args:
        bound: No population has a larger one.
        reached: One has this.
    """

    bound: float
    reached: float


@dataclass(frozen=True, eq=False)
class Search:
    """Bounds for the blocks of one mechanism."""

    law: Blocks

    @property
    def _system(self) -> System:
        return self.law.system

    @property
    def _terms(self) -> float:
        return float(len(self.law.moduli) * self.law.k)

    @cached_property
    def _level(self) -> Floats:
        return self._system.solve(np.ones(self.law.k))

    @cached_property
    def _base(self) -> Floats:
        """What does not depend on who holds what, for each value."""
        a, b, _, _ = self.law.moments
        scales = self.law.scales
        return np.asarray(self._system.sandwich_diagonal(scales * a) + float(scales @ b) * self._level**2)

    @cached_property
    def _factors(self) -> tuple[Floats, Floats]:
        """(s, t): block j adds s_j · level · K + t_j · K² to a value's error, for an entry K of the folded inverse."""
        _, _, c, d = self.law.moments
        return 2 * self.law.scales * c, self.law.scales * (d + 1)

    def found(self) -> Worst:
        """From bounds for every value: quick ones, then from every pair if those are too large and not too dear."""
        middle = self.law.k // 2
        if self._terms > _POINTS:
            reached, centre = self._corner()
            return Worst(max(reached, float(self._coarse(centre).max())), reached)
        reached, bound, centre = self._ball(middle)
        bounds = self._coarse(centre)
        bounds[self.law.k - 1 - middle] = bound
        reached = self._refined(bounds, reached, _TRIED)
        if bounds.max() > reached * (1 + TOLERANCE) and self._terms * self.law.k <= _PAIRS:
            bounds = np.minimum(bounds, self._first(centre))
            reached = self._refined(bounds, reached, int(_REFINED / (self._terms * _STEPS)))
        return Worst(max(float(bounds.max()), reached), reached)

    def _refined(self, bounds: Floats, reached: float, tries: int) -> float:
        """Replace the largest bounds by those of balls, in place; the largest error reached."""
        for _ in range(tries):
            v = int(np.argmax(bounds))
            if bounds[v] <= reached * (1 + TOLERANCE):
                break
            value, bound, _ = self._ball(v)
            reached = max(reached, value)
            if bound >= bounds[v]:
                break
            bounds[v] = bound
        return reached

    def _corner(self) -> tuple[float, Floats]:
        """In place of a ball that has too many points: the error of a value that all hold."""
        v, (slope, curve) = self.law.k // 2, self._factors
        own = np.array([part[v % m] for part, m in zip(self._row(v), self.law.moduli, strict=True)])
        reached = float(self._base[v] + (own * (slope * self._level[v] + curve * own)).sum()) - 1.0
        reached -= float(len(own) * ((self.law.weights * own - 1 / len(own)) ** 2).sum())
        return reached, np.zeros(len(own))

    def _row(self, v: int) -> list[Floats]:
        """Row v of the inverse of N, folded by every modulus."""
        unit = np.zeros(self.law.k)
        unit[v] = 1.0
        return self._system.folded(self._system.solve(unit, tolerance=1e-13))

    def _ball(self, v: int) -> tuple[float, float, Floats]:
        """For one value: what a population reaches, a bound of all, and the centre of its ball."""
        from hush.kernels.enclosing import enclose

        k, m = self.law.k, self.law.moduli
        slope, curve = self._factors
        points, heights = np.empty((len(m), k)), np.zeros(k)
        for j, part in enumerate(self._row(v)):
            points[j] = part[np.arange(k) % m[j]]
            heights += points[j] * (slope[j] * self._level[v] + curve[j] * points[j])
            points[j] *= self.law.weights[j]
        heights[v] -= 1.0
        points -= points.mean(axis=0)
        centre = np.zeros(len(m))
        fine = TOLERANCE / 8 * max(float(self._base[v] + heights.max()), 0.0)
        value, bound = enclose(points, heights, float(len(m)), fine, _STEPS, centre)
        return float(value + self._base[v]), float(bound + self._base[v]), centre

    def _first(self, centre: Floats) -> Floats:
        """A bound for each value of the first half, from one centre. The other half is its mirror image."""
        from hush.kernels.enclosing import largest_values

        law, system = self.law, self._system
        slope, curve = self._factors
        half, first, level = (law.k + 1) // 2, system.first, self._level
        sizes = np.array(law.moduli, np.int64)
        pull = 2 * law.m.size * centre * law.weights

        def part(begin: int, end: int) -> Floats:
            out = np.empty(end - begin)
            rows = np.concatenate(self._row(begin))
            largest_values(first, rows, begin, sizes, slope, curve, pull, level, out)
            return out

        parts = chunks.each(half, max(64, -(-half // chunks.threads())), part)
        return np.asarray(np.concatenate(parts) + self._base[:half] + law.m.size * float(centre @ centre))

    def _coarse(self, centre: Floats) -> Floats:
        """As `_first`, without looking at pairs.

        A value shares at most so many residues with another as the smallest moduli have a product below k. In other
        blocks, an entry is at most the root of the sum of squares of its row, less the value's own.
        """
        law = self.law
        slope, curve = self._factors
        k, shared, product = law.k, 0, 1
        for m in sorted(law.moduli):
            product *= m
            shared += product < k
        at_own, elsewhere, gains = np.zeros(k), np.zeros(k), np.zeros((shared, k))
        for j in range(len(law.moduli)):
            own, rest = law.own_and_rest(j)
            tilt = slope[j] * self._level - 2 * law.m.size * centre[j] * law.weights[j]
            mine = own * (tilt + curve[j] * own)
            other = np.abs(tilt) * np.sqrt(rest) + max(curve[j], 0.0) * rest
            at_own += mine
            elsewhere += other
            gains = np.sort(np.vstack([gains, mine - other]), axis=0)[1:]  # the largest, none below zero
        most = np.maximum(at_own - 1.0, elsewhere + gains.sum(axis=0))
        return np.asarray(self._base + most + law.m.size * float(centre @ centre))[: (k + 1) // 2]


def worst(law: Blocks) -> Worst:
    """The largest error of any value in any population, for one person."""
    return Search(law).found()
