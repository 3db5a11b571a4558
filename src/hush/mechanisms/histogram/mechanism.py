"""Histogram encoding: one-hot vectors with noise in every coordinate.

SHE (summation) and ServerTHE (the server thresholds what SHE sends): Wang et al. (USENIX Security 2017), with
discrete Laplace noise. GM (Dwork and Roth 2014) and AGM (Balle and Wang, ICML 2018), with discrete Gaussian noise.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import optimal, success
from hush.errors import ParameterError, ReportError, message
from hush.estimation import possible
from hush.estimation.bounds import Listed, Terms
from hush.estimation.laws import EstimateLaw
from hush.estimation.noise import Noise
from hush.exact.enumeration import check_few
from hush.exact.thresholds import SCALE
from hush.mechanisms import chosen
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.forms import Forms
from hush.mechanisms.histogram import grid
from hush.mechanisms.histogram.forms import GaussianForms, HistogramForms, LaplaceForms, ServerThresholdForms
from hush.mechanisms.histogram.grid import Grid
from hush.mechanisms.inference import shares
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.unary import checked_theta
from hush.simulation import tallies
from hush.types import Floats, Ints, Reports, Values

_SCALES = 0.01, 100_000.0
"""Between these a table of Gaussian noise has a reasonable length."""


@dataclass(frozen=True, kw_only=True)
class NoisyHistogram(FrequencyOracle):
    """A one-hot vector with grid noise in every coordinate, summed by the server."""

    companion: ClassVar[type[Forms]] = HistogramForms
    family: ClassVar[str] = "histogram"
    alike: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(epsilon=rules.epsilon(self.epsilon, least=rules.MIN_GRID_EPSILON))

    @cached_property
    def grid(self) -> Grid:
        """The noise, as exact integer weights."""
        return grid.laplace(self.epsilon)

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """k signed 32-bit counts of grid steps; a step is 1/grid.unit."""
        return np.dtype([("steps", "<i4", (self.k,))])

    @property
    def thresholds(self) -> dict[str, int | str]:
        table = hashlib.sha256(",".join(map(str, self.grid.weights)).encode()).hexdigest()
        return {"unit": self.grid.unit, "lowest": self.grid.lowest, "table": table}

    @property
    def denominator(self) -> int:
        """2^64 for each coordinate."""
        return SCALE**self.k

    @property
    def bits(self) -> int:
        return math.ceil(self.k * math.log2(self.grid.highest - self.grid.lowest + 1))

    @cached_property
    def _alias(self) -> tuple[npt.NDArray[np.uint64], int]:
        from hush.kernels.noise import alias_table

        return alias_table(list(self.grid.weights))

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.kernels.noise import one_hot

        out = np.empty(values.size, self.report_dtype)
        one_hot(rng, values, *self._alias, self.grid.lowest, self.grid.unit, out["steps"])
        return out

    def _in_range(self, whole: bool) -> None:
        if not whole:
            rule = f"must have steps in {self.grid.lowest}..{self.grid.highest}"
            raise ReportError(message("reports", rule, "others", "check the spec they were made with"))

    def tally(self, reports: Reports) -> Ints:
        from hush.kernels.noise import column_sums

        sums = np.zeros(self.k, np.int64)
        steps = np.ascontiguousarray(reports)["steps"]
        self._in_range(column_sums(steps, self.grid.lowest, self.grid.highest, sums))
        return sums

    def check_tally(self, tally: Ints, n: int) -> None:
        """Sums of n steps."""
        possible.within(tally, n * self.grid.lowest, n * self.grid.highest, "sums of steps")

    @property
    def _span(self) -> float:
        """Mean step under a one, less that under a zero."""
        return self.grid.unit - 2 * self.grid.mean

    def decode(self, tally: Ints, n: int) -> Floats:
        return np.asarray((tally / n - self.grid.mean) / self._span, dtype=np.float64)

    def law(self, tally: Ints, n: int) -> EstimateLaw:
        grid = self.grid
        return Noise(tally, n, grid.unit, grid.lowest, grid.probabilities, grid.probabilities[::-1])

    def terms(self) -> Terms:
        """The noise itself."""
        steps, law = self.grid.steps / self._span, self.grid.probabilities
        own, other = (Listed.of(steps, chances) for chances in (law[::-1], law))
        return Terms(own, other, other.variance, lattice=False)

    def variances(self, frequencies: Floats, n: int = 1) -> Floats:
        return np.full(np.shape(frequencies), self.grid.variance / (n * self._span**2))

    def variance(self, n: int = 1, frequency: float = 0.0) -> float:
        """The noise's own variance, whatever the frequency."""
        rules.population(n, frequency)
        return self.grid.variance / (n * self._span**2)

    def outputs(self, public: Any = None) -> Reports:
        size = len(self.grid.null)
        check_few(size**self.k, self.k)
        axes = np.meshgrid(*[self.grid.steps] * self.k, indexing="ij")
        out = np.empty(size**self.k, self.report_dtype)
        out["steps"] = np.stack([axis.ravel() for axis in axes], axis=1)
        return out

    def weight(self, report: Reports, value: int) -> int:
        at = np.asarray(report["steps"], np.int64) - self.grid.lowest
        return math.prod(self.grid.own[i] if j == value else self.grid.null[i] for j, i in enumerate(at))

    def _at(self, reports: Reports) -> npt.NDArray[np.int64]:
        steps = reports["steps"].astype(np.int64)
        self._in_range(bool(((steps >= self.grid.lowest) & (steps <= self.grid.highest)).all()))
        return steps - self.grid.lowest

    def coordinates(self, reports: Reports) -> Ints:
        return self._at(reports)

    def coordinate_law(self) -> tuple[Floats, Floats]:
        return self.grid.probabilities, self.grid.probabilities[::-1]

    @cached_property
    def _log_ratios(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.grid.ratios)

    def _log_prob(self, reports: Reports, values: Values) -> Floats:
        at = self._at(reports)
        with np.errstate(divide="ignore"):
            null, own = np.log(self.grid.probabilities), np.log(self.grid.probabilities[::-1])
        held = at[np.arange(at.shape[0]), values]
        others = null[at]
        others[np.arange(at.shape[0]), values] = 0.0
        return others.sum(axis=1) + own[held]

    def scores(self, reports: Reports) -> Floats:
        return self._log_ratios[self._at(reports)]

    def exact_epsilon(self) -> float:
        """The worst log-ratio of the table, over two coordinates."""
        return self.grid.pure_loss()

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """The best guess is the coordinate with the largest likelihood ratio, times its prior."""
        grid = self.grid
        own = np.array(grid.own, np.float64) / SCALE
        certain = float(own[grid.probabilities == 0].sum())
        sure = grid.probabilities > 0
        doubtful = success.product(shares(prior, self.k), grid.probabilities[sure], grid.ratios[sure])
        return doubtful + certain

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        grid = self.grid
        if counts.sum() < 4 * len(grid.null):
            return super()._simulate(counts, rng)
        most = (2**63 - 1) // max(-grid.lowest, grid.highest)
        if counts.sum() > most:
            rule = f"must add up to at most {most}, so that 64 bits hold the sums of their steps"
            raise ParameterError(message("counts", rule, int(counts.sum()), "simulate fewer people"))
        return tallies.grid_sums(counts, grid.steps, grid.probabilities, grid.unit, rng)


