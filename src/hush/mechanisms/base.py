"""What a mechanism is.

A mechanism is one immutable object that serves client and server. A file that defines one writes

- ``report_dtype``: the fixed-size little-endian record that a report is;
- ``sample(values, rng)``: reports of checked values 0..k-1, drawn from the given numpy Generator;
- ``tally(reports)``: an additive integer array of fixed shape (for a pure oracle, ``supports`` is enough);
- ``decode(tally, n)``: unbiased frequencies (a pure oracle has one already);
- ``outputs(public)`` and ``weight(report, value)``: the exact law, as integers over a common denominator.

Everything else follows from these: secure and seeded randomization on all cores, aggregation, estimates with error
bars, likelihoods, attacks, maximum likelihood, simulation, the exact loss, and the conformance suite.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ParameterError, SpecError, Unsaid, message
from hush.estimation import Aggregate, Estimate, possible
from hush.estimation.bounds import Bounded, Terms
from hush.estimation.consistency import simplex
from hush.estimation.laws import EstimateLaw
from hush.exact.loss import enumerated_loss
from hush.guarantee import LDP, ULDP, ApproxLDP, Guarantee
from hush.mechanisms import moments
from hush.mechanisms.collected import Tallied
from hush.mechanisms.forms import Forms, companion_of
from hush.mechanisms.inference import best_guesses, likeliest, shares
from hush.mechanisms.sums import total_law
from hush.people.columns import cells, column
from hush.people.domain import Domain, integers
from hush.randomness import source
from hush.simulation import tallies
from hush.types import Floats, Ints, Reports, Values


@dataclass(frozen=True, kw_only=True)
class FrequencyOracle(Tallied):
    """A mechanism over the values 0..k-1 whose reports estimate how frequent each value is."""

    k: int
    epsilon: float

    kind: ClassVar[str] = "frequency"
    family: ClassVar[str] = "own"
    shown_with: ClassVar[Mapping[str, Any]] = {}
    """Parameters that it is shown with beside others, where it needs some."""
    general: ClassVar[type[Forms]] = Forms
    """The forms of whatever derives from this class; `companion`, in a class that has one, those of its own law."""
    tight: ClassVar[bool] = True
    """Whether the exact loss reaches the guarantee, to 1e-8, up to epsilon 20; beyond, words of 64 bits are coarse."""
    sufficient: ClassVar[bool] = False
    """Whether the tally counts the outputs one by one, which suffices for maximum likelihood."""
    alike: ClassVar[bool] = False
    """Whether estimates of equally frequent values have the same variance, so that one stands for all in `variance`."""

    def __post_init__(self) -> None:
        self._set(k=rules.domain_size(self.k), epsilon=rules.epsilon(self.epsilon))

    # What a mechanism's file writes.

    @abstractmethod
    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """Randomize values that are known to lie in 0..k-1."""

    @abstractmethod
    def decode(self, tally: Ints, n: int) -> Floats:
        """Unbiased frequencies from the tally of n reports."""

    def check_tally(self, tally: Ints, n: int) -> None:
        """Refuse a tally that n reports cannot give, by what `hush.estimation.possible` has.

        Here that is known where the tally counts the outputs; a mechanism of another kind says what holds for its own.
        """
        if self.sufficient:
            possible.counts(tally, n)

    @abstractmethod
    def outputs(self, public: Any = None) -> Reports:
        """All reports that are possible given the public randomness, or one of each kind (see `copies`)."""

    @abstractmethod
    def weight(self, report: Any, value: int) -> int:
        """The exact probability of a report, given its public randomness, times `denominator`."""

    @cached_property
    def denominator(self) -> int:
        """What weights are divided by to become probabilities."""
        first = self.publics()[0]
        return sum(self.copies(y) * self.weight(y, 0) for y in self.outputs(first))

    def publics(self) -> Sequence[Any]:
        """Public randomness (a hash seed, say) to enumerate over: all of it, or examples of every kind."""
        return (None,)

    def public(self, report: Any) -> Any:
        """The public randomness of a report: what `outputs` takes."""
        return None

    def copies(self, report: Any) -> int:
        """How many outputs this one stands for: same public randomness, same weights for every value."""
        return 1

    def coordinates(self, reports: Reports) -> Ints | None:
        """For a report of k independent coordinates, the outcome of each, shape (n, k); None for other reports."""
        return None

    def coordinate_law(self) -> tuple[Floats, Floats]:
        """Probabilities of a coordinate's outcomes: where it is not the value's own, and where it is."""
        raise NotImplementedError(f"{self.name()} has no independent coordinates")

    # The words.

    @cached_property
    def forms(self) -> Forms:
        """What can be said of this mechanism beyond its law, in closed form where its family knows one."""
        found: type[Forms] = companion_of(type(self))
        return found(self)

    @property
    def guarantee(self) -> Guarantee:
        """What one report promises."""
        return ApproxLDP(self.epsilon, self._delta) if self._delta else LDP(self.epsilon)

    @property
    def _delta(self) -> float:
        """The slack of an approximate mechanism, which has a field for it; none for others."""
        return float(getattr(self, "delta", 0.0))

    def privatize(self, values: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> Any:
        """Randomize values: one report each, shape (n,), dtype `report_dtype`; a scalar gives one report.

        Args:
            values: Integers in 0..k-1.
            rng: Left out, the randomness is cryptographically secure. `hush.seeded(7)` is for simulation and
                tests; its result does not depend on the number of threads.
        """
        given, single = column(values)
        checked = integers(given, self.k)
        reports = self._made(checked.size, rng, lambda part, drawing: self.sample(checked[part], drawing))
        return reports[0] if single else reports

    def estimate(self, aggregate: Aggregate) -> Estimate:
        """Raw unbiased frequencies with standard errors."""
        return self._estimate(aggregate, Domain(size=self.k), self.spec_hash)

    def _estimate(self, aggregate: Aggregate, domain: Domain, spec_hash: str) -> Estimate:
        aggregate = self._belonging(aggregate, spec_hash, least=1)
        raw = self.decode(aggregate.tally, aggregate.n)
        errors = np.sqrt(self.variances(simplex(raw), aggregate.n))
        law = self.law(aggregate.tally, aggregate.n)
        return Estimate(raw, aggregate.n, domain, errors, law=law, sums=partial(total_law, self, raw, aggregate.n, law))

    def law(self, tally: Ints, n: int) -> EstimateLaw | None:
        """How the estimate from this tally is distributed, for intervals that cover at every n; None if unknown."""
        terms = self.terms()
        return None if terms is None else Bounded(self.decode_evenly(tally, n), n, terms)

    def terms(self) -> Terms | None:
        """What each report adds to n times the estimate of `decode_evenly`; None if unknown."""
        return None

    def decode_evenly(self, tally: Ints, n: int) -> Floats:
        """`decode`, or where that ties reports together, an estimate to which each adds a term of its own."""
        return self.decode(tally, n)

    def variance(self, n: int = 1, frequency: float = 0.0) -> float:
        """Variance of one value's estimate among n people of whom a share `frequency` holds it, the mean over values.

        The other values share the rest equally, where it matters.
        """
        rules.population(n, frequency)
        return moments.mean_variance(self, n, frequency)

    @property
    def _examples(self) -> Sequence[int]:
        """The values that `variance` is the mean over."""
        return (0,) if self.alike else range(self.k)

    def variances(self, frequencies: Floats, n: int = 1) -> Floats:
        """Variance of every value's estimate, in a fixed population of n with these frequencies."""
        return np.asarray(frequencies @ self._moments / n, dtype=np.float64)

    @cached_property
    def _moments(self) -> Floats:
        """Variance of the estimate of v from one report of u, as [u, v], by enumeration."""
        return moments.enumerated(self)

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """Exact expected success of the best guess of a value from its raw report; the prior is uniform if left out."""
        law = self.forms.whole
        belief = [Fraction(share) for share in shares(prior, self.k).tolist()]
        rows = zip(law.weights, law.copies, strict=True)
        best = sum(copies * max(w * b for w, b in zip(row, belief, strict=True)) for row, copies in rows)
        return float(best / (self.denominator * sum(belief)))

    @property
    def bits(self) -> int:
        """Information bits of one report, public randomness included."""
        return math.ceil(math.log2(sum(self.forms.whole.copies)))

    def log_prob(self, reports: Reports, value: int | npt.ArrayLike) -> Floats:
        """Exact log-likelihood of each report for a value (one, or one each), given its public randomness."""
        array = self._validated(reports)
        given = integers(cells(value, "value"), self.k)
        if given.size not in (1, array.size):
            rule, remedy = f"must be one, or {array.size}", "give one for each report"
            raise ParameterError(message("value", rule, Unsaid(f"{given.size}"), remedy))
        return self._log_prob(array, np.broadcast_to(given, array.shape))

    def _log_prob(self, reports: Reports, values: Values) -> Floats:
        weights = [self.weight(y, int(v)) for y, v in zip(reports, values, strict=True)]
        below = math.log(self.denominator)
        return np.array([math.log(w) - below if w else -math.inf for w in weights], np.float64)

    def scores(self, reports: Reports) -> Floats:
        """Log-likelihood of every value, shape (n, k), up to a constant for each report."""
        return np.stack([self._log_prob(reports, np.full(reports.size, v)) for v in range(self.k)], axis=1)

    def exact_epsilon(self) -> float:
        """The true worst-case loss of the sampler as implemented; at this mechanism's delta if it has one."""
        return enumerated_loss(self)

    def simulate(self, counts: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> Aggregate:
        """The aggregate of a whole population, drawn from its exact law without making reports where possible.

        Args:
            counts: How many people hold each value.
            rng: `hush.seeded(7)` to repeat a simulation.
        """
        people = tallies.people(counts, self.k)
        return Aggregate(int(people.sum()), self._simulate(people, source(rng)), self.spec_hash, self.check_tally)

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        """Stream real reports, chunk by chunk."""
        ends = np.cumsum(counts)
        return self._streamed(int(ends[-1]), lambda a, b: np.searchsorted(ends, np.arange(a, b), side="right"), rng)

    def attack(
        self, reports: Reports, prior: npt.ArrayLike | None = None, *, rng: np.random.Generator | None = None
    ) -> Ints:
        """The best guess of the value behind each report; ties are broken at random.

        Args:
            reports: What the attacker saw.
            prior: How likely each value is beforehand; uniform when left out.
            rng: Breaks the ties.
        """
        return best_guesses(self.scores, self._validated(reports), self.k, prior, rng)

    def maximum_likelihood(
        self, reports: Reports | Aggregate, *, tolerance: float = 1e-8, steps: int = 30_000
    ) -> Estimate:
        """The distribution under which the reports are most likely (iterative Bayesian update, accelerated).

        Args:
            reports: Reports, streamed in batches; or an Aggregate where the tally suffices (GRR, HR).
            tolerance: Stop when the mean log-likelihood is provably within this of its maximum.
            steps: Give up after so many passes, with a ConvergenceError.
        """
        return self._maximum_likelihood(reports, Domain(size=self.k), self.spec_hash, tolerance, steps)

    def _maximum_likelihood(
        self, reports: Reports | Aggregate, domain: Domain, spec_hash: str, tolerance: float, steps: int
    ) -> Estimate:
        distinct, counts = self._distinct(reports, spec_hash)
        if distinct.size == 0:
            raise ParameterError(message("reports", "must hold at least one", 0, "collect reports first"))
        found = likeliest(self.scores, distinct, counts.astype(np.float64), self.k, tolerance, steps)
        return Estimate(found, int(counts.sum()), domain, None, "maximum likelihood")

    def _distinct(self, reports: Reports | Aggregate, spec_hash: str) -> tuple[Reports, Ints]:
        """Different reports, and how often each came."""
        if isinstance(reports, Aggregate):
            self._belonging(reports, spec_hash)
            if not self.sufficient:
                rule = f"must be the reports themselves, since {self.name()}'s tally does not suffice"
                raise ParameterError(message("reports", rule, reports, "keep the reports"))
            seen = np.nonzero(reports.tally)[0]
            return self.outputs(None)[seen], reports.tally[seen]
        array = self._validated(reports)
        if self.report_dtype.itemsize <= 4:
            distinct, counts = np.unique(array, return_counts=True)
            return distinct, counts.astype(np.int64)
        return array, np.ones(array.size, np.int64)

    # What a spec asks for.

    def _labels(self, given: Domain | None) -> Domain:
        whole = Domain(size=self.k) if given is None else given
        if not isinstance(whole, Domain):
            raise SpecError(message("domain", "must be a Domain", type(whole), "pass e.g. hush.Domain(labels=[...])"))
        if whole.size != self.k:
            raise SpecError(message("domain", f"must have k={self.k} values", whole.size, "match k and the domain"))
        own = None if whole.sensitive is None else self._sensitive_values
        if own is not None and set(own) != set(whole.sensitive or ()):
            rule, remedy = "must have the mechanism's sensitive values", "give the mechanism sensitive=domain.sensitive"
            raise SpecError(message("domain", rule, whole.sensitive, remedy))
        return whole

    @property
    def _sensitive_values(self) -> Sequence[int] | None:
        """The values that it is made for, or promises to protect, where those are not all."""
        own: Sequence[int] | None = getattr(self, "sensitive", None)
        return self.guarantee.sensitive if own is None and isinstance(self.guarantee, ULDP) else own

    def _spec(self, labels: Domain) -> dict[str, Any]:
        return {"hush": 1, "mechanism": self.to_dict(), "domain": labels.to_dict()}

    def _encoded(self, values: object, labels: Domain) -> tuple[Ints, bool]:
        given, single = column(values)
        return labels.encode(given), single

    def _simulated(
        self, people: npt.ArrayLike, labels: Domain, spec_hash: str, rng: np.random.Generator | None
    ) -> Aggregate:
        drawn = self.simulate(people, rng=rng)
        return Aggregate(drawn.n, drawn.tally, spec_hash, drawn.rule)
