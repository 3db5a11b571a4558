"""`hush.plan`: from wishes to a ranked list of mechanisms, each with its spec."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from hush import rules
from hush.errors import HushError, ParameterError, Unsaid, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.settings import chosen
from hush.mechanisms.spec import Spec
from hush.people.domain import Domain
from hush.planning import advice, protection_verdicts
from hush.planning.balance import ERRORS, NEAR, sampling_errors
from hush.planning.budgets import rounded
from hush.planning.groups import GroupError, Groups, error_among, group_error, group_errors, held, people, people_needed
from hush.planning.improvement import at_budget
from hush.planning.measures import meets, number_of, setting
from hush.planning.objectives import OBJECTIVES, Z95
from hush.planning.relax import Relaxation, relaxations
from hush.planning.search import Found, distinct, find_choices, found, replace_dominated, tells, useful
from hush.planning.shortlist import on_front, shortlist
from hush.planning.shuffling import Shuffled, shuffled_epsilon
from hush.planning.wishes import COMPARED, Wishes

_NEARLY_ALL = 0.9
"""A row that takes at least this share of the largest ε needs no word about a larger one."""


@dataclass(frozen=True)
class Choice:
    """One mechanism that meets the wishes.

    Args:
        name: What it is called in the table: the mechanism, "tuned" where its parameter serves these wishes.
        mechanism: Ready to use, with its parameters.
        numbers: epsilon (promised), error (in the metric asked for), asr, gain, bits and work (the server's counters
            that a report touches), and the other objectives that were named.
        on_front: Whether no other choice is as good in every number, or in every objective that was named, and better
            in one; an error below the one that was asked for counts as that.
        worth_a_thought: Whether it is one of the few to look at beside the first: on the front, and the best in
            something or next in rank (`hush.planning.shortlist`).
        gains: Where it is better than the first choice by a tenth, in words, the most first.
        losses: Where it is worse, the most first; for the first choice, worse than the best in that.
        wishes: What was asked for.
        domain: The values.
        groups: How many people each group has, where that was told.
    """

    name: str
    mechanism: FrequencyOracle
    numbers: dict[str, float]
    on_front: bool
    worth_a_thought: bool
    gains: tuple[str, ...]
    losses: tuple[str, ...]
    wishes: Wishes
    domain: Domain
    groups: Groups = field(default_factory=dict)

    @property
    def protection(self) -> str:
        """How well one report protects: "well", "little" or "hardly" (`hush.planning.protection_verdicts`)."""
        return protection_verdicts.protection(self.numbers["epsilon"], self.numbers["asr"], self.wishes.k)

    @property
    def verdict(self) -> str:
        """The same in words, such as "protects well"."""
        return protection_verdicts.WORDS[self.protection]

    @cached_property
    def useful(self) -> bool:
        """Whether it tells more than no report, with a margin of 50 points at most."""
        return tells(self.mechanism, self.wishes)

    @property
    def gives_up(self) -> str:
        """All losses, in words."""
        return ", ".join(self.losses) or "nothing, within 10 %"

    @cached_property
    def spec(self) -> Spec:
        """What `privatize`, the collector and the auditor read."""
        return Spec(self.mechanism, self.domain)

    @cached_property
    def details(self) -> dict[str, float]:
        """Every objective of `hush.planning.objectives`; those that may be simulated, where they were named."""
        told = {name: each for name, each in OBJECTIVES.items() if each.quick or name in self.wishes.more}
        return {name: each.measure(self.mechanism, setting(self.wishes)) for name, each in told.items()}

    @cached_property
    def overall_error(self) -> float:
        """The error among all people; `numbers` has the one that was held to the wish."""
        return error_among(self.mechanism, self.wishes.n, self.wishes)

    @cached_property
    def group_errors(self) -> tuple[GroupError, ...]:
        """How well each group is known, the smallest first."""
        return group_errors(self.mechanism, self.groups, self.wishes)

    @cached_property
    def smallest_group(self) -> GroupError | None:
        """How well the smallest group is known; None where no group was told of."""
        least = self.wishes.smallest_group
        if least is None:
            return None
        name = next((name for name, n in self.groups.items() if n == least), None)
        return group_error(self.mechanism, name, least, self.wishes)

    @cached_property
    def people_needed(self) -> int | None:
        """How many people a group must have for the wished error."""
        return people_needed(self.mechanism, self.wishes)

    def shuffled(self, delta: float | None = None) -> Shuffled:
        """The central guarantee of all n reports once shuffled; delta is 0.1/n, at most 1e-6, if left out."""
        n = self.wishes.n
        return shuffled_epsilon(self.mechanism, n, min(1e-6, 0.1 / n) if delta is None else delta)

    def to_dict(self, central_delta: float | None = None) -> dict[str, Any]:
        """Plain data; `epsilon` is the promised loss, `details` has the exact one."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "useful": self.useful,
            "mechanism": self.mechanism.name(),
            "parameters": chosen(self.mechanism),
            **self.numbers,
            "on_front": self.on_front,
            "worth_a_thought": self.worth_a_thought,
            "gains": list(self.gains),
            "gives_up": list(self.losses),
            **self._groups(),
            "details": self.details,
            "shuffled": asdict(self.shuffled(central_delta)),
            "spec_hash": self.spec.hash,
            "spec": self.spec.to_dict(),
        }

    def _groups(self) -> dict[str, Any]:
        """What is told of groups, where there are any."""
        if self.smallest_group is None:
            return {}
        return {
            "overall_error": self.overall_error,
            "smallest_group": self.smallest_group.to_dict(),
            "people_needed": self.people_needed,
        }


