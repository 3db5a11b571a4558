"""Closed forms of noisy histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from hush.analysis import absolute_error, capacity, information, manipulation, totals, waves
from hush.analysis.manipulation import Targets, how_many
from hush.analysis.optimal import analytic_gaussian_scale
from hush.exact.thresholds import SCALE, log_ratio
from hush.guarantee import above
from hush.mechanisms.fakes import in_rows
from hush.mechanisms.forms import Forms, PairKind
from hush.mechanisms.independent import IndependentForms
from hush.simulation.noise import NoiseSums
from hush.simulation.normals import Normals
from hush.types import Floats, Ints, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.histogram.mechanism import AGM, SHE, NoisyHistogram, ServerTHE

_CUT = 0.1  # share of delta that may go to reports beyond the cut of Gaussian noise


@dataclass(frozen=True, eq=False)
class NoisyVectorForms(Forms):
    """Of one-hot vectors with grid noise, whatever the server makes of them."""

    m: NoisyHistogram

    about: ClassVar[str] = "A noisy histogram: a number for each category, every number with noise."

    # What fakes gain, what tells values apart, and what guesses are worth.

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Any step for every value."""
        grid, k = self.m.grid, self.m.k

        def steps(rows: int) -> npt.NDArray[np.int64]:
            return rng.integers(grid.lowest, grid.highest + 1, (rows, k))

        return in_rows(self.m, "steps", size, steps)

    def variation(self, first: int, second: int) -> float:
        """Only the coordinates of the two values tell them apart."""
        return float(self.m.grid.excess(0.0))

    def pair_kinds(self) -> list[PairKind]:
        """All pairs are alike."""
        return [(self.m.grid.excess(0.0), None)]

    def cut(self, delta: float) -> tuple[float, float]:
        """The loss of a vector whose coordinates are all within a cut, and how likely one is not.

        The cut is symmetric about half a unit, so that a coordinate is beyond it as often under a one as under a zero,
        and a report as often under one value as under another.
        """
        grid, k = self.m.grid, self.m.k
        limit = int(Fraction(delta) * Fraction(_CUT) * SCALE / k)
        size, cut, beyond = len(grid.null), 0, 0
        while 2 * cut + 2 < size and beyond + grid.null[cut] + grid.null[size - 1 - cut] <= limit:
            beyond += grid.null[cut] + grid.null[size - 1 - cut]
            cut += 1
        inside = range(cut, size - cut)
        if not all(grid.null[i] for i in inside):
            return math.inf, 0.0
        worst = max(inside, key=lambda i: Fraction(grid.own[i], grid.null[i]))
        return log_ratio(grid.own[worst] ** 2, grid.null[worst] ** 2), above(Fraction(k * beyond, SCALE))

    def log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """That of the two values' coordinates."""
        steps, ratios = reports["steps"], self.m._log_ratios
        places = (steps[:, value].astype(np.int64) - self.m.grid.lowest for value in (first, second))
        ones, twos = (ratios[at] for at in places)
        with np.errstate(invalid="ignore"):
            return np.where(ones == twos, 0.0, ones - twos)

    def guess_chance(self, reports: Reports, values: Values) -> Floats:
        """The coordinate with the largest likelihood ratio is guessed."""
        from hush.kernels import attack

        out = np.empty(values.size)
        rank = np.unique(self.m.grid.ratios, return_inverse=True)[1].astype(np.int32)
        attack.of_steps(np.ascontiguousarray(reports["steps"]), self.m.grid.lowest, rank, values, out)
        return out

    def vectors(self, reports: Reports) -> Floats:
        """The steps of all coordinates."""
        return np.asarray(reports["steps"].astype(np.float64), np.float64)


@dataclass(frozen=True, eq=False)
class HistogramForms(NoisyVectorForms):
    """Of noisy histograms."""

    m: NoisyHistogram

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """The highest step for all targets."""
        grid = self.m.grid
        return manipulation.histogram(grid.unit, grid.mean, how_many(targets), grid.highest)

    def random_sum(self, targets: Targets) -> float:
        """Steps are uniform about half a unit."""
        grid = self.m.grid
        return manipulation.histogram(grid.unit, grid.mean, how_many(targets), grid.unit / 2)

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """The highest step for all targets, and ordinary noise elsewhere."""
        reports = self.m.privatize(np.full(size, targets[0]), rng=rng)
        reports["steps"][:, targets] = self.m.grid.highest
        return np.asarray(reports)

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
class ServerThresholdForms(NoisyVectorForms, IndependentForms):
    """Of noisy histograms that the server compares with a threshold."""

    m: ServerTHE

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """All targets beyond the threshold."""
        return self.supported_sum(targets, how_many(targets))

    def random_sum(self, targets: Targets) -> float:
        """Of all steps, those beyond the threshold."""
        m = self.m
        beyond = (m.grid.highest - m._limit) / (m.grid.highest - m.grid.lowest + 1)
        return self.supported_sum(targets, how_many(targets) * beyond)

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """Every target as a genuine owner's that exceeds the threshold, and ordinary noise elsewhere."""
        m = self.m
        reports = m.privatize(np.full(size, targets[0]), rng=rng)
        own = m.grid.probabilities[::-1] * (m.grid.steps > m._limit)
        for target in targets:
            reports["steps"][:, target] = rng.choice(m.grid.steps, size, p=own / own.sum())
        return np.asarray(reports)

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
