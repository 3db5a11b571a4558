"""Laws made of runs of equally likely, evenly spaced numbers: moments and characteristic functions in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis.waves import Swings, expm1i, shared
from hush.types import Complexes, Floats

_SERIES = (-1 / 6, 1 / 120, -1 / 5040, 1 / 362_880, -1 / 39_916_800, 1 / 6_227_020_800)


@dataclass(frozen=True, eq=False)
class Pieces:
    """For each of m inputs a mixture of r runs, as arrays of shape (r, m).

    Args:
        chance: Probability of the run; zero where it is empty.
        first: Its first number.
        step: From one of its numbers to the next.
        length: How many numbers it has.
    """

    chance: Floats
    first: Floats
    step: Floats
    length: Floats

    @property
    def middle(self) -> Floats:
        """The mean of each run."""
        return np.asarray(self.first + self.step * (self.length - 1) / 2, np.float64)

    def mean(self) -> Floats:
        """The mean for each input."""
        return np.asarray((self.chance * self.middle).sum(axis=0), np.float64)

    def variance(self, centre: npt.NDArray[Any]) -> Floats:
        """Mean squared distance from the centres; the variance, where these are the means."""
        own = self.step**2 * (np.maximum(self.length, 1.0) ** 2 - 1) / 12
        return np.asarray((self.chance * ((self.middle - centre) ** 2 + own)).sum(axis=0), np.float64)

    def third(self, centre: npt.NDArray[Any]) -> Floats:
        """Mean cubed distance from the centres."""
        own = self.step**2 * (np.maximum(self.length, 1.0) ** 2 - 1) / 12
        apart = self.middle - centre
        return np.asarray((self.chance * (apart**3 + 3 * apart * own)).sum(axis=0), np.float64)

    def cumulants(self, theta: Floats) -> Floats:
        """Logarithms of the mean of exp(theta y), as [theta, input]."""
        at = theta[:, None, None]
        end = at * self.step
        with np.errstate(all="ignore"):
            # Over a run this is a geometric sum; it is added up from its largest term.
            ratio = np.expm1(-np.abs(end) * self.length) / np.expm1(-np.abs(end)) / self.length
            top = at * self.first + np.maximum(end, 0.0) * (self.length - 1)
            each = np.where(self.chance > 0, np.log(self.chance) + np.log(ratio) + top, -np.inf)
        return np.asarray(np.logaddexp.reduce(each, axis=1), np.float64)

    def joined(self, other: Pieces, share: float) -> Pieces:
        """A mixture of two laws, the first with this probability."""
        return Pieces(
            np.concatenate([share * self.chance, (1 - share) * other.chance]),
            np.concatenate([self.first, other.first]),
            np.concatenate([self.step, other.step]),
            np.concatenate([self.length, other.length]),
        )

    def phi_less_one(self, theta: npt.NDArray[Any], centre: Floats) -> Complexes:
        """E exp(i theta (Y - centre)) - 1 for each theta (real or complex, not zero) and input, as [theta, input]."""
        total = np.zeros((theta.size, self.chance.shape[1]), np.complex128)
        at = theta[:, None]
        for chance, middle, step, length in zip(self.chance, self.middle, self.step, self.length, strict=True):
            moved = expm1i(at * (middle - centre))
            if (length > 1).any():
                whole, half = np.maximum(length, 1.0), at * step / 2
                narrow = _sinc(half)
                bent = (_sinc(whole * half) - narrow) / (1 + narrow)
                moved += bent + bent * moved
            total += chance * moved
        return total

    def swings(self, people: Floats) -> Swings:
        """Numbers of a run next to each other, and half a run apart; where every run is one number, runs next to each
        other.
        """
        often, long = self.chance * people, np.maximum(self.length, 1.0)
        if (long == 1).all():
            apart = np.diff(self.first, axis=0)
            weights = shared(self.chance[:-1], self.chance[1:]) * people / len(apart)
            return Swings(weights.ravel(), apart.ravel())
        half = np.floor(long / 2)
        paired = often * half / long / 4
        return Swings(np.concatenate([paired, paired]).ravel(), np.concatenate([self.step, self.step * half]).ravel())


def _sinc(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """sin(x) / x - 1, precise where x is small."""
    small = np.abs(x) < 0.5
    square = np.where(small, x, 0.0) ** 2
    series = square * np.polynomial.polynomial.polyval(square, _SERIES)
    safe = np.where(small, 1.0, x)
    return np.asarray(np.where(small, series, np.sin(safe) / safe - 1))
