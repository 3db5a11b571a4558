"""Characteristic functions of estimated totals, and how far they fall.

S is the sum of a_v times the number of reports that support v: a sum over independent people, so its characteristic
function is a product, and the logarithm a sum.

How far it falls is bounded by *swings*. A part that takes one of two values, a step apart, with probabilities r and
1 - r, has |phi|² = 1 - 2 r (1 - r) (1 - cos(theta step)), so log |phi| <= -r (1 - r) (1 - cos(theta step)). Where a
report takes many values, they are put into pairs: given which pair it is in, one of two is left, and |phi| is at most
the mean of what is so for each pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.types import Complexes, Floats, Ints

Log = Callable[[npt.NDArray[Any]], Complexes]
"""The logarithm of a characteristic function, of a centred sum, at real or complex points."""
Sieve = tuple[Callable[[Floats], Floats], float, int]
"""A length as a function of theta, the slope that it never exceeds, and the numbers that one value takes."""
CLEAR = 8.7
"""A length from which on a characteristic function is below 4e-17: exp(-length² / 2)."""
Terms = Callable[[npt.NDArray[Any]], list[tuple[Complexes, npt.NDArray[Any]]]]

_CELLS = 1 << 17  # numbers held at a time
_LEAST = -1e4  # the logarithm of zero, near enough
_LOST = -14.0  # the logarithm of what a difference of doubles tells to nine digits
_WIDEST = 3.0  # over the deviation, up to where a table goes
_FEWEST = 8  # swings of a first sieve


@dataclass(frozen=True, eq=False)
class Wave:
    """A characteristic function of a sum of independent parts.

    Args:
        terms: From points, real or complex, to tables of logarithms [point, part], with how many of each there are.
        cells: Numbers that one point takes.
        scale: The sum is divided by this.
        size: How large the numbers are, all signs the same, that are added up before the sum is centred.
    """

    terms: Terms
    cells: int
    scale: float = 1.0
    size: float = 0.0

    def __call__(self, theta: npt.NDArray[Any]) -> Complexes:
        """The logarithm, at real or complex points."""
        return np.concatenate([sum(_added(*term) for term in terms) for terms in self._blocks(theta)])

    def fall(self, theta: Floats) -> Floats:
        """The root of the sum of 1 - |phi|² over all parts; |phi| of the whole is at most exp(-fall² / 2)."""
        squares = [
            sum(np.einsum("tv,v->t", -np.expm1(2 * each.real), people.real) for each, people in terms)
            for terms in self._blocks(theta)
        ]
        return np.asarray(np.sqrt(np.maximum(np.concatenate(squares), 0.0)))

    def scaled(self, scale: float) -> Wave:
        """Of the sum over a scale."""
        return Wave(self.terms, self.cells, self.scale * scale, self.size / abs(scale))

    def _blocks(self, theta: npt.NDArray[Any]) -> Any:
        """Few points at a time, where there are many values."""
        rows = max(1, _CELLS // max(1, self.cells))
        return (self.terms(theta[i : i + rows] / self.scale) for i in range(0, theta.size, rows))


@dataclass(frozen=True, eq=False)
class Swings:
    """A characteristic function is at most exp(-sum of weights (1 - cos(theta steps))).

    Args:
        weights: Of the swings.
        steps: Of the swings.
        far: A sieve of its own, to be used last.
    """

    weights: Floats
    steps: Floats
    far: Sieve | None = None

    def scaled(self, scale: float) -> Swings:
        """Of the sum over a scale."""
        far = None
        if self.far is not None:
            length, slope, cells = self.far
            far = (lambda theta: length(theta / scale), slope / abs(scale), cells)
        return Swings(self.weights, self.steps / abs(scale), far)

    def joined(self, other: Swings) -> Swings:
        """Of the sum of two independent sums."""
        weights, steps = ((getattr(self, name), getattr(other, name)) for name in ("weights", "steps"))
        return Swings(np.concatenate(weights), np.concatenate(steps))

    def sieves(self) -> list[Sieve]:
        """Lengths from few, small steps, then from more: length² / 2 bounds the fall, the slope how fast it changes."""
        steps, where = np.unique(np.abs(self.steps), return_inverse=True)
        weights: Floats = np.bincount(where.ravel(), self.weights, steps.size).astype(np.float64)
        used = (steps > 0) & (weights > 0)
        steps, weights = steps[used], weights[used]
        ends = [_FEWEST] if steps.size else []
        while ends and ends[-1] < steps.size:
            ends.append(8 * ends[-1])
        return [_sieve(weights[:end], steps[:end]) for end in ends] + ([] if self.far is None else [self.far])


def _sieve(weights: Floats, steps: Floats) -> Sieve:
    def length(theta: Floats) -> Floats:
        return np.asarray(np.sqrt(4 * np.einsum("tj,j->t", np.sin(theta[:, None] * (steps / 2)) ** 2, weights)))

    return length, math.sqrt(float(weights @ steps**2)), steps.size


# Characteristic functions.


def independent_bits_wave(amounts: Floats, counts: Ints, p: float, q: float) -> Wave:
    """Of S - E S, where a report supports its own value with p and each other, independently, with q."""
    others = counts.sum() - counts
    mean = float(amounts @ (counts * p + others * q))

    def terms(theta: npt.NDArray[Any]) -> list[tuple[Complexes, npt.NDArray[Any]]]:
        turn = expm1i(theta[:, None] * amounts)
        return [(log1p(p * turn), counts), (log1p(q * turn), others), (-1j * mean * theta[:, None], np.ones(1))]

    return Wave(terms, 2 * amounts.size, size=float(np.abs(amounts) @ (counts * p + others * q)))


def direct_wave(amounts: Floats, counts: Ints, p: float, q: float) -> Wave:
    """Of S - E S, for randomized response. All amounts may be moved together, and are, to be small."""
    amounts = amounts - amounts[np.argmax(counts)]
    means = (p - q) * amounts + q * amounts.sum()

    def terms(theta: npt.NDArray[Any]) -> list[tuple[Complexes, npt.NDArray[Any]]]:
        turn = expm1i(theta[:, None] * amounts)
        each = log_phi((p - q) * turn + q * turn.sum(axis=1, keepdims=True), theta)
        return [(each - 1j * theta[:, None] * means, counts)]

    largest = (p - q) * np.abs(amounts) + q * np.abs(amounts).sum()
    return Wave(terms, amounts.size, size=float(largest @ counts))


def channel_wave(says: Floats, law: Floats, counts: Ints) -> Wave:
    """Of a sum of what outputs say, less its mean, where law[y, x] is the probability of output y for the value x."""
    held = counts > 0
    some, people = law[:, held], counts[held]
    says = says - says.mean()
    means = says @ some

    def terms(theta: npt.NDArray[Any]) -> list[tuple[Complexes, npt.NDArray[Any]]]:
        turn = expm1i(theta[:, None] * says)
        each = log_phi(turn.real @ some + 1j * (turn.imag @ some), theta)
        return [(each - 1j * theta[:, None] * means, people)]

    return Wave(terms, says.size, size=float(np.abs(says) @ some @ people))


def coordinates_wave(amounts: Floats, counts: Ints, steps: Floats, law: Floats, *, reach: float) -> Wave:
    """Of the sum of a_v times steps, less its mean, where each value has a coordinate that is a random step.

    The law of a step is mirrored in the coordinate of a person's own value. Its own characteristic function is
    smooth, so it is looked up on a Chebyshev grid, along both axes up to `reach`.
    """
    table = _table(steps, law, max(float(np.abs(amounts).max()), 1e-300) * reach)
    others = counts.sum() - counts

    def terms(theta: npt.NDArray[Any]) -> list[tuple[Complexes, npt.NDArray[Any]]]:
        at = theta[:, None] * amounts
        return [(table(at), others), (table(-at), counts)]

    return Wave(terms, 2 * amounts.size)


def _table(steps: Floats, law: Floats, widest: float) -> Log:
    """The logarithm of a step's own characteristic function: looked up within reach, else summed.

    Noise like Laplace's has a pole at a deviation over root two from the real axis. So many nodes are taken that the
    pole leaves an error near 1e-16; along the imaginary axis, no nodes if it is near.
    """
    from numpy.polynomial import chebyshev as polynomials

    centred = steps - float(law @ steps)
    width = math.isqrt(law.size) + 1
    cells = np.zeros((-(-law.size // width), width))
    cells.ravel()[: law.size] = law
    coarse, fine = centred[0] + width * np.arange(len(cells)), np.arange(width, dtype=np.float64)

    def exact(at: npt.NDArray[Any]) -> Complexes:
        """Steps follow one another, so each is a coarse one and a fine one: turns of few numbers make those of all."""
        with np.errstate(over="ignore", invalid="ignore"):
            first, second = (expm1i(at.reshape(-1, 1) * part) for part in (coarse, fine))
            sums = first @ cells.sum(axis=1) + second @ cells.sum(axis=0)
            sums += (np.einsum("tj,jk->tk", first, cells) * second).sum(axis=1)
            return log1p(sums).reshape(at.shape)

    def bent(at: npt.NDArray[Any]) -> Complexes:
        """The logarithm over the square of the point, which is as precise where the point is small."""
        out = np.full(at.shape, -(deviation**2) / 2, np.complex128)
        some = np.abs(at) > 1e-9 * widest
        out[some] = exact(at[some]) / at[some] ** 2
        return out

    deviation = math.sqrt(float(law @ centred**2))
    widest = min(widest, _WIDEST / deviation) if deviation else widest
    wide = widest * deviation
    many = 2 * math.ceil(20 / math.asinh(1.2 / wide)) + 9 if wide else 1
    nodes = polynomials.chebpts1(many)
    waves = polynomials.chebvander(nodes, many - 1) * (2 / many)
    waves[:, 0] /= 2
    half = bent(widest * nodes[many // 2 :])  # from zero on; below, the conjugates
    along = np.einsum("jc,j->c", waves, np.concatenate([half[:0:-1].conj(), half]))
    across = np.einsum("jc,j->c", waves, bent(1j * widest * nodes)) if wide < 0.5 else None

    def log(at: npt.NDArray[Any]) -> Complexes:
        table = across if np.iscomplexobj(at) else along
        if table is None:
            return exact(at)
        part = np.asarray((at.imag if np.iscomplexobj(at) else at) / widest)
        found = np.asarray(polynomials.chebval(np.clip(part, -1, 1), table), np.complex128) * at**2
        beyond = np.abs(part) > 1
        if beyond.any():
            found[beyond] = exact(at[beyond])
        return found

    return log


# How far they fall.


def independent_bits_swings(amounts: Floats, counts: Ints, p: float, q: float) -> Swings:
    """Each bit is one, or it is none."""
    return Swings(counts * p * (1 - p) + (counts.sum() - counts) * q * (1 - q), amounts)


def direct_swings(amounts: Floats, counts: Ints, p: float, q: float) -> Swings:
    """Two values."""

    def chances(one: Ints, other: Ints) -> Floats:
        own = counts[one] + counts[other]
        return np.asarray((counts.sum() - own) * (q / 2) + own * (p * q / (p + q)))

    return paired(amounts, chances)


def channel_swings(says: Floats, law: Floats, counts: Ints) -> Swings:
    """Two outputs; law[y, x] may be one column of what is least over x, and counts then everybody."""
    return paired(says, lambda one, other: shared(law[one], law[other]) @ counts)


def coordinates_swings(amounts: Floats, counts: Ints, law: Floats, deviation: float) -> Swings:
    """Two steps of a coordinate, which are one, two, four and more apart, up to twice the deviation."""
    rungs = [1 << j for j in range(int(max(1.0, 2 * deviation)).bit_length())]
    rungs = [rung for rung in rungs if rung < law.size]
    often = np.array([min(_apart(law, rung), _apart(law[::-1], rung)) for rung in rungs])
    often *= 0.5 / max(1, len(rungs) - 1)
    often[-1] *= max(1, len(rungs) - 1)
    weights = np.outer(often, np.full(amounts.size, float(counts.sum()))).ravel()
    few = 2 * float(weights.sum()) < (2 * CLEAR) ** 2
    far = _coordinates_sieve(amounts, int(counts.sum()), law, deviation) if few else None
    return Swings(weights, np.outer(rungs, amounts).ravel(), far)


def _coordinates_sieve(amounts: Floats, n: int, law: Floats, deviation: float) -> Sieve | None:
    """For few people: how far theta a_v is from whole turns, at most over v. One coordinate is enough where it is so
    far that n times its logarithm is little; how far that is, all values of its own characteristic function tell.
    """
    grid = 1 << (16 * law.size).bit_length()
    between = deviation * np.pi / grid  # |phi| is nowhere steeper than the deviation
    highest = np.maximum.accumulate(np.abs(np.fft.rfft(law, grid))[::-1])[::-1] + between
    clear = np.flatnonzero(n * np.log(highest) < -(CLEAR**2) / 2)
    if not clear.size or not amounts.any():
        return None
    scale = CLEAR / (2 * np.pi * (clear[0] + 1) / grid)

    def length(theta: Floats) -> Floats:
        turns = theta[:, None] * (amounts / (2 * np.pi))
        return np.asarray(2 * np.pi * scale * np.abs(turns - np.rint(turns)).max(axis=1))

    return length, scale * float(np.abs(amounts).max()), amounts.size


def _apart(law: Floats, rung: int) -> float:
    """Over disjoint pairs of steps so far apart."""
    first = np.arange(law.size - rung) // rung % 2 == 0
    return float(shared(law[:-rung][first], law[rung:][first]).sum())


def shared(one: Floats, other: Floats) -> Floats:
    """The chance of a pair times r (1 - r), from the chances of both."""
    both = one + other
    return np.divide(one * other, both, out=np.zeros_like(both), where=both > 0)


def paired(numbers: Floats, chances: Callable[[Ints, Ints], Floats]) -> Swings:
    """Numbers in disjoint pairs, in five ways: next to each other, some places apart, and half of all places apart.

    Each way is a bound, and so is their geometric mean. Near numbers show that little comes back, and far ones where.

    Args:
        numbers: What is paired, by size.
        chances: For arrays of firsts and seconds, the sum over people of `shared` chances.
    """
    order, size = np.argsort(numbers, kind="stable"), numbers.size
    if size < 2:
        return Swings(np.zeros(0), np.zeros(0))
    ways = [(apart, turn, 0.125) for apart in (1, math.isqrt(size)) for turn in (0, 1)] + [(size // 2, 0, 0.5)]
    weights, steps = [], []
    for apart, turn, share in ways:
        first = np.arange(size - apart)
        first = first[first // apart % 2 == turn]
        one, other = order[first], order[first + apart]
        weights.append(chances(one, other) * share)
        steps.append(numbers[other] - numbers[one])
    return Swings(np.concatenate(weights), np.concatenate(steps))


# Arithmetic.


def expm1i(x: npt.NDArray[Any]) -> Complexes:
    """exp(ix) - 1, to full relative precision."""
    if np.iscomplexobj(x):
        return np.asarray(np.expm1(1j * x))
    half = np.sin(x / 2)
    out = np.empty(x.shape, np.complex128)
    out.real, out.imag = -2 * half**2, np.sin(x)
    return out


def log1p(w: Complexes) -> Complexes:
    """log(1 + w); unlike numpy's own, precise where w is small, since thousands of people add up."""
    out = np.empty(w.shape, np.complex128)
    with np.errstate(divide="ignore"):
        size = 0.5 * np.log1p(np.maximum(w.real * (2 + w.real) + w.imag**2, -1.0))
    out.real = np.maximum(size, _LEAST)  # finite, so that nobody times nothing is nothing
    out.imag = np.arctan2(w.imag, 1 + w.real)
    return out


def log_phi(less_one: Complexes, theta: npt.NDArray[Any]) -> Complexes:
    """The logarithm of a characteristic function; at imaginary points infinite where rounding leaves little of it."""
    found = log1p(less_one)
    return np.where(found.real < _LOST, np.inf, found) if np.iscomplexobj(theta) else found


def _added(each: Complexes, people: npt.NDArray[Any]) -> Complexes:
    """Over people; without threads, which would cost more than the sums."""
    return np.asarray(np.einsum("tv,v->t", each, people.astype(np.complex128)), np.complex128)
