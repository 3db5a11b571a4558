"""Tuples over time: several attributes of each person, collected again and again with answers that are kept.

Each attribute has a protocol over time of its own. A file that defines a collection says who reports which attributes
(``_speakers``), what each of their protocols may spend (``_budgets``) and what their losses come to (``_combined``).
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, SpecError, Unsaid, message
from hush.estimation import Aggregate, Estimate
from hush.guarantee import LDP
from hush.longitudinal import Clients, Longitudinal
from hush.longitudinal.budgets import budgets, number_of_reports
from hush.longitudinal.collecting import Collecting
from hush.longitudinal.memory import Memory
from hush.mechanisms.chosen import choices
from hush.mechanisms.collected import Collected
from hush.mechanisms.registry import registry
from hush.mechanisms.spec import Spec
from hush.multidim import checks
from hush.multidim._first_report import FirstTuples
from hush.multidim._tuple_client import TupleClient
from hush.multidim.attributes import Attributes
from hush.multidim.base import plain as as_plain
from hush.multidim.choice import ADAPTIVE, told_choices
from hush.people.columns import as_array, column
from hush.types import Floats, Ints, Reports

Draw = Callable[[int], npt.NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class TuplesOverTime(Collecting, Collected):
    """A collection of tuples over time: a frozen dataclass.

    Args:
        sizes: Domain size of each attribute.
        epsilon_permanent: Loss of any number of reports of a tuple that does not change.
        epsilon_report: Loss of one report, below epsilon_permanent.
        protocol: A registered protocol of two rounds, or one for each attribute; "ADP" stands for LGRR or LOSUE,
            whichever has less variance there.
        options: Other parameters of the protocol, such as {"g": 4}.
        chosen: What the protocol of each attribute chose for itself, as a spec has it; chosen when left out.
    """

    sizes: Sequence[int]
    epsilon_permanent: float
    epsilon_report: float
    protocol: str | Sequence[str] = ADAPTIVE
    options: Mapping[str, Any] | Sequence[tuple[str, Any]] = field(default=())
    chosen: Sequence[Any] | None = field(default=None, repr=False)

    kind: ClassVar[str] = "longitudinal"
    word: ClassVar[str] = "protocol"
    renamed: ClassVar[Mapping[str, str]] = {"protocols": "protocol"}  # in a spec, `protocol` is this one's own name
    independent: ClassVar[bool] = False
    """Whether the reports of one person are independent, given the tuple."""
    samples: ClassVar[bool] = False
    """Whether a person reports one attribute, drawn for good; else all."""

    def __post_init__(self) -> None:
        permanent, one = budgets(self.epsilon_permanent, self.epsilon_report)
        self._set(sizes=checks.sizes(self.sizes, 1), epsilon_permanent=permanent, epsilon_report=one)
        names = checks.names("protocol", self.protocol, self.d, [ADAPTIVE, *_of_two_rounds()])
        best = tuple(self._best(k) if name == ADAPTIVE else name for name, k in zip(names, self.sizes, strict=True))
        self._set(protocol=best, options=checks.options(self.options), chosen=checks.chosen(self.chosen, self.d))
        own = (choices(component).items() for component in self.components)
        due = tuple(checks.sorted_pairs({n: x for n, x in each if n not in dict(self.options)}) for each in own)
        if self.chosen is not None and self.chosen != due:
            rule = "must be what the protocols choose for themselves beside their options, all of it and nothing else"
            raise ParameterError(message("chosen", rule, told_choices(self.chosen), "leave it out, or use options"))
        self._set(chosen=due)

    # What a collection's file writes.

    @property
    @abstractmethod
    def _budgets(self) -> tuple[float, float]:
        """What the protocol of one attribute may spend: for good, and by one report."""

    @property
    @abstractmethod
    def first_report(self) -> FirstTuples:
        """The law of any one report: a collection that aggregates, estimates and is checked like any other."""

    @abstractmethod
    def _combined(self, losses: Iterable[float]) -> float:
        """What the attributes' losses come to, rounded up."""

    @abstractmethod
    def _speakers(self, n: int, recall: Callable[[Draw], npt.NDArray[Any]], rng: np.random.Generator) -> list[Ints]:
        """For each attribute, who of n people reports it; ``recall(draw)`` is what each of them drew once."""

    # The protocols of the attributes.

    def _best(self, k: int) -> str:
        """Randomized response where the domain is small, else unary encoding: by the variance of one report."""
        known = [self._component(name, k, {}, {}) for name in ("LGRR", "LOSUE")]
        return min(known, key=lambda made: made.first_report.variance()).name()

    @cached_property
    def components(self) -> tuple[Longitudinal, ...]:
        """The protocol of each attribute."""
        several = zip(self.protocol, self.sizes, self.chosen or [()] * self.d, strict=True)
        return tuple(self._component(name, k, dict(self.options), dict(chosen)) for name, k, chosen in several)

    def _component(self, name: str, k: int, options: Mapping[str, Any], chosen: Mapping[str, Any]) -> Longitudinal:
        permanent, one = self._budgets
        try:
            made = registry("longitudinal")[name](
                k=k, epsilon_permanent=permanent, epsilon_report=one, **{**options, **chosen}
            )
        except (TypeError, ParameterError) as error:
            rule = f"must take k={k}, budgets of {permanent:g} and {one:g}, and the options {dict(options)}"
            raise ParameterError(message("protocol", rule, name, str(error))) from None
        assert isinstance(made, Longitudinal)
        return made

    # The words.

    @property
    def d(self) -> int:
        """Number of attributes."""
        return len(self.sizes)

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The record that one report is."""
        return self.first_report.report_dtype

    @property
    def guarantee(self) -> LDP:
        """What any number of reports of a tuple that does not change promise together."""
        return LDP(self.epsilon_permanent)

    def sequence_epsilon(self, tau: float) -> float:
        """Exact loss of tau reports of a tuple that does not change, rounded up; `math.inf` gives the limit."""
        return self._combined(component.sequence_epsilon(tau) for component in self.components)

    def sequence_guarantee(self, tau: int) -> LDP:
        """What so many reports of an unchanging tuple promise together: at most epsilon_permanent."""
        return LDP(min(self.epsilon_permanent, self.sequence_epsilon(tau)))

    @property
    def epsilon_fresh(self) -> float:
        """Loss of the fresh round alone; tau reports of any two histories lose at most tau times this."""
        return self._combined(component.epsilon_fresh for component in self.components)

    @property
    def epsilon_states(self) -> float:
        """As `epsilon_worst`, of histories whose states (values, or their buckets) change at the same times."""
        return self._combined(component.epsilon_states for component in self.components)

    @property
    def epsilon_worst(self) -> float:
        """Loss of any number of reports of tuples each of whose attributes changes at known times.

        It bounds the loss between two histories in which every attribute for itself is equal at the same pairs of
        times. That the tuples change at the same times is not enough, where one changes in this attribute and the other
        in that: see `Longitudinal.epsilon_worst`.
        """
        return self._combined(component.epsilon_worst for component in self.components)

    def history_bound(self, tau: int) -> float:
        """As `epsilon_worst`, a bound of the loss of tau reports, each attribute changing at known times."""
        return self._combined(component.history_bound(tau) for component in self.components)

    @property
    def pseudonym(self) -> str:
        """What a client shows again, which links its reports to each other, in words."""
        shown = " or ".join(dict.fromkeys(component.pseudonym for component in self.components))
        return f"which of {self.d} attributes is reported, and {shown}" if self.samples else shown

    @property
    def repeats_one_answer(self) -> bool:
        """Whether a tuple that does not change is reported by the same answers every time."""
        return False

    def number_of_reports(self, tau: int | None) -> int:
        """How many reports a person sends: as many as are asked for."""
        return number_of_reports(tau)

    @property
    def title(self) -> str:
        """What it is, in a word or two."""
        return f"{type(self).__name__} {', '.join(dict.fromkeys(self.protocol))}"

    # What a planner asks.

    @classmethod
    def offers(cls, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Every protocol of two rounds that needs nothing but budgets, and the better of two for each attribute."""
        if len(sizes) > 1:
            several = registry("longitudinal")
            known = (name for name in _of_two_rounds() if list(several[name].offers(sizes[:1])))
            yield from ({"protocol": name} for name in (ADAPTIVE, *known))

    @classmethod
    def lasting(cls, total: float, share: float, sizes: Sequence[int], **more: Any) -> Self:
        """The total is the permanent budget."""
        return cls(sizes=sizes, epsilon_permanent=total, epsilon_report=share * total, **more)

    @property
    def layout(self) -> str:
        """How the attributes are put into a report: its name says."""
        return self.name()

    def any_histories_bound(self, tau: int) -> float:
        """A bound of the loss of tau reports between any two histories."""
        return self._combined(component.any_histories_bound(tau) for component in self.components)

    def round_variances(self, n: int, *, worst: bool = False) -> tuple[float, ...]:
        """Mean squared error of a frequency of each attribute in one round, on average over its values, or largest."""
        return self.first_report.round_variances(n, worst=worst)

    def best_guesses(self, tau: int) -> tuple[float | None, ...]:
        """How often the best guess from tau reports names each attribute; None where no formula is known.

        Where one attribute was drawn for good, the others are guessed blindly.
        """
        known = (component.best_guesses(tau)[0] for component in self.components)
        share = 1 / self.d if self.samples else 1.0
        pairs = zip(known, self.sizes, strict=True)
        return tuple(None if rate is None else share * rate + (1 - share) / k for rate, k in pairs)

    def simulated_scores(self, tuples: Ints, tau: int, rng: np.random.Generator) -> list[Floats]:
        """Log-likelihoods of every value of each attribute from tau reports of people whose values do not change."""
        n = len(tuples)
        speakers = self._speakers(n, lambda draw: draw(n), rng)
        found = [np.zeros((n, k)) for k in self.sizes]
        for j, (rows, component) in enumerate(zip(speakers, self.components, strict=True)):
            found[j][rows] = component.simulated_scores(tuples[rows, j : j + 1], tau, rng)[0]
        return found

    @property
    def plain(self) -> dict[str, Any]:
        """What it is, in plain data."""
        return self.to_dict()

    def client(self, *, rng: np.random.Generator | None = None, state: Mapping[str, Any] | None = None) -> TupleClient:
        """One person's device, which keeps its permanent answers.

        Args:
            rng: Left out, the randomness is cryptographically secure. `hush.seeded(7)` is for tests.
            state: What `client.state` gave earlier, to go on with the same answers.
        """
        return TupleClient(self, rng=rng, state=state)

    def clients(self, *, rng: np.random.Generator | None = None) -> Clients:
        """The devices of many people, who report together, each with permanent answers of their own."""
        return Clients(self, rng=rng)

    def held(self, values: Any, labels: Attributes | None = None) -> Ints:
        """What each of some people holds in one round, shape (n, d); columns by name where labels have names."""
        return checks.tuples(column(values)[0], self.sizes) if labels is None else labels.encode(values)[0]

    def remembered(self, people: Ints, held: Ints, memory: Memory, rng: np.random.Generator) -> Reports:
        """One report of each person, with the answers that are kept; what is missing is drawn and kept."""
        speakers = self._speakers(people.size, lambda draw: memory.drawn(self.d, people, draw), rng)
        parts = (
            (rows, component.remembered(people[rows], held[rows, j], memory, rng, part=j))
            for j, (rows, component) in enumerate(zip(speakers, self.components, strict=True))
        )
        return self.first_report.whole(people.size, parts)

    def _together(self, values: Ints, rng: np.random.Generator) -> Reports:
        n, tau = values.shape[:2]
        speakers = self._speakers(n, lambda draw: draw(n), rng)
        parts = (
            (
                (rows[:, None] * tau + np.arange(tau)).ravel(),
                component._together(np.ascontiguousarray(values[rows, :, j]), rng).ravel(),
            )
            for j, (rows, component) in enumerate(zip(speakers, self.components, strict=True))
        )
        return self.first_report.whole(n * tau, parts).reshape(n, tau)

    def _values(self, values: npt.ArrayLike) -> Ints:
        """Tuples of shape (n, tau, d)."""
        array = as_array("values", column(values)[0])
        if array.ndim != 3 or array.shape[1] == 0 or array.shape[2] != self.d:
            rule = f"must have shape (n, tau, {self.d}): a person, a round, an attribute"
            raise ParameterError(message("values", rule, array.shape, "stack the rounds with np.stack(..., axis=1)"))
        return checks.tuples(array.reshape(-1, self.d), self.sizes).reshape(array.shape)

    def estimate(self, aggregates: Iterable[Aggregate]) -> list[tuple[Estimate, ...]]:
        """Raw unbiased frequencies with standard errors: for each round, one Estimate for each attribute.

        Rounds are not independent: what a client keeps, it keeps for all of them.
        """
        return [self.first_report.estimate(each) for each in aggregates]

    # How it travels, and what a spec asks for.

    @property
    def thresholds(self) -> Mapping[str, int | str]:
        """Those of one report."""
        return self.first_report.thresholds

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor takes, as plain data."""
        plain = {f.name: as_plain(getattr(self, f.name)) for f in dataclasses.fields(self) if f.init}
        told = told_choices(self.chosen or ())
        plain |= {"options": dict(self.options), "chosen": told}
        return plain if any(told) else {name: item for name, item in plain.items() if name != "chosen"}

    def _labels(self, given: object) -> Attributes:
        return self.first_report._labels(given)

    def _spec(self, labels: Attributes) -> dict[str, Any]:
        return {"hush": 2, "mechanism": self.to_dict(), "attributes": labels.to_list()}

    def _told_labels(self, entry: str, plain: Any) -> Attributes | None:
        if entry != "attributes":
            raise SpecError(message("spec", "must have attributes", Unsaid(entry), "write it with to_json"))
        return Attributes.from_list(plain)

    def _one_round(self, labels: Attributes) -> Spec:
        return Spec(self.first_report, labels)

    def _encoded(self, values: object, labels: Attributes) -> tuple[Ints, bool]:
        """Labels of shape (n, tau) by name, or of shape (n, tau, d)."""
        if labels.names is not None and isinstance(values, Mapping):
            columns = [as_array(name, column(values[name])[0], object) for name in labels.names if name in values]
        else:
            whole = as_array("values", column(values)[0], object)
            columns = list(np.moveaxis(whole, 2, 0)) if whole.ndim == 3 else []
        shapes = {each.shape for each in columns}
        if len(columns) != self.d or len(shapes) > 1 or columns[0].ndim != 2:
            rule = f"must be {self.d} arrays by name, each with one row a person and one column a round"
            got = Unsaid("something else")
            raise ParameterError(message("values", rule, got, "or pass one array of shape (n, tau, d)"))
        codes = [d.encode(each.ravel()).reshape(each.shape) for d, each in zip(labels.domains, columns, strict=True)]
        return np.stack(codes, axis=2), False

    def _estimate(self, aggregates: Iterable[Aggregate], labels: Attributes, spec_hash: str) -> list[Any]:
        return [self.first_report._estimate(each, labels, spec_hash) for each in aggregates]

    def _client(self, spec: Spec, rng: np.random.Generator | None, state: Mapping[str, Any] | None) -> TupleClient:
        return TupleClient(self, rng=rng, state=state, spec=spec)

    def _clients(self, spec: Spec, rng: np.random.Generator | None) -> Clients:
        return Clients(self, rng=rng, spec=spec)


def _of_two_rounds() -> list[str]:
    """Registered protocols with a budget for one report."""
    return [
        name
        for name, cls in registry("longitudinal").items()
        if {"k", "epsilon_permanent", "epsilon_report"} <= {f.name for f in dataclasses.fields(cls)}
    ]
