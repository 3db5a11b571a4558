"""The smallest budget for a capacity decision, once or again and again, with the table and the picture behind it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from hush import atomic
from hush.cli.shown import grid, terminal
from hush.cli.shown.bars import bar
from hush.cli.shown.budget import thinned
from hush.people import History
from hush.planning.capri import CapacityAnswer, Evidence, Exposure, OnlyMean, Population, Step
from hush.planning.capri.population import counted
from hush.planning.capri.question import question
from hush.planning.capri.who import tried_for
from hush.reports.capacity_in_words import chance_beside, decision, exposed, promised, rehearsals
from hush.reports.history_in_words import WRONG, told, unplanned
from hush.reports.words import DASH, number

_POINTS, _AROUND = 80, 8.0  # of a picture: budgets, and how far from the answer
_MOST_ROWS = 40
_SAYS = {"tp": "alarm, rightly", "tn": "all-clear, rightly", "fp": "false alarm", "fn": "missed exceedance"}


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
        seen: What reports give away at the budget; None where nobody knows how many people hold each amount.
        m: The mechanism at the budget.
        about: A title for the table.
        seed: That of the chance.
        first: Whether a first round was simulated.
    """
    answer = plans[0]
    for paragraph in (
        *decision(answer, "first" if first else "earlier"),
        *rehearsals(plans),
        *([] if m is None else [(promised(m, answer.spent) + ("" if seen is None else exposed(seen))).strip()]),
    ):
        console.print(terminal.cell(paragraph), soft_wrap=True)
        console.print()
    shown = _rows(answer)
    wrong = "wrong" if answer.metric in ("tp", "tn", "error") else answer.metric.upper()
    simulated = any(e.runs for e in shown)
    asked = "wrong" if answer.metric == "error" else answer.metric.upper()
    names = ["ε", f"Pr[{asked}]", *(["95 % interval"] if simulated else []), "typical error"]
    names += [f"Cantelli, Pr[{wrong}]", f"Chebyshev, Pr[{wrong}]", ""]
    ranks = [0, 0, *([3] if simulated else []), 4, 1, 2, 0]
    columns = [grid.Column(n, "right" if n else "left", r) for n, r in zip(names, ranks, strict=True)]
    title = f"{about}, as they were estimated" if answer.estimated else about
    grid.show(console, columns, [_cells(e, answer, simulated) for e in shown], title)
    more = len(answer.evidence) - len(shown)
    looked = f"{more:,} more budgets were tried, which --json lists. " if more > 0 else ""
    found = f"{looked}Method {answer.method}, {answer.seconds:.2g} s, seed {seed}."
    console.print(terminal.cell(found, "dim"), soft_wrap=True)


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
        f"{e.deviation:,.0f}" if e.deviation >= 1000 else number(e.deviation),
        number(e.cantelli, 3),
        number(e.chebyshev, 3),
    ]
    texts.append(f"● {verdict}" if here else verdict)
    return [terminal.cell(text, "bold" if here else "") for text in texts]


def draw(
    asking: dict[str, Any],
    people: Population | OnlyMean,
    answer: CapacityAnswer,
    rng: np.random.Generator,
    path: Path,
    *,
    first: bool,
    quiet: bool,
) -> None:
    """A picture of what the law says at budgets around the answer; of the whole range where there is none.

    Where a first round was simulated, it is of the people as they are.
    """
    from hush.reports import figures
    from hush.reports.budgeted import capacity_figure

    if isinstance(people, Population) and asking["above"] is not None:
        people = counted(people, asking["above"])
    some = people if isinstance(people, Population) else people.apart
    asked = question(asking["metric"], asking["threshold"], asking["cap"], some)
    low, high = asking["lowest"], asking["highest"]
    if answer.epsilon is not None:
        low, high = max(low, answer.epsilon / _AROUND), min(high, answer.epsilon * _AROUND)
    with bar("Drawing", quiet=quiet) as tell:
        trials = tried_for(asking["mechanism"], people, asking["parameters"], asked, rng)
        trials.watch = lambda _: tell(len(trials.evidence) / _POINTS)
        curve = [trials.by_law(float(e)) for e in np.geomspace(low, high, _POINTS)]
    atomic.write(path, figures.png(capacity_figure(answer, curve, real=people.total if first else None)))


def show_history(steps: Sequence[Step], history: History, name: str, most: float | None, seed: int) -> None:
    """The collections of a history, each planning the next."""
    kept = sum(most is None or amount <= most for amount in history.amounts)
    people = [int(counts.sum()) for counts in history.counts]
    many = f"{people[0]:,}" if len(set(people)) == 1 else f"{min(people):,} to {max(people):,}"
    crowd = "1 person" if many == "1" else f"{many} people"
    about = f"{name}, {kept:,} values, {history.name}, {crowd}"
    _show_steps(terminal.stdout(), steps, history.times, name, about, seed)


def _show_steps(
    console: Console, steps: Sequence[Step], times: Sequence[str], mechanism: str, about: str, seed: int
) -> None:
    """What came of it, and every collection."""
    console.print(terminal.cell(told(steps, times, mechanism)), soft_wrap=True)
    console.print()
    names, ranks = ("time", "ε", "plan", "spent", "total", "estimated (raw)", "decision"), (0, 0, 0, 2, 1, 0, 0)
    columns = [
        grid.Column(name, "left" if name in ("time", "plan", "decision") else "right", rank)
        for name, rank in zip(names, ranks, strict=True)
    ]
    shown = list(zip(times, steps, strict=True))[:_MOST_ROWS]
    grid.show(console, columns, [_step_cells(time, step) for time, step in shown], about)
    more = len(steps) - len(shown)
    rest = f"{more:,} more times follow, which --json lists. " if more else ""
    nearest = "counts that are possible, none negative, whose total may differ"
    if any(step.planned is not None and step.planned.spread is not None for step in steps):
        nearest = "total that is possible, and by those who need the most of all people that have it"
    by = f"Raw totals are what a decision goes by; a plan goes by the nearest {nearest}."
    console.print(terminal.cell(f"{rest}{by} Seed {seed}.", "dim"), soft_wrap=True)


def _step_cells(time: str, step: Step) -> list[Any]:
    mark = "red" if step.outcome in WRONG else ""
    plan = "first" if step.planned is None else "none, the largest" if unplanned(step) else "enough"
    texts = [time, f"{step.epsilon:.6g}", plan, f"{step.spent:.6g}", f"{step.total:,.12g}", f"{step.estimated:,.0f}"]
    return [terminal.cell(text) for text in texts] + [terminal.cell(_SAYS[step.outcome], mark)]


def history_plain(
    steps: Sequence[Step], times: Sequence[str], mechanism: str, population: str, seed: int
) -> dict[str, Any]:
    """For programs."""
    right = sum(step.outcome in ("tp", "tn") for step in steps)
    return {
        "mechanism": mechanism,
        "population": population,
        "seed": seed,
        "right": right,
        "spent": steps[-1].spent,
        "steps": [{**step.to_dict(), "time": time} for time, step in zip(times, steps, strict=True)],
    }
