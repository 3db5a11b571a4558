"""What one report adds to the estimated total, value by value: the characteristic function, the mean and the square.

A total is a sum over people, so these are all that its exact law needs, where an estimate is linear in the tally. As
millions of people add up, it is the small distance of a characteristic function from one that has to be precise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis import waves
from hush.analysis.waves import Swings, log1p, turned
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing.hashed import Hashed
from hush.mechanisms.projective import PGR
from hush.mechanisms.projective.counts import over_hyperplanes
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import UE
from hush.planning.capri.hadamard import output_means
from hush.types import Complexes, Floats, Ints
from hush.utility.balanced import BalancedLH
from hush.utility.single import Single

Turns = Callable[[npt.NDArray[Any]], Complexes]
"""From points, real or complex, to characteristic functions less one, as [point, value]."""
Falls = Callable[[Ints], Swings]
"""From people, counted by value, to how far the characteristic function of their sum falls."""

_TABLE = 1 << 20


@dataclass(frozen=True, eq=False)
class Adds:
    """What a report adds.

    Args:
        turns: Its characteristic function, less one, for each value that a person may hold.
        mean: Its mean, for each.
        variance: Its variance, for each.
        cells: Numbers that one point takes.
        swings: How far the characteristic function of a sum over people falls at least.
    """

    turns: Turns
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

        def turns(theta: npt.NDArray[Any]) -> Complexes:
            inner, moved = self.turns(theta / scale), turned(theta * (shift / scale))[:, None]
            return np.asarray(inner + moved + inner * moved)

        mean, variance = (self.mean + shift) / scale, self.variance / scale**2
        return Adds(turns, mean, variance, self.cells, lambda counts: self.swings(counts).scaled(scale))


def spread(mean: Floats, square: Floats) -> Floats:
    """A variance, from the mean and the mean of the square; none, where no more than rounding is left."""
    found = square - mean**2
    return np.where(found > 1e-14 * square, found, 0.0)


@singledispatch
def adds(m: FrequencyOracle, amounts: Floats) -> Adds | None:
    """What a report adds to the total of the amounts; None where that is not known."""
    return None


@adds.register(UE)
@adds.register(Hashed)
def _(m: UE | Hashed, amounts: Floats) -> Adds:
    """Independent bits: those of other values, and the own one."""
    p, q = m.p_star, m.q_star

    def turns(theta: npt.NDArray[Any]) -> Complexes:
        turn = turned(theta[:, None] * amounts)
        other = log1p(q * turn)
        return np.asarray(np.expm1(other.sum(axis=1, keepdims=True) + log1p(p * turn) - other))

    mean = q * amounts.sum() + (p - q) * amounts
    variance = q * (1 - q) * float(amounts @ amounts) + (p * (1 - p) - q * (1 - q)) * amounts**2
    found = Adds(
        turns,
        mean,
        variance,
        2 * amounts.size,
        lambda counts: waves.independent_bits_swings(amounts, counts, p, q),
    )
    return found.scaled(p - q, -q * float(amounts.sum()))


@adds.register
def _(m: GRR, amounts: Floats) -> Adds:
    p, q = m.p_star, m.q_star

    def turns(theta: npt.NDArray[Any]) -> Complexes:
        turn = turned(theta[:, None] * amounts)
        return np.asarray((p - q) * turn + q * turn.sum(axis=1, keepdims=True))

    mean, square = ((p - q) * power + q * power.sum() for power in (amounts, amounts**2))
    found = Adds(
        turns, mean, spread(mean, square), amounts.size, lambda counts: waves.direct_swings(amounts, counts, p, q)
    )
    return found.scaled(p - q, -q * float(amounts.sum()))


@adds.register
def _(m: SS, amounts: Floats) -> Adds:
    own, lost = np.zeros(m.k), np.zeros(m.k)
    own[m.omega - 1], lost[m.omega] = m.p_star, 1 - m.p_star
    middle = float(amounts.mean())  # every report supports omega values
    shift = m.omega * middle - m.q_star * float(amounts.sum())
    return members(amounts - middle, own, lost).scaled(m.p_star - m.q_star, shift)


@adds.register
def _(m: BalancedLH, amounts: Floats) -> Adds:
    """The own bucket with probability p, and else another; buckets of one size are alike."""
    held = np.diff(m.edges)
    own, lost = np.zeros(m.k), np.zeros(m.k)
    np.add.at(own, held - 1, m.p_star * held / m.k)
    np.add.at(lost, held, (1 - m.p_star) * (1 - held / m.k) / (m.g - 1))
    return members(amounts, own, lost).scaled(m.p_star - m.q_star, -m.q_star * float(amounts.sum()))


@adds.register
def _(m: HR, amounts: Floats) -> Adds:
    says, means, least = output_means(m, amounts)

    def turns(theta: npt.NDArray[Any]) -> Complexes:
        return np.asarray(means(turned(theta[:, None, None] * says)))

    mean = means(says)
    return Adds(turns, mean, spread(mean, means(says**2)), says.size, _outputs_swings(says.ravel(), least))


@adds.register
def _(m: PGR, amounts: Floats) -> Adds:
    """A message adds the amounts of the values that it favours."""
    inside, outside = m._sizes
    high, low = m.p_star / inside, (1 - m.p_star) / outside
    says = m.favoured_sums(amounts)
    favours = m.support_matrix(m.outputs()).astype(np.float64) if m.size * m.k <= _TABLE else None

    def means(terms: Floats) -> Floats:
        """For each value, the mean of a term of the message."""
        if favours is not None:
            return np.asarray(low * terms.sum(axis=-1, keepdims=True) + (high - low) * (terms @ favours))
        rows = [over_hyperplanes(np.ascontiguousarray(row), m.k, m._space) for row in np.atleast_2d(terms)]
        found = low * terms.sum(axis=-1, keepdims=True) + (high - low) * np.array(rows)
        return np.asarray(found.reshape(*terms.shape[:-1], m.k))

    def turns(theta: npt.NDArray[Any]) -> Complexes:
        turn = turned(theta[:, None] * says)
        return np.asarray(means(turn.real) + 1j * means(turn.imag))

    mean = means(says)
    plain = Adds(turns, mean, spread(mean, means(says**2)), m.size * m.t, _outputs_swings(says, low))
    return plain.scaled(m._gap, -m.q_star * float(amounts.sum()))


def _outputs_swings(says: Floats, least: float) -> Falls:
    """Of outputs that have at least this probability, whatever the value."""
    law = np.full((says.size, 1), least)
    return lambda counts: waves.channel_swings(says, law, counts.sum(keepdims=True))


@adds.register
def _(m: Single, amounts: Floats) -> Adds:
    return Adds(
        lambda theta: turned(theta[:, None] * amounts),
        amounts,
        np.zeros(amounts.size),
        amounts.size,
        lambda counts: Swings(np.zeros(0), np.zeros(0)),
    )


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

    def turns(theta: npt.NDArray[Any]) -> Complexes:
        turn = turned(theta[:, None] * amounts)
        others = _all_but_one(odds[:, None] * turn.T[:, None, :])
        kept, left = (np.einsum("j,vjt->tv", chances, others) for chances in (with_own, without))
        return np.asarray(kept + turn * (kept + own.sum()) + left)

    mean, square = _set_moments(amounts, own, lost)
    return Adds(
        turns, mean, spread(mean, square), max(k, k * points // 4), _members_swings(amounts, own + lost, psi, share)
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
