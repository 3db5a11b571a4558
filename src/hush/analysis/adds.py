"""What one report adds to the estimated total, value by value: the characteristic function, the mean and the square.

A total is a sum over people, so these are all that its exact law needs, where an estimate is linear in the tally. As
millions of people add up, it is the small distance of a characteristic function from one that has to be precise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis import waves
from hush.analysis.waves import Swings, expm1i, log1p, log_phi
from hush.types import Complexes, Floats, Ints

PhiLessOne = Callable[[npt.NDArray[Any]], Complexes]
"""From points, real or complex, to characteristic functions less one, as [point, value]."""
Falls = Callable[[Ints], Swings]
"""From people, counted by value, to how far the characteristic function of their sum falls."""


@dataclass(frozen=True, eq=False)
class Adds:
    """What a report adds.

    Args:
        phi_less_one: Its characteristic function, less one, for each value that a person may hold.
        mean: Its mean, for each.
        variance: Its variance, for each.
        cells: Numbers that one point takes.
        swings: How far the characteristic function of a sum over people falls at least.
    """

    phi_less_one: PhiLessOne
    mean: Floats
    variance: Floats
    cells: int
    swings: Falls

    @property
    def square(self) -> Floats:
        """The mean of its square, for each value."""
        return np.asarray(self.variance + self.mean**2)

    def scaled(self, scale: float, shift: float) -> Adds:
        """(what it adds + shift) / scale."""

        def phi_less_one(theta: npt.NDArray[Any]) -> Complexes:
            inner = self.phi_less_one(theta / scale)
            if np.iscomplexobj(theta):  # where each of the two may be too large or too small to be multiplied
                return np.asarray(np.expm1(log_phi(inner, theta) + 1j * theta[:, None] * (shift / scale)))
            moved = expm1i(theta * (shift / scale))[:, None]
            return np.asarray(inner + moved + inner * moved)

        mean, variance = (self.mean + shift) / scale, self.variance / scale**2
        return Adds(phi_less_one, mean, variance, self.cells, lambda counts: self.swings(counts).scaled(scale))


def spread(mean: Floats, square: Floats) -> Floats:
    """A variance, from the mean and the mean of the square; none, where no more than rounding is left."""
    found = square - mean**2
    return np.where(found > 1e-14 * square, found, 0.0)


def no_swings(counts: Ints) -> Swings:
    """Nothing is known of how far it falls."""
    return Swings(np.zeros(0), np.zeros(0))


def channel(says: Floats, law: Floats) -> Adds:
    """Of outputs that each add something, where law[y, x] is the probability of output y for the value x."""

    def phi_less_one(theta: npt.NDArray[Any]) -> Complexes:
        turn = expm1i(theta[:, None] * says)
        return np.asarray(turn.real @ law + 1j * (turn.imag @ law))

    mean = says @ law
    variance = (law * (says[:, None] - mean) ** 2).sum(axis=0)
    return Adds(phi_less_one, mean, variance, says.size, lambda counts: waves.channel_swings(says, law, counts))


def outputs_swings(says: Floats, least: float) -> Falls:
    """Of outputs that have at least this probability, whatever the value."""
    law = np.full((says.size, 1), least)
    return lambda counts: waves.channel_swings(says, law, counts.sum(keepdims=True))


def independent_bits(amounts: Floats, p: float, q: float) -> Adds:
    """The amounts of independent bits, estimated: the own one is one with probability p, others with q."""

    def phi_less_one(theta: npt.NDArray[Any]) -> Complexes:
        turn = expm1i(theta[:, None] * amounts)
        other = log1p(q * turn)
        return np.asarray(np.expm1(other.sum(axis=1, keepdims=True) + log1p(p * turn) - other))

    mean = q * amounts.sum() + (p - q) * amounts
    variance = q * (1 - q) * float(amounts @ amounts) + (p * (1 - p) - q * (1 - q)) * amounts**2
    found = Adds(
        phi_less_one,
        mean,
        variance,
        2 * amounts.size,
        lambda counts: waves.independent_bits_swings(amounts, counts, p, q),
    )
    return found.scaled(p - q, -q * float(amounts.sum()))


def direct(amounts: Floats, p: float, q: float) -> Adds:
    """The amount of one value, estimated: the own with probability p, each other with q."""

    def phi_less_one(theta: npt.NDArray[Any]) -> Complexes:
        turn = expm1i(theta[:, None] * amounts)
        return np.asarray((p - q) * turn + q * turn.sum(axis=1, keepdims=True))

    mean, square = ((p - q) * power + q * power.sum() for power in (amounts, amounts**2))
    found = Adds(
        phi_less_one,
        mean,
        spread(mean, square),
        amounts.size,
        lambda counts: waves.direct_swings(amounts, counts, p, q),
    )
    return found.scaled(p - q, -q * float(amounts.sum()))


def members(amounts: Floats, own: Floats, lost: Floats) -> Adds:
    """Of a random set of values: the sum of the amounts of its members.

    Sets with as many members besides the person's own value are equally likely. They are rows of independent bits,
    given the sum of the bits; sums are picked out by a second transform, over psi. The bits of all values but one are
    products from the left and from the right.

    Args:
        amounts: Of each value.
        own: For c = 0, 1, ..., the probability that the set holds the own value and c others.
        lost: The same for sets of c others that do not hold it.
    """
    k = amounts.size
    many = np.arange(k)
    rest = float(((own + lost) @ many) / max(k - 1, 1))
    share = min(max(rest, 0.5 / k), 1 - 0.5 / k)
    points = min(k, math.ceil(20 * math.sqrt(k * share * (1 - share))) + 20)
    psi = 2 * np.pi * np.arange(points) / points
    bit = (1 - share) + share * np.exp(1j * psi)
    usual = _binomial(k - 1, share)
    near = np.flatnonzero((own + lost > 0) & (usual > 0))
    picks = np.exp(-1j * psi[:, None] * near) / points * bit[:, None] ** (k - 1)
    scale = picks.sum(axis=0)  # the binomial probabilities again, as the transform sees them
    with_own, without = (picks @ (chances[near] / scale) for chances in (own, lost))
    odds = share * np.exp(1j * psi) / bit

    def phi_less_one(theta: npt.NDArray[Any]) -> Complexes:
        turn = expm1i(theta[:, None] * amounts)
        others = _all_but_one(odds[:, None] * turn.T[:, None, :])
        kept, left = (np.einsum("j,vjt->tv", chances, others) for chances in (with_own, without))
        return np.asarray(kept + turn * (kept + own.sum()) + left)

    mean, square = _set_moments(amounts, own, lost)
    return Adds(
        phi_less_one,
        mean,
        spread(mean, square),
        max(k, k * points // 4),
        _members_swings(amounts, own + lost, psi, share),
    )


def _all_but_one(terms: Complexes) -> Complexes:
    """The product of all 1 + terms but one, less one, along the first axis; small terms keep their precision."""
    out = np.zeros_like(terms)
    left, right = np.zeros_like(terms[0]), np.zeros_like(terms[0])
    for i in range(1, len(terms)):
        left = left + terms[i - 1] * (1 + left)
        out[i] = left
    for i in range(len(terms) - 2, -1, -1):
        right = right + terms[i + 1] * (1 + right)
        out[i] += right + out[i] * right
    return out


def _members_swings(amounts: Floats, sizes: Floats, psi: Floats, share: float) -> Falls:
    """Of a random set, which holds c values besides a person's own with probability sizes[c].

    Values are put into pairs of neighbours. Of so many pairs of which a set holds one value, all choices are equally
    likely, and so is which value it is; so |phi| is at most the mean of the product of |cos(theta step / 2)| over
    them, and by Maclaurin's inequality of the power of their mean. With M such pairs, E exp(-y M) is log-convex in y.
    """
    k, turn = amounts.size, np.exp(1j * psi)
    two = (1 - share) ** 2 + 2 * math.exp(-0.5) * share * (1 - share) * turn + (share * turn) ** 2
    usual = _binomial(k - 1, share)
    near = np.flatnonzero((sizes > 0) & (usual > 0))
    picks = (sizes[near] / usual[near]) @ np.exp(-1j * np.outer(near, psi)) / psi.size

    def fall(pairs: int) -> float:
        """For each of so many pairs, one of which may be lost to the person's own value."""
        whole = two ** (pairs - 1) * ((1 - share) + share * turn) ** (k + 1 - 2 * pairs)
        mean = float((picks @ whole).real) + float(sizes[usual == 0].sum())
        return -math.log(min(max(mean, 1e-300), 1.0)) / (2 * pairs) if pairs else 0.0

    def swings(counts: Ints) -> Swings:
        everyone = counts.sum()
        return waves.paired(amounts, lambda one, other: fall(one.size) * (everyone - counts[one] - counts[other]))

    return swings


def _binomial(n: int, share: float) -> Floats:
    """Probabilities of 0..n."""
    many = np.arange(n + 1)
    choose = np.concatenate([[0.0], np.cumsum(np.log(n - many[:-1]) - np.log(many[1:]))])
    return np.asarray(np.exp(choose + many * math.log(share) + (n - many) * math.log1p(-share)))


def _set_moments(amounts: Floats, own: Floats, lost: Floats) -> tuple[Floats, Floats]:
    """Mean and mean square of the sum over a random set."""
    k, many = amounts.size, np.arange(amounts.size)
    rest, squares = amounts.sum() - amounts, float(amounts @ amounts) - amounts**2
    first, pairs = many / max(k - 1, 1), many * (many - 1) / max((k - 1) * (k - 2), 1)
    both = own + lost
    mean = own.sum() * amounts + (both @ first) * rest
    square = own.sum() * amounts**2 + 2 * (own @ first) * amounts * rest
    square = square + (both @ first) * squares + (both @ pairs) * (rest**2 - squares)
    return np.asarray(mean), np.asarray(square)
