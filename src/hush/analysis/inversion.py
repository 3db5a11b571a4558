"""The probability that a sum does not exceed a point, from its characteristic function, and how far off it may be.

A square wave that is one just below the point and zero just above it is a sum of odd sines, so its mean needs the
characteristic function at odd multiples of one frequency. The wave is so long that less than 1e-19 lies beyond, by
Chernoff's bound. Of a sum on a lattice finitely many multiples are all there are; but they may be millions, and the
function, once fallen off, comes back wherever all that reports add is nearly a multiple of one number.

Where it cannot be back is proved, not sampled. The root of twice a fall (see `waves`) is a length in the sense of
Euclid, of the vector of all sin(theta step / 2), times weights; so it changes by no more than its slope times what
theta changes by, and one value clears a whole interval. Where too many intervals would be left, the sines are weighed
as Vaaler does (Bull. AMS 1985), and the mean of Fejér's kernel at the point bounds what that leaves out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hush.analysis.waves import CLEAR, Sieve, Swings, Wave
from hush.types import Floats, Ints

Cells = tuple[Floats, float, float]
"""Left ends of intervals, how wide they are, and the end of what was looked at."""

_NATS = 44.0  # e^-44 is 1e-19
_WHOLE = 1 << 9  # windows up to so many lattice points are summed whole
_SIEVED, _SOME = 1 << 19, 1 << 17  # numbers that a sieve takes at a time, with a lattice and without
_SUMMED, _ENOUGH = 1 << 22, 1 << 17  # numbers that a sum takes, if it is then whole, and else
_FEW = 100  # points so few that sieving would not pay
_LEAST = 256  # intervals that a sieve has at least
_FEWEST = 400  # points that a sum has at least
_FAR, _NEAR = 1e6, 60.0  # over the deviation, how far is looked where there is no lattice
_FIRST = 13  # intervals to begin with
_TILTS = (
    *(10.0**-j for j in range(15, 0, -1)),
    0.5,
    1.5,
    4.0,
    math.sqrt(2 * _NATS),
)  # that bound how far a sum reaches


@dataclass(frozen=True, eq=False)
class Places:
    """Where a characteristic function may not be negligible, up to an end."""

    left: Floats
    right: Floats
    end: float
    whole: bool
    """Whether that is all of them."""

    def numbers(self, unit: float, last: int) -> Ints:
        """The whole multiples of a unit among them, from 1 to the last."""
        first = np.maximum(np.ceil(self.left / unit), 1).astype(np.int64)
        many = np.maximum(np.minimum(np.floor(self.right / unit), last).astype(np.int64) - first + 1, 0)
        first, many = first[many > 0], many[many > 0]
        before = np.cumsum(many) - many
        return np.asarray(np.arange(int(many.sum())) + np.repeat(first - before, many))


@dataclass(frozen=True, eq=False)
class Inversion:
    """Probabilities of a centred sum.

    Args:
        wave: Its characteristic function.
        deviation: Its standard deviation.
        step: Distance of lattice points; 0 if there is no lattice.
        swings: Of the wave, to find places fast. Without them, and without a lattice, the error is not bounded.
        size: How large the numbers are that were added up before the sum was centred, for the error of rounding.

    >>> from hush.analysis.waves import independent_bits_wave
    >>> six = independent_bits_wave(np.array([1.0]), np.array([6]), 0.5, 0.0)
    >>> found, error = Inversion(six, math.sqrt(1.5), 1.0).at_most(-0.5)
    >>> round(found, 12), error < 1e-12  # at most 2 heads of 6, 22 cases of 64
    (0.34375, True)
    """

    wave: Wave
    deviation: float
    step: float = 0.0
    swings: Swings | None = None
    size: float = 0.0

    def at_most(self, point: float) -> tuple[float, float]:
        """The probability that the sum does not exceed a point, and a bound on its error.

        On a lattice, the point is to be halfway between two lattice points.
        """
        if self.deviation == 0:
            return float(point >= 0), 0.0
        if abs(point) >= self.reach:
            return float(point > 0), 1e-19
        length = 2 * (abs(point) + self.reach)
        window = 4 * math.ceil(length / (4 * self.step)) if self.step else 0
        if 0 < window <= _WHOLE:
            return self._all(point, window, np.arange(1, window // 2, 2))
        if window and self.places.whole:
            unit = 2 * np.pi / (window * self.step)
            numbers = self.places.numbers(unit, window // 2 - 1)
            return self._all(point, window, numbers[numbers % 2 == 1])
        return self._smoothed(point, length)

    @property
    def whole(self) -> bool:
        """Whether nothing is left out, wherever the point is."""
        return self.deviation == 0 or (self.step > 0 and (4 * self.reach <= _WHOLE * self.step or self.places.whole))

    def _all(self, point: float, window: int, odd: Ints) -> tuple[float, float]:
        """By all terms of a lattice that matter."""
        weights = 2 / (window * np.sin(np.pi * odd / window))
        return self._added(point, np.asarray(2 * np.pi * odd / (window * self.step)), weights)

    def _smoothed(self, point: float, length: float) -> tuple[float, float]:
        """By the terms up to an end, weighed such that Fejér's kernel bounds the error."""
        unit = 2 * np.pi / length
        ends = max(2, int(self.places.end / unit))
        numbers = self.places.numbers(unit, ends - 1)
        odd, even = numbers[numbers % 2 == 1], numbers[numbers % 2 == 0]
        weights = 2 / (np.pi * odd)
        if self.swings is None:
            return self._added(point, unit * odd, weights)[0], math.inf
        share = odd / ends
        smooth = np.pi * share * (1 - share) / np.tan(np.pi * share) + share
        found, error = self._added(point, unit * odd, weights * smooth)
        values = np.exp(self.wave(unit * even) - 1j * unit * even * point).real if even.size else np.zeros(0)
        return found, error + max((1 + 2 * float((1 - even / ends) @ values)) / ends, 0.0)

    def _added(self, point: float, theta: Floats, weights: Floats) -> tuple[float, float]:
        """Terms of the sum, and the error of rounding: angles are off by their own size times a few ulps."""
        if not theta.size:
            return 0.5, 0.0
        logs = self.wave(theta)
        sizes = np.exp(logs.real)
        total = 0.5 + float(weights @ (sizes * np.sin(theta * point - logs.imag)))
        off = float((weights * sizes) @ theta) * (self.size + self.wave.size + abs(point))
        return min(max(total, 0.0), 1.0), 4 * float(np.finfo(float).eps) * off + 1e-14

    @cached_property
    def reach(self) -> float:
        """How far from its mean the sum may be, but for a chance of 1e-19: Chernoff's bound in both directions.

        Any tilt gives a bound; the largest is the best for a nearly normal sum, the others are for skewed ones. Of few
        people at large tilts, rounding may leave nothing of what is looked for. The logarithm of the mean is convex and
        zero at zero, so that its slope from there rises: where it does not, and beyond, no tilt is asked.
        """
        tilts, off = np.array(_TILTS), 1e-9 + 1e-12 * (self.size + self.wave.size) / self.deviation
        with np.errstate(all="ignore"):
            logs = self.wave(1j * np.concatenate([tilts, -tilts]) / self.deviation).real.reshape(2, -1)
            slopes = logs / tilts
            rising = np.diff(slopes, axis=1, prepend=0.0) >= -off - 1e-6 * np.abs(slopes)
        sure = np.logical_and.accumulate(np.isfinite(logs) & rising, axis=1).all(axis=0)
        bounds = (np.maximum(logs.max(axis=0), 0.0) + _NATS) / tilts
        return float(bounds[sure].min(initial=np.inf)) * self.deviation

    @cached_property
    def places(self) -> Places:
        """Where the characteristic function may not be negligible."""
        far = (_FAR if self.swings else _NEAR) / self.deviation
        top = math.pi / self.step if self.step else far
        left, width, end = _begun(top)
        sieves, room = self.swings.sieves() if self.swings else [], _SIEVED if self.step else _SOME
        for sieve in sieves:
            left, width, end = _sieved(sieve, left, width, end, room, last=sieve is sieves[-1])
        density = self.reach / np.pi  # odd points to an interval of length 1, where the point is far out
        if left.size * width * density > _FEW:
            own = (self.wave.fall, self.deviation, self.wave.cells)
            left, width, end = _sieved(own, left, width, end, room if end >= top else _SOME, last=True)
        whole = bool(self.step) and end >= math.pi / self.step * (1 - 1e-12)
        right = np.minimum(left + width, end)
        most = max((_SUMMED if whole else _ENOUGH) / self.wave.cells, _FEWEST) / density
        if float((right - left).sum()) > most:
            whole, most = False, max(_ENOUGH / self.wave.cells, _FEWEST) / density
            last = int(np.searchsorted(np.cumsum(right - left), most))
            left, right = left[: last + 1], right[: last + 1]
            right[last] -= float((right - left).sum()) - most
            end = float(right[last])
        starts = np.flatnonzero(left - np.append(-np.inf, right[:-1]) > 1e-3 * width)
        stops = np.append(starts[1:], left.size) - 1
        return Places(left[starts] - 1e-3 * width, right[stops] + 1e-3 * width, end, whole)

    @property
    def smooth(self) -> bool:
        """Whether, as far as swings alone show, the characteristic function does not come back soon."""
        if self.swings is None:
            return False
        top = min(math.pi / self.step if self.step else math.inf, 1e5 / self.deviation)
        left, width, end = _begun(top)
        for sieve in self.swings.sieves():
            left, width, end = _sieved(sieve, left, width, end, _SOME)
        together = left.size * width > float(left[-1]) + 0.5 * width
        return together and float(left[-1]) + 2 * width < top <= end


