"""The smallest budget for a capacity decision, and the table behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from hush.cli import _console, _grid
from hush.cli._budget_table import thinned
from hush.planning.capri import CapacityAnswer, Evidence, Exposure
from hush.reports.capacity_in_words import chance_beside, decision, exposed, promised, rehearsals
from hush.reports.words import DASH, number


def show(
    console: Console,
    plans: Sequence[CapacityAnswer],
    seen: Exposure | None,
    m: Any,
    about: str,
    seed: int,
    *,
    first: bool,
) -> None:
    """The answer, what it means for one person, and what was found at every budget.

    Args:
        console: Where to print.
        plans: The answer; and those of further first rounds, where one was simulated.
        seen: What reports give away at the budget.
        m: The mechanism at the budget.
        about: A title for the table.
        seed: That of the chance.
        first: Whether a first round was simulated.
    """
    answer = plans[0]
    for paragraph in (
        *decision(answer, "first" if first else "earlier"),
        *rehearsals(plans),
        *([] if seen is None else [promised(m, answer.spent) + exposed(seen)]),
    ):
        console.print(_console.cell(paragraph), soft_wrap=True)
        console.print()
    shown = _rows(answer)
    wrong = "wrong" if answer.metric in ("tp", "tn", "error") else answer.metric.upper()
    simulated = any(e.runs for e in shown)
    asked = "wrong" if answer.metric == "error" else answer.metric.upper()
    names = ["ε", f"Pr[{asked}]", *(["95 % interval"] if simulated else []), "typical error"]
    names += [f"Cantelli, Pr[{wrong}]", f"Chebyshev, Pr[{wrong}]", ""]
    ranks = [0, 0, *([3] if simulated else []), 4, 1, 2, 0]
    columns = [_grid.Column(n, "right" if n else "left", r) for n, r in zip(names, ranks, strict=True)]
    title = f"{about}, as they were estimated" if answer.estimated else about
    _grid.show(console, columns, [_cells(e, answer, simulated) for e in shown], title)
    more = len(answer.evidence) - len(shown)
    looked = f"{more:,} more budgets were tried, which --json lists. " if more > 0 else ""
    found = f"{looked}Method {answer.method}, {answer.seconds:.2g} s, seed {seed}."
    console.print(_console.cell(found, "dim"), soft_wrap=True)


def _rows(answer: CapacityAnswer) -> list[Evidence]:
    """The answer, its neighbours, and of the others those that differ by a percent or more."""
    rows = sorted({e.epsilon: e for e in (*answer.evidence, answer.best) if e is not None}.values(), key=_epsilon)
    at = [e.epsilon for e in rows]
    near = at.index(answer.epsilon) if answer.epsilon in at else -2
    kept: list[Evidence] = []
    for i, row in enumerate(rows):
        if abs(i - near) <= 1 or not kept or row.epsilon > 1.01 * kept[-1].epsilon:
            kept.append(row)
    return thinned(kept, [e.epsilon for e in kept], answer.epsilon)


def _epsilon(tried: Evidence) -> float:
    return tried.epsilon


def _cells(e: Evidence, answer: CapacityAnswer, simulated: bool) -> list[Any]:
    here = e.epsilon == answer.epsilon
    failed = "too little" if answer.epsilon is None or e.epsilon < answer.epsilon else "not enough"
    verdict = "enough" if e.satisfied else failed
    texts = [f"{e.epsilon:.6g}", chance_beside(e.probability, answer.threshold)]
    if simulated:
        texts.append(f"{number(e.low, 3)} – {number(e.high, 3)}" if e.runs else DASH)
    texts += [
        f"{e.deviation:,.0f}" if e.deviation >= 1000 else f"{e.deviation:.4g}",
        number(e.cantelli, 3),
        number(e.chebyshev, 3),
    ]
    texts.append(f"● {verdict}" if here else verdict)
    return [_console.cell(text, "bold" if here else "") for text in texts]
