"""Pure oracles: a report supports some values, its own with probability p*, any other with q*.

Wang et al. (USENIX Security 2017). Support counts are all that the estimate and its variance need.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import variance as variances_of
from hush.estimation import possible
from hush.estimation.bounds import Term, Terms
from hush.estimation.laws import EstimateLaw, Supports
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.forms import Forms, PureForms
from hush.types import Floats, Ints, Reports, Values


@dataclass(frozen=True, kw_only=True)
class PureOracle(FrequencyOracle):
    """An oracle whose reports support values: its own with probability p*, any other with q*.

    Its file writes ``supports``, ``p_star`` and ``q_star`` in place of ``tally`` and ``decode``.
    """

    alike: ClassVar[bool] = True
    general: ClassVar[type[Forms]] = PureForms

    @property
    @abstractmethod
    def p_star(self) -> float:
        """Probability that a report supports its own value."""

    @property
    @abstractmethod
    def q_star(self) -> float:
        """Probability that a report supports a given other value."""

    @abstractmethod
    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        """Whether each report supports the value beside it."""

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        """Which values each report supports, shape (n, k)."""
        columns = [self.supports(reports, np.full(reports.size, v)) for v in range(self.k)]
        return np.stack(columns, axis=1)

    def tally(self, reports: Reports) -> Ints:
        return self.support_matrix(reports).sum(axis=0, dtype=np.int64)

    def decode(self, tally: Ints, n: int) -> Floats:
        return np.asarray((tally / n - self.q_star) / (self.p_star - self.q_star), dtype=np.float64)

    def support_counts(self, tally: Ints) -> Ints:
        """How many reports support each value."""
        return tally

    def check_tally(self, tally: Ints, n: int) -> None:
        """A report supports a value or does not; where the tally counts outputs, each report is one of them."""
        if self.sufficient:
            super().check_tally(tally, n)
        else:
            possible.within(self.support_counts(tally), 0, n, "supports")

    def law(self, tally: Ints, n: int) -> EstimateLaw:
        return Supports(self.support_counts(tally), n, self.p_star, self.q_star)

    def terms(self) -> Terms:
        p, q = self.p_star, self.q_star
        own, other = (chance * (1 - chance) / (p - q) ** 2 for chance in (p, q))
        mine, theirs = Term(own, (1 - p) / (p - q), p / (p - q)), Term(other, (1 - q) / (p - q), q / (p - q))
        return Terms(mine, theirs, other)

    def variances(self, frequencies: Floats, n: int = 1) -> Floats:
        return variances_of.pure(self.p_star, self.q_star, n, frequencies)

    def variance(self, n: int = 1, frequency: float = 0.0) -> float:
        """Equation 3: variance of one value's estimate in a fixed population; frequency 0 gives equation 4."""
        rules.population(n, frequency)
        return float(variances_of.pure(self.p_star, self.q_star, n, frequency))
