"""The other rooms of the bug museum: mechanisms for means that break their own promise.

As in `hush.testing.museum`, each claims the law of the mechanism that it derives from, and audits find out.
"""

from __future__ import annotations

import numpy as np

from hush.mechanisms.numeric import Piecewise
from hush.mechanisms.numeric.base import Words
from hush.types import Reports


class NarrowWindow(Piecewise):
    """Draws from the window of a budget half as large again: its noise is too narrow for what it claims."""

    @property
    def _real(self) -> Piecewise:
        return Piecewise(low=self.low, high=self.high, epsilon=1.5 * self.epsilon, steps=self.steps)

    def sample(self, floors: Words, parts: Words, rng: np.random.Generator) -> Reports:
        """Honest places for a larger budget, cut off where there are no more."""
        made = self._real.sample(floors, parts, rng).astype(np.float64)
        return (made * ((self.size - 1) / (self._real.size - 1))).astype(self.report_dtype)

    def true_epsilon(self) -> float:
        """About what one report truly loses: a little less, where two places become one."""
        return self._real.exact_epsilon()


class ExactBand(Piecewise):
    """Tells numbers in a narrow band just below the middle as they are: what a wrong branch may do."""

    def sample(self, floors: Words, parts: Words, rng: np.random.Generator) -> Reports:
        """Honest places, but in the band."""
        made = super().sample(floors, parts, rng)
        place = floors.astype(np.float64) / self.steps
        inside = (place >= 0.4) & (place < 0.42)
        return np.where(inside, floors.astype(np.int64) * self.height, made).astype(self.report_dtype)
