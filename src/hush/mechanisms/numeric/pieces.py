"""Laws made of runs of equally likely, evenly spaced numbers: moments and characteristic functions in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.types import Floats


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
