"""What a longitudinal protocol is: a value collected over time, with answers that a client keeps.

For every state it comes into (its value, or the bucket of its value), a client draws one permanent answer and keeps
it. Each report is that answer, with fresh noise on top in protocols of two rounds. A file that defines a protocol
writes ``first_report``, the law of one report as a frequency oracle; ``epsilon_permanent``, ``kept``,
``sequence_epsilon``; and the steps of a client: ``_draw``, ``_states``, ``_memoize``, ``_refresh``, ``_dress`` and
back, ``_undress``. The base does the rest.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, message
from hush.guarantee import LDP, Guarantee, above
from hush.longitudinal import _histories, _rounds
from hush.longitudinal._client import Client
from hush.longitudinal._clients import Clients
from hush.longitudinal._over_time import OverTime
from hush.longitudinal._rounds import times
from hush.longitudinal._words import FormerWords
from hush.longitudinal.collecting import Collecting
from hush.longitudinal.memory import Memory
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.collected import Collected
from hush.mechanisms.registry import from_dict
from hush.mechanisms.spec import Spec
from hush.people.columns import as_array, cells, column
from hush.people.domain import Domain, integers
from hush.types import Floats, Ints, Reports


@dataclass(frozen=True, kw_only=True)
class Longitudinal(FormerWords, OverTime, Collecting, Collected):
    """A protocol that collects a value 0..k-1 of each person again and again: a frozen dataclass."""

    kind: ClassVar[str] = "longitudinal"
    word: ClassVar[str] = "protocol"

    if TYPE_CHECKING:  # fields of most protocols

        @property
        def k(self) -> int:
            """Number of values."""

        @property
        def epsilon_report(self) -> float:
            """Loss of one report."""

        @property
        def epsilon_permanent(self) -> float:
            """Loss of any number of reports of a value that does not change."""

    independent: ClassVar[bool] = False
    """Whether the reports of one person are independent, given the value."""

    layout: ClassVar[str] = "–"
    """How several attributes are put into a report: there is one."""

    # What a protocol's file writes.

    @property
    @abstractmethod
    def first_report(self) -> FrequencyOracle:
        """The law of any one report: a mechanism that aggregates, estimates, attacks and is checked like any other."""

    @property
    @abstractmethod
    def kept(self) -> int:
        """How many permanent answers one person's reports can show: one for each state."""

    @property
    @abstractmethod
    def epsilon_fresh(self) -> float:
        """Loss of the fresh round alone; tau reports of any two histories lose at most tau times this."""

    @abstractmethod
    def sequence_epsilon(self, tau: float) -> float:
        """Exact loss of tau reports of a value that does not change, rounded up; `math.inf` gives the limit."""

    @abstractmethod
    def _memoize(self, states: Ints, rng: np.random.Generator) -> npt.NDArray[Any]:
        """A permanent answer for each state."""

    @abstractmethod
    def _likelihood(self, core: npt.NDArray[Any], states: Ints) -> Floats:
        """Log-likelihood of each row of answers for that row of states."""

    @abstractmethod
    def _answers(self) -> npt.NDArray[Any]:
        """All answers that a report may show, without what is public."""

    def _refresh(self, memos: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[Any]:
        """Permanent answers with fresh noise."""
        return memos

    def _draw(self, n: int, rng: np.random.Generator) -> npt.NDArray[Any]:
        """What each client draws once and shows in every report: a hash function, say."""
        return np.zeros((n, 0), np.uint8)

    def _states(self, public: npt.NDArray[Any], values: Ints) -> Ints:
        """What each value is kept under, given what its client drew; values have shape (n, tau)."""
        return values

    def _dress(self, public: npt.NDArray[Any], core: npt.NDArray[Any]) -> Reports:
        """Reports of shape (n, tau), from what is public and the answers."""
        return core

    def _undress(self, reports: Reports) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """What is public and the answers; raises ReportError where one row shows two public parts."""
        return np.zeros((len(reports), 0), np.uint8), reports

    def _placings(self, values: Sequence[int]) -> Iterable[Sequence[int]]:
        """All ways, up to symmetry, in which what is public can place these values in states."""
        yield values

    # The words.

    @property
    def epsilon_worst(self) -> float:
        """Loss of any number of reports of values that change at known times, through all that a client keeps.

        It bounds the loss between two histories whose values are equal at the same pairs of times. Permanent answers
        hide what a value is, not when it changes: for two histories that change at different times the loss grows with
        the number of reports (see `history_epsilon`), up to `epsilon_fresh` for each. It does so, and this is infinite,
        where answers are kept for buckets that several values share: of two values that change, one may change its
        bucket and the other not. See `epsilon_states`, and `history_bound` for a number of reports.
        """
        return self.epsilon_states if self._apart else math.inf

    @property
    def epsilon_states(self) -> float:
        """As `epsilon_worst`, of histories whose states (values, or their buckets) change at the same times.

        It is the less of a promise the more values share a bucket: nobody knows beforehand which of them do.
        """
        return times(self.epsilon_permanent, self.kept)

    @property
    def _apart(self) -> bool:
        """Whether values change at the same times if and only if their states do, whatever is public."""
        return True

    def history_bound(self, tau: int) -> float:
        """A bound of the loss of tau reports of values that change at known times: no more than `epsilon_worst`.

        Each report shows one permanent answer, so tau of them show tau at most. And no two histories lose more than
        `any_histories_bound`.
        """
        number, any_times = int(_rounds.reports_of(tau)), self.any_histories_bound(tau)
        if number == 1 or not self._apart:
            return any_times
        return min(times(self.epsilon_permanent, min(number, self.kept)), any_times)

    def any_histories_bound(self, tau: int) -> float:
        """A bound of the loss of tau reports between any two histories, or infinite.

        One report loses epsilon_report. Whatever it and the kept answers are, each further one loses at most
        `epsilon_fresh`, which is more: docs/longitudinal.md proves it.
        """
        number, fresh = int(_rounds.reports_of(tau)), self.epsilon_fresh
        if number == 1:
            return self.epsilon_report
        return fresh if math.isinf(fresh) else above(Fraction(self.epsilon_report) + Fraction(fresh) * (number - 1))

    @property
    def pseudonym(self) -> str:
        """What a client shows again, which links its reports to each other, in words."""
        return "one of few answers, behind fresh noise"

    @property
    def repeats_one_answer(self) -> bool:
        """Whether a value that does not change is reported by the same answer every time."""
        return math.isinf(self.epsilon_fresh)

    def number_of_reports(self, tau: int | None) -> int:
        """How many reports a person sends: as many as are asked for."""
        return int(_rounds.reports_of(tau))

    @property
    def title(self) -> str:
        """What it is, in a word or two."""
        inner = getattr(self, "mechanism", None)
        return type(self).__name__ if inner is None else f"{type(self).__name__} {inner.name()}"

    @property
    def plain(self) -> dict[str, Any]:
        """What it is, in plain data."""
        return self.to_dict()

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The record that one report is."""
        return self.first_report.report_dtype

    def client(self, *, rng: np.random.Generator | None = None, state: Mapping[str, Any] | None = None) -> Client:
        """One person's device, which keeps its permanent answers.

        Args:
            rng: Left out, the randomness is cryptographically secure. `hush.seeded(7)` is for tests.
            state: What `client.state` gave earlier, to go on with the same answers.
        """
        return Client(self, rng=rng, state=state)

    def _client(self, spec: Spec, rng: np.random.Generator | None, state: Mapping[str, Any] | None) -> Client:
        return Client(self, rng=rng, state=state, spec=spec)

    def clients(self, *, rng: np.random.Generator | None = None) -> Clients:
        """The devices of many people, who report together, each with permanent answers of their own.

        Args:
            rng: Left out, the randomness is cryptographically secure. `hush.seeded(7)` is for tests.
        """
        return Clients(self, rng=rng)

    def _clients(self, spec: Spec, rng: np.random.Generator | None) -> Clients:
        return Clients(self, rng=rng, spec=spec)

    def held(self, values: Any, labels: Domain | None = None) -> Ints:
        """What each of some people holds in one round: values 0..k-1, from labels where there are some."""
        return integers(cells(values), self.k) if labels is None else self._encoded(values, labels)[0]

    def remembered(
        self, people: Ints, held: Ints, memory: Memory, rng: np.random.Generator, *, part: int = 0
    ) -> Reports:
        """One report of each person, with the answers that are kept; what is missing is drawn and kept.

        Args:
            people: Whose reports they are, by number; whoever comes several times reports several times.
            held: The value of each.
            memory: Where answers are kept.
            rng: What draws.
            part: What they are kept under, where a protocol has several such parts.
        """
        public = memory.drawn(part, people, lambda n: self._draw(n, rng))
        states = self._states(public, np.ascontiguousarray(held)[:, None])[:, 0]
        memos = memory.answers(part, people, states, lambda new: self._memoize(new, rng))
        return self._dress(public, self._refresh(memos, rng)[:, None])[:, 0]

    def _together(self, values: Ints, rng: np.random.Generator) -> Reports:
        n, tau = values.shape
        public = self._draw(n, rng)
        states = self._states(public, values)
        wide = int(states.max(initial=0)) + 1
        pairs, back = np.unique((np.arange(n)[:, None] * wide + states).ravel(), return_inverse=True)
        memos = self._memoize(pairs % wide, rng)
        return self._dress(public, self._refresh(memos[back], rng).reshape(n, tau))

    def sequence_log_prob(self, reports: Reports, value: npt.ArrayLike) -> Floats:
        """Exact log-likelihood of each person's whole sequence, given what is public in it.

        Args:
            reports: Shape (n, tau).
            value: One value for everybody, one for each person, or whole histories of shape (n, tau).
        """
        array = self._reports(reports)
        self.first_report.validate(array.ravel())
        histories = self._whole_histories(value, array.shape)
        public, core = self._undress(array)
        return self._likelihood(core, self._states(public, histories))

    def sequence_scores(self, reports: Reports) -> Floats:
        """Log-likelihood of every unchanging value, shape (n, k), up to a constant for each person."""
        return np.stack([self.sequence_log_prob(reports, v) for v in range(self.k)], axis=1)

    def sequence_log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """How much likelier each person's sequence is under the first value than under the second, in logarithm."""
        ones, twos = (self.sequence_log_prob(reports, value) for value in (first, second))
        with np.errstate(invalid="ignore"):
            return np.where(ones == twos, 0.0, ones - twos)

    def sequence_variation(self, first: int, second: int) -> float | None:
        """The total variation between all reports of two unchanging values; None where it is unknown."""
        return None

    def sequence_guarantee(self, tau: int) -> Guarantee:
        """What so many reports of an unchanging value promise together: at most epsilon_permanent."""
        try:
            return LDP(min(self.epsilon_permanent, self.sequence_epsilon(tau)))
        except ParameterError:  # a mechanism from outside, too large to enumerate
            return LDP(self.epsilon_permanent)

    def most_voted(self, tau: int) -> float | None:
        """How often the value with the most votes of tau reports is the true one; None where there is no formula."""
        return None

    def history_epsilon(self, first: npt.ArrayLike, second: npt.ArrayLike) -> float:
        """Exact loss between two histories of one person, by enumeration of what their reports can be, up to symmetry.

        A year of months is enumerated whatever k is where a history changes once (LGRR; more often where k is small),
        and for any histories under unary protocols. The worst over what is public. It is infinite where fresh noise
        is missing and the histories change at different times.
        """
        histories = [self._values(cells(history, "history")[None])[0] for history in (first, second)]
        if histories[0].shape != histories[1].shape:
            rule = f"must be as long as the first, {histories[0].size}"
            raise ParameterError(message("second", rule, histories[1].size, "compare histories of one length"))
        values = np.unique(histories)
        worst = 0.0
        for placing in self._placings(values.tolist()):
            first_states, second_states = (np.array(placing)[np.searchsorted(values, each)] for each in histories)
            low, high = self._ratios(first_states, second_states)
            worst = max(worst, high, -low)
        return worst

    def _ratios(self, first: Ints, second: Ints) -> tuple[float, float]:
        """The least and the greatest log-likelihood ratio of reports between two courses of states."""
        answers = self._answers()

        def likelihood(chosen: Ints, states: Ints) -> Floats:
            return self._likelihood(answers[chosen], states)

        return _histories.extremes(first, second, self._told_apart, likelihood)

    def _told_apart(self, states: Ints, most: int) -> tuple[Sequence[int], Sequence[int]]:
        """Answers by number: those that these states may treat each in its way, and `most` that they treat alike."""
        return range(len(self._answers())), ()

    # What a planner asks.

    @classmethod
    def offers(cls, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
        """What to try beside sizes and budgets; nothing where more would be needed, or other attributes are taken."""
        yield from ()

    @classmethod
    def lasting(cls, total: float, share: float, sizes: Sequence[int], **more: Any) -> Self:
        """The one whose reports of unchanging values lose at most a total, and one alone a share of that.

        Without fresh noise one report loses all of it.
        """
        raise NotImplementedError(f"{cls.__name__} offers nothing to plan with")

    def round_variances(self, n: int, *, worst: bool = False) -> tuple[float, ...]:
        """Mean squared error of a frequency in one round, on average over the values, or of the worst."""
        forms = self.first_report.forms
        return (forms.worst_variance(n) if worst else forms.even_variance(n),)

    def best_guesses(self, tau: int) -> tuple[float | None, ...]:
        """How often the best guess from tau reports names an unchanging value; None where no formula is known."""
        first = self.first_report
        if tau == 1 or self.repeats_one_answer:
            return (first.asr(),)
        return (self.most_voted(tau) if first.forms.votes_add_up else None,)

    def simulated_scores(self, tuples: Ints, tau: int, rng: np.random.Generator) -> list[Floats]:
        """Log-likelihoods of every value of each attribute from tau reports of people whose values do not change."""
        return [self.sequence_scores(self.collect(np.repeat(tuples, tau, axis=1), rng=rng))]

    # How it travels.

    @classmethod
    def name(cls) -> str:
        """The name of its class, wherever that is: what is stored of clients goes by it."""
        return cls.__name__

    @property
    def thresholds(self) -> Mapping[str, int | str]:
        """Those of one report."""
        return self.first_report.thresholds

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `hush.from_dict` reads, thresholds included."""
        items = super().to_dict().items()
        return {name: item.to_dict() if isinstance(item, FrequencyOracle) else item for name, item in items}

    @classmethod
    def _read(cls, entries: dict[str, Any]) -> dict[str, Any]:
        told = super()._read(entries)
        return {name: from_dict(item) if name == "mechanism" else item for name, item in told.items()}

    # What a spec asks for.

    def _labels(self, given: Domain | None) -> Domain:
        return self.first_report._labels(given)

    def _spec(self, labels: Domain) -> dict[str, Any]:
        if labels == Domain(size=self.k):
            return self.to_dict()
        return {"hush": 2, "mechanism": self.to_dict(), "domain": labels.to_dict()}

    def _one_round(self, labels: Domain) -> Spec:
        return Spec(self.first_report, labels)

    def _encoded(self, values: object, labels: Domain) -> tuple[Ints, bool]:
        given = column(values)[0]
        array = given if isinstance(given, np.ndarray) else as_array("values", given, object)
        return labels.encode(array.ravel()).reshape(array.shape), False
