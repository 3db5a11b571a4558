"""How estimates of modular subset selection are distributed, for intervals that cover at every n.

The decoder weighs each block by its number of reports, which ties all reports together. With even weights every report
adds a term of its own, whose mean is one for the true value and nothing for others, so bounds of sums of independent
terms hold for that estimate, and give the interval. Where the normal law is good, it is that of the decoder.

A report of block j adds what the members of its subset weigh in a value's row of the decoder. Of few values all rows
are looked through. Of many, only the entry of a row at the value's own residue, the sum and the sum of squares of the
others are known, from the structure of the system: what can be of these bounds what a report adds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hush.analysis.modular import Blocks
from hush.estimation.bounds import Term, Terms
from hush.types import Floats

MOST = 1024
"""Values beyond which rows take too long to look through."""
_PRECISE = 1e-6
"""How far a value's own entries, which add up to one over all blocks, may be off."""


@dataclass(frozen=True, eq=False)
class BlockSubsets:
    """What a report of one block adds, given the rows of the decoder: quadratic in the entry of its residue.

    Args:
        law: Of all blocks.
        j: Which block.
    """

    law: Blocks
    j: int

    @property
    def scale(self) -> float:
        """What turns a member into its share of the estimate."""
        return float(len(self.law.moduli) / (self.law.p[self.j] - self.law.q[self.j]))

    @property
    def _factors(self) -> tuple[float, float]:
        """Of the squared distance of the entry from the row's mean, and of the row's sum of squares about it."""
        p, q, m, w = (float(part[self.j]) for part in (self.law.p, self.law.q, self.law.m, self.law.omegas))
        beside = p * (w - 1) / (m - 1) - p * q
        pairs = p * (w - 1) * (w - 2) + (1 - p) * w * (w - 1)
        two = pairs / ((m - 1) * (m - 2)) - q * q if m > 2 else 0.0
        return p * (1 - p) - q * (1 - q) - 2 * beside + 2 * two, q * (1 - q) - two

    def always(self, squares: Floats) -> Floats:
        """The part of the mean square that does not depend on the residue, from the row's squares about its mean."""
        return np.asarray(self.scale**2 / len(self.law.moduli) * self._factors[1] * squares)

    def by_entry(self, entry: Floats, mean: Floats) -> Floats:
        """The part that does, from the entry of the residue and the row's mean."""
        blocks = len(self.law.moduli)
        return np.asarray(blocks * entry**2 + self.scale**2 / blocks * self._factors[0] * (entry - mean) ** 2)

    def flattest(self, mean: Floats) -> Floats:
        """The entry at which that part is least, or most."""
        blocks = len(self.law.moduli)
        slope = self.scale**2 / blocks * self._factors[0]
        return np.asarray(mean * slope / (blocks + slope or 1.0))


def even_terms(law: Blocks) -> Terms | None:
    """What a report adds to the estimate with even weights; None for many values whose moduli leave it no digits."""
    return _looked_through(law) if law.k <= MOST or law.system.small else _bounded(law)


def _rows(law: Blocks) -> list[Floats]:
    """For each block, what the frequency of each residue adds to each value's estimate, shape (k, m)."""
    if law.system.small:
        parts = np.split(law.system.gain, np.cumsum(law.moduli)[:-1], axis=1)
        return [part * math.sqrt(weight) for part, weight in zip(parts, law.weights, strict=True)]
    solved = np.linalg.inv(law.system.normal())
    residues = np.arange(law.k)
    return [
        np.stack([solved[:, residues % m == a].sum(axis=1) for a in range(m)], axis=1) * weight
        for m, weight in zip(law.moduli, law.weights, strict=True)
    ]