def _begun(top: float) -> Cells:
    return np.linspace(0.0, top, _FIRST, endpoint=False), top / _FIRST, top


def _sieved(sieve: Sieve, left: Floats, width: float, end: float, room: int, last: bool = False) -> Cells:
    """Drop the intervals in which a length is surely large, cutting the others; and what lies too far to look at."""
    length, slope, cells = sieve
    fine = (2.0 if last else CLEAR) / slope
    most = max(_LEAST, room // cells)
    while left.size:
        seen = length(left + width / 2)
        left = left[seen < CLEAR + slope * width / 2]
        if width <= fine or seen.max() <= CLEAR:  # nothing more to cut, or to be cleared at all
            break
        useful = max(fine, (float(seen.max()) - CLEAR) / slope)
        parts = max(4, math.ceil(width / useful))
        if left.size * parts > most:
            end = min(end, float(left[most // parts] + (most % parts) * (width / parts)))
        kept = left[: most // parts + 1]
        left = (kept[:, None] + np.arange(min(parts, most)) * (width / parts)).ravel()[:most]
        width /= parts
    return left, width, end


def edgeworth(wave: Wave, deviation: float, point: float) -> float | None:
    """The probability from one value of the characteristic function: the normal value, corrected.

    The value at half a turn over the deviation shows the third and fourth cumulants. None where they are too large,
    at this point, for the correction to be good to about one part in ten thousand.
    """
    at = 0.5
    value = complex(wave(np.array([at / deviation]))[0])
    third, fourth = -6 * value.imag / at**3, 24 * (value.real + at**2 / 2) / at**4
    x = point / deviation
    if abs(third) * max(1.0, abs(x) ** 3) > 0.1 or abs(fourth) * max(1.0, x**4) > 0.1:
        return None
    bend = third / 6 * (x**2 - 1) + fourth / 24 * (x**3 - 3 * x) + third**2 / 72 * (x**5 - 10 * x**3 + 15 * x)
    density = math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return min(max(0.5 * math.erfc(-x / math.sqrt(2)) - density * bend, 0.0), 1.0)
