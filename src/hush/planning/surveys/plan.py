"""`hush.survey`: from people, attributes, rounds and an error to a ranked list of ways to collect."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from hush.errors import HushError, ParameterError, Unsaid, message
from hush.mechanisms.spec import Spec
from hush.people.domain import Domain
from hush.planning import advice
from hush.planning.groups import least_number
from hush.planning.surveys.courses import Course, Labels
from hush.planning.surveys.search import Guess, SurveyCandidate, candidates, errors, guesses
from hush.planning.surveys.wishes import SurveyWishes, one_attribute

_COMPARED = ("epsilon", "error", "asr", "bits")
_NONE = 1e-300  # in place of an error of zero, where logarithms are taken


@dataclass(frozen=True)
class SurveyChoice:
    """One way to collect.

    Args:
        course: The mechanism over all rounds, which answers for itself.
        wishes: What was asked for.
        errors: Of each attribute in one round, in the metric.
        worth_a_thought: Whether it is the best of its layout and way over time, and not the first of all.
        candidate: The same at other budgets.
        labels: The domains, by name or in order; None where only sizes are known.
    """

    course: Course[Any]
    wishes: SurveyWishes
    errors: tuple[float, ...]
    worth_a_thought: bool
    candidate: SurveyCandidate = field(repr=False)
    labels: Labels = None

    @property
    def name(self) -> str:
        """What it is called in the table."""
        return self.course.title

    @property
    def mechanism(self) -> Any:
        """What randomizes, ready to use."""
        return self.course.mechanism

    @property
    def error(self) -> float:
        """That of the worst attribute."""
        return max(self.errors)

    @property
    def worst_attribute(self) -> int:
        """Which one, counted from 0."""
        return self.errors.index(self.error)

    @property
    def errors_in_smallest_group(self) -> tuple[float, ...] | None:
        """Of each attribute in one round, among so few people; None where no group was told of."""
        fewest = self.wishes.smallest_group
        return None if fewest is None else errors(self.course, replace(self.wishes, n=fewest, smallest_group=None))

    @property
    def people_needed(self) -> int | None:
        """The fewest people of a group in which the wished error holds, too; None where no error is wished."""
        w = self.wishes
        if w.error is None:
            return None
        factor = self.error / w.error
        near = max(1, math.ceil(w.n * (factor if w.metric == "mse" else factor**2)))
        alone = replace(w, smallest_group=None)
        return least_number(lambda n: w.reached(max(errors(self.course, replace(alone, n=n)))), near)

    @property
    def total(self) -> float:
        """The loss that was held to the budget: of unchanging values, or of any where that was asked for."""
        return self.course.changing if self.wishes.changing else self.course.total

    @cached_property
    def guesses(self) -> tuple[Guess, ...]:
        """What an attacker with all reports of a person names of each attribute; some are simulated."""
        return guesses(self.course, tuple(self.wishes.sizes))

    @property
    def guess(self) -> Guess:
        """The guess that gains most over luck."""
        return max(self.guesses, key=lambda each: each.advantage)

    @cached_property
    def spec(self) -> Spec:
        """What clients and server read, the same in every round."""
        return self.course.spec(self.labels)

    @property
    def numbers(self) -> dict[str, float]:
        """What choices are compared in."""
        enough = self.wishes.error or 0.0
        found = {
            "epsilon": self.total,
            "error": max(self.error, enough),
            "asr": self.guess.rate,
            "bits": self.course.bits,
        }
        return {name: float(found[name]) for name in _COMPARED}

    def beside(self, first: SurveyChoice) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What it gains and what it gives up beside another one, in words."""
        finite = {
            name: x for name, x in self.numbers.items() if math.isfinite(x) and math.isfinite(first.numbers[name])
        }
        gains, losses = advice.compared(finite, first.numbers, tuple(finite))
        own, other = self.course, first.course
        kept = own.changing != own.total or other.changing != other.total
        plain = [
            (not own.pseudonym and bool(other.pseudonym), "nothing links reports"),
            (kept and own.changing * 1.1 < other.changing, "less shown by changes"),
        ]
        worse = [
            (bool(own.pseudonym) and not other.pseudonym, "reports can be linked"),
            (math.isinf(own.changing) and math.isfinite(other.changing), "every change is plain to see"),
            (kept and math.inf > own.changing > 1.1 * other.changing, "more shown by changes"),
        ]
        return (
            (*gains, *(words for is_so, words in plain if is_so)),
            (*losses, *(words for is_so, words in worse if is_so)),
        )

    def to_dict(self, *, guessed: bool = True) -> dict[str, Any]:
        """Plain data; infinite losses are null."""
        course = self.course
        guess = {"guesses": [asdict(each) for each in self.guesses]} if guessed else {}
        return {
            "name": self.name,
            "layout": course.layout,
            "way": course.way,
            "epsilon_report": course.epsilon_report,
            "epsilon_total": course.total,
            "epsilon_changing": finite(course.changing),
            "epsilon_changing_together": finite(course.changing_together),
            "error": self.error,
            "worst_attribute": self.worst_attribute,
            "errors": list(self.errors),
            "errors_in_smallest_group": None if (few := self.errors_in_smallest_group) is None else list(few),
            **guess,
            "bits": course.bits,
            "independent_rounds": course.independent,
            "linkable": bool(course.pseudonym),
            "pseudonym": course.pseudonym,
            "worth_a_thought": self.worth_a_thought,
            "spec_hash": self.spec.hash,
            "spec": self.spec.to_dict(),
        }


