"""Intervals of estimates that are counts plus noise: one quantile of the noise serves all values.

A tally is `unit` for each person who holds the value, plus everybody's noise, a whole number of steps. Clamping may
make the noise of a one differ a little from that of a zero; the larger of the two, in the sense that no tail is
heavier, bounds both. The law of n of them is one transform: it is tilted before, by the tilt of Chernoff's bound, so
that tails are precise however small they are, and put back after.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hush.estimation import intervals
from hush.estimation.bounds import log_sum
from hush.estimation.laws import EstimateLaw
from hush.types import Bools, Floats, Ints

_TILTS = np.geomspace(1e-4, 1e2, 1 << 8)
_FEW, _ROUND = 1e3, 25.0  # reports from which on a kurtosis does not show; the second times deviations to the fourth
_FAR = 14.0  # deviations beyond which a tilted sum has nothing left
_LONGEST = 1 << 22


@dataclass(frozen=True, eq=False)
class Noise(EstimateLaw):
    """Counts plus independent noise.

    Args:
        tally: The sum of steps of each value.
        n: Number of reports.
        unit: Steps that a person who holds the value adds.
        lowest: The first step of the noise of somebody who does not.
        null: Its law.
        own: The law of the steps of somebody who holds the value, from the same first step on.
    """

    tally: Ints
    n: int
    unit: int
    lowest: int
    null: Floats
    own: Floats

    def normal(self, tail: float) -> Bools:
        """From so many reports on; their spread is known."""
        enough = self.n >= max(_FEW, _ROUND * intervals.deviations(tail) ** 4)
        return np.full(self.tally.size, bool(enough))

    def words(self, wanted: Bools) -> list[str]:
        """Exact, but for sums too long to transform, of which Chernoff's bound is taken."""
        whole = short(float(self.null @ (self.lowest + np.arange(self.null.size)) ** 2), self.n)
        return ["exact" if whole else "bound"] * int(wanted.sum())

    def ends(self, tail: float, wanted: Bools) -> tuple[Floats, Floats]:
        """The people whom the noise does not rule out; a one is a zero mirrored, so one quantile serves both ends."""
        reach = _reach(self.null.tobytes(), self.own.tobytes(), self.unit, self.lowest, self.n, tail)
        sums = self.tally[wanted]
        low = np.floor((sums - reach) / self.unit) + 1
        high = np.ceil((sums + reach) / self.unit) - 1
        return np.clip(low, 0, self.n) / self.n, np.clip(high, 0, self.n) / self.n


@lru_cache(maxsize=64)
def _reach(null: bytes, own: bytes, unit: int, lowest: int, n: int, tail: float) -> int:
    """The quantile of everybody's noise, kept for the next collection of that size."""
    return quantile(heavier(np.frombuffer(null), np.frombuffer(own), unit), lowest - unit, n, tail)


def heavier(null: Floats, own: Floats, unit: int) -> Floats:
    """A law of noise none of whose upper tails is lighter than that of a zero, or of a one less its unit."""
    zero, one = (np.zeros(null.size + unit) for _ in range(2))
    zero[unit:], one[: own.size] = null, own
    above = np.maximum(zero[::-1].cumsum(), one[::-1].cumsum())[::-1]
    return np.asarray(above - np.append(above[1:], 0.0))


def short(square: float, n: int) -> bool:
    """Whether the law of n steps of this mean square can be transformed as a whole."""
    return 4 * _FAR * math.sqrt(n * square) <= _LONGEST


def quantile(law: Floats, lowest: int, n: int, tail: float) -> int:
    """The least whole number that a sum of n such steps reaches with a chance of at most `tail`.

    >>> coin = np.array([0.5, 0.5])
    >>> quantile(coin, 0, 10, 11.1 / 1024), quantile(coin, 0, 10, 10.9 / 1024)
    (9, 10)
    """
    steps = lowest + np.arange(law.size)
    mean = float(law @ steps)
    spread = math.sqrt(max(float(law @ (steps - mean) ** 2), 1e-300))
    tilts = _TILTS / (spread * math.sqrt(n))
    logs = np.array([_cumulant(law, steps, tilt) for tilt in tilts])
    reached = (n * logs - math.log(tail)) / tilts  # Chernoff's: any is a bound
    best = int(np.argmin(reached))
    tilt, log = tilts[best], logs[best]
    tilted = law * np.exp(tilt * steps - log)
    middle = float(tilted @ steps)
    width = _FAR * math.sqrt(n * max(float(tilted @ (steps - middle) ** 2), 1e-300)) + 2 * law.size
    size = min(1 << math.ceil(math.log2(2 * width)), 1 << (n * law.size).bit_length())
    if not short(float(law @ steps**2), n):
        return math.ceil(float(reached[best]))
    first = max(n * lowest, round(n * middle) - size // 2)
    folded = np.bincount(np.arange(law.size) % size, tilted, size)
    whole = np.fft.irfft(np.fft.rfft(folded) ** n, size)
    sums = np.roll(np.maximum(whole, 0.0), -((first - n * lowest) % size))  # sums[j] is of first + j
    at = first + np.arange(size)
    with np.errstate(over="ignore"):
        chance = sums * np.exp(np.minimum(n * log - tilt * at, 700.0))
    above = chance[::-1].cumsum()[::-1]
    # What the window leaves out at its upper end is less than rounding; rounding must not reject too much.
    kept = np.flatnonzero(above > tail * (1 - 1e-9))
    return int(at[kept[-1]]) + 1 if kept.size else int(at[0])


def _cumulant(law: Floats, steps: Ints, tilt: float) -> float:
    """The logarithm of the mean of exp(tilt step)."""
    held = law > 0
    return log_sum(np.log(law[held]) + tilt * steps[held])
