"""Numeric mechanisms, for means: Duchi, Piecewise and Hybrid, on a grid with exact integer weights.

Duchi: Duchi, Jordan and Wainwright (2018), in one dimension. Piecewise and Hybrid: Wang et al. (ICDE 2019). All three
are unbiased exactly: what a report is on average is linear in the grid point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hush.estimation import possible
from hush.exact.thresholds import SCALE, exp_below, exponential, keep, log_ratio
from hush.mechanisms.direct import unsigned
from hush.mechanisms.numeric.base import Numeric, Words, place_sums
from hush.mechanisms.numeric.forms import CoinForms, MixtureForms, NumericForms, WindowForms
from hush.mechanisms.numeric.laws import Coins, MeanLaw, Windows, outermost
from hush.mechanisms.numeric.pieces import Pieces
from hush.types import Floats, Ints, Reports

_LEAST_INSIDE = 256
_MOST_PLACES = 1 << 31
HYBRID_FROM = 0.6093524930273093
"""Up to this epsilon the hybrid is Duchi's mechanism alone (Wang et al., equation 8)."""


@dataclass(frozen=True, kw_only=True)
class Duchi(Numeric):
    """Report one bit, likelier to be one the larger the number.

    >>> m = Duchi(low=0.0, high=40.0, epsilon=1.0, steps=40)
    >>> round(m.variance() / 400, 4)  # ((e + 1) / (e - 1))², at the middle, for half the width
    4.6827
    """

    companion: ClassVar[type[NumericForms]] = CoinForms

    @cached_property
    def slope(self) -> int:
        """What a step adds to the probability of a one, out of 2^64: the most that epsilon allows, even."""
        e = exp_below(self.epsilon)
        apart = math.lcm(2, self.steps)
        return int(SCALE * (e - 1) / (e + 1)) // apart * apart // self.steps

    @property
    def base(self) -> int:
        """The probability of a one at the lowest grid point, out of 2^64."""
        return (SCALE - self.slope * self.steps) // 2

    @property
    def thresholds(self) -> dict[str, int]:
        return {"base": self.base, "slope": self.slope}

    @property
    def size(self) -> int:
        """Two outputs."""
        return 2

    @property
    def denominator(self) -> int:
        """2^64."""
        return SCALE

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """One byte, 0 or 1."""
        return np.dtype("u1")

    def sample(self, floors: Words, parts: Words, rng: np.random.Generator) -> Reports:
        from hush.kernels.numeric import coin

        out = np.empty(floors.size, self.report_dtype)
        coin(rng, floors, parts, np.uint64(self.base), np.uint64(self.slope), out)
        return out

    def tally(self, reports: Reports) -> Ints:
        return place_sums(reports, 0, 2)[4:]

    def check_tally(self, tally: Ints, n: int) -> None:
        possible.within(tally, 0, n, "ones")

    @property
    def _says(self) -> tuple[Fraction, Fraction]:
        """What a zero and a one say about the tick."""
        return Fraction(-self.base, self.slope), Fraction(SCALE - self.base, self.slope)

    @property
    def lattice(self) -> tuple[float, float]:
        zero, one = self._says
        return float(zero), float(one - zero)

    def moments(self, tally: Ints, n: int) -> tuple[Fraction, Fraction]:
        ones = int(tally[0])
        zero, one = self._says
        return ones * one + (n - ones) * zero, ones * one**2 + (n - ones) * zero**2

    def law(self, tally: Ints, n: int) -> MeanLaw:
        return Coins(int(tally[0]), n, self.base / SCALE, self.slope / SCALE, self.steps)

    def pieces(self, ticks: Ints) -> Pieces:
        chance = (self.base + self.slope * ticks.astype(np.float64)) / SCALE
        zero, one = (np.full(ticks.size, float(x)) for x in self._says)
        alone = np.ones((2, ticks.size))
        return Pieces(np.stack([1 - chance, chance]), np.stack([zero, one]), alone, alone)

    def decode(self, reports: Reports) -> Floats:
        return np.array([float(x) for x in self._says])[reports]

    def weight(self, report: Any, tick: int) -> int:
        one = self.base + self.slope * int(tick)
        return one if report else SCALE - one

    def exact_epsilon(self) -> float:
        """The loss of either bit, between the two ends."""
        return log_ratio(SCALE - self.base, self.base)