@dataclass(frozen=True)
class SurveyPlan:
    """Choices, the best first; where none is within the budget, what would do.

    Args:
        wishes: What was asked for.
        choices: What meets the wishes, best first.
        beyond: Of layouts and ways that are none of these the best, though it needs more than the budget.
        least: Where nothing does: the way that needs the least total budget for the error, at that budget.
        nearest: Where nothing does: the way with the least error at the budget.
        people: How many people that one would need for the wished error.
    """

    wishes: SurveyWishes
    choices: tuple[SurveyChoice, ...]
    beyond: tuple[SurveyChoice, ...] = ()
    least: SurveyChoice | None = None
    nearest: SurveyChoice | None = None
    people: int | None = None

    @property
    def feasible(self) -> bool:
        """Whether anything meets all wishes."""
        return bool(self.choices)

    @property
    def first(self) -> SurveyChoice:
        """The best choice."""
        if not self.choices:
            rule = "must be feasible"
            raise ParameterError(message("wishes", rule, Unsaid("nothing meets them"), "allow more, or ask for less"))
        return self.choices[0]

    @property
    def worth_a_thought(self) -> tuple[SurveyChoice, ...]:
        """The best of every other layout and way over time, best first."""
        return tuple(choice for choice in self.choices if choice.worth_a_thought)

    def __repr__(self) -> str:
        return f"SurveyPlan({len(self.choices)} choices, first {self.first.name})" if self.choices else "SurveyPlan()"

    def to_dict(self) -> dict[str, Any]:
        """Plain data; the attacker's guesses are those of the first and of what is worth a thought."""
        near = {"least": self.least, "nearest": self.nearest}
        return {
            "feasible": self.feasible,
            "wishes": asdict(self.wishes),
            "choices": [each.to_dict(guessed=i == 0 or each.worth_a_thought) for i, each in enumerate(self.choices)],
            "beyond": [each.to_dict(guessed=False) for each in self.beyond],
            **{name: None if each is None else each.to_dict(guessed=False) for name, each in near.items()},
            "people": self.people,
        }


