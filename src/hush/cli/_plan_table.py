"""The planner's answer as a table and a few sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hush.cli import _console, _grid

if TYPE_CHECKING:
    from rich.console import Console

    from hush.planning.plan import Choice, Plan

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


def show(console: Console, made: Plan) -> None:
    """The ranked choices, or what to relax."""
    w = made.wishes
    title = f"{w.n:,} {'person' if w.n == 1 else 'people'}, {w.k:,} values: {_wished(made)}"
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
            "work",
            "front",
            "gives up",
        )
        ranks = (0, 0, 4, 0, 0, 0, 3, 2, 6, 7, 5)
        left = {"mechanism", "parameters", "gives up", "front"}
        columns = [_grid.Column(n, "left" if n in left else "right", r) for n, r in zip(names, ranks, strict=True)]
        rows = [[_console.cell(each) for each in _cells(i, c, 2)] for i, c in enumerate(made.choices, 1)]
        if len(_grid.fitting(columns, rows, console.width)) < len(columns):
            rows = [[_console.cell(each) for each in _cells(i, c, 1)] for i, c in enumerate(made.choices, 1)]
        _grid.show(console, columns, rows, title)
        return
    console.print(_console.cell(title, "bold"))
    console.print(_console.cell(made.why))
    if not made.relaxations:
        console.print(_console.cell("No wish can be stretched far enough: start again with fewer."))
        return
    from hush.planning.relax import up

    columns = [_grid.Column(n, "left", r) for n, r in (("relax", 0), ("wished", 0), ("possible", 0), ("with", 0))]
    rows = [
        [name, _said(name, wished), _said(name, up(possible)), each.mechanism]
        for each in made.relaxations
        for name, (wished, possible) in each.changes.items()
    ]
    if len(made.relaxations) > 1:
        how = "Any one of these is enough; the smallest change is first."
    else:
        how = "This is enough." if len(rows) == 1 else "Only these together are enough."
    _grid.show(console, columns, rows, caption=how)
    people = next((each.people for each in made.relaxations if each.people is not None), None)
    if people is not None:
        console.print(_console.cell(f"Or keep every wish and ask {people:,} people."))
    if w.max_epsilon is None:
        console.print(
            _console.cell(f"Budgets up to ε = {w.largest_epsilon:g} were looked at: --max-epsilon allows more.")
        )


def paragraphs(made: Plan, choice: Choice, central_delta: float | None) -> list[str]:
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
        f"(mean absolute error {_points(d['mae'])}). A report keeps {1 - d['information']:.2g} of the Fisher "
        f"information that the value itself would give. Fake users who send {w.fakes:.3g} of all reports can add "
        f"{_points(d['gain'])} to what they promote."
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


def _cells(rank: int, choice: Choice, losses: int) -> list[Any]:
    """A row, with so many of what it gives up."""
    from hush.mechanisms.settings import chosen

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
        "●" if choice.on_front else "",
        "; ".join(choice.losses[:losses]) or "nothing: within 10 %",
    ]


def _points(share: float) -> str:
    """Percentage points."""
    return f"{100 * share:.3g} points"
