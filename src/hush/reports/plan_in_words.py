"""What the planner recommends, in sentences."""

from __future__ import annotations

from hush.planning.measures import setting
from hush.planning.objectives import OBJECTIVES
from hush.planning.plan import Choice, Plan

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
        said.append("No wish bounds the budget, so ε = 1 is assumed: say --error, --max-asr or --max-epsilon.")
    if choice is not made.choices[0]:
        gained = f" gains {', '.join(choice.gains)} and" if choice.gains else ""
        said.append(f"You choose {choice.name}, which{gained} gives up {choice.gives_up}, beside {made.first.name}.")
    error = {name: OBJECTIVES[name].measure(choice.mechanism, setting(w)) for name in ("margin", "mae")}
    rare = choice.numbers["asr"] < 0.095
    guessed = f"{_often(choice.numbers['asr'], rare)} (blind guessing: {_often(1 / w.k, rare)})"
    said.append(
        f"{choice.name} at ε = {choice.mechanism.epsilon:g}: a frequency is known to ±{_points(error['margin'])} at "
        f"95 % (mean absolute error {_points(error['mae'])}). Who intercepts a report names its sender's value "
        f"{guessed}. Fake users who send {100 * w.fakes:.3g} % of all reports can add "
        f"{_points(choice.numbers['gain'])} to what they promote."
    )
    central = choice.shuffled(central_delta)
    if central.epsilon is None or central.epsilon > 0.99 * central.local_epsilon:
        said.append(central.words if central.epsilon is None else "Shuffling the reports would add nothing.")
    else:
        said.append(f"{central.words[:-1]} (by the bound “{central.bound}”, computed numerically).")
    return said


def wished(made: Plan) -> str:
    """The wishes, in a line."""
    w = made.wishes
    limits = [f"{name} {said(name, limit)}" for name, limit in w.limits.items()]
    return ", ".join([*limits, _MATTERS[w.matters]])


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
