"""What a collection of tuples is.

Everybody holds a tuple of d values, one for each attribute, and sends one report about it. Like a mechanism for one
value, a collection is one immutable object that serves client and server. A file that defines one writes

- ``components``: the mechanism of each attribute;
- ``report_dtype``, ``sample(tuples, rng)`` and ``tally(reports)``: the record, its sampler, an additive summary;
- ``decode(tally, n)`` and ``variances(frequencies, n)``: unbiased frequencies of each attribute, and their variance;
- ``outputs(public)`` and ``weight(report, values)``: the exact law, as integers over a common denominator;
- ``scores``, ``asr`` and ``exact_epsilon``: what an attacker learns, and the worst that there is to learn.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import HushError, ParameterError, SpecError, message
from hush.estimation import Aggregate, Estimate
from hush.estimation.consistency import simplex
from hush.estimation.laws import EstimateLaw, Unknown
from hush.guarantee import ULDP, ApproxLDP, Guarantee
from hush.kernels import chunks
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.collected import Tallied
from hush.mechanisms.inference import best_guesses
from hush.mechanisms.renamed import deprecated
from hush.mechanisms.settings import takes
from hush.mechanisms.spec import Spec
from hush.multidim import checks
from hush.multidim.attributes import Attributes
from hush.people.columns import as_array, column
from hush.people.domain import Domain
from hush.types import Floats, Ints, Reports

Beliefs = Sequence[npt.ArrayLike | None] | None

_BATCH_CELLS = 1 << 22  # likelihoods held at a time


@dataclass(frozen=True, kw_only=True)
class Multidim(Tallied):
    """A collection of tuples, whose reports estimate how frequent each value of each attribute is."""

    sizes: Sequence[int]
    epsilon: float

    kind: ClassVar[str] = "multidim"
    word: ClassVar[str] = "protocol"
    _block_bytes: ClassVar[int] = 1 << 20
    fewest: ClassVar[int] = 1
    """How many attributes there must be."""
    samples: ClassVar[bool] = False
    """Whether a report is about one attribute, which is drawn; else about all."""
    hides: ClassVar[bool] = False
    """Whether a report does not say which attribute was drawn."""

    def __post_init__(self) -> None:
        self._set(sizes=checks.sizes(self.sizes, self.fewest), epsilon=rules.epsilon(self.epsilon))
        self._settle()

    @abstractmethod
    def _settle(self) -> None:
        """Check and complete the other parameters."""

    # What a file writes.

    @property
    @abstractmethod
    def components(self) -> tuple[FrequencyOracle, ...]:
        """The mechanism that randomizes each attribute when it is reported."""

    @abstractmethod
    def sample(self, tuples: Ints, rng: np.random.Generator) -> Reports:
        """Randomize tuples that are known to lie in their domains."""

    @abstractmethod
    def check_tally(self, tally: Ints, n: int) -> None:
        """Refuse a tally that n reports cannot give, by what `hush.estimation.possible` has."""

    @abstractmethod
    def decode(self, tally: Ints, n: int) -> tuple[Floats, ...]:
        """Unbiased frequencies of each attribute from the tally of n reports; NaN where none says anything."""

    @abstractmethod
    def variances(self, frequencies: Sequence[npt.ArrayLike], n: int) -> tuple[Floats, ...]:
        """Variance of every estimate in a fixed population of n, given each attribute's frequencies."""

    @abstractmethod
    def outputs(self, public: Any = None) -> Reports:
        """All reports that are possible given the public randomness, or one of each kind (see `copies`)."""

    @abstractmethod
    def weight(self, report: Any, values: Sequence[int]) -> int:
        """The exact probability of a report about a tuple, given its public randomness, times `denominator`."""

    @property
    @abstractmethod
    def denominator(self) -> int:
        """What weights are divided by to become probabilities."""

    @abstractmethod
    def _log_prob(self, reports: Reports, tuples: Ints) -> Floats:
        """The logarithm of each report's probability for the tuple beside it."""

    @abstractmethod
    def _scores(self, reports: Reports, attribute: int, priors: tuple[Floats, ...]) -> Floats:
        """Log-likelihood of every value of an attribute, up to a constant for each report."""

    def parts(self, reports: Reports) -> Iterator[tuple[Ints, Reports]]:
        """For each attribute, the rows that have a part for it, and those parts."""
        rule, remedy = "must be a known collection of tuples", "pass SPL, SMP, RSFD or RSRFD"
        raise ParameterError(message("m", rule, type(self), remedy))

    def likelihoods(self, reports: Reports) -> list[Floats]:
        """How likely a report is if an attribute was drawn, for each of its values, where the report does not say."""
        raise NotImplementedError(f"{type(self).__name__} does not hide which attribute it is about")

    def sampled(self, reports: Reports, priors: Beliefs = None) -> Floats:
        """How likely each attribute is to be what a report is about, shape (n, d): all are, where none is drawn."""
        return np.ones((self._reports(reports).size, self.d))

    @abstractmethod
    def asr(self, attribute: int) -> float:
        """Exact expected success of the best guess of an attribute from its report; all values equally likely."""

    @abstractmethod
    def exact_epsilon(self, changed: int | None = None) -> float:
        """The true worst-case loss between tuples that differ in at most so many attributes; in all if left out."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What one report promises for any two tuples."""

    @property
    @abstractmethod
    def bits(self) -> int:
        """Information bits of one report, public randomness included."""

    def publics(self) -> Iterable[Any]:
        """Public randomness (hash seeds, say) to enumerate over: all of it, or examples of every kind."""
        return itertools.product(*(component.publics() for component in self.components))

    def copies(self, report: Any) -> int:
        """How many outputs this one stands for."""
        return 1

    # The words.

    @property
    def d(self) -> int:
        """Number of attributes."""
        return len(self.sizes)

    @property
    def claimed_epsilon(self) -> float:
        """What the literature says the loss of one report is."""
        return self.epsilon

    @property
    def _delta(self) -> float:
        return self.guarantee.delta if isinstance(self.guarantee, (ApproxLDP, ULDP)) else 0.0

    @property
    def has_public(self) -> bool:
        """Whether reports carry public randomness, such as a hash function."""
        return any(len(component.publics()) > 1 for component in self.components)

    def tuples(self) -> Iterator[tuple[int, ...]]:
        """Every tuple there is."""
        return itertools.product(*(range(k) for k in self.sizes))

    def privatize(self, tuples: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> Any:
        """Randomize tuples: one report each, shape (n,), dtype `report_dtype`; a single tuple gives one report.

        Args:
            tuples: Integers of shape (n, d), column j in 0..sizes[j]-1.
            rng: Left out, the randomness is cryptographically secure. `hush.seeded(7)` is for simulation and
                tests; its result does not depend on the number of threads.
        """
        given, number = column(tuples)
        try:
            single = not number and np.shape(given) == (self.d,)
        except ValueError:  # rows of different lengths
            single = False
        checked = checks.tuples([given] if single else given, self.sizes)
        reports = self._made(len(checked), rng, lambda part, drawing: self.sample(checked[part], drawing))
        return reports[0] if single else reports

    def simulate(self, tuples: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> Aggregate:
        """What `aggregate(privatize(tuples))` gives, without ever holding all reports."""
        return self._of_people(checks.tuples(column(tuples)[0], self.sizes), self.spec_hash, rng)

    def estimate(self, aggregate: Aggregate) -> tuple[Estimate, ...]:
        """Raw unbiased frequencies with standard errors, one Estimate for each attribute.

        Of an attribute that no report is about (see `reports_about`) nothing is known: its frequencies are NaN, their
        standard errors infinite, and their intervals reach from 0 to 1.
        """
        return self._estimates(aggregate, [Domain(size=k) for k in self.sizes], self.spec_hash)

    def _estimates(self, aggregate: Aggregate, domains: Sequence[Domain], spec_hash: str) -> tuple[Estimate, ...]:
        aggregate = self._belonging(aggregate, spec_hash, least=1)
        raw = self.decode(aggregate.tally, aggregate.n)
        spread = self._variances_seen([simplex(np.nan_to_num(each)) for each in raw], aggregate)
        told = zip(raw, spread, self.laws(aggregate.tally, aggregate.n), self._about_each(aggregate), strict=True)
        known = [(f, np.sqrt(v), law) if m else _unknown(f.size) for f, v, law, m in told]
        return tuple(
            Estimate(frequencies, aggregate.n, domain, errors, law=law)
            for (frequencies, errors, law), domain in zip(known, domains, strict=True)
        )

    def reports_about(self, aggregate: Aggregate) -> tuple[int, ...]:
        """How many reports say something about each attribute: all of them, unless a report is about one and says so.

        Args:
            aggregate: Of this collection, with labels or without.
        """
        return self._about_each(self._belonging(aggregate, aggregate.spec_hash))

    def _about_each(self, aggregate: Aggregate) -> tuple[int, ...]:
        return (aggregate.n,) * self.d

    def laws(self, tally: Ints, n: int) -> tuple[EstimateLaw | None, ...]:
        """How each attribute's estimate is distributed, for intervals that cover at every n; None where unknown."""
        return (None,) * self.d

    def _variances_seen(self, frequencies: Sequence[Floats], aggregate: Aggregate) -> tuple[Floats, ...]:
        """Variances, given what the aggregate shows."""
        return self.variances(frequencies, aggregate.n)

    def variance(self, attribute: int, *, n: int, frequency: float = 0.0, value: int = 0) -> float:
        """Variance of one value's estimate in a fixed population of n, where the value has this frequency.

        The other values of the attribute are taken to share the rest equally, where it matters.
        """
        j = checks.attribute(attribute, self.d)
        v = rules.integer("value", value, 0, self.sizes[j] - 1, "count the attribute's values from 0")
        people = rules.integer("n", n, 1, 10**18, "count the reports")
        rules.population(people, frequency)
        spread = [np.full(k, 1.0 / k) for k in self.sizes]
        spread[j][:] = (1.0 - frequency) / (self.sizes[j] - 1)
        spread[j][v] = frequency
        return float(self.variances(spread, people)[j][v])

    def log_prob(self, reports: Reports, tuples: npt.ArrayLike) -> Floats:
        """Exact log-likelihood of each report for a tuple (one, or one each), given its public randomness."""
        array = self._validated(reports)
        given = as_array("tuples", tuples)
        values = checks.tuples(given[None] if given.ndim == 1 else given, self.sizes)
        if len(values) not in (1, array.size):
            rule = f"must be one tuple, or {array.size}"
            raise ParameterError(message("tuples", rule, len(values), "give one for each report"))
        beside = np.broadcast_to(values, (array.size, self.d))
        rows = max(1, _BATCH_CELLS // sum(self.sizes))
        parts = chunks.each(array.size, rows, lambda a, b: self._log_prob(array[a:b], beside[a:b]))
        return np.concatenate(parts) if parts else np.zeros(0)

    def scores(self, reports: Reports, attribute: int, priors: Beliefs = None) -> Floats:
        """Log-likelihood of every value of an attribute given the whole report, up to a constant for each report.

        Args:
            reports: What the attacker saw.
            attribute: Which attribute, counted from 0.
            priors: How likely each value of the other attributes is beforehand, independently; uniform where None.
        """
        beliefs = checks.beliefs(priors, self.sizes)
        return self._scores(self._validated(reports), checks.attribute(attribute, self.d), beliefs)

    def attack(
        self, reports: Reports, attribute: int, priors: Beliefs = None, *, rng: np.random.Generator | None = None
    ) -> Ints:
        """The best guess of an attribute's value behind each report; ties are broken at random.

        Args:
            reports: What the attacker saw.
            attribute: Which attribute, counted from 0.
            priors: How likely each value of each attribute is beforehand, independently; uniform where None.
            rng: Breaks the ties.
        """
        j, beliefs = checks.attribute(attribute, self.d), checks.beliefs(priors, self.sizes)
        array = self._validated(reports)
        return best_guesses(lambda part: self._scores(part, j, beliefs), array, self.sizes[j], beliefs[j], rng)

    # What a planner asks.

    @classmethod
    def offers(cls, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
        """What to try beside sizes and a budget; nothing where more would be needed, or less attributes are taken."""
        needed = {name for name, must in takes(cls).items() if must}
        if needed == {"sizes", "epsilon"} and len(sizes) >= cls.fewest:
            yield {}

    @classmethod
    def losing(cls, loss: float, sizes: Sequence[int], **more: Any) -> Self:
        """The one whose true loss is at most this."""
        return cls(sizes=sizes, epsilon=loss, **more)

    @property
    def title(self) -> str:
        """What it is, in a few words: its name, and its attributes' mechanisms."""
        return f"{self.name()} {'/'.join(dict.fromkeys(component.name() for component in self.components))}"

    def round_variances(self, n: int, *, worst: bool = False) -> tuple[float, ...]:
        """Mean squared error of a frequency of each attribute, where pure oracles of alike values randomize them.

        On average over the values where all are equally frequent, when who is drawn matters most; or the largest, over
        all frequencies: a variance is a polynomial of the second degree in the frequency.
        """
        if not worst:
            even = self.variances([np.full(k, 1 / k) for k in self.sizes], n)
            return tuple(float(each.mean()) for each in even)
        three = [[self.variance(j, n=n, frequency=f) for f in (0.0, 0.5, 1.0)] for j in range(self.d)]
        return tuple(_largest(*values) for values in three)

    def best_guesses(self, tau: int) -> tuple[float | None, ...]:
        """How often the best guess from tau fresh reports names each attribute; None where no formula is known."""
        return tuple(self.asr(j) if tau == 1 else None for j in range(self.d))

    # How it travels.

    @property
    def thresholds(self) -> dict[str, int | str]:
        """The integers that the sampler compares random words with, each named after its attribute."""
        named = (component.thresholds.items() for component in self.components)
        return {f"{j}.{name}": value for j, items in enumerate(named) for name, value in items}

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor takes, as plain data."""
        return {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self) if f.init}

    def to_json(self) -> str:
        """What `hush.Spec(m).to_json()` gives: its place in version 0.1."""
        deprecated("m.to_json()", "hush.Spec(m).to_json()")
        return Spec(self).to_json()

    # What a spec asks for.

    def _labels(self, given: object) -> Attributes:
        if given is None:
            return Attributes(tuple(Domain(size=k) for k in self.sizes))
        attributes = Attributes.of(given)
        if len(attributes.domains) != self.d:
            rule, got = f"must be {self.d}, one for each attribute", len(attributes.domains)
            raise SpecError(message("domains", rule, got, "match sizes and the domains"))
        for j, (component, domain) in enumerate(zip(self.components, attributes.domains, strict=True)):
            try:
                component._labels(domain)
            except HushError as error:
                raise error.naming(f"the domain of {attributes.word(j)}") from None
        return attributes

    def _spec(self, labels: Attributes) -> dict[str, Any]:
        if labels.plain:
            return {"hush": 1, "multidim": self.to_dict()}
        return {"hush": 2, "mechanism": self.to_dict(), "attributes": labels.to_list()}

    def _told_labels(self, entry: str, plain: Any) -> Attributes | None:
        return Attributes.from_list(plain) if entry == "attributes" else None

    def _encoded(self, values: object, labels: Attributes) -> tuple[Ints, bool]:
        return labels.encode(values)

    def _estimate(self, aggregate: Aggregate, labels: Attributes, spec_hash: str) -> Any:
        return labels.by_name(self._estimates(aggregate, labels.domains, spec_hash))

    def _simulated(
        self, people: object, labels: Attributes, spec_hash: str, rng: np.random.Generator | None
    ) -> Aggregate:
        return self._of_people(labels.encode(people)[0], spec_hash, rng)


def _unknown(size: int) -> tuple[Floats, Floats, EstimateLaw]:
    """Frequencies of which nothing is known."""
    return np.full(size, np.nan), np.full(size, np.inf), Unknown(size)


def _largest(low: float, middle: float, high: float) -> float:
    """The largest value on [0, 1] of the polynomial of the second degree with these values at 0, 1/2 and 1.

    >>> _largest(0.0, 0.25, 0.0), _largest(1.0, 1.5, 2.0)  # f(1 - f), and 1 + f
    (0.25, 2.0)
    """
    bent = 2 * (2 * middle - low - high)  # minus the factor of the square
    top = (high - low + bent) / (2 * bent) if bent > 0 else -1.0
    return max(low, high, low + bent * top**2 if 0 < top < 1 else -math.inf)


def plain(value: Any) -> Any:
    """Tuples as lists, for JSON."""
    return [plain(each) for each in value] if isinstance(value, tuple) else value
