"""The other rooms of the bug museum: means, tuples and values over time whose samplers break their own promise.

As in `hush.testing.museum`, each claims the law of the mechanism that it derives from, and audits find out.
"""

from __future__ import annotations

import numpy as np

from hush.longitudinal import LOSUE
from hush.mechanisms.numeric import Piecewise
from hush.mechanisms.numeric.base import Words
from hush.multidim import SMP
from hush.types import Ints, Reports


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


class AttributeByValue(SMP):
    """Prefers to report an attribute whose value is the first one: which attribute is named tells about the values."""

    def sample(self, tuples: Ints, rng: np.random.Generator) -> Reports:
        """Honest records, but of two draws of the attribute the one that is of a first value, if there is one."""
        made, again = super().sample(tuples, rng), super().sample(tuples, rng)
        rows = np.arange(len(tuples))
        first = tuples[rows, made["attribute"]] == 0
        other = tuples[rows, again["attribute"]] == 0
        return np.where(other & ~first, again, made)


class ForgetfulClient(LOSUE):
    """Forgets its permanent answers, and draws them again for every report: losses add up as if nothing were kept."""

    def _together(self, values: Ints, rng: np.random.Generator) -> Reports:
        rounds = [super(ForgetfulClient, self)._together(column[:, None], rng) for column in values.T]
        return np.concatenate(rounds, axis=1)