@dataclass(frozen=True)
class Plan:
    """Choices, the best first; or, where nothing meets the wishes, what to relax."""

    wishes: Wishes
    choices: tuple[Choice, ...]
    why: str
    relaxations: tuple[Relaxation, ...] = ()
    groups: Groups = field(default_factory=dict)

    @property
    def feasible(self) -> bool:
        """Whether anything meets all wishes."""
        return bool(self.choices)

    @property
    def first(self) -> Choice:
        """The best choice."""
        if not self.choices:
            nearest = self.relaxations[0].words if self.relaxations else "ask for less"
            raise ParameterError(message("wishes", "must be feasible", Unsaid(self.why), nearest))
        return self.choices[0]

    @property
    def worth_a_thought(self) -> tuple[Choice, ...]:
        """The few choices to look at beside the first, best first."""
        return tuple(choice for choice in self.choices if choice.worth_a_thought)

    @cached_property
    def least_for_groups(self) -> tuple[str, float] | None:
        """Which mechanism reaches the wished error in every group with the least epsilon, whatever its attack success.

        None where no error or no group was told of, or where none does.
        """
        if self.wishes.error is None or self.wishes.smallest_group is None:
            return None
        rows = found(self.wishes.for_every_group())
        best = min(rows, key=lambda row: row.numbers["epsilon"], default=None)
        return None if best is None else (best.name, best.numbers["epsilon"])

    def __repr__(self) -> str:
        if not self.feasible:
            return f"Plan(infeasible, {len(self.relaxations)} ways out)"
        return f"Plan({len(self.choices)} choices, first {self.first.mechanism!r})"

    def to_dict(self, central_delta: float | None = None) -> dict[str, Any]:
        """Plain data."""
        return {
            "feasible": self.feasible,
            "verdict": self.first.verdict if self.feasible else None,
            "wishes": asdict(self.wishes),
            "why": self.why,
            "choices": [choice.to_dict(central_delta) for choice in self.choices],
            "relaxations": [each.to_dict() for each in self.relaxations],
            **({"groups": dict(self.groups)} if self.groups else {}),
        }