@dataclass(frozen=True, kw_only=True)
class SHE(NoisyHistogram):
    """Summation with histogram encoding: Laplace noise of scale 2/epsilon, on a grid, in every coordinate.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.

    >>> round(SHE(k=100, epsilon=4.0).variance(), 4)
    0.5
    """

    full_name: ClassVar[str] = "summation with histogram encoding"
    companion: ClassVar[type[Forms]] = LaplaceForms


@dataclass(frozen=True, kw_only=True)
class ServerTHE(NoisyHistogram, PureOracle):
    """Thresholding with histogram encoding, where the server thresholds: the reports are those of SHE.

    The exact loss and the attacker's success are SHE's, since the noisy numbers are sent.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.
        theta: Threshold above 1/2 and at most 1; the one with the least variance, to six digits, when left out.
    """

    theta: float = None  # type: ignore[assignment]

    full_name: ClassVar[str] = "thresholding by the server"
    companion: ClassVar[type[Forms]] = ServerThresholdForms
    choice: ClassVar[str] = "theta"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(theta=checked_theta(self.theta, self.epsilon))

    @classmethod
    def recovered(cls, entries: chosen.Entries, thresholds: chosen.Entries) -> float:
        """The level that version 0.1 chose, which thresholds do not show."""
        return optimal.threshold(rules.epsilon(entries["epsilon"]))

    @cached_property
    def _above(self) -> tuple[int, int]:
        return self.grid.above(self._limit)

    @property
    def _limit(self) -> int:
        """The threshold in grid steps; a larger step supports."""
        return math.floor(self.theta * self.grid.unit)

    @property
    def p_star(self) -> float:
        return self._above[0] / SCALE

    @property
    def q_star(self) -> float:
        return self._above[1] / SCALE

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        return np.asarray(reports["steps"][np.arange(reports.size), values] > self._limit)

    def tally(self, reports: Reports) -> Ints:
        from hush.kernels.noise import column_exceeds

        counts = np.zeros(self.k, np.int64)
        steps = np.ascontiguousarray(reports)["steps"]
        self._in_range(column_exceeds(steps, self._limit, self.grid.lowest, self.grid.highest, counts))
        return counts

    check_tally = PureOracle.check_tally
    decode = PureOracle.decode
    law = PureOracle.law
    variance = PureOracle.variance
    variances = PureOracle.variances

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        return tallies.independent_bits(counts, self.p_star, self.q_star, rng)


