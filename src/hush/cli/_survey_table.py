"""The plan of a survey as a table."""

from __future__ import annotations

from rich.console import Console

from hush.cli import _console, _grid
from hush.planning.surveys import SurveyChoice, SurveyPlan
from hush.reports import survey_in_words
from hush.reports.survey_in_words import loss, rate
from hush.reports.words import DASH, number

_METRICS = {"margin": "± points", "mse": "MSE"}
_LEFT = {"choice", "over time", "beside the first"}
_OVER_TIME = {"over time", "ε report", "ε changing", "linkable"}
"""What is told of several rounds only."""


def show(console: Console, made: SurveyPlan, *, every: bool) -> None:
    """The recommendation, why, and the best of every other layout and way, or all; or what would do."""
    console.print(_console.cell(survey_in_words.title(made), "bold"))
    console.print(_console.cell(survey_in_words.why(made)))
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
    columns = [_grid.Column(name, "left" if name in _LEFT else "right", ranks[name]) for name in names]
    cells = [dict(zip(ranks, _cells(i, choice, made, every), strict=True)) for i, choice in shown]
    rows = [[_console.cell(row[name]) for name in names] for row in cells]
    left_out = len(made.choices) - len(shown)
    caption = f"The best of each layout and way over time; --all shows all {len(made.choices)}." if left_out else None
    _grid.show(console, columns, rows, caption=caption)


def _cells(rank: int, choice: SurveyChoice, made: SurveyPlan, every: bool) -> list[str]:
    course = choice.course
    guessed = not every or rank == 1 or choice.worth_a_thought
    return [
        str(rank),
        choice.name,
        course.way,
        number(course.epsilon_report, 3),
        number(course.total, 3),
        loss(course.changing),
        shown_error(choice, choice.error),
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
    columns = [
        _grid.Column("attribute", "left"),
        _grid.Column("values"),
        _grid.Column(_METRICS[choice.wishes.metric]),
        _grid.Column("guessed"),
        _grid.Column("luck"),
    ]
    rows = [
        [survey_in_words.called(choice, j), f"{k:,}", shown_error(choice, error), rate(guess.rate), rate(guess.luck)]
        for j, (k, error, guess) in enumerate(zip(choice.wishes.sizes, choice.errors, choice.guesses, strict=True))
    ]
    console.print()
    _grid.show(console, columns, rows, title=f"With {choice.name}, attribute by attribute")


def shown_error(choice: SurveyChoice, error: float) -> str:
    """An error in points, or squared."""
    return number(error * (100 if choice.wishes.metric == "margin" else 1), 3)
