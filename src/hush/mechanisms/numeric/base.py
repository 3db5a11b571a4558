"""What a numeric mechanism is: a number in [low, high] goes in, and reports estimate the mean.

Doubles leak, so a value is first rounded to one of steps + 1 grid points, its *tick*, up or down by chance so that the
mean is kept; everything after that is integers with exact weights. A mixture of two ticks can lose no more than the
worst pair of ticks, so the exact loss over ticks is that over all numbers.

A file that defines one writes ``report_dtype``, ``sample``, ``tally``, ``moments``, ``pieces``, ``decode``, and
``size`` and ``weight``, the exact law as integers over a common denominator.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import DomainError, ParameterError, ReportError, SpecError, Unsaid, message
from hush.estimation import Aggregate
from hush.exact.enumeration import check_few
from hush.exact.loss import worst_ratio
from hush.exact.thresholds import SCALE
from hush.guarantee import LDP
from hush.mechanisms.collected import Tallied
from hush.mechanisms.forms import companion_of
from hush.mechanisms.numeric.estimate import MeanEstimate
from hush.mechanisms.numeric.forms import LAW, NumericForms
from hush.mechanisms.numeric.laws import MeanLaw
from hush.mechanisms.numeric.pieces import Pieces
from hush.mechanisms.renamed import deprecated
from hush.people.columns import as_array, column
from hush.types import Floats, Ints, Reports

Words = npt.NDArray[np.uint64]

MAX_STEPS = 1 << 20
_LARGEST = 1e100


@dataclass(frozen=True, kw_only=True)
class Numeric(Tallied):
    """A mechanism over the numbers from low to high whose reports estimate their mean.

    Args:
        low: The smallest number.
        high: The largest number.
        epsilon: Privacy loss of one report, in nats.
        steps: Grid steps between low and high. Numbers on the grid (integers, with steps = high - low) are rounded
            to themselves; others lose nothing on average.
    """

    low: float
    high: float
    epsilon: float
    steps: int = 1024

    kind: ClassVar[str] = "numeric"
    general: ClassVar[type[NumericForms]] = NumericForms
    """The forms of whatever derives from this class; `companion`, in a class that has one, those of its own law."""
    tight: ClassVar[bool] = True
    """Whether the exact loss reaches the guarantee, to 1e-8, up to epsilon 20; beyond, words of 64 bits are coarse."""

    def __post_init__(self) -> None:
        remedy = "give the smallest and largest amount"
        low = rules.number("low", self.low, -_LARGEST, _LARGEST, remedy)
        high = rules.number("high", self.high, low, _LARGEST, remedy)
        self._set(
            low=low,
            high=high,
            epsilon=rules.epsilon(self.epsilon),
            steps=rules.integer("steps", self.steps, 1, MAX_STEPS, "use e.g. 1024, or high - low for integers"),
        )
        if not (self.width > 0 and low + self.width / self.steps > low and high - self.width / self.steps < high):
            raise ParameterError(message("high", "must leave room for the steps above low", self.high, remedy))

    # What a mechanism's file writes.

    @abstractmethod
    def sample(self, floors: Words, parts: Words, rng: np.random.Generator) -> Reports:
        """Randomize ticks: the tick below each value, one more with probability parts / 2^64."""

    @abstractmethod
    def moments(self, tally: Ints, n: int) -> tuple[Fraction, Fraction]:
        """Sum of what reports say about their ticks, and of its square."""

    @abstractmethod
    def pieces(self, ticks: Ints) -> Pieces:
        """The law of what a report says about its tick, as runs of equally likely numbers."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many outputs there are: a report is one of 0..size-1."""

    @abstractmethod
    def weight(self, report: Any, tick: int) -> int:
        """The exact probability of a report for a tick, times `denominator`."""

    @abstractmethod
    def decode(self, reports: Reports) -> Floats:
        """What each report alone says about its tick, without bias."""

    @property
    def lattice(self) -> tuple[float, float] | None:
        """What a report can say at least, and the step to what it can say next; None if there is no even step."""
        return None

    # The words.

    @cached_property
    def forms(self) -> NumericForms:
        """What can be said of this mechanism beyond its law, in closed form where its class knows one."""
        found: type[NumericForms] = companion_of(type(self), LAW)
        return found(self)

    @property
    def width(self) -> float:
        """From low to high."""
        return self.high - self.low

    @property
    def guarantee(self) -> LDP:
        """What one report promises."""
        return LDP(self.epsilon)

    @cached_property
    def denominator(self) -> int:
        """What weights are divided by to become probabilities."""
        return sum(self.weight(y, 0) for y in self.outputs())

    def outputs(self) -> Reports:
        """All reports."""
        return np.arange(self.size, dtype=self.report_dtype)

    def clip(self, values: npt.ArrayLike) -> Floats:
        """Move numbers beyond low or high to the end they passed: a named step, since it changes the mean."""
        return np.asarray(np.clip(_numbers(values), self.low, self.high), np.float64)

    def privatize(self, values: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> Any:
        """Randomize numbers: one report each, shape (n,), dtype `report_dtype`; a scalar gives one report.

        Args:
            values: Numbers from low to high; `clip` outliers first.
            rng: Left out, the randomness is cryptographically secure. `hush.seeded(7)` is for simulation and
                tests; its result does not depend on the number of threads.
        """
        given, single = column(values)
        floors, parts = self.ticks(given)
        reports = self._made(floors.size, rng, lambda part, drawing: self.sample(floors[part], parts[part], drawing))
        return reports[0] if single else reports

    def ticks(self, values: npt.ArrayLike) -> tuple[Words, Words]:
        """The grid point below each number, and out of 2^64 the probability of rounding up to the next.

        Four roundings of doubles make a place wrong by at most 2^-51 of itself, hence steps/2^51 of a step.
        """
        exact = self._places(values)
        floors = np.minimum(np.floor(exact), self.steps - 1)
        # A number at the top is one step above the last floor, which a word always falls short of by at most 2^-64.
        parts = np.minimum((exact - floors) * float(SCALE), np.nextafter(float(SCALE), 0.0)).astype(np.uint64)
        top = exact == self.steps
        return np.where(top, self.steps, floors).astype(np.uint64), np.where(top, np.uint64(0), parts)

    def _places(self, values: npt.ArrayLike) -> Floats:
        """Where numbers lie on the grid, in steps."""
        given = _numbers(values)
        outside = ~((given >= self.low) & (given <= self.high))
        if outside.any():
            rule = f"must lie in [{self.low:g}, {self.high:g}]"
            at = Unsaid(f"another one at position {int(np.argmax(outside))}")
            raise DomainError(message("values", rule, at, "clip them first, with m.clip(values)"))
        return np.clip((given - self.low) * self.steps / self.width, 0.0, float(self.steps))

    def simulate(self, values: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> Aggregate:
        """What `aggregate(privatize(values))` gives, without ever holding all reports."""
        people = np.atleast_1d(_numbers(values))
        return self._of_people(people, self.spec_hash, rng)

    def estimate(self, aggregate: Aggregate) -> MeanEstimate:
        """The raw unbiased mean with its standard error: from the spread of the reports, which may not be less than
        the noise of a report is at least (few reports may chance to be all the same).
        """
        return self._estimate(aggregate, None, self.spec_hash)

    def estimate_mean(self, aggregate: Aggregate) -> MeanEstimate:
        """The name that `estimate` had in version 0.1."""
        deprecated("estimate_mean", "estimate")
        return self.estimate(aggregate)

    def _estimate(self, aggregate: Aggregate, labels: None, spec_hash: str) -> MeanEstimate:
        aggregate = self._belonging(aggregate, spec_hash, least=1)
        n = aggregate.n
        total, squares = self.moments(aggregate.tally, n)
        mean = total / n
        spread = max((squares / n - mean**2) * n / max(n - 1, 1), Fraction(self._least))
        unit = self.width / self.steps
        error = unit * math.sqrt(spread / n) if n > 1 else math.sqrt(self.variance())
        law = self.law(aggregate.tally, n)
        return MeanEstimate(self.low + unit * float(mean), error, n, law, self.low, self.high, self.steps)

    def law(self, tally: Ints, n: int) -> MeanLaw | None:
        """How the mean from this tally is distributed, for intervals that cover at every n; None if unknown."""
        return None

    def variance(self, n: int = 1, values: npt.ArrayLike | None = None, weights: npt.ArrayLike | None = None) -> float:
        """Variance of the estimated mean of n people, exact, rounding to the grid included.

        Args:
            n: How many people report.
            values: What they hold; left out, the worst number, held by all.
            weights: How frequent each of the values is; equally, when left out.
        """
        rules.population(n, 0.0)
        unit = (self.width / self.steps) ** 2
        if values is None:
            return unit * self._worst / n
        each = self._variances(self._places(np.atleast_1d(_numbers(values))))
        if each.size == 0:
            raise ParameterError(message("values", "must hold at least one", 0, "leave them out for the worst case"))
        return unit * float(np.average(each, weights=_weights(weights, each.size))) / n

    def _variances(self, places: Floats) -> Floats:
        """Variance of what one report says, in steps, for a number at a place: of its ticks, and of rounding."""
        below = np.minimum(np.floor(places), self.steps - 1)
        part = places - below
        ticks = below.astype(np.int64)
        low, high = self.pieces(ticks).variance(ticks), self.pieces(ticks + 1).variance(ticks + 1)
        return np.asarray((1 - part) * low + part * high + part * (1 - part), np.float64)

    @cached_property
    def _at_ticks(self) -> Floats:
        """Variance of what one report says, in steps, at every tick."""
        ticks = np.arange(self.steps + 1)
        return self.pieces(ticks).variance(ticks)

    @property
    def _least(self) -> float:
        """The smallest of the variances, which is at a tick: between two it is a parabola that opens downwards."""
        return float(self._at_ticks.min())

    @cached_property
    def _worst(self) -> float:
        """The largest of the variances: between two ticks it is a parabola, whose top is known."""
        at = self._at_ticks
        part = np.clip((1 + np.diff(at)) / 2, 0.0, 1.0)
        return float(np.max((1 - part) * at[:-1] + part * at[1:] + part * (1 - part)))

    def chances(self, ticks: Ints) -> Floats:
        """Probabilities of outputs, as [output, tick]."""
        law = [[self.weight(y, int(t)) / self.denominator for t in ticks] for y in self.outputs()]
        return np.array(law, np.float64).reshape(self.size, ticks.size)

    def exact_epsilon(self) -> float:
        """The true worst-case loss of the sampler as implemented, by enumeration."""
        check_few(self.size, self.steps + 1)
        return worst_ratio([[self.weight(y, t) for t in range(self.steps + 1)] for y in self.outputs()])

    @property
    def bits(self) -> int:
        """Information bits of one report."""
        return (self.size - 1).bit_length()

    # What a spec asks for.

    def _labels(self, given: object) -> None:
        if given is not None:
            rule, got = "must be left out, since a number is its own label", Unsaid(f"a {type(given).__name__}")
            raise SpecError(message("domain", rule, got, "the mechanism's low and high say what numbers there are"))

    def _spec(self, labels: None) -> dict[str, Any]:
        return self.to_dict()

    def _encoded(self, values: object, labels: None) -> tuple[Any, bool]:
        return column(values)

    def _simulated(self, people: Any, labels: None, spec_hash: str, rng: np.random.Generator | None) -> Aggregate:
        return self.simulate(people, rng=rng)


def _numbers(values: npt.ArrayLike) -> Floats:
    listed, single = column(values)
    try:
        given = np.asarray(listed[0] if single else listed, np.float64)
    except (TypeError, ValueError, OverflowError):
        given = np.array([_number(cell) for cell in listed], np.float64)
    if given.ndim > 1:
        raise ParameterError(message("values", "must be one-dimensional", given.shape, "pass one column"))
    if np.isnan(given).any():
        at = Unsaid(f"another one at position {int(np.argmax(np.isnan(given)))}")
        raise ParameterError(message("values", "must be numbers", at, "replace what is missing"))
    return given


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _weights(weights: npt.ArrayLike | None, size: int) -> Floats | None:
    if weights is None:
        return None
    given = as_array("weights", weights)
    given = given.astype(np.float64) if given.dtype.kind in "iuf" else np.zeros(0)
    if given.shape != (size,) or not np.isfinite(given).all() or (given < 0).any() or given.sum() <= 0:
        rule = f"must be {size} non-negative numbers"
        raise ParameterError(message("weights", rule, weights, "give each value its share of the people"))
    return given


def place_sums(reports: Reports, places: int, size: int) -> Ints:
    """Sums over places and ones, of reports below a size; raise ReportError on any other."""
    from hush.kernels.numeric import sums

    tally = np.zeros(5, np.int64)
    if reports.size and int(sums(np.ascontiguousarray(reports), places, tally)) >= size:
        largest = int(reports.max())
        raise ReportError(message("reports", f"must be below {size}", largest, "check the spec they were made with"))
    return tally