def plan(
    *,
    n: int | None = None,
    k: int | None = None,
    domain: Domain | Sequence[str] | None = None,
    error: float | None = None,
    metric: str = "margin",
    worst: bool = False,
    max_asr: float | None = None,
    max_bits: int | None = None,
    max_epsilon: float | None = None,
    delta: float | None = None,
    matters: str = "balance",
    fakes: float = 0.05,
    targets: int = 1,
    groups: Groups | None = None,
    smallest_group: int | None = None,
    in_every_group: bool = False,
    objectives: Sequence[str] | None = None,
    observed: int = 10,
    parts: int = 2,
    collections: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Plan:
    """Which mechanism, with which parameters and budget.

    With an error, every mechanism gets the smallest budget that reaches it. Without one, it gets the largest that is
    allowed, or a smaller one that gives nearly the same: at most 1 without `max_epsilon`, and at most 4 unless accuracy
    matters most, since reports hardly protect beyond. Without an error, mechanisms that tell less than no report, or
    have a margin above 50 points, are left out. `why` begins with a warning where the recommendation protects
    little or hardly, or tells nothing.

    Args:
        n: People who will report; where groups are given, their sum, and it may be left out.
        k: Number of values; or give the domain.
        domain: The values with their labels, or just the labels.
        error: Largest error of an estimated frequency, in the metric; 0.01 is one percentage point.
        metric: "margin" (half a 95 % interval), "mse" or "mae"; averages over the values.
        worst: Hold the error for the worst value, whatever its frequency, in place of the average.
        max_asr: Largest accepted chance that an attacker names a person's value from their report.
        max_bits: Bits that a report may have.
        max_epsilon: Largest accepted privacy loss of a report, in nats; if left out, 1, or what the error needs.
        delta: Also consider approximate guarantees with this slack.
        matters: What matters most: "balance", "privacy", "attack", "accuracy", "manipulation", "bits" or "work"; or one
            of the objectives that are named.
        fakes: Share of fake reports for which the gain of manipulation is computed.
        targets: How many values the fake users promote.
        groups: How many people each group has, by name, to tell the error in each.
        smallest_group: How many people the smallest group has, where that is all that is known.
        in_every_group: Hold the error in every group, and so in the smallest, in place of everybody taken together.
        objectives: What choices are compared in, any number of names: "error" and those of
            `hush.planning.objectives`. The front, what is worth a thought and the balance are then over these, and
            over epsilon where no max_epsilon is given.
        observed: Fresh reports of one person that an attacker has, for the objectives pools and changes.
        parts: Classes into which the values are cut at random, for the objectives pools and attribute.
        collections: Attributes of one person that are reported so, for the objective reidentification.
        progress: Told how far the search has come, from 0 to 1: with named objectives, it takes seconds.

    >>> import hush
    >>> chosen = hush.plan(k=100, n=100_000, error=0.01, max_asr=0.1).first
    >>> chosen.numbers["error"] <= 0.01
    True
    """
    values = _values(k, domain)
    n, sizes, smallest = people(n, groups, smallest_group)
    wishes = Wishes(
        k=values.size,
        n=n,
        error=error,
        metric=metric,
        worst=worst,
        max_asr=max_asr,
        max_bits=max_bits,
        max_epsilon=max_epsilon,
        delta=delta,
        matters=matters,
        fakes=fakes,
        targets=targets,
        smallest_group=smallest,
        in_every_group=held(in_every_group, error, smallest),
        objectives=() if objectives is None else objectives,  # type: ignore[arg-type]
        observed=observed,
        parts=parts,
        collections=collections,
    )
    search = find_choices(wishes, progress)
    rows = distinct(useful(search.rows, wishes))
    rows = [rows[i] for i in wishes.order([row.numbers for row in rows])]
    if not rows:
        return Plan(wishes, (), "No mechanism meets all wishes together.", relaxations(wishes), sizes)
    beaten = rows[0]
    rows = replace_dominated(rows, wishes)
    why = _why(rows, wishes, None if rows[0] is beaten else beaten, search.largest)
    return Plan(wishes, _choices(rows, wishes, values, sizes), why, (), sizes)


def _values(k: int | None, domain: Domain | Sequence[str] | None) -> Domain:
    if (k is None) == (domain is None):
        got = Unsaid("neither" if k is None else "both")
        raise ParameterError(message("k", "or domain must be given, one of them", got, "say how many values there are"))
    if domain is None:
        return Domain(size=rules.domain_size(k))
    if isinstance(domain, (list, tuple)):
        domain = Domain(labels=domain)
    if not isinstance(domain, Domain):
        raise ParameterError(message("domain", "must be a Domain or labels", domain, "use hush.Domain(labels=[…])"))
    rules.domain_size(domain.size)
    return domain


def _choices(rows: list[Found], wishes: Wishes, domain: Domain, groups: Groups) -> tuple[Choice, ...]:
    numbers = [wishes.counted(row.numbers) for row in rows]
    names = wishes.compared
    front = on_front(numbers, names)
    worth = shortlist(numbers, front, names)
    counted = names if wishes.matters == "work" or wishes.objectives else COMPARED
    best = advice.gives_up(numbers[0], {row.name: each for row, each in zip(rows, numbers, strict=True)}, counted)
    against = [((), best), *(advice.compared(each, numbers[0], names) for each in numbers[1:])]
    return tuple(
        Choice(row.name, row.mechanism, row.numbers, bool(front[i]), i in worth, *against[i], wishes, domain, groups)
        for i, row in enumerate(rows)
    )


def _why(rows: list[Found], wishes: Wishes, beaten: Found | None, largest: list[Found]) -> str:
    """Explain why the first row is recommended, with warnings first."""
    names, numbers = [row.name for row in rows], [wishes.counted(row.numbers) for row in rows]
    instead = None if beaten is None else (beaten.name, wishes.counted(beaten.numbers))
    words = advice.why_first(
        rows[0].mechanism.forms, names, numbers, wishes.first, tuple(wishes.weights), instead=instead
    )
    useless = _useless(rows[0], wishes)
    weak = protection_verdicts.describe_protection(rows[0].name, rows[0].numbers, wishes.k).removesuffix(".")
    warnings = [each for each in (weak, useless, _heavy_fakes(rows[0], wishes)) if each]
    joined = "; and ".join([*warnings[:1], *(each[:1].lower() + each[1:] for each in warnings[1:])])
    warned = joined and f"{joined}."
    remedy = "Ask more people, or allow a larger budget." if useless and wishes.error is None else ""
    more = _describe_noise(rows[0], wishes), _describe_sample(wishes), _unspent(rows[0], wishes, largest)
    return " ".join(each for each in (warned, remedy, words, *more) if each)


def _useless(row: Found, wishes: Wishes) -> str:
    """Say that estimates tell nothing, where they do."""
    if tells(row.mechanism, wishes):
        return ""
    if wishes.error is not None:
        return f"The stated error is too large to tell anything: state at most {_largest_useful_error(wishes)}"
    margin = advice.points(Z95 * math.sqrt(number_of(row.mechanism, "mse", wishes)))
    if number_of(row.mechanism, "mse", wishes) < protection_verdicts.blind_mse(wishes.k, worst=wishes.worst):
        return f"No choice gives a useful estimate: the margin is ±{margin}, and above 50 points it tells nothing"
    return (
        f"No choice beats ignoring the reports in mean squared error: its margin is ±{margin}, and answering "
        f"1/{wishes.k:,} for every value has no larger error"
    )


def _describe_noise(row: Found, wishes: Wishes) -> str:
    """Say which values stand out, where those of average frequency do not."""
    margin = Z95 * math.sqrt(number_of(row.mechanism, "mse", wishes))
    if margin * wishes.k <= 1 or margin >= protection_verdicts.MAX_MARGIN:
        return ""
    return (
        f"An average value, which {100 / wishes.k:.3g} % of the people hold, is lost in the noise: only those held by "
        f"clearly more than {100 * margin:.3g} % stand out."
    )


def _describe_sample(wishes: Wishes) -> str:
    """Say that a stated error is about the people who report, if it is below their sampling error."""
    w = wishes
    sampled = sampling_errors(w.k, w.judged, worst=w.worst)[w.metric]
    if w.error is None or w.error * NEAR >= sampled:
        return ""
    return (
        f"This error is about these {w.judged:,} people alone: if they are a sample of more, even truthful answers "
        f"have a {_METRIC[w.metric]} of {_error(sampled, w)}."
    )


def _heavy_fakes(row: Found, wishes: Wishes) -> str:
    """Say what fake users gain, where they weigh as several people each."""
    gain = row.numbers["gain"]
    if gain <= protection_verdicts.MAX_WEIGHT_OF_FAKES * wishes.fakes:
        return ""
    return f"Fake users who send {100 * wishes.fakes:.3g} % of the reports can add {advice.points(gain)} to a result"


def _largest_useful_error(wishes: Wishes) -> str:
    """Return the largest error that tells more than a blind answer, in the metric asked for, rounded down."""
    squared = protection_verdicts.max_useful_mse(wishes.k, worst=wishes.worst)
    most = {"mse": squared, "mae": math.sqrt(squared * 2 / math.pi), "margin": Z95 * math.sqrt(squared)}[wishes.metric]
    words = _error(rounded(most, math.floor), wishes)
    return words if wishes.metric == "margin" else f"a {_METRIC[wishes.metric]} of {words}"


def _unspent(row: Found, wishes: Wishes, largest: list[Found]) -> str:
    """Say why less ε is taken than is accepted."""
    own, most = row.numbers["epsilon"], wishes.max_epsilon
    if not wishes.spends or most is None or own > 0.999 * most or wishes.matters == "privacy":
        return ""
    bounds = wishes.at_budgets()[0]
    top, limited = bounds.largest_epsilon, ""
    if top < most:
        limited = (
            f"ε is limited to {top:g}, since reports above it hardly protect: state an error, or let accuracy matter "
            "most, to allow more."
        )
    if own > _NEARLY_ALL * top:
        return limited
    at_top = [each for each in largest if each.numbers["epsilon"] > 0.999 * top]
    best = min(at_top, key=lambda each: each.numbers["error"], default=row)
    if best.numbers["error"] * NEAR < row.numbers["error"]:
        return f"{limited} {_less_error(row, best, wishes)}".strip()
    try:
        larger = at_budget(row.mechanism, top)
        return _larger_budget(row, larger, wishes) if meets(larger, bounds) else ""
    except HushError:
        return ""


def _less_error(row: Found, best: Found, wishes: Wishes) -> str:
    """Say how small the error could be at the largest ε, and why that is not taken."""
    floor = wishes.floors["error"]
    if row.numbers["error"] <= floor * NEAR:
        why = f"even {wishes.judged:,} truthful answers have a {_METRIC[wishes.metric]} of {_error(floor, wishes)}"
    else:
        why = "the larger ε and the easier attacks weigh more"
    error = f"a {_METRIC[wishes.metric]} of {_error(best.numbers['error'], wishes)}"
    return f"At ε = {best.numbers['epsilon']:g}, {best.name} would have {error}, but {why}."


def _larger_budget(row: Found, larger: FrequencyOracle, wishes: Wishes) -> str:
    """Say what else than a smaller error a larger ε would buy, and why it is not taken."""
    epsilon = number_of(larger, "epsilon", wishes)
    names = [name for name in wishes.compared if name in {*ERRORS, "gain"}]
    buys = [name for name in names if number_of(larger, name, wishes) * NEAR < number_of(row.mechanism, name, wishes)]
    if not buys:
        return f"A larger ε, up to {epsilon:g}, would improve no other number by over 5 %."
    return f"A larger ε, up to {epsilon:g}, would cost more in attacks than it gains in {advice.listed_titles(buys)}."


_METRIC = {"margin": "margin", "mse": "mean squared error", "mae": "mean absolute error"}


def _error(number: float, wishes: Wishes) -> str:
    """Write an error in the metric that was asked for."""
    if wishes.metric == "mse":
        return f"{number:.3g}"
    return f"{'±' if wishes.metric == 'margin' else ''}{advice.points(number)}"
