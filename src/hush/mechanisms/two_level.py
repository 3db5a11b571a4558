"""What mechanisms with two levels of probability share.

Given the public randomness, some outputs favour a value and all others do not; each group is uniform. One threshold
decides which group a report comes from. Randomized response, subsets, local hashing, the wheel and Hadamard response
are all of this kind.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hush import exact
from hush.exact.thresholds import SCALE
from hush.mechanisms.base import FrequencyOracle
from hush.types import Floats, Reports, Values


@dataclass(frozen=True, kw_only=True)
class TwoLevel(FrequencyOracle):
    """A mechanism that favours some outputs with one threshold."""

    @property
    @abstractmethod
    def _sizes(self) -> tuple[int, int]:
        """How many outputs favour a value and how many do not, or any two integers in that proportion."""

    @abstractmethod
    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        """Whether each report supports (favours) the value beside it."""

    @abstractmethod
    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        """Which values each report supports, shape (n, k)."""

    @cached_property
    def keep(self) -> int:
        """Out of 2^64, the probability that a report supports its own value."""
        return exact.keep(self.epsilon, *self._sizes, self._delta)

    @property
    def p_star(self) -> float:
        """Probability that a report supports its own value."""
        return self.keep / SCALE

    @property
    def thresholds(self) -> dict[str, int | str]:
        return {"keep": self.keep}

    @cached_property
    def _weights(self) -> tuple[int, int]:
        """Weights of an output that does not support the value, and of one that does."""
        inside, outside = self._sizes
        return (SCALE - self.keep) * inside, self.keep * outside

    @property
    def denominator(self) -> int:
        """2^64 times the two sizes, where these are the numbers of outputs themselves."""
        inside, outside = self._sizes
        return SCALE * inside * outside

    @property
    def _log_favour(self) -> float:
        """How much likelier a report is, in logarithm, for a value that it supports."""
        low, high = self._weights
        return exact.log_ratio(high, low)

    def weight(self, report: Reports, value: int) -> int:
        row = np.asarray(report, self.report_dtype)[None]
        return self._weights[int(self.supports(row, np.array([value]))[0])]

    def _log_prob(self, reports: Reports, values: Values) -> Floats:
        below = math.log(self.denominator)
        levels = np.array([math.log(w) - below if w else -math.inf for w in self._weights])
        return levels[self.supports(reports, values).astype(np.intp)]

    def scores(self, reports: Reports) -> Floats:
        return np.asarray(self.support_matrix(reports) * self._log_favour, dtype=np.float64)

    def exact_epsilon(self) -> float:
        """The true worst-case loss, from the integer threshold; at this mechanism's delta if it has one."""
        inside, outside = self._sizes
        if not self._delta:
            return self._log_favour
        if inside != 1:
            return super().exact_epsilon()  # by enumeration
        # One favoured output: p - e^epsilon q = delta, with p = keep / SCALE, q = (1 - p) / outside.
        top, bottom = self._delta.as_integer_ratio()
        return exact.log_ratio(outside * (self.keep * bottom - top * SCALE), (SCALE - self.keep) * bottom)
