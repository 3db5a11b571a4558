"""Noise on a grid with exact integer probabilities.

Doubles leak: the gaps between them show where a noisy number came from. So noise is drawn in whole grid steps from
a table of integer weights that sum to 2^64, and the loss is computed from that very table.

A coordinate of a one-hot vector is 0 or 1, that is 0 or `unit` steps. With weights W for a zero, a one has the
mirror image: y is as likely as unit - y is under W.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, repeat

import numpy as np
import numpy.typing as npt

from hush.exact.thresholds import SCALE, exp_below, log_ratio
from hush.types import Floats

_LONG_DIGITS, _SHORT_DIGITS = Context(prec=60), Context(prec=40)
_LOG_BILLION = 20.72326583694641
"""ln 10^9, written out: computed, its last digit would depend on the processor."""


@dataclass(frozen=True)
class Grid:
    """Weights of the steps `lowest`, `lowest`+1, ... of a coordinate that is zero; a one is mirrored about unit/2."""

    weights: tuple[int, ...]
    lowest: int
    unit: int

    @property
    def highest(self) -> int:
        """The largest step."""
        return self.unit - self.lowest

    @cached_property
    def null(self) -> tuple[int, ...]:
        """Weights under a zero, from lowest to highest."""
        return self.weights + (0,) * (self.highest - self.lowest + 1 - len(self.weights))

    @cached_property
    def own(self) -> tuple[int, ...]:
        """Weights under a one, from lowest to highest."""
        return self.null[::-1]

    @cached_property
    def probabilities(self) -> Floats:
        """Of each step from lowest to highest, under a zero."""
        return np.array(self.null, np.float64) / SCALE

    @cached_property
    def ratios(self) -> Floats:
        """How much likelier each step is under a one; steps that never occur under a zero are infinite."""
        own, null = np.array(self.own, np.float64), np.array(self.null, np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(null > 0, own / null, np.where(own > 0, np.inf, 1.0))

    @cached_property
    def steps(self) -> npt.NDArray[np.int64]:
        """All steps."""
        return np.arange(self.lowest, self.highest + 1)

    @cached_property
    def mean(self) -> float:
        """Mean step under a zero."""
        return float(Fraction(sum(map(operator.mul, self.weights, range(self.lowest, self.highest + 1))), SCALE))

    @cached_property
    def variance(self) -> float:
        """Variance of a step, under a zero or a one."""
        return float(self.probabilities @ (self.steps - self.mean) ** 2)

    def above(self, limit: float) -> tuple[int, int]:
        """Weight of the steps above a limit, under a one and under a zero."""
        first = max(0, math.floor(limit) + 1 - self.lowest)
        return sum(self.own[first:]), sum(self.null[first:])

    @cached_property
    def _by_ratio(self) -> tuple[list[int], list[int]]:
        """Weights under a one and under a zero, sorted by their exact ratio."""
        cells = [(o, n) for o, n in zip(self.own, self.null, strict=True) if o or n]
        cells.sort(key=lambda cell: (cell[0] << 192) // cell[1] if cell[1] else math.inf)
        return [own for own, _ in cells], [null for _, null in cells]

    def pure_loss(self) -> float:
        """The worst log-ratio of two one-hot vectors: twice that of a coordinate, by symmetry."""
        own, null = self._by_ratio
        return log_ratio(own[-1] ** 2, null[-1] ** 2)

    def excess(self, epsilon: float) -> Fraction:
        """The hockey-stick divergence of two one-hot vectors at epsilon, rounded up: the least delta.

        Only the two coordinates where they differ matter. Sorted by ratio, each step of the first coordinate pairs
        with a run of the second's (zero under one vector and one under the other), whose weights add up as it goes.
        """
        own, null = self._by_ratio
        e = int(exp_below(epsilon) * 2**160)
        total = at = mine = theirs = 0
        for a, b in zip(own, null, strict=True):
            while at < len(own) and (a * null[at] << 160) > e * b * own[at]:
                mine, theirs, at = mine + null[at], theirs + own[at], at + 1
            total += (a * mine << 160) - e * b * theirs
        return Fraction(total, SCALE**2 << 160)

    def smallest_epsilon(self, delta: float, guess: float) -> float:
        """The smallest epsilon at which the divergence does not exceed delta, to one part in 10^13.

        Rounded up, but not beyond the guess if the divergence is exactly within delta there.
        """
        return _smallest_epsilon(self, delta, guess)


@lru_cache(maxsize=8)
def _smallest_epsilon(grid: Grid, delta: float, guess: float) -> float:
    """Compute `Grid.smallest_epsilon`; the search takes seconds, and many ask for the loss of one mechanism."""
    limit = Fraction(delta)
    high = guess
    while grid.excess(high) > limit:
        if high > 1e4:
            return math.inf
        high *= 2
    _, near = _bisect(lambda x: _rough_excess(grid.probabilities, x) <= delta, 0.0, high, 1e-12)
    width = 1e-12
    while near * (1 + width) < high and grid.excess(near * (1 + width)) > limit:
        width *= 8
    high, width = min(high, near * (1 + width)), 1e-12
    while width < 1 and grid.excess(near * (1 - width)) <= limit:
        width *= 8
    return _bisect(lambda x: grid.excess(x) <= limit, max(0.0, near * (1 - width)), high, 1e-13)[1]


def _rough_excess(null: Floats, epsilon: float) -> float:
    """`Grid.excess` in double precision, for searching; under a one, steps have the probabilities in reverse."""
    own = null[::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(null > 0, own / null, np.inf)
    order = np.argsort(ratio)
    ratio, own, null = ratio[order], own[order], null[order]
    upto = np.searchsorted(ratio, ratio * math.exp(-epsilon))
    mine, theirs = (np.concatenate([[0.0], np.cumsum(part)])[upto] for part in (null, own))
    return float(own @ mine - math.exp(epsilon) * (null @ theirs))


def _bisect(holds: Callable[[float], bool], low: float, high: float, precision: float) -> tuple[float, float]:
    """Narrow down where a condition starts to hold, to a relative precision; it holds at the upper end."""
    while high - low > precision * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


@lru_cache(maxsize=32)  # searches over budgets come back to the same ones
def laplace(epsilon: float) -> Grid:
    """Two-sided geometric noise of scale 2/epsilon, so that a one-hot vector is epsilon-private; clamped at the ends.

    The grid has an even number of steps a unit, and at least 256 within the scale. A step y and its mirror unit - y
    bound each other's weight; outside 0..unit their ratio is exactly e^(epsilon/2) and rounded to stay below it,
    inside there is slack. The middle step, its own mirror, takes up what rounding leaves.
    """
    unit = max(2, 2 * math.ceil(64 * epsilon))
    reach = math.ceil(_LOG_BILLION * 2 * unit / epsilon)
    half = exp_below(epsilon / 2)
    with localcontext(_LONG_DIGITS):
        step = (-Decimal(epsilon) / (2 * unit)).exp()
        mass = list(accumulate(repeat(step, reach + unit), operator.mul, initial=(1 - step) / (1 + step) * SCALE))
        ends = [mass[reach] / (1 - step), mass[reach + unit] / (1 - step)]
        rounded, (low_end, high_end) = list(map(round, mass)), map(round, ends)
    near, far = [*rounded[:reach], low_end], [*rounded[unit : unit + reach], high_end]
    above, below = half.as_integer_ratio()
    bounded = [min(own, above * other // below) for own, other in zip(near, far, strict=True)]
    weights = [*reversed(bounded), *rounded[1:unit], *far]
    weights[reach + unit // 2] += SCALE - sum(weights)
    return Grid(tuple(weights), -reach, unit)


@lru_cache(maxsize=8)
def gaussian(scale: float) -> Grid:
    """Discrete Gaussian noise of the given scale in units, cut where its weight falls below one; 0 takes the rest.

    The shape e^(-y²/2w²) is built up by multiplication in decimal arithmetic, so that every machine gets the same.
    """
    unit = max(1, math.ceil(128 / scale))
    with localcontext(_SHORT_DIGITS):
        square = (Decimal(scale) * unit) ** 2
        shape, ratio, bend = [Decimal(1)], (-1 / (2 * square)).exp(), (-1 / square).exp()
        while shape[-1] > Decimal("1e-21"):
            shape.append(shape[-1] * ratio)
            ratio *= bend
        factor = SCALE / (2 * sum(shape, Decimal(0)) - 1)
        half = [int(w * factor) for w in shape]
    while half[-1] == 0:
        half.pop()
    weights = half[:0:-1] + half
    weights[len(half) - 1] += SCALE - sum(weights)
    return Grid(tuple(weights), -(len(half) - 1), unit)


def classical_gaussian(epsilon: float, delta: float) -> Grid:
    """Discrete Gaussian noise of scale sqrt(2)·sqrt(2 ln(1.25/delta))/epsilon, the same on every machine."""
    with localcontext(_SHORT_DIGITS):
        scale = 2 * (Decimal("1.25") / Decimal(delta)).ln().sqrt() / Decimal(epsilon)
    return gaussian(float(scale))


@lru_cache(maxsize=64)
def calibrated_scale(epsilon: float, delta: float, guess: float) -> float:
    """The least scale of discrete Gaussian noise whose exact divergence at epsilon is at most delta, to twelve digits.

    Double precision finds the neighbourhood, which is cut to a few digits, and exact arithmetic goes on from there, so
    that every machine finds the same.
    """
    near, slope = _neighbourhood(epsilon, delta, guess)
    start, places = float(f"{near:.7g}"), 11 - Decimal(near).adjusted()
    return _least_scale(epsilon, delta, start, float(f"{slope:.3g}"), lambda multiple: multiple / 10**places)


def binary_scale(epsilon: float, delta: float, guess: float) -> float:
    """The scale that version 0.1 took: a multiple of a power of two, at least 2^41 of which are below the guess."""
    step = 2.0 ** (math.frexp(guess)[1] - 42)
    return _least_scale(epsilon, delta, *_neighbourhood(epsilon, delta, guess), lambda multiple: multiple * step)


def _neighbourhood(epsilon: float, delta: float, guess: float) -> tuple[float, float]:
    """A scale whose divergence is about delta, and how the divergence changes with it, in double precision."""

    def roughly(scale: float) -> float:
        unit = max(1, math.ceil(128 / scale))
        steps = np.arange(-math.ceil(9.3 * scale * unit), math.ceil(9.3 * scale * unit) + unit + 1)
        shape = np.exp(-0.5 * (steps / (scale * unit)) ** 2)
        return _rough_excess(shape / shape.sum(), epsilon)

    low, high = guess * 0.98, guess * 1.02
    while roughly(high) > delta:
        low, high = high, high * 1.05
    _, near = _bisect(lambda scale: roughly(scale) <= delta, low, high, 1e-9)
    return near, (roughly(near * (1 + 1e-5)) - roughly(near * (1 - 1e-5))) / (2e-5 * near)


def _least_scale(epsilon: float, delta: float, near: float, slope: float, scale: Callable[[int], float]) -> float:
    """The least of evenly spaced scales that keeps the divergence within delta, found from nearby."""
    limit, step = Fraction(delta), scale(1)

    def exactly(multiple: int) -> Fraction:
        return gaussian(scale(multiple)).excess(epsilon)

    def holds(multiple: int) -> bool:
        return exactly(multiple) <= limit

    at = math.ceil(near / step)
    for _ in range(2 if slope < 0 else 0):
        at += math.ceil(float(limit - exactly(at)) / (slope * step))
    fails = holds_at = at
    reach = 1
    while not holds(holds_at):
        fails, holds_at, reach = holds_at, holds_at + reach, 2 * reach
    while fails == holds_at or holds(fails):
        holds_at, fails, reach = min(fails, holds_at), fails - reach, 2 * reach
    while holds_at - fails > 1:
        middle = (holds_at + fails) // 2
        fails, holds_at = (fails, middle) if holds(middle) else (middle, holds_at)
    return scale(holds_at)
