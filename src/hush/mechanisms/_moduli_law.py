"""How estimates of modular subset selection are distributed, for intervals that cover at every n.

The decoder weighs each block by its number of reports, which ties all reports together. With even weights every report
adds a term of its own, whose mean is one for the true value and nothing for others, so bounds of sums of independent
terms hold for that estimate, and give the interval. Where the normal law is good, it is that of the decoder.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hush.analysis.modular import Blocks
from hush.estimation.bounds import Bounded, Term
from hush.mechanisms._base import Floats, Ints

MOST = 1024
"""Values beyond which the terms take too long to look through."""


@dataclass(frozen=True, eq=False)
class EvenWeights:
    """The estimate with even weights, and what a report adds to it at most.

    Args:
        maps: For each block, what the frequency of each residue adds to each value's estimate, shape (k, m).
        scales: For each block, what turns a count of members into a debiased frequency.
        rates: For each block, how often a residue is a member by chance.
        own: What the report of somebody who holds the value says, less one.
        other: What anybody else's says.
        least: The smallest variance of anybody else's.
    """

    maps: tuple[Floats, ...]
    scales: Floats
    rates: Floats
    own: Term
    other: Term
    least: float

    def law(self, counts: list[Ints], people: Ints, n: int) -> Bounded:
        """Of the estimate from how often each residue of each block is a member, and the blocks' numbers of reports."""
        raw = np.zeros(len(self.maps[0]))
        for seen, size, each, scale, rate in zip(counts, people, self.maps, self.scales, self.rates, strict=True):
            raw += each @ (scale / n * (seen - rate * size))
        return Bounded(raw, n, self.own, self.other, self.least, lattice=False)


def even_weights(k: int, moduli: tuple[int, ...], omegas: tuple[int, ...], law: Blocks) -> EvenWeights:
    """The maps by solving the normal equations of equal blocks, and moments by going through all pairs of values."""
    residues = [np.arange(k) % m for m in moduli]
    sharing = sum(w * (r[:, None] == r) for w, r in zip(law.weights, residues, strict=True))
    solved = np.linalg.inv(np.asarray(sharing, np.float64))
    maps, squares = [], np.zeros((k, k))
    high, low = np.full(k, -np.inf), np.full(k, np.inf)
    scales = len(moduli) / (law.p - law.q)
    for j, (m, omega, r) in enumerate(zip(moduli, omegas, residues, strict=True)):
        each = np.stack([solved[:, r == a].sum(axis=1) for a in range(m)], axis=1) * law.weights[j]
        chance = law.q[j] * each.sum(axis=1)
        ordered = np.sort(each, axis=1)
        high = np.maximum(high, scales[j] * (ordered[:, m - omega :].sum(axis=1) - chance))
        low = np.minimum(low, scales[j] * (ordered[:, :omega].sum(axis=1) - chance))
        second = (len(moduli) * each) ** 2 + scales[j] ** 2 * _variances(each, omega, float(law.p[j]))
        squares += second[:, r] / len(moduli)
        maps.append(each)
    own = np.diagonal(squares) - 1
    others = squares[~np.eye(k, dtype=np.bool_)]
    mine = Term(float(own.max()), float((high - 1).max()), float((1 - low).max()))
    theirs = Term(float(others.max()), float(high.max()), float(-low.min()))
    return EvenWeights(tuple(maps), scales, law.q, mine, theirs, float(others.min()))


def _variances(amounts: Floats, omega: int, p: float) -> Floats:
    """Variance of the sum of amounts over a random subset, for each residue that it may be of; row by row."""
    m = amounts.shape[1]
    q = (omega - p) / (m - 1)
    a = amounts - amounts.mean(axis=1, keepdims=True)  # all subsets have one size, so a shift changes nothing
    squares = (a**2).sum(axis=1, keepdims=True) - a**2
    beside = p * (omega - 1) / (m - 1) - p * q
    pairs = p * (omega - 1) * (omega - 2) + (1 - p) * omega * (omega - 1)
    two = pairs / ((m - 1) * (m - 2)) - q * q if m > 2 else 0.0
    return np.asarray(p * (1 - p) * a**2 + q * (1 - q) * squares - 2 * a**2 * beside + (a**2 - squares) * two)
