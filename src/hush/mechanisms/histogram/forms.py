"""Closed forms of noisy histograms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hush.analysis import capacity, totals, waves
from hush.mechanisms.forms import Forms
from hush.mechanisms.independent import IndependentForms
from hush.types import Floats, Ints

if TYPE_CHECKING:
    from hush.mechanisms.histogram.mechanism import NoisyHistogram, ServerTHE


@dataclass(frozen=True, eq=False)
class HistogramForms(Forms):
    """Of noisy histograms."""

    m: NoisyHistogram

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """That of noise on a grid, times amounts."""
        grid, n = self.m.grid, int(counts.sum())
        variance = n * grid.variance * float(amounts @ amounts)
        steps = grid.steps.astype(np.float64)
        reach = 24 / math.sqrt(variance) if variance else 1.0
        return totals.scaled(
            amounts,
            counts,
            self.m._span,
            variance,
            waves.coordinates_wave(amounts, counts, steps, grid.probabilities, reach=reach),
            waves.coordinates_swings(amounts, counts, grid.probabilities, math.sqrt(grid.variance)),
            shift=-n * grid.mean * float(amounts.sum()),
            step=capacity.lattice(amounts.tolist()),
            draw=self.total_draw(amounts, counts),
            work=4.0 * amounts.size * steps.size,
        )

    def collection_work(self, n: int) -> float:
        """A sum of noise for each value."""
        return totals.COLLECTION + 40.0 * self.m.k

    def wrong_guesses_alike(self) -> bool:
        """Nothing tells values apart but their names."""
        return True


@dataclass(frozen=True, eq=False)
class ServerThresholdForms(IndependentForms):
    """Of noisy histograms that the server compares with a threshold."""

    m: ServerTHE

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