@dataclass(frozen=True, kw_only=True)
class GM(NoisyHistogram):
    """Histogram encoding with the classical Gaussian mechanism, for epsilon up to 1.

    The classical scale is more than needed: the exact loss stays well below epsilon. `AGM` has what is needed.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats, at most 1.
        delta: How far an event's probability may exceed e^epsilon times another value's.

    >>> round(GM(k=10, epsilon=1.0, delta=1e-5).sigma, 4)
    6.8516
    """

    delta: float

    full_name: ClassVar[str] = "Gaussian mechanism"
    tight: ClassVar[bool] = False
    largest_epsilon: ClassVar[float] = 1.0
    beyond: ClassVar[str] = "AGM"

    def __post_init__(self) -> None:
        remedy = "choose a smaller budget, e.g. 0.5, or AGM, which takes larger ones"
        self._set(
            epsilon=rules.epsilon(self.epsilon, most=self.largest_epsilon, remedy=remedy), delta=rules.delta(self.delta)
        )
        super().__post_init__()

    @cached_property
    def grid(self) -> Grid:
        """Discrete Gaussian noise of the classical scale."""
        return grid.classical_gaussian(self.epsilon, self.delta)

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise, in units."""
        return math.sqrt(self.grid.variance) / self.grid.unit

    def exact_epsilon(self) -> float:
        """The smallest epsilon at this delta: the exact divergence of the table, inverted."""
        return self.grid.smallest_epsilon(self.delta, self.epsilon)


@dataclass(frozen=True, kw_only=True)
class AGM(chosen.Chosen, GM):
    """Histogram encoding with the analytic Gaussian mechanism: the least Gaussian noise that keeps the promise.

    Calibrated on the grid itself, with the exact divergence. Where delta is so small and epsilon so large that the
    weights of the table, which are integers out of 2^64, cannot express it, the exact loss stays below epsilon, and
    `tight` says so.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.
        delta: How far an event's probability may exceed e^epsilon times another value's.
        scale: Of the discrete Gaussian, in units; the least that keeps the promise, to twelve digits, when left out.

    >>> AGM(k=10, epsilon=4.0, delta=1e-5).scale
    1.52899568021
    """

    scale: float = None  # type: ignore[assignment]

    full_name: ClassVar[str] = "analytic Gaussian mechanism"
    companion: ClassVar[type[Forms]] = GaussianForms
    choice: ClassVar[str] = "scale"
    largest_epsilon: ClassVar[float] = rules.MAX_EPSILON
    beyond: ClassVar[str] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale is None:
            self._set(scale=self._least_scale)
            return
        self._set(scale=rules.number("scale", self.scale, *_SCALES, "leave it out for the least noise", closed=True))
        if self.grid.excess(self.epsilon) > Fraction(self.delta):
            rule = f"must be so large that the noise is ({self.epsilon:g}, {self.delta:g})-private"
            raise ParameterError(message("scale", rule, self.scale, "leave it out for the least noise"))

    @property
    def tight(self) -> bool:  # type: ignore[override]
        """Whether the exact loss reaches epsilon to 1e-8: with the least noise, where the table expresses the tails.

        What a tail of delta is elsewhere is delta e^-epsilon; 1e-17 is some two hundred of the table's units.
        """
        return self.delta * math.exp(-self.epsilon) >= 1e-17 and self.scale <= self._least_scale * (1 + 1e-10)

    @property
    def _least_scale(self) -> float:
        guess = optimal.analytic_gaussian_scale(self.epsilon, self.delta)
        return grid.calibrated_scale(self.epsilon, self.delta, guess)

    @classmethod
    def recovered(cls, entries: chosen.Entries, thresholds: chosen.Entries) -> float:
        """Thresholds have only the table's hash, so the scale is searched for as version 0.1 did."""
        epsilon = rules.epsilon(entries["epsilon"], least=rules.MIN_GRID_EPSILON)
        delta = rules.delta(entries["delta"])
        return grid.binary_scale(epsilon, delta, optimal.analytic_gaussian_scale(epsilon, delta))

    @cached_property
    def grid(self) -> Grid:
        """Discrete Gaussian noise, just enough."""
        return grid.gaussian(self.scale)
