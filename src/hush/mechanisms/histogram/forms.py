"""Closed forms of noisy histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hush.analysis import absolute_error, capacity, information, totals, waves
from hush.analysis.optimal import analytic_gaussian_scale
from hush.mechanisms.forms import Forms
from hush.mechanisms.independent import IndependentForms
from hush.simulation.noise import NoiseSums
from hush.simulation.normals import Normals
from hush.types import Floats, Ints

if TYPE_CHECKING:
    from hush.mechanisms.histogram.mechanism import AGM, SHE, NoisyHistogram, ServerTHE


@dataclass(frozen=True, eq=False)
class HistogramForms(Forms):
    """Of noisy histograms."""

    m: NoisyHistogram

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    one_by_one: ClassVar[bool] = False

    @property
    def kinds(self) -> Sequence[int]:
        return (0,)

    def absolute_errors(self, counts: Ints, values: Sequence[int]) -> Floats:
        return np.full(len(values), self.worst_absolute_error(int(counts.sum())))

    def worst_absolute_error(self, n: int) -> float:
        """A one has the mirror image of a zero's noise, so it hardly matters who holds what: to eleven digits."""
        grid = self.m.grid
        off = float(absolute_error.lattice([(grid.probabilities, grid.lowest, n)]))
        return off / (n * (grid.unit - 2 * grid.mean))

    def even_information(self) -> float:
        return information.product(self.m.k, *self.m.coordinate_law())

    def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        noise = _noise(self.m)
        return noise.drawn(people, runs, rng) if noise.takes(people) else super().tallies(people, runs, rng)

    def estimates(self, tallies: Ints, n: int) -> Floats:
        return self.m.decode(tallies, n)

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

    def even_information(self) -> float:
        return information.product(self.m.k, *self.m.coordinate_law())

    # The law of a total.


@dataclass(frozen=True, eq=False)
class LaplaceForms(HistogramForms):
    """Of Laplace noise in every coordinate."""

    m: SHE

    def normal_noise(self, normals: Normals, frequencies: Floats, n: int) -> Floats:
        """Noise on the grid is this to many digits, which take longer to find than a glance is worth."""
        return np.asarray(normals.numbers(self.m.k) * (np.sqrt(8 / n) / self.m.epsilon), np.float64)


@dataclass(frozen=True, eq=False)
class GaussianForms(HistogramForms):
    """Of the least Gaussian noise in every coordinate."""

    m: AGM

    def normal_noise(self, normals: Normals, frequencies: Floats, n: int) -> Floats:
        """As for Laplace noise."""
        scale = analytic_gaussian_scale(self.m.epsilon, self.m.delta)
        return np.asarray(normals.numbers(self.m.k) * (scale / np.sqrt(n)), np.float64)


@lru_cache(maxsize=4)
def _noise(m: NoisyHistogram) -> NoiseSums:
    return NoiseSums(m.grid.steps, m.grid.probabilities, m.grid.unit)
