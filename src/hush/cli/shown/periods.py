"""Estimates period by period: a table of each attribute with a column for each period, and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hush import atomic
from hush.cli.shown import grid, terminal
from hush.cli.shown.estimates import SUMMED, named, places, title_of, warn_of_randomness
from hush.files.collections import Collection
from hush.files.estimates import EstimateSettings, Result, resting
from hush.reports.over_time_in_words import of_protocol, of_rounds
from hush.reports.words import many, shortened
from hush.types import Ints

if TYPE_CHECKING:
    from hush.files.means import GroupMean

_LONGEST = 26


@dataclass(frozen=True)
class PeriodResults:
    """One attribute, period by period; periods that have no report about it are left out."""

    attribute: str | None
    results: list[Result]

    @property
    def periods(self) -> list[str]:
        """Their names."""
        return [named(each.group) for each in self.results]

    def order(self, top: int | None) -> Ints:
        """The values to show: the most frequent of all periods together, or all in the domain's order."""
        size = self.results[0].estimate.domain.size
        if top is None:
            return np.arange(size)
        people = np.array([each.about for each in self.results], float)
        mean = people @ np.stack([each.estimate.frequencies for each in self.results])
        return np.argsort(-mean, kind="stable")[:top]


def courses(results: Sequence[Result]) -> list[PeriodResults]:
    """The results of all periods, by attribute."""
    names = list(dict.fromkeys(each.attribute for each in results))
    found = [PeriodResults(name, [each for each in results if each.attribute == name and each.known]) for name in names]
    return [each for each in found if each.results]


def show(collection: Collection, results: list[Result], top: int | None, settings: EstimateSettings) -> None:
    """Print a table for each attribute."""
    console = terminal.stdout()
    periods = many(len(collection.parts), "period", "periods")
    console.print(terminal.cell(f"{title_of(collection)}, {periods}", "bold"))
    warn_of_randomness(collection)
    for course in courses(results):
        if course.attribute is not None:
            console.print()
        _show(course, top, settings)
    known = {each.attribute for each in results if each.known}
    lost = [name for name in dict.fromkeys(each.attribute or "" for each in results) if name and name not in known]
    if lost:
        terminal.warn(f"no report is about {', '.join(lost)}: nothing is known of it. Collect more reports.")
    final = settings.projection
    after = "" if final is None else f" {final} projections are in --json and --csv."
    terminal.note(
        f"In percent, raw and unbiased, ± as far as the {settings.kind} {settings.interval}{settings.over} reaches on "
        f"its longer side ({resting(results)}); --csv and --json have its ends.{after}"
    )
    if any(each.total is not None for each in results):
        terminal.note(SUMMED)
    for sentence in [*of_rounds(collection.spec), *of_protocol(collection.spec)]:
        terminal.note(sentence)


def _show(course: PeriodResults, top: int | None, settings: EstimateSettings) -> None:
    order = course.order(top)
    labels = [str(course.results[0].estimate.labels[i]) for i in order]
    last = len(course.results)
    columns = [grid.Column("value", "left")]
    columns += [grid.Column(name, rank=last - i) for i, name in enumerate(course.periods)]
    cells = [_cells(each, order) for each in course.results]
    rows = [[shortened(terminal.clean(label), _LONGEST), *row] for label, *row in zip(labels, *cells, strict=True)]
    if course.results[0].total is not None:
        rows.append(["total", *map(_total, course.results)])
    rows.append(["reports", *(f"{each.about:,}" for each in course.results)])
    size = course.results[0].estimate.domain.size
    hidden = None if len(order) == size else f"the {len(order):,} most frequent of {size:,} values"
    grid.show(terminal.stdout(), columns, rows, None if course.attribute is None else course.attribute, hidden)


def _cells(result: Result, order: Ints) -> list[str]:
    """Estimates with what holds their intervals: those end at 0 and 1, and half of one around -20 % would miss it."""
    middle, (lower, upper) = result.estimate.frequencies, result.interval
    reach = np.maximum(upper - middle, middle - lower)
    return [f"{100 * middle[i]:.1f} ±{100 * reach[i]:.1f}" for i in order]


def _total(result: Result) -> str:
    told = result.total or {}
    reach = max(told["upper"] - told["total"], told["total"] - told["lower"])
    return f"{told['total']:,.{places(reach)}f} ±{reach:,.{places(reach)}f}"


def draw(
    path: Path, collection: Collection, results: list[Result], top: int | None, settings: EstimateSettings
) -> None:
    """A panel for each attribute: a line for each of its most frequent values."""
    from hush.reports import figures

    made = []
    for course in courses(results):
        order = course.order(top or figures.MOST_LINES)
        others = np.setdiff1d(course.order(None), order) if top is None else order[:0]
        whole = np.concatenate([order, others])
        estimate = course.results[0].estimate
        made.append(
            figures.Timeline(
                course.attribute or "",
                course.periods,
                [str(estimate.labels[i]) for i in whole],
                np.stack([each.estimate.frequencies[whole] for each in course.results]) * 100,
                np.stack([each.interval[0][whole] for each in course.results]) * 100,
                np.stack([each.interval[1][whole] for each in course.results]) * 100,
                len(order),
            )
        )
    title = f"{title_of(collection)}\n{settings.kind} {settings.interval}s{settings.over}"
    terminal.warn_of_signs(figures.unspellable(made))
    atomic.write(path, figures.png(figures.timelines(made, title)))


def draw_means(path: Path, collection: Collection, means: Sequence[GroupMean], level: float) -> None:
    """One line."""
    from hush.reports import figures

    lower, upper = (np.array([[each.interval[i]] for each in means]) for i in (0, 1))
    centre = np.array([[each.estimate.mean] for each in means])
    one = figures.Timeline("", [named(each.group) for each in means], ["mean"], centre, lower, upper, 1, unit="")
    title = f"{title_of(collection)}\n{level * 100:g} % intervals"
    atomic.write(path, figures.png(figures.timelines([one], title)))