@dataclass(frozen=True, kw_only=True)
class Piecewise(Numeric):
    """Report a place on a longer grid, likelier within a window that slides with the number.

    Each grid step is cut into ``height`` places, and the window is ``inside`` of them: near e^(-epsilon/2) of all
    other places, which is the best.

    >>> m = Piecewise(low=-1.0, high=1.0, epsilon=4.0)
    >>> round(m.variance(values=[0.0]), 3)  # (s + 3) / (3 (s - 1)²) with s = e^(epsilon/2)
    0.085
    """

    companion: ClassVar[type[NumericForms]] = WindowForms

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        """Places in a window, and in a grid step: as few as show the window's best width to a part in 256."""
        wide = exponential(Fraction(self.epsilon) / 2)
        least = min(_LEAST_INSIDE, max(1, int(_MOST_PLACES / wide)))
        height = -int(-least * wide // self.steps)
        inside = max(1, round(height * self.steps / wide))
        return inside, height

    @property
    def inside(self) -> int:
        """Places in the window."""
        return self._sizes[0]

    @property
    def height(self) -> int:
        """Places that the window slides in a step."""
        return self._sizes[1]

    @property
    def outside(self) -> int:
        """Places outside the window."""
        return self.height * self.steps

    @property
    def size(self) -> int:
        """All places."""
        return self.inside + self.outside

    @cached_property
    def keep(self) -> int:
        """Out of 2^64, the probability of a place inside the window."""
        return keep(self.epsilon, self.inside, self.outside)

    @property
    def thresholds(self) -> dict[str, int]:
        return {"keep": self.keep, "inside": self.inside, "height": self.height}

    @property
    def denominator(self) -> int:
        """2^64 times the places inside and outside."""
        return SCALE * self.inside * self.outside

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The smallest unsigned integer that holds a place."""
        return unsigned(self.size - 1)

    @property
    def _bounds(self) -> list[np.uint64]:
        from hush.kernels.words import rejection

        whole = [np.uint64(x) for x in (self.height, self.inside, self.outside, self.keep)]
        return [*whole, rejection(self.inside), rejection(self.outside)]

    def sample(self, floors: Words, parts: Words, rng: np.random.Generator) -> Reports:
        from hush.kernels.numeric import window

        out = np.empty(floors.size, self.report_dtype)
        window(rng, floors, parts, out, *self._bounds)
        return out

    def tally(self, reports: Reports) -> Ints:
        return place_sums(reports, self.size, self.size)[1:4]

    def check_tally(self, tally: Ints, n: int) -> None:
        """Sums of places, and of their squares in two parts, which bound each other."""
        last = self.size - 1
        for part, most in zip(tally, (last, 2**32 - 1, last**2 >> 32), strict=True):
            possible.within(part.reshape(1), 0, n * most, "sums of places and squares")
        possible.squares(int(tally[0]), int(tally[1]) + (int(tally[2]) << 32), n, last)

    @cached_property
    def _line(self) -> tuple[Fraction, Fraction]:
        """The mean place at the lowest grid point, and what a step adds to it."""
        stay = Fraction(self.keep, SCALE)
        start = stay * Fraction(self.inside - 1, 2) + (1 - stay) * (self.inside + Fraction(self.outside - 1, 2))
        return start, self.height * (stay - (1 - stay) * Fraction(self.inside, self.outside))

    @property
    def lattice(self) -> tuple[float, float]:
        start, slope = self._line
        return float(-start / slope), float(1 / slope)

    def moments(self, tally: Ints, n: int) -> tuple[Fraction, Fraction]:
        total, low, high = (int(x) for x in tally)
        start, slope = self._line
        squares = low + (high << 32)
        return (total - n * start) / slope, (squares - 2 * start * total + n * start**2) / slope**2

    def law(self, tally: Ints, n: int) -> MeanLaw:
        total = float(self.moments(tally, n)[0])
        return Windows(total, n, self.steps, self.pieces(outermost(self.steps)), bent=True)

    def pieces(self, ticks: Ints) -> Pieces:
        start, slope = (float(x) for x in self._line)
        stay, at = self.keep / SCALE, ticks.astype(np.float64)
        leave, under = (SCALE - self.keep) / SCALE, at / self.steps
        edge = self.height * at
        first = np.stack([edge, np.zeros(at.size), edge + self.inside])
        length = np.stack([np.full(at.size, float(self.inside)), edge, self.outside - edge])
        chance = np.stack([np.full(at.size, stay), leave * under, leave * (1 - under)])
        return Pieces(chance, (first - start) / slope, np.full(first.shape, 1 / slope), length)

    def decode(self, reports: Reports) -> Floats:
        start, slope = (float(x) for x in self._line)
        return np.asarray((reports.astype(np.float64) - start) / slope, np.float64)

    def weight(self, report: Any, tick: int) -> int:
        within = 0 <= int(report) - self.height * int(tick) < self.inside
        return self.keep * self.outside if within else (SCALE - self.keep) * self.inside

    def chances(self, ticks: Ints) -> Floats:
        at = np.arange(self.size)[:, None] - self.height * ticks
        within = (at >= 0) & (at < self.inside)
        high, low = self.keep / (SCALE * self.inside), (SCALE - self.keep) / (SCALE * self.outside)
        return np.where(within, high, low)

    def exact_epsilon(self) -> float:
        """The loss of a place inside one window and outside another."""
        return log_ratio(self.keep * self.outside, (SCALE - self.keep) * self.inside)


@dataclass(frozen=True, kw_only=True)
class Hybrid(Numeric):
    """Piecewise with probability 1 - e^(-epsilon/2), else Duchi; Duchi alone where epsilon is small.

    A coin that does not look at the number chooses; the report says which it was, and costs no privacy by it. The
    variance is then the same for every number, and the worst case is the best of the three.

    >>> m = Hybrid(low=-1.0, high=1.0, epsilon=4.0)
    >>> m.variance() < min(Duchi(low=-1.0, high=1.0, epsilon=4.0).variance(), 0.24)
    True
    """

    companion: ClassVar[type[NumericForms]] = MixtureForms

    @cached_property
    def _parts(self) -> tuple[Piecewise, Duchi]:
        return Piecewise(**self.parameters), Duchi(**self.parameters)

    @cached_property
    def choose(self) -> int:
        """Out of 2^64, the probability of the piecewise mechanism."""
        if self.epsilon <= HYBRID_FROM:
            return 0
        return int(SCALE * (1 - exponential(Fraction(-self.epsilon) / 2)))

    @property
    def thresholds(self) -> dict[str, int]:
        window, coin = self._parts
        return {"choose": self.choose, **window.thresholds, **coin.thresholds}

    @property
    def size(self) -> int:
        """All places, and a bit."""
        return self._parts[0].size + 2

    @property
    def denominator(self) -> int:
        """Both mechanisms over one denominator, times 2^64 for the choice."""
        return SCALE * self._parts[0].denominator

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The smallest unsigned integer that holds a place or, above all places, a bit."""
        return unsigned(self.size - 1)

    def sample(self, floors: Words, parts: Words, rng: np.random.Generator) -> Reports:
        from hush.kernels.numeric import mixed

        window, coin = self._parts
        out = np.empty(floors.size, self.report_dtype)
        first = [np.uint64(x) for x in (self.choose, coin.base, coin.slope)]
        mixed(rng, floors, parts, out, *(first + window._bounds))
        return out

    def tally(self, reports: Reports) -> Ints:
        return place_sums(reports, self._parts[0].size, self.size)

    def check_tally(self, tally: Ints, n: int) -> None:
        window, coin = self._parts
        possible.within(tally[:1], 0, n if self.choose else 0, "places")
        window.check_tally(tally[1:4], int(tally[0]))
        coin.check_tally(tally[4:], n - int(tally[0]))

    @property
    def lattice(self) -> tuple[float, float] | None:
        return None if self.choose else self._parts[1].lattice

    def moments(self, tally: Ints, n: int) -> tuple[Fraction, Fraction]:
        window, coin = self._parts
        places = int(tally[0])
        one, other = window.moments(tally[1:4], places), coin.moments(tally[4:], n - places)
        return one[0] + other[0], one[1] + other[1]

    def law(self, tally: Ints, n: int) -> MeanLaw:
        if not self.choose:
            return self._parts[1].law(tally[4:], n)
        total = float(self.moments(tally, n)[0])
        return Windows(total, n, self.steps, self.pieces(outermost(self.steps)), bent=False)

    def pieces(self, ticks: Ints) -> Pieces:
        window, coin = self._parts
        return window.pieces(ticks).joined(coin.pieces(ticks), self.choose / SCALE)

    def decode(self, reports: Reports) -> Floats:
        window, coin = self._parts
        bits = (reports.astype(np.int64) - window.size) == 1
        return np.where(reports < window.size, window.decode(reports), coin.decode(bits.astype(np.uint8)))

    def weight(self, report: Any, tick: int) -> int:
        window, coin = self._parts
        if int(report) < window.size:
            return self.choose * window.weight(report, tick)
        bit = int(report) - window.size
        return (SCALE - self.choose) * coin.weight(bit, tick) * (window.denominator // coin.denominator)

    def chances(self, ticks: Ints) -> Floats:
        window, coin = (part.chances(ticks) for part in self._parts)
        share = self.choose / SCALE
        return np.concatenate([share * window, (1 - share) * coin])

    def exact_epsilon(self) -> float:
        """The larger loss of the two, of those that are ever chosen."""
        window, coin = self._parts
        return max(coin.exact_epsilon(), window.exact_epsilon() if self.choose else 0.0)
