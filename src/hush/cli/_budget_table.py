"""The smallest budget in a sentence, and the table behind it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from hush.cli import _console, _grid
from hush.cli._asking import percent, rounded_up

if TYPE_CHECKING:
    from rich.console import Console

    from hush.mechanisms._base import FrequencyOracle
    from hush.planning.optimus import Answer, Tried
    from hush.planning.optimus.question import Question

Row = TypeVar("Row")

MOST_ROWS = 14
"""Budgets that a table shows, about."""


def show(console: Console, answer: Answer, people: str, seed: int) -> None:
    """The answer, what it means for one person, and what was seen at every budget."""
    for paragraph in paragraphs(answer):
        console.print(_console.cell(paragraph), soft_wrap=True)
        console.print()
    q = answer.question
    seen = sorted((t for t in answer.evidence if t.law == "exact" or t.satisfies is not None), key=_epsilon)
    rows = thinned(seen, [_epsilon(t) for t in seen], answer.epsilon)
    names = ("ε", "satisfied", "95 % interval", "runs", "mean loss", f"{percent(q.probability)} quantile", "law", "")
    ranks = (0, 0, 3, 4, 1, 2, 5, 0)
    columns = [_grid.Column(n, "left" if n in ("law", "") else "right", r) for n, r in zip(names, ranks, strict=True)]
    more = len(answer.evidence) - len(rows)
    title = f"{q.name}, {q.people.k:,} values, {people}, {q.people.n:,} people; {q.loss} at most {q.threshold:g}"
    _grid.show(console, columns, [_cells(t, answer) for t in rows], title)
    looked = f"{more:,} more budgets were looked at, which --json lists. " if more else ""
    found = f"{looked}Method {answer.method}, {answer.runs:,} collections, {answer.seconds:.2g} s, seed {seed}."
    console.print(_console.cell(found, "dim"), soft_wrap=True)


def paragraphs(answer: Answer) -> list[str]:
    """The answer in words."""
    q, wish = answer.question, meaning(answer.question)
    if answer.epsilon is None or answer.mechanism is None:
        best = answer.best
        return [
            f"No budget from ε = {q.low:g} to {q.high:g} is enough for {q.name}: with {q.people.n:,} people, "
            f"{percent(best.share)} of the collections at ε = {best.epsilon:.4g} kept to it, and not "
            f"{percent(q.probability)}. Wanted: {wish}.",
            "Ask more people, accept a larger loss, be content with a smaller probability, or allow more with "
            "--max-epsilon.",
        ]
    said = [
        f"{q.name} with ε = {rounded_up(answer.epsilon)} is enough: {percent(q.probability)} of such collections, each "
        f"from {q.people.n:,} people, keep to what was wanted: {wish}."
    ]
    if answer.interval is not None and answer.confidence is not None:
        low, high = answer.interval
        said[0] += f" The smallest such budget lies between {low:.4g} and {rounded_up(high)}, with "
        said[0] += f"{percent(answer.confidence)} confidence."
    said.append(_exposed(answer.mechanism))
    return said


def _exposed(m: FrequencyOracle) -> str:
    """What the budget means for a person."""
    from hush.mechanisms.guarantee import LDP

    promise = "no guarantee" if m.guarantee is None else str(m.guarantee)
    if isinstance(m.guarantee, LDP):
        promise += f", a report being at most {math.exp(m.guarantee.epsilon):.3g} times likelier from one value than "
        promise += "from another"
    return (
        f"For each person that means {promise}. Whoever sees a report names the person's value "
        f"{percent(_two(m.asr()))} of the time; guessing blindly does {percent(_two(1 / m.k))}."
    )


def meaning(q: Question) -> str:
    """What the wish says, for somebody who has never heard of the loss."""
    x, (name, _, top) = q.threshold, q.loss.partition("@")
    points = f"{100 * x:.4g} percentage point{'' if x == 0.01 else 's'}"
    said = {
        "l1": f"frequencies are off by at most {points} on average",
        "l2": f"the root of the summed squared errors, over the number of values, is at most {x:g}",
        "max": f"no frequency is off by more than {points}",
        "kendall": f"at most {percent(x / 2)} of all pairs of values are in the wrong order (1 - τ at most {x:g}; "
        "a tie counts half)",
        "f1": f"{f'at least {percent(1 - x)}' if x else 'all'} of the {top} most frequent values are found",
        "ndcg": f"the {top} values named as the most frequent score at least {1 - x:.4g} of the best score (NDCG)",
        "kl": f"the estimate diverges from the truth by at most {x:g} nats",
        "emd": f"people are on average misplaced by at most {x:g} steps of the ordered values",
    }
    return said.get(name, f"the loss is at most {x:g}")


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


def _cells(tried: Tried, answer: Answer) -> list[Any]:
    low, high = tried.interval
    here = tried.epsilon == answer.epsilon and bool(tried.satisfies) and tried is answer.best
    verdict = {True: "enough", False: "too little", None: "a first look"}[tried.satisfies]
    style = "bold" if here else ""
    texts = (
        f"{tried.epsilon:.4g}",
        percent(_two(tried.share, 4)),
        f"{percent(_two(low, 4))} – {percent(_two(high, 4))}",
        f"{tried.runs:,}",
        _console.number(tried.mean),
        _console.number(tried.quantile),
        tried.law,
        f"● {verdict}" if here else verdict,
    )
    return [_console.cell(text, style) for text in texts]


def _two(value: float, digits: int = 2) -> float:
    """Rounded to so many digits."""
    return float(f"{value:.{digits}g}")


def _epsilon(tried: Tried) -> float:
    return tried.epsilon