def _looked_through(law: Blocks) -> Terms:
    """By all rows, and all pairs of values."""
    k = law.k
    squares, high, low = np.zeros((k, k)), np.full(k, -np.inf), np.full(k, np.inf)
    for j, (m, row) in enumerate(zip(law.moduli, _rows(law), strict=True)):
        subsets, omega = BlockSubsets(law, j), int(law.omegas[j])
        chance = law.q[j] * row.sum(axis=1)
        ordered = np.sort(row, axis=1)
        high = np.maximum(high, subsets.scale * (ordered[:, m - omega :].sum(axis=1) - chance))
        low = np.minimum(low, subsets.scale * (ordered[:, :omega].sum(axis=1) - chance))
        mean = row.mean(axis=1, keepdims=True)
        always = subsets.always(((row - mean) ** 2).sum(axis=1, keepdims=True))
        squares += (always + subsets.by_entry(row, mean))[:, np.arange(k) % m]
    others = squares[~np.eye(k, dtype=np.bool_)]
    return _terms(np.diagonal(squares), float(others.max()), float(others.min()), high, low)


def _bounded(law: Blocks) -> Terms | None:
    """By what is known of every row: Cauchy and Schwarz bound the sums of its other entries, and each of these."""
    k, moduli = law.k, law.moduli
    level = law.system.solve(np.ones(k))
    always, high, low, owned = np.zeros(k), np.full(k, -np.inf), np.full(k, np.inf), np.zeros(k)
    own, most, least = (np.zeros((len(moduli), k)) for _ in range(3))
    for j, (m, weight) in enumerate(zip(moduli, law.weights, strict=True)):
        subsets, omega = BlockSubsets(law, j), int(law.omegas[j])
        entry, rest = law.own_and_rest(j)
        entry, rest, total = weight * entry, weight**2 * rest, weight * level
        owned += entry
        mean, others = total / m, (total - entry) / (m - 1)
        about = np.maximum(rest - (m - 1) * others**2, 0.0)
        always += subsets.always(entry**2 + rest - m * mean**2)
        own[j] = subsets.by_entry(entry, mean)
        reach = np.sqrt(about * (m - 2) / (m - 1))
        ends = others - reach, others + reach
        turn = np.clip(subsets.flattest(mean), *ends)
        found = np.stack([subsets.by_entry(at, mean) for at in (*ends, turn)])
        most[j], least[j] = found.max(axis=0), found.min(axis=0)
        sums = [_largest(others, about, m, size) for size in (omega, omega - 1)]
        dips = [_largest(-others, about, m, size) for size in (omega, omega - 1)]
        high = np.maximum(high, subsets.scale * (np.maximum(sums[0], entry + sums[1]) - law.q[j] * total))
        low = np.minimum(low, subsets.scale * (np.minimum(-dips[0], entry - dips[1]) - law.q[j] * total))
    if not np.abs(owned - 1).max() <= _PRECISE:
        return None
    shared = _shared(k, moduli)
    above, below = _gained(own - most, shared), _gained(least - own, shared)
    others = float((always + most.sum(axis=0) + above).max()), float((always + least.sum(axis=0) - below).min())
    return _terms(always + own.sum(axis=0), *others, high, low)


def _largest(mean: Floats, squares: Floats, m: int, size: int) -> Floats:
    """At most the sum of so many of m - 1 numbers, with their mean and their sum of squares about it."""
    return np.asarray(size * mean + np.sqrt(size * (m - 1 - size) / (m - 1) * squares))


def _shared(k: int, moduli: tuple[int, ...]) -> int:
    """In how many blocks two values can have one residue: their distance is a multiple of all those moduli."""
    sizes = sorted(moduli)
    return sum(math.prod(sizes[: i + 1]) < k for i in range(len(sizes)))


def _gained(gains: Floats, number: int) -> Floats:
    """The sum of so many of the largest gains of each value, where they are gains."""
    ordered = np.sort(np.maximum(gains, 0.0), axis=0)
    return np.asarray(ordered[len(gains) - number :].sum(axis=0))


def _terms(own: Floats, most: float, least: float, high: Floats, low: Floats) -> Terms:
    mine = Term(float(own.max()) - 1, float((high - 1).max()), float((1 - low).max()))
    return Terms(mine, Term(most, float(high.max()), float(-low.min())), least, lattice=False)
