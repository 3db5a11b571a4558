"""What the planner recommends, in sentences."""

from __future__ import annotations

from dataclasses import replace

from hush.planning import groups as sizes
from hush.planning.measures import setting
from hush.planning.objectives import OBJECTIVES
from hush.planning.plan import Choice, Plan
from hush.planning.protection_verdicts import describe_protection
from hush.planning.wishes import Wishes
from hush.reports.words import many

_MATTERS = {
    "balance": "balanced",
    "privacy": "privacy matters most",
    "attack": "attacks matter most",
    "accuracy": "accuracy matters most",
    "manipulation": "manipulation matters most",
    "bits": "bits matter most",
    "work": "work matters most",
}


def caption(made: Plan, shown: int) -> str | None:
    """How many rows are left out, and how to see them; None where all are shown."""
    others = len(made.choices) - 1
    if shown == others:
        return None
    few = "1 other is" if shown == 1 else f"{shown} others are"
    why = f"{few} worth a thought: best in something, or next in rank" if shown else "No other is worth a thought"
    return f"{why}. --all shows all {others + 1}."


def paragraphs(made: Plan, choice: Choice, central_delta: float | None) -> list[str]:
    """What the chosen one promises, and what shuffling would add."""
    w = made.wishes
    said = []
    if w.assumes_epsilon:
        said.append("ε is at most 1, since neither --error nor --max-epsilon is given; other wishes do not raise it.")
    if choice is not made.choices[0]:
        gained = f" gains {', '.join(choice.gains)} and" if choice.gains else ""
        said.append(f"You choose {choice.name}, which{gained} gives up {choice.gives_up}, beside {made.first.name}.")
        warned = describe_protection(choice.name, choice.numbers, w.k)
        said += [warned] if warned else []
    everybody = replace(setting(w), n=w.n)
    error = {name: OBJECTIVES[name].measure(choice.mechanism, everybody) for name in ("margin", "mae")}
    rare = choice.numbers["asr"] < 0.095
    guessed = f"{_often(choice.numbers['asr'], rare)} (blind guessing: {_often(1 / w.k, rare)})"
    average = "or better" if w.worst else "on average"
    said.append(
        f"{choice.name} at ε = {choice.mechanism.epsilon:g} {choice.verdict}. Each frequency is known to "
        f"±{_points(error['margin'])} at 95 %, {average} (mean absolute error {_points(error['mae'])}). "
        f"An attacker who sees a report names its sender's value {guessed}. Fake users who send "
        f"{100 * w.fakes:.3g} % of all reports can add {_points(choice.numbers['gain'])} to what they promote."
    )
    said += [words for words in (_inferred(choice),) if words]
    said += _in_groups(made, choice)
    central = choice.shuffled(central_delta)
    if central.epsilon is None or central.epsilon > 0.99 * central.local_epsilon:
        said.append(central.words if central.epsilon is None else "Shuffling the reports would add nothing.")
    else:
        said.append(f"{central.words[:-1]} (by the bound “{central.bound}”, computed numerically).")
    return said


def _inferred(choice: Choice) -> str:
    """How often other attacks succeed, where they were named as objectives."""
    w, even = choice.wishes, 1 / choice.wishes.parts
    part = "half" if w.parts == 2 else f"of {w.parts} parts"
    from_all = f"from {w.observed} reports"
    chances = {"attribute": even, "pools": even, "changes": 0.5}
    rates = {name: chances.get(name, 0.0) for name in w.more if name in {*chances, "reidentification"}}
    asked = {
        "attribute": f"in which {part} of the values its sender's is, from one report",
        "pools": f"which {part} of the values a person favours, {from_all}",
        "changes": f"whether a value changed halfway, {from_all}",
        "reidentification": f"who it is among {w.n:,} people, from {many(w.collections, 'report', 'reports')}",
    }
    told = []
    for name, chance in rates.items():
        blind = f" (blind guessing: {100 * chance:.3g} %)" if chance else ""
        told.append(f"{asked[name]}: {100 * (chance + (1 - chance) * choice.numbers[name]):.3g} %{blind}")
    return f"The best attacker is right about {'; '.join(told)}." if told else ""


def groups(made: Plan) -> str:
    """How many groups there are, and how small the smallest is."""
    return sizes.told(made.groups, made.wishes.smallest_group)


def smallest_group(choice: Choice) -> list[str]:
    """How well the smallest group is known, where there are groups."""
    w, least = choice.wishes, choice.smallest_group
    if least is None:
        return []
    people = many(least.n, "person", "people")
    called = people if least.name is None else f"{least.name}, {people}"
    overall = _error(w, choice.overall_error)
    return [f"In the smallest group ({called}) the error is {_error(w, least.error)}; overall it is {overall}."]


def _in_groups(made: Plan, choice: Choice) -> list[str]:
    """How well the smallest group is known, and what the wished error would need in every one."""
    w, least = made.wishes, choice.smallest_group
    if least is None:
        return []
    said = smallest_group(choice)[0]
    if w.error is None or choice.people_needed is None:
        return [said]
    wished, needed = _error(w, w.error), f"a group needs {choice.people_needed:,} people"
    few = [each for each in choice.group_errors if not each.reaches]
    if least.reaches:
        return [f"{said} {wished} holds in every group: {needed} for it."]
    short = (
        f"{len(few):,} of {len(choice.groups):,} groups do not reach {wished}: " if choice.groups else f"For {wished} "
    )
    said += f" {short}{needed} at this ε."
    cost = made.least_for_groups
    if cost is None:
        return [f"{said} No budget reaches it in the smallest group."]
    return [
        f"{said} To hold it in every group, ε must be {cost[1]:.4g} at least ({cost[0]}): --in-every-group plans that."
    ]


def _error(w: Wishes, error: float) -> str:
    """An error in words, in its metric."""
    if w.metric == "mse":
        return f"an MSE of {error:.3g}"
    return f"±{_points(error)}" if w.metric == "margin" else f"{_points(error)} (MAE)"


def wished(made: Plan) -> str:
    """The wishes, in a line."""
    w = made.wishes
    where = {"error": " in every group"} if w.in_every_group else {}
    limits = [f"{name} {said(name, limit)}{where.get(name, '')}" for name, limit in w.limits.items()]
    compared = [f"compared in {', '.join(w.objectives)}"] if w.objectives else []
    return ", ".join([*limits, *compared, _MATTERS.get(w.matters, f"{w.matters} matters most")])


def asked(made: Plan) -> str:
    """What was asked of the planner, in a sentence."""
    return f"The collection was planned for {made.wishes.n:,} people, with these wishes: {wished(made)}."


def said(name: str, value: float) -> str:
    """The limit of a wish."""
    return f"{value:,.0f}" if name == "bits" else f"{value:.6g}"


def beside(choice: Choice, most: int) -> str:
    """What a row gains and gives up against the first."""
    gains, losses = ", ".join(choice.gains[:most]), ", ".join(choice.losses[:most])
    if gains and losses:
        return f"{gains}; but {losses}"
    return gains or losses or "as good, within 10 %"


def _often(chance: float, rare: bool) -> str:
    """A chance, as a person would say it."""
    if rare:
        return f"1 time in {1 / chance:,.0f}" if chance < 0.01 else f"1 time in {1 / chance:.3g}"
    return f"{100 * chance:.3g} % of the time"


def _points(share: float) -> str:
    """Percentage points."""
    return f"{100 * share:.3g} points"