def survey(
    *,
    attributes: Sequence[int] | Mapping[str, Domain | Sequence[str]],
    n: int,
    rounds: int = 1,
    error: float | None = None,
    metric: str = "margin",
    worst: bool = False,
    max_epsilon: float | None = None,
    changing: bool = False,
    report_share: float = 0.5,
    smallest_group: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> SurveyPlan:
    """Which layout of several attributes, which way over several rounds, and how much of a person's budget.

    With an error, each way gets the smallest total budget that reaches it for the worst attribute in every round.
    Without one, it gets all of `max_epsilon`; 1 where that is not said. Ways under which a change of value would be
    plain to see come after the others.

    Args:
        attributes: How many values each attribute has; or its labels, or its domain, by name.
        n: People who report in every round.
        rounds: How often each of them is asked.
        error: Largest error of a frequency of any attribute in one round, in the metric; 0.01 is one point.
        metric: "margin" (half a 95 % interval) or "mse"; averages over the values of an attribute.
        worst: Hold the error for the worst value, whatever its frequency, in place of the average.
        max_epsilon: Largest accepted loss of a person, over all attributes and rounds, in nats.
        changing: Hold that for people whose values change at any time, too, and not only for those whose never do.
        report_share: Where answers are kept and get fresh noise: the share of the total that one report may lose.
        smallest_group: People of the smallest group, whose errors are told beside those of everybody.
        progress: Is told how far the search has come, from 0 to 1.

    >>> plan = survey(attributes=(7, 10), n=20_000, error=0.03)
    >>> plan.first.name, plan.first.error <= 0.03
    ('SMP SS', True)
    """
    labels = _labels(attributes)
    sizes = attributes if labels is None else [domain.size for domain in labels.values()]
    wishes = SurveyWishes(
        sizes=sizes,  # type: ignore[arg-type]
        n=n,
        rounds=rounds,
        error=error,
        metric=metric,
        worst=worst,
        max_epsilon=max_epsilon,
        changing=changing,
        report_share=report_share,
        smallest_group=smallest_group,
    )
    if wishes.d == 1 and wishes.rounds == 1:
        raise one_attribute(wishes.sizes)
    every = list(candidates(wishes))
    rows = []
    for i, each in enumerate(every, 1):
        row = _choice(each, wishes, labels)
        rows += [] if row is None else [row]
        if progress is not None:
            progress(i / len(every))
    rows = [row for row in rows if math.isfinite(row.total)]
    able = [row for row in rows if wishes.allowed(row.total) and wishes.reached(row.error)]
    if able:
        near = {(row.course.layout, row.course.way) for row in able}
        more = [row for row in rows if (row.course.layout, row.course.way) not in near and wishes.reached(row.error)]
        best = _ranked(more)
        return SurveyPlan(
            wishes, _ranked(able), tuple(row for i, row in enumerate(best) if not i or row.worth_a_thought)
        )
    return _nearest(every, rows, wishes, labels)


def _labels(given: object) -> dict[str, Domain] | None:
    if not isinstance(given, Mapping):
        return None
    rule, remedy = "must have a domain or labels for each name", "use e.g. {'region': ['north', 'south']}"
    found = {}
    for name, domain in given.items():
        if not isinstance(name, str) or not isinstance(domain, (Domain, list, tuple)):
            raise ParameterError(message("attributes", rule, Unsaid("something else"), remedy))
        found[name] = domain if isinstance(domain, Domain) else Domain(labels=domain)
    return found


def _choice(candidate: SurveyCandidate, wishes: SurveyWishes, labels: Labels) -> SurveyChoice | None:
    """A candidate at the least budget for the error, or at all of the budget."""
    total = wishes.spent if wishes.error is None else candidate.least(wishes)
    return None if total is None else _at(candidate, total, wishes, labels)


def _at(candidate: SurveyCandidate, total: float, wishes: SurveyWishes, labels: Labels) -> SurveyChoice | None:
    try:
        course = candidate.at(total)
        return SurveyChoice(course, wishes, errors(course, wishes), False, candidate, labels)
    except HushError:  # a limit of this mechanism's own
        return None


def _order(choice: SurveyChoice) -> tuple[float, ...]:
    """Ways that hide changes first; then by total or error, where 1 % is as good; then the shortest reports."""
    by = choice.error if choice.wishes.error is None else choice.total
    return math.isinf(choice.course.changing), round(math.log(max(by, _NONE)) / math.log(1.01)), choice.course.bits, by


def _ranked(rows: Sequence[SurveyChoice]) -> tuple[SurveyChoice, ...]:
    """Best first, without repetitions; the best of each layout and way is worth a thought."""
    ordered: dict[Any, SurveyChoice] = {}
    for row in sorted(rows, key=_order):
        ordered.setdefault(row.mechanism, row)
    seen: set[tuple[str, str]] = set()
    found: list[SurveyChoice] = []
    for row in ordered.values():
        kind = (row.course.layout, row.course.way)
        found.append(replace(row, worth_a_thought=bool(found) and kind not in seen))
        seen.add(kind)
    return tuple(found)


def _nearest(
    every: Sequence[SurveyCandidate], rows: Sequence[SurveyChoice], wishes: SurveyWishes, labels: Labels
) -> SurveyPlan:
    """Where nothing is within the budget: the least that would do, and the best that the budget buys."""
    least = min(rows, key=_order, default=None)
    spent = [row for each in every if (row := _at(each, wishes.spent, wishes, labels)) is not None]
    inside = [row for row in spent if math.isfinite(row.total) and wishes.allowed(row.total)]
    free = replace(wishes, error=None)
    nearest = min((replace(row, wishes=free) for row in inside), key=_order, default=None)
    people = None
    if nearest is not None and wishes.error is not None:
        near = nearest
        factor = near.error / wishes.error
        guess = math.ceil(wishes.n * (factor if wishes.metric == "mse" else factor**2))
        people = least_number(
            lambda n: wishes.reached(max(errors(near.course, replace(wishes, n=n, smallest_group=None)))),
            min(guess, 10**12),
        )
    return SurveyPlan(wishes, (), (), least, nearest, people)


def finite(loss: float) -> float | None:
    """A loss for JSON, which knows no infinity."""
    return None if math.isinf(loss) else loss
