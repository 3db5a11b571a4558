"""How often a disguise reveals its value where reports are noisy vectors: by the likelihood ratios of all coordinates.

A report's weight for value i is proportional to the ratio r_i of its i-th coordinate, so z needs the largest ratio
over their sum. Doubles are enough: the share is rounded up by more than their error, so that the loss stays below
epsilon.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hush.exact.thresholds import SCALE, log_ratio
from hush.mechanisms.histogram import NoisyHistogram
from hush.types import Ints, Reports
from hush.utility._revelation import Thresholds, Weighed


class Noisy(Weighed):
    """Thresholds by the ratios of a noisy vector, for many reports at once."""

    def __init__(self, base: NoisyHistogram, hide: int, choice: str) -> None:
        self.vector = base
        super().__init__(base, hide, choice)

    def _extremes(self) -> tuple[Fraction, Fraction]:
        """The largest and the smallest ratio of a coordinate."""
        grid = self.vector.grid
        ratios = [Fraction(own, null) for own, null in zip(grid.own, grid.null, strict=True) if null]
        return max(ratios), min(ratios)

    def safest(self) -> int:
        """For a report with one coordinate that speaks for its value as much as can be, and all others against."""
        high, low = self._extremes()
        share = high / (high + (self.base.k - 1) * low)
        return self._largest(share.numerator, share.denominator)

    def _thresholds(self, reports: Reports, places: Ints) -> Thresholds:
        ratios = self.vector.grid.ratios[self.vector._at(reports[places])]
        s = self.base.k
        share = ratios.max(axis=1) / ratios.sum(axis=1) * (1 + (s + 64) * 2.0**-50)
        kept = np.ceil(
            share * (s * SCALE / (float(self.e) * self.hide)) * SCALE
        )  # small where z is near 1: no digit lost
        safe = np.minimum(np.maximum(kept, 2.0**11), float(SCALE - 2**11)).astype(np.uint64)
        return np.where(kept < float(SCALE - 2**11), np.uint64(0) - safe, np.uint64(0))

    def threshold(self, report: Reports) -> int:
        return int(self.thresholds(np.asarray(report, self.base.report_dtype)[None])[0])

    def loss(self) -> float:
        """Exact for a constant z; for the exact one, epsilon, which every report reaches but for rounding."""
        if self.constant is None:
            return self.base.epsilon
        high, low = self._extremes()
        s, kept = self.base.k, Fraction(self.hide * (SCALE - self.constant), SCALE**2)
        against = s * high / (high + (s - 1) * low) / kept
        other = kept * ((s - 1) * high + low) / (s * low)
        worst = max(against, other, Fraction(1))
        return log_ratio(worst.numerator, worst.denominator)
