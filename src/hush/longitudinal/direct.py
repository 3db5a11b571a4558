"""Longitudinal randomized response (L-GRR).

Arcolezi et al., "Improving the utility of locally differentially private protocols for longitudinal and
multidimensional frequency estimates" (Digital Communications and Networks 2022). The second round follows from the
exact law of one report; the printed one leaves a part of epsilon_report unused where k > 2 (see
`hush.longitudinal.printed`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hush.analysis import most_support
from hush.exact.thresholds import SCALE
from hush.longitudinal._first import FirstLGRR
from hush.longitudinal._two import DirectTwice
from hush.types import Floats, Reports


@dataclass(frozen=True, kw_only=True)
class LGRR(DirectTwice):
    """Keep a randomized response for each value; report it through a second one.

    Args:
        k: Domain size, at least 2.
        epsilon_permanent: Loss of any number of reports of a value that does not change.
        epsilon_report: Loss of one report, below epsilon_permanent.

    >>> protocol = LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0)
    >>> [round(protocol.sequence_epsilon(tau), 4) for tau in (1, 2, 10, 100)]
    [1.0, 1.6781, 2.0, 2.0]
    """

    @cached_property
    def first_report(self) -> FirstLGRR:
        """The law of one report, which is that of GRR with epsilon_report."""
        return FirstLGRR(k=self.k, epsilon=self.epsilon_report, epsilon_permanent=self.epsilon_permanent)

    @property
    def _supports(self) -> tuple[float, float, float, float]:
        p, again = (t / SCALE for t in self.first_report.rounds)
        return p, (1 - p) / (self.k - 1), again, (1 - again) / (self.k - 1)

    def most_voted(self, tau: int) -> float | None:
        """The kept answer is found, or any other."""
        kept, _, again, _ = self._supports
        if (found := most_support.direct(self.k, again, tau)) is None:
            return None
        return kept * found + (1 - kept) * (1 - found) / (self.k - 1)

    def sequence_scores(self, reports: Reports) -> Floats:
        """Log-likelihood of every unchanging value, shape (n, k), up to a constant for each person."""
        array = self._reports(reports).astype(np.int64)
        n = len(array)
        self.first_report.validate(reports.ravel())
        cells = np.arange(n)[:, None] * self.k + array
        times = np.bincount(cells.ravel(), minlength=n * self.k).reshape(n, self.k)
        own, other, p, q = self._supports
        weigh = (times - times.max(axis=1, keepdims=True)) * np.log(p / q)
        return np.asarray(np.log((own - other) * np.exp(weigh) + other * np.exp(weigh).sum(axis=1, keepdims=True)))
