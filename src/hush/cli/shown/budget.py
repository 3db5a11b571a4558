"""The smallest budget, and the table behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from rich.console import Console

from hush.cli.shown import grid, terminal
from hush.planning.optimus import BudgetAnswer, Tried
from hush.reports import budget_in_words
from hush.reports.words import number, percent

Row = TypeVar("Row")

MOST_ROWS = 14
"""Budgets that a table shows, about."""


_VERDICTS = {(True, True): "enough", (True, False): "too little", (False, True): "reached", (False, False): "missed"}
"""By whether a method proves, and what it concluded."""


def show(console: Console, answer: BudgetAnswer, people: str, seed: int) -> None:
    """The answer, what it means for one person, and what was seen at every budget."""
    for paragraph in budget_in_words.paragraphs(answer):
        console.print(terminal.cell(paragraph), soft_wrap=True)
        console.print()
    q = answer.question
    seen = sorted((t for t in answer.evidence if t.law == "exact" or t.satisfies is not None), key=_epsilon)
    rows = thinned(seen, [_epsilon(t) for t in seen], answer.epsilon)
    said = told_apart([_epsilon(t) for t in rows])
    names = ("ε", "satisfied", "95 % interval", "runs", "mean loss", f"{percent(q.probability)} quantile", "law", "")
    ranks = (0, 0, 3, 4, 1, 2, 5, 0)
    columns = [grid.Column(n, "left" if n in ("law", "") else "right", r) for n, r in zip(names, ranks, strict=True)]
    more = len(answer.evidence) - len(rows)
    title = f"{q.name}, {q.people.k:,} values, {people}, {budget_in_words.people(q)}; {q.loss} at most {q.threshold:g}"
    grid.show(console, columns, [_cells(t, at, answer) for t, at in zip(rows, said, strict=True)], title)
    looked = f"{more:,} more budgets were looked at, which --json lists. " if more else ""
    found = f"{looked}Method {answer.method}, {answer.runs:,} collections, {answer.seconds:.2g} s, seed {seed}."
    console.print(terminal.cell(found, "dim"), soft_wrap=True)


def told_apart(budgets: Sequence[float]) -> list[str]:
    """Budgets with four digits, or as many as tell them from one another.

    >>> told_apart([5.8, 5.81234]), told_apart([1.41801, 1.41804])
    (['5.8', '5.812'], ['1.41801', '1.41804'])
    """
    several = len(set(budgets))
    written = ([f"{each:.{digits}g}" for each in budgets] for digits in range(4, 17))
    return next((each for each in written if len(set(each)) == several), [repr(each) for each in budgets])


def in_percent(share: float, beside: float) -> str:
    """A share in percent, with a decimal more than the one that it is held against, so that a column lines up.

    >>> [in_percent(share, 0.9) for share in (0.903, 0.9, 1.0)], in_percent(0.99957, 0.9995)
    (['90.3 %', '90.0 %', '100.0 %'], '99.957 %')
    """
    decimals = len(f"{100 * beside:.10g}".partition(".")[2])
    return f"{100 * share:.{decimals + 1}f} %"


def thinned(rows: Sequence[Row], budgets: Sequence[float], answer: float | None) -> list[Row]:
    """The rows to show, rising: all where they are few; else those around the answer, and some of the others.

    >>> thinned(range(100), range(100), 50)
    [0, 14, 28, 42, 49, 50, 51, 56, 70, 84, 99]
    """
    if len(rows) <= MOST_ROWS:
        return list(rows)
    last = len(rows) - 1
    at = last if answer is None else min(range(len(rows)), key=lambda i: abs(budgets[i] - answer))
    others = MOST_ROWS - 6
    kept = {last * i // (others - 1) for i in range(others)} | {max(at - 1, 0), at, min(at + 1, last)}
    return [rows[i] for i in sorted(kept)]


def _cells(tried: Tried, at: str, answer: BudgetAnswer) -> list[Any]:
    low, high = tried.interval
    here = tried.epsilon == answer.epsilon and bool(tried.satisfies) and tried is answer.best
    proved = answer.confidence is not None
    verdict = "open" if tried.satisfies is None else _VERDICTS[proved, tried.satisfies]
    style = "bold" if here else ""
    texts = (
        at,
        in_percent(tried.share, answer.question.probability),
        " – ".join(in_percent(end, answer.question.probability) for end in (low, high)),
        f"{tried.runs:,}",
        number(tried.mean),
        number(tried.quantile),
        tried.law,
        f"● {verdict}" if here else verdict,
    )
    return [terminal.cell(text, style) for text in texts]


def _epsilon(tried: Tried) -> float:
    return tried.epsilon
