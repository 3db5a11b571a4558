"""The planner's answer as tables: for one value asked for once, and for a survey."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from hush.cli.shown import grid, terminal
from hush.mechanisms.settings import chosen
from hush.planning.plan import Choice, Plan
from hush.planning.relax import up
from hush.planning.surveys import SurveyChoice, SurveyPlan
from hush.reports import plan_in_words, survey_in_words
from hush.reports.survey_in_words import loss, rate
from hush.reports.words import DASH, number

_METRICS = {"margin": "± points", "mse": "MSE", "mae": "MAE"}
_FEW = 10
"""Groups that are shown."""

_WORDS = {"choice", "over time", "beside the first"}
"""What a survey's table has in words, and not in numbers."""

_OVER_TIME = {"over time", "ε report", "ε changing", "linkable"}
"""What is told of several rounds only."""


def show(console: Console, made: Plan, *, every: bool = False) -> None:
    """The recommendation, why, and the choices worth a thought beside it, or all; or what to relax."""
    w = made.wishes
    groups = f", {plan_in_words.groups(made)}" if w.smallest_group is not None else ""
    title = f"{w.n:,} {'person' if w.n == 1 else 'people'}{groups}, {w.k:,} values: {plan_in_words.wished(made)}"
    if made.feasible:
        console.print(terminal.cell(title, "bold"))
        console.print(terminal.cell(made.why))
        console.print()
        _choices(console, made, every)
        return
    console.print(terminal.cell(title, "bold"))
    console.print(terminal.cell(made.why))
    if not made.relaxations:
        console.print(terminal.cell("No wish can be stretched far enough: start again with fewer."))
        return
    columns = [grid.Column(n, "left", r) for n, r in (("relax", 0), ("wished", 0), ("possible", 0), ("with", 0))]
    rows = [
        [name, plan_in_words.said(name, wished), plan_in_words.said(name, up(possible)), each.mechanism]
        for each in made.relaxations
        for name, (wished, possible) in each.changes.items()
    ]
    if len(made.relaxations) > 1:
        how = "Any one of these is enough; the smallest change is first."
    else:
        how = "This is enough." if len(rows) == 1 else "These together are enough, and none of them alone."
    grid.show(console, columns, rows, caption=how)
    people = next((each.people for each in made.relaxations if each.people is not None), None)
    if people is not None:
        where = " in every group" if w.in_every_group else ""
        console.print(terminal.cell(f"Or keep every wish and ask {people:,} people{where}."))
    if w.max_epsilon is None:
        console.print(
            terminal.cell(f"Budgets up to ε = {w.largest_epsilon:g} were looked at: --max-epsilon allows more.")
        )


def _choices(console: Console, made: Plan, every: bool) -> None:
    """The table: which rows, and of each what it is and how it compares with the first."""
    shown = [(i, c) for i, c in enumerate(made.choices, 1) if every or i == 1 or c.worth_a_thought]
    metric = _METRICS[made.wishes.metric]
    grouped = made.wishes.smallest_group is not None
    ranks = {
        "": 0,
        "mechanism": 0,
        "parameters": 4,
        "ε": 0,
        **({f"{metric}, all": 0, "smallest group": 0} if grouped else {metric: 0}),
        "ASR": 0,
        "protects": 8,
        **dict.fromkeys(made.wishes.more, 0),
        "fakes gain": 5,
        "bits": 2,
        "work": 6,
        "front": 7,
        "beside the first": 3,
    }
    left = {"mechanism", "parameters", "protects", "beside the first", "front"}
    columns = [grid.Column(n, "left" if n in left else "right", r) for n, r in ranks.items() if every or n != "front"]
    for most in (3, 2, 1):  # as much of the comparison as the window has room for
        rows = [[terminal.cell(each) for each in _cells(i, c, most, every)] for i, c in shown]
        if len(grid.fitting(columns, rows, console.width)) == len(columns):
            break
    grid.show(console, columns, rows, caption=plan_in_words.caption(made, len(shown) - 1))


def _cells(rank: int, choice: Choice, most: int, every: bool) -> list[Any]:
    """A row, with so many of what it gains and gives up."""
    own = ", ".join(f"{name}={terminal.parameter(value, 4)}" for name, value in chosen(choice.mechanism).items())
    numbers = choice.numbers
    return [
        str(rank),
        choice.name,
        own or DASH,
        f"{numbers['epsilon']:.4g}" + (f", δ {choice.wishes.delta:g}" if hasattr(choice.mechanism, "delta") else ""),
        *_errors(choice),
        number(numbers["asr"], 3),
        choice.protection,
        *(number(numbers[name], 3) for name in choice.wishes.more),
        number(numbers["gain"], 3),
        f"{numbers['bits']:,.0f}",
        f"{numbers['work']:,.0f}",
        *(["●" if choice.on_front else ""] if every else []),
        "recommended" if rank == 1 else plan_in_words.beside(choice, most),
    ]


