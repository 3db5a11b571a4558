"""The planner's answer as a table and a few sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hush.cli import _console, _grid

if TYPE_CHECKING:
    from rich.console import Console

    from hush.planning.plan import Choice, Plan

_METRICS = {"margin": "± at 95 %", "mse": "MSE", "mae": "MAE"}


def show(console: Console, made: Plan) -> None:
    """The ranked choices, or what to relax."""
    w = made.wishes
    title = f"{w.n:,} people, {w.k:,} values: {_wished(made)}"
    if made.feasible:
        names = (
            "",
            "mechanism",
            "parameters",
            "ε",
            _METRICS[w.metric],
            "ASR",
            "fakes gain",
            "bits",
            "front",
            "gives up",
        )
        ranks = (0, 0, 5, 0, 0, 0, 3, 2, 4, 1)
        left = {"mechanism", "parameters", "gives up", "front"}
        columns = [_grid.Column(n, "left" if n in left else "right", r) for n, r in zip(names, ranks, strict=True)]
        rows = [[_console.cell(each) for each in _cells(i, c)] for i, c in enumerate(made.choices, 1)]
        _grid.show(console, columns, rows, title)
        return
    console.print(_console.cell(title, "bold"))
    console.print(_console.cell(made.why))
    if not made.relaxations:
        console.print(_console.cell("No wish can be stretched far enough: start again with fewer."))
        return
    columns = [_grid.Column(n, "left", r) for n, r in (("relax", 0), ("wished", 0), ("possible", 0), ("with", 0))]
    rows = [
        [name, _said(name, wished), _said(name, possible), each.mechanism]
        for each in made.relaxations
        for name, (wished, possible) in each.changes.items()
    ]
    alone = len(made.relaxations[0].changes) == 1
    how = "Any one of these is enough; the smallest change is first." if alone else "Only these together are enough."
    _grid.show(console, columns, rows, caption=how)
    people = next((each.people for each in made.relaxations if each.people is not None), None)
    if people is not None:
        console.print(_console.cell(f"Or keep every wish and ask {people:,} people."))


def paragraphs(made: Plan, choice: Choice) -> list[str]:
    """Why the first is first, what the chosen one promises, and what shuffling would add."""
    w = made.wishes
    said = [made.why]
    if w.assumes_epsilon:
        said.append("No wish bounds the budget, so ε = 1 is assumed: say --error, --max-asr or --max-epsilon.")
    if choice is not made.choices[0]:
        said.append(f"You choose {choice.name}, which gives up: {choice.gives_up}.")
    d = choice.details
    said.append(
        f"{choice.name} at ε = {choice.mechanism.epsilon:g}: a frequency is known to ±{_points(d['margin'])} at 95 % "
        f"(mean absolute error {_points(d['mae'])}), {1 - d['information']:.2g} of the Fisher information is left, and "
        f"fake users who send {w.fakes:.3g} of all reports can add {_points(d['gain'])} to what they promote."
    )
    central = choice.shuffled()
    said.append(f"{central.words} (bound: {central.bound}, computed numerically)" if central.epsilon else central.words)
    return said


def _wished(made: Plan) -> str:
    w = made.wishes
    wished = [f"{name} {_said(name, limit)}" for name, limit in w.limits.items()]
    return ", ".join([*wished, f"{w.matters} matters most" if w.matters != "balance" else "balanced"])


def _said(name: str, value: float) -> str:
    from hush.planning.relax import up

    return f"{value:,.0f}" if name == "bits" else f"{up(value):.4g}"


def _cells(rank: int, choice: Choice) -> list[Any]:
    from hush.mechanisms.settings import chosen

    own = ", ".join(f"{name}={_parameter(value)}" for name, value in chosen(choice.mechanism).items())
    numbers = choice.numbers
    return [
        str(rank),
        choice.name,
        own or _console.DASH,
        f"{numbers['epsilon']:.4g}",
        _console.number(numbers["error"], 3),
        _console.number(numbers["asr"], 3),
        _console.number(numbers["gain"], 3),
        f"{numbers['bits']:,.0f}",
        "●" if choice.on_front else "",
        choice.gives_up,
    ]


def _parameter(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _points(share: float) -> str:
    """Percentage points."""
    return f"{100 * share:.3g} points"
