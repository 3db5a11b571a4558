"""The planner's answer as a table."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from hush.cli import _console, _grid
from hush.mechanisms.settings import chosen
from hush.planning.plan import Choice, Plan
from hush.planning.relax import up
from hush.reports import plan_in_words
from hush.reports.words import DASH, number

_METRICS = {"margin": "± points", "mse": "MSE", "mae": "MAE"}


def show(console: Console, made: Plan, *, every: bool = False) -> None:
    """The recommendation, why, and the choices worth a thought beside it, or all; or what to relax."""
    w = made.wishes
    title = f"{w.n:,} {'person' if w.n == 1 else 'people'}, {w.k:,} values: {plan_in_words.wished(made)}"
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
        [name, plan_in_words.said(name, wished), plan_in_words.said(name, up(possible)), each.mechanism]
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
    _grid.show(console, columns, rows, caption=plan_in_words.caption(made, len(shown) - 1))


def _cells(rank: int, choice: Choice, most: int, every: bool) -> list[Any]:
    """A row, with so many of what it gains and gives up."""
    own = ", ".join(f"{name}={_console.parameter(value, 4)}" for name, value in chosen(choice.mechanism).items())
    numbers = choice.numbers
    return [
        str(rank),
        choice.name,
        own or DASH,
        f"{numbers['epsilon']:.4g}" + (f", δ {choice.wishes.delta:g}" if hasattr(choice.mechanism, "delta") else ""),
        number(numbers["error"] * (100 if choice.wishes.metric == "margin" else 1), 3),
        number(numbers["asr"], 3),
        number(numbers["gain"], 3),
        f"{numbers['bits']:,.0f}",
        f"{numbers['work']:,.0f}",
        *(["●" if choice.on_front else ""] if every else []),
        "recommended" if rank == 1 else plan_in_words.beside(choice, most),
    ]
