"""The planner's answer as a table and a few sentences."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from hush.cli import _console, _grid
from hush.mechanisms.settings import chosen
from hush.planning.measures import setting
from hush.planning.objectives import OBJECTIVES
from hush.planning.plan import Choice, Plan
from hush.planning.relax import up

_METRICS = {"margin": "± points", "mse": "MSE", "mae": "MAE"}


_MATTERS = {
    "balance": "balanced",
    "privacy": "privacy matters most",
    "attack": "attacks matter most",
    "accuracy": "accuracy matters most",
    "manipulation": "manipulation matters most",
    "bits": "bits matter most",
    "work": "work matters most",
}


def show(console: Console, made: Plan, *, every: bool = False) -> None:
    """The recommendation, why, and the choices worth a thought beside it, or all; or what to relax."""
    w = made.wishes
    title = f"{w.n:,} {'person' if w.n == 1 else 'people'}, {w.k:,} values: {_wished(made)}"
    if made.feasible:
        console.print(_console.cell(title, "bold"))
        console.print(_console.cell(made.why))
        console.print()
        _choices(console, made, every)
        return
    console.print(_console.cell(title, "bold"))
    console.print(_console.cell(made.why))
    if not made.relaxations:
        console.print(_console.cell("No wish can be stretched far enough: start again with fewer."))
        return
    columns = [_grid.Column(n, "left", r) for n, r in (("relax", 0), ("wished", 0), ("possible", 0), ("with", 0))]
    rows = [
        [name, _said(name, wished), _said(name, up(possible)), each.mechanism]
        for each in made.relaxations
        for name, (wished, possible) in each.changes.items()
    ]
    if len(made.relaxations) > 1:
        how = "Any one of these is enough; the smallest change is first."
    else:
        how = "This is enough." if len(rows) == 1 else "These together are enough, and none of them alone."
    _grid.show(console, columns, rows, caption=how)
    people = next((each.people for each in made.relaxations if each.people is not None), None)
    if people is not None:
        console.print(_console.cell(f"Or keep every wish and ask {people:,} people."))
    if w.max_epsilon is None:
        console.print(
            _console.cell(f"Budgets up to ε = {w.largest_epsilon:g} were looked at: --max-epsilon allows more.")
        )


def _choices(console: Console, made: Plan, every: bool) -> None:
    """The table: which rows, and of each what it is and how it compares with the first."""
    shown = [(i, c) for i, c in enumerate(made.choices, 1) if every or i == 1 or c.worth_a_thought]
    ranks = {
        "": 0,
        "mechanism": 0,
        "parameters": 4,
        "ε": 0,
        _METRICS[made.wishes.metric]: 0,
        "ASR": 0,
        "fakes gain": 5,
        "bits": 2,
        "work": 6,
        "front": 7,
        "beside the first": 3,
    }
    left = {"mechanism", "parameters", "beside the first", "front"}
    columns = [_grid.Column(n, "left" if n in left else "right", r) for n, r in ranks.items() if every or n != "front"]
    for most in (3, 2, 1):  # as much of the comparison as the window has room for
        rows = [[_console.cell(each) for each in _cells(i, c, most, every)] for i, c in shown]
        if len(_grid.fitting(columns, rows, console.width)) == len(columns):
            break
    _grid.show(console, columns, rows, caption=_caption(made, len(shown) - 1))


def _caption(made: Plan, shown: int) -> str | None:
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


def _wished(made: Plan) -> str:
    w = made.wishes
    wished = [f"{name} {_said(name, limit)}" for name, limit in w.limits.items()]
    return ", ".join([*wished, _MATTERS[w.matters]])


def _said(name: str, value: float) -> str:
    return f"{value:,.0f}" if name == "bits" else f"{value:.6g}"


def _cells(rank: int, choice: Choice, most: int, every: bool) -> list[Any]:
    """A row, with so many of what it gains and gives up."""
    own = ", ".join(f"{name}={_console.parameter(value, 4)}" for name, value in chosen(choice.mechanism).items())
    numbers = choice.numbers
    return [
        str(rank),
        choice.name,
        own or _console.DASH,
        f"{numbers['epsilon']:.4g}" + (f", δ {choice.wishes.delta:g}" if hasattr(choice.mechanism, "delta") else ""),
        _console.number(numbers["error"] * (100 if choice.wishes.metric == "margin" else 1), 3),
        _console.number(numbers["asr"], 3),
        _console.number(numbers["gain"], 3),
        f"{numbers['bits']:,.0f}",
        f"{numbers['work']:,.0f}",
        *(["●" if choice.on_front else ""] if every else []),
        "recommended" if rank == 1 else _beside(choice, most),
    ]


def _beside(choice: Choice, most: int) -> str:
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