def _errors(choice: Choice) -> list[str]:
    """The error; with groups, that of everybody and that in the smallest one."""
    if choice.smallest_group is None:
        return [_shown(choice, choice.numbers["error"])]
    return [_shown(choice, choice.overall_error), _shown(choice, choice.smallest_group.error)]


def _shown(choice: Choice | SurveyChoice, error: float) -> str:
    """An error in points, or squared or absolute."""
    return number(error * (100 if choice.wishes.metric == "margin" else 1), 3)


def show_groups(console: Console, choice: Choice) -> None:
    """How well the smallest groups are known by the choice."""
    if not choice.groups:
        return
    names = ["group", "people", _METRICS[choice.wishes.metric], *(["as wished"] if choice.wishes.error else [])]
    rows = [
        [
            terminal.cell(str(each.name)),
            f"{each.n:,}",
            _shown(choice, each.error),
            *([] if each.reaches is None else ["yes" if each.reaches else "no"]),
        ]
        for each in choice.group_errors[:_FEW]
    ]
    columns = [grid.Column(name, "left" if name in {"group", "as wished"} else "right") for name in names]
    few = f"The smallest {_FEW} of {len(choice.groups):,}; --json tells of all." if len(choice.groups) > _FEW else None
    console.print()
    grid.show(console, columns, rows, title=f"With {choice.name}, group by group", caption=few)


def show_survey(console: Console, made: SurveyPlan, *, every: bool) -> None:
    """The recommendation, why, and the best of every other layout and way, or all; or what would do."""
    console.print(terminal.cell(survey_in_words.title(made), "bold"))
    console.print(terminal.cell(survey_in_words.why(made)))
    if not made.feasible:
        return
    console.print()
    shown = [(i, c) for i, c in enumerate(made.choices, 1) if every or i == 1 or c.worth_a_thought]
    ranks = {
        "": 0,
        "choice": 0,
        "over time": 2,
        "ε report": 0,
        "ε total": 0,
        "ε changing": 1,
        f"{_METRICS[made.wishes.metric]}, worst": 0,
        "guessed": 0,
        "luck": 3,
        "bits": 4,
        "linkable": 1,
        "beside the first": 5,
    }
    once = made.wishes.rounds == 1
    names = [name for name in ranks if not (once and name in _OVER_TIME)]
    columns = [grid.Column(name, "left" if name in _WORDS else "right", ranks[name]) for name in names]
    cells = [dict(zip(ranks, _survey_cells(i, choice, made, every), strict=True)) for i, choice in shown]
    rows = [[terminal.cell(row[name]) for name in names] for row in cells]
    left_out = len(made.choices) - len(shown)
    caption = f"The best of each layout and way over time; --all shows all {len(made.choices)}." if left_out else None
    grid.show(console, columns, rows, caption=caption)


def _survey_cells(rank: int, choice: SurveyChoice, made: SurveyPlan, every: bool) -> list[str]:
    course = choice.course
    guessed = not every or rank == 1 or choice.worth_a_thought
    return [
        str(rank),
        choice.name,
        course.way,
        number(course.epsilon_report, 3),
        number(course.total, 3),
        loss(course.changing),
        _shown(choice, choice.error),
        f"{'≥' if choice.guess.bound else ''}{rate(choice.guess.rate)}" if guessed else DASH,
        rate(choice.guess.luck) if guessed else DASH,
        f"{course.bits:,}",
        "yes" if course.pseudonym else "no",
        _beside(choice, made) if guessed else "",
    ]


def _beside(choice: SurveyChoice, made: SurveyPlan) -> str:
    if choice is made.choices[0]:
        return "recommended"
    gains, losses = (", ".join(words) for words in choice.beside(made.choices[0]))
    return f"{gains}; but {losses}" if gains and losses else gains or losses or "as good, within 10 %"


def show_attributes(console: Console, choice: SurveyChoice) -> None:
    """How well each attribute is known in one round, and what is guessed of it after all."""
    if len(choice.errors) == 1:
        return
    few = choice.errors_in_smallest_group
    columns = [
        grid.Column("attribute", "left"),
        grid.Column("values"),
        grid.Column(_METRICS[choice.wishes.metric]),
        *([] if few is None else [grid.Column("in the smallest group")]),
        grid.Column("guessed"),
        grid.Column("luck"),
    ]
    rows = [
        [
            survey_in_words.called(choice, j),
            f"{k:,}",
            _shown(choice, error),
            *([] if few is None else [_shown(choice, few[j])]),
            rate(guess.rate),
            rate(guess.luck),
        ]
        for j, (k, error, guess) in enumerate(zip(choice.wishes.sizes, choice.errors, choice.guesses, strict=True))
    ]
    console.print()
    grid.show(console, columns, rows, title=f"With {choice.name}, attribute by attribute")
