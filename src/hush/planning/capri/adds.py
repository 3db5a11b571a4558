"""What one report adds to the estimated total, value by value: the characteristic function, the mean and the square.

A total is a sum over people, so these are all that its exact law needs, where an estimate is linear in the tally.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis.capacity import Complexes, Floats, _turned
from hush.mechanisms._base import FrequencyOracle
from hush.mechanisms._hashed import Hashed
from hush.mechanisms._projective_counts import over_hyperplanes
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.projective import PGR
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import UE
from hush.planning.capri.hadamard import output_means
from hush.utility.balanced import BalancedLH
from hush.utility.single import Single

Waves = Callable[[npt.NDArray[Any]], Complexes]
"""From points, real or complex, to characteristic functions, as [point, value]."""

_TABLE = 1 << 20


@dataclass(frozen=True, eq=False)
class Adds:
    """What a report adds.

    Args:
        waves: Its characteristic function for each value that a person may hold.
        mean: Its mean, for each.
        square: The mean of its square, for each.
        cells: Numbers that one point takes.
    """

    waves: Waves
    mean: Floats
    square: Floats
    cells: int

    @property
    def variance(self) -> Floats:
        """For each value."""
        return np.asarray(np.maximum(self.square - self.mean**2, 0.0))

    def scaled(self, scale: float, shift: float) -> Adds:
        """(what it adds + shift) / scale."""

        def waves(theta: npt.NDArray[Any]) -> Complexes:
            return np.asarray(np.exp(1j * theta * (shift / scale))[:, None] * self.waves(theta / scale))

        square = self.square + 2 * shift * self.mean + shift**2
        return Adds(waves, (self.mean + shift) / scale, square / scale**2, self.cells)


@singledispatch
def adds(m: FrequencyOracle, amounts: Floats) -> Adds | None:
    """What a report adds to the total of the amounts; None where that is not known."""
    return None


@adds.register(UE)
@adds.register(Hashed)
def _(m: UE | Hashed, amounts: Floats) -> Adds:
    """Independent bits: those of other values, and the own one."""
    p, q = m.p_star, m.q_star

    def waves(theta: npt.NDArray[Any]) -> Complexes:
        turn = _turned(theta[:, None] * amounts)
        return np.asarray(noise(turn, q)[:, None] * ((1 + p * turn) / (1 + q * turn)))

    mean = q * amounts.sum() + (p - q) * amounts
    spread = q * (1 - q) * float(amounts @ amounts) + (p * (1 - p) - q * (1 - q)) * amounts**2
    return Adds(waves, mean, spread + mean**2, amounts.size).scaled(p - q, -q * float(amounts.sum()))


def noise(turn: Complexes, q: float) -> Complexes:
    """Of bits that are all one with the same probability, from exp(i theta a) - 1 of each amount."""
    return np.asarray(np.prod(1 + q * turn, axis=1))


@adds.register
def _(m: GRR, amounts: Floats) -> Adds:
    p, q = m.p_star, m.q_star

    def waves(theta: npt.NDArray[Any]) -> Complexes:
        turn = _turned(theta[:, None] * amounts)
        return np.asarray(1 + (p - q) * turn + q * turn.sum(axis=1, keepdims=True))

    mean, square = ((p - q) * power + q * power.sum() for power in (amounts, amounts**2))
    return Adds(waves, mean, square, amounts.size).scaled(p - q, -q * float(amounts.sum()))


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
    says, means = output_means(m, amounts)

    def waves(theta: npt.NDArray[Any]) -> Complexes:
        return np.asarray(means(np.exp(1j * theta[:, None, None] * says)))

    return Adds(waves, means(says), means(says**2), says.size)


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

    def waves(theta: npt.NDArray[Any]) -> Complexes:
        turns = np.exp(1j * theta[:, None] * says)
        return np.asarray(means(turns.real) + 1j * means(turns.imag))

    plain = Adds(waves, means(says), means(says**2), m.size * m.t)
    return plain.scaled(m._gap, -m.q_star * float(amounts.sum()))


@adds.register
def _(m: Single, amounts: Floats) -> Adds:
    return Adds(lambda theta: np.exp(1j * theta[:, None] * amounts), amounts, amounts**2, 1)


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
    deviation = math.sqrt(k * share * (1 - share))
    points = min(k, math.ceil(20 * deviation) + 20)
    psi = 2 * np.pi * np.arange(points) / points
    turns = share * np.exp(1j * psi)
    usual = _binomial(k - 1, share)
    near = np.flatnonzero((own + lost > 0) & (usual > 0))
    picks = np.exp(-1j * psi[:, None] * near) / points
    with_own, without = (chances[near] / usual[near] for chances in (own, lost))

    def others(z: Complexes) -> Complexes:
        """For each value and size, the weight of the sets of so many others."""
        factors = (1 - share) + turns[:, None] * z[:, None, :]
        left, right = np.ones_like(factors), np.ones_like(factors)
        np.cumprod(factors[:, :, :-1], axis=2, out=left[:, :, 1:])
        right[:, :, :-1] = np.cumprod(factors[:, :, :0:-1], axis=2)[:, :, ::-1]
        return np.asarray(np.einsum("tjv,jc->tvc", left * right, picks))

    scale = usual[near] / others(np.ones((1, k), np.complex128))

    def waves(theta: npt.NDArray[Any]) -> Complexes:
        z = np.exp(1j * theta[:, None] * amounts)
        sets = others(z) * scale
        return np.asarray(z * (sets @ with_own) + sets @ without)

    mean, square = _set_moments(amounts, own, lost)
    return Adds(waves, mean, square, k * points)


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
