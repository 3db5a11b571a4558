"""Collections over time, each planning the budget of the next, and the table behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console

from hush import atomic
from hush.cli import _asking, _console, _grid
from hush.cli._capacity_ask import OPTIONS
from hush.errors import NOTHING, ParameterError, message
from hush.files.counts import read_history
from hush.people import History
from hush.people.domain import Domain
from hush.planning import capri
from hush.planning.capri import Step
from hush.reports.history_in_words import WRONG, told, unplanned

_MOST_ROWS = 40
_SAYS = {"tp": "alarm, rightly", "tn": "all-clear, rightly", "fp": "false alarm", "fn": "missed exceedance"}


def run(
    path: Path,
    asking: dict[str, Any],
    parameters: Callable[[Domain], dict[str, Any]],
    given: tuple[float | None, float | None],
    chance: tuple[int, np.random.Generator],
    png: Path | None,
    *,
    as_json: bool,
) -> None:
    """Simulate the collections of a history, and tell what came of them.

    Args:
        path: The history.
        asking: The question, as `capri.over_time` takes it.
        parameters: From the domain to what the mechanism takes besides k and epsilon.
        given: What --clip-above and --first said.
        chance: The seed, and the generator it gives.
        png: Where to draw.
        as_json: Whether to print JSON, and no bar.
    """
    most, first = given
    if first is None:
        rule = "must be given beside --history, for the collection that nothing is known before"
        raise ParameterError(message("--first", rule, NOTHING, "add e.g. --first 0.5"))
    history = read_history(path, "--history")
    domain = Domain(size=len(history.amounts), values=list(history.amounts))
    options = {**OPTIONS, "history": "--history"}
    options |= {"epsilon": "--first", "counts": "--history", "domain": "--history"}
    with _asking.bar("Collecting, and planning the next", quiet=as_json) as tell:
        asking = {**asking, "parameters": parameters(domain), "most": most}

        def told_of(step: Step) -> None:
            tell((step.time + 1) / len(history.times))

        steps = _asking.asked(
            lambda: capri.over_time(
                history=history.counts, first=first, domain=domain, told=told_of, rng=chance[1], **asking
            ),
            options,
        )
    name = asking["mechanism"].name()
    if png is not None:
        from hush.reports import figures
        from hush.reports.capacity_time import capacity_time_figure

        atomic.write(png, figures.png(capacity_time_figure(steps, history.times, name)))
    if as_json:
        _console.print_json(plain(steps, history.times, name, history.name, chance[0]))
    else:
        _told(steps, history, name, most, chance[0])
        if png is not None:
            _console.note(f"wrote the picture, {png}")
    if any(unplanned(step) for step in steps):
        raise typer.Exit(1)


def _told(steps: Sequence[Step], history: History, name: str, most: float | None, seed: int) -> None:
    kept = sum(most is None or amount <= most for amount in history.amounts)
    people = [int(counts.sum()) for counts in history.counts]
    many = f"{people[0]:,}" if len(set(people)) == 1 else f"{min(people):,} to {max(people):,}"
    crowd = "1 person" if many == "1" else f"{many} people"
    about = f"{name}, {kept:,} values, {history.name}, {crowd}"
    show(_console.stdout(), steps, history.times, name, about, seed)


def plain(steps: Sequence[Step], times: Sequence[str], mechanism: str, population: str, seed: int) -> dict[str, Any]:
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


def show(console: Console, steps: Sequence[Step], times: Sequence[str], mechanism: str, about: str, seed: int) -> None:
    """What came of it, and every collection."""
    console.print(_console.cell(told(steps, times, mechanism)), soft_wrap=True)
    console.print()
    names, ranks = ("time", "ε", "plan", "spent", "total", "estimated (raw)", "decision"), (0, 0, 0, 2, 1, 0, 0)
    columns = [
        _grid.Column(name, "left" if name in ("time", "plan", "decision") else "right", rank)
        for name, rank in zip(names, ranks, strict=True)
    ]
    shown = list(zip(times, steps, strict=True))[:_MOST_ROWS]
    _grid.show(console, columns, [_cells(time, step) for time, step in shown], about)
    more = len(steps) - len(shown)
    rest = f"{more:,} more times follow, which --json lists. " if more else ""
    by = (
        "Raw totals are what a decision goes by; a plan goes by the nearest counts that are possible, none negative, "
        "whose total may differ."
    )
    console.print(_console.cell(f"{rest}{by} Seed {seed}.", "dim"), soft_wrap=True)


def _cells(time: str, step: Step) -> list[Any]:
    mark = "red" if step.outcome in WRONG else ""
    plan = "first" if step.planned is None else "none, the largest" if unplanned(step) else "enough"
    texts = [time, f"{step.epsilon:.6g}", plan, f"{step.spent:.6g}", f"{step.total:,.12g}", f"{step.estimated:,.0f}"]
    return [_console.cell(text) for text in texts] + [_console.cell(_SAYS[step.outcome], mark)]
