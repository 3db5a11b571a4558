"""Estimates as plain rows, JSON and CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hush.cli import _console, _grid
from hush.estimation import Estimate
from hush.estimation.laws import Interval
from hush.files.collections import Collection
from hush.files.groups import Together, plain_group
from hush.reports.words import described, many, shortened
from hush.types import Floats

if TYPE_CHECKING:
    from hush.reports.figures import Series

_LONGEST, _SHORT = 40, 26


def title_of(collection: Collection) -> str:
    """A collection in a few words."""
    return f"{described(collection.spec)}, {many(collection.total.n, 'report', 'reports')}"


def named(group: Any) -> str:
    """A group in words."""
    if isinstance(group, Together):
        return str(group)
    return "missing" if group is None else _console.clean(shortened(group, _LONGEST))


def headline(group: Any, n: int) -> str:
    """A group and its size, above a panel.

    >>> headline("north", 6667), headline(Together(12, 57), 240)
    ('north, 6,667 people', '12 groups of fewer than 57: 240 people')
    """
    people = many(n, "person", "people")
    if isinstance(group, Together):
        return f"{group.groups:,} groups of fewer than {group.fewer_than:,}: {people}"
    return f"{shortened(named(group), _SHORT)}, {people}"


@dataclass(frozen=True)
class EstimateSettings:
    """How the numbers were asked for."""

    level: float
    simultaneous: bool
    projection: str | None

    @property
    def kind(self) -> str:
        """What the intervals cover."""
        return "simultaneous" if self.simultaneous else "pointwise"

    @property
    def interval(self) -> str:
        """The intervals, in words."""
        return f"{self.level * 100:g} % interval"

    def caption(self, results: list[Result]) -> str:
        """What a figure shows, in words."""
        final = "" if self.projection is None else f", and a {self.projection} projection, which has none"
        return f"{self.kind} {self.interval}s, {resting(results)}{final}"


@dataclass(frozen=True)
class Result:
    """The numbers of one group; `order` says which values to show, and in which order."""

    group: Any
    estimate: Estimate
    interval: Interval[Floats]
    projected: Floats | None
    order: npt.NDArray[np.int64]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One plain dict for each value shown; each count stands after the frequency that it comes from."""
        raw, labels = self.estimate, self.estimate.labels
        found = []
        for i in self.order:
            row = {
                "label": labels[i],
                "frequency": float(raw.frequencies[i]),
                "stderr": float(raw.stderr[i]),
                "lower": float(self.interval.lower[i]),
                "upper": float(self.interval.upper[i]),
                "method": self.interval.methods[i],
                "count": float(raw.frequencies[i]) * raw.n,
            }
            if self.projected is not None:
                final = float(self.projected[i])
                row |= {"projected": final, "projected_count": final * raw.n}
            found.append(row)
        return found

    @property
    def title(self) -> str:
        """The group and its size."""
        return f"{named(self.group)} ({many(self.estimate.n, 'report', 'reports')})"

    @property
    def plain(self) -> dict[str, Any]:
        """The group, for programs."""
        return plain_group(self.group, self.estimate.n)

    def series(self, whole: Estimate | None = None) -> Series:
        """The same for a figure; of a group, beside everybody's."""
        from hush.reports.figures import Series

        labels, at = [str(self.estimate.labels[i]) for i in self.order], self.order
        final = None if self.projected is None else self.projected[at]
        name = "" if whole is None else headline(self.group, self.estimate.n)
        every = None if whole is None else whole.frequencies[at]
        lower, upper = (ends[at] for ends in self.interval)
        return Series(name, labels, self.estimate.frequencies[at], lower, upper, projected=final, whole=every)


def resting(results: list[Result]) -> str:
    """In a word or two, what the intervals rest on."""
    return " and ".join(sorted({word for each in results for word in each.interval.methods}))


def rows_of(estimate: Estimate, group: Any, settings: EstimateSettings) -> Result:
    """Everything that is printed of one group."""
    found = estimate.interval(settings.level, simultaneous=settings.simultaneous)
    projected = None if settings.projection is None else estimate.project(settings.projection).frequencies
    return Result(group, estimate, found, projected, np.arange(estimate.domain.size))


def shown(result: Result, top: int | None) -> Result:
    """The most frequent values first, and only so many; all in the domain's order when no number is given."""
    if top is None:
        return result
    return replace(result, order=np.argsort(-result.estimate.frequencies, kind="stable")[:top])


def as_dict(
    collection: Collection, results: list[Result], by: str | None, settings: EstimateSettings
) -> dict[str, Any]:
    """The JSON of `hush estimate`."""
    whole = {
        **collection.to_dict(),
        "level": settings.level,
        "simultaneous": settings.simultaneous,
        "projection": settings.projection,
    }
    if by is None:
        return {**whole, "estimate": results[0].rows}
    groups = [{**each.plain, "estimate": each.rows} for each in results]
    return {**whole, "by": by, "groups": groups}


def as_csv(results: list[Result], by: str | None) -> str:
    """All numbers, one line a value."""
    text = io.StringIO()
    lead = [] if by is None else [by, "n"]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*lead, *results[0].rows[0]])
    for each in results:
        group = [] if by is None else [each.plain["group"], each.estimate.n]
        writer.writerows([*group, *row.values()] for row in each.rows)
    return text.getvalue()


def show(collection: Collection, results: list[Result], by: str | None, settings: EstimateSettings) -> None:
    """Print the tables."""
    console = _console.stdout()
    console.print(_console.cell(title_of(collection), "bold"))
    for words in collection.randomness:
        if words != "secure":
            _console.warn(f"these reports do not come from secure randomness: {words}")
    final = settings.projection
    for result in results:
        if by is not None:
            console.print()
        title = None if by is None else f"{by} = {result.title}"
        _grid.show(console, _columns(settings), [_cells(row) for row in result.rows], title, _hidden(result))
    after = "" if final is None else f" “{final}” and its count are post-processed: no interval holds for them."
    _console.note(f"Frequencies are raw and unbiased; intervals are {settings.kind}, {resting(results)}.{after}")


def _columns(settings: EstimateSettings) -> list[_grid.Column]:
    column, final = _grid.Column, settings.projection
    raw = [column("frequency"), column("±"), column(settings.interval, rank=1)]
    if final is None:
        return [column("value", "left"), *raw, column("count")]
    return [column("value", "left"), column(final), column(f"count by {final}"), *raw]


def _cells(row: dict[str, Any]) -> list[str]:
    label = shortened(_console.clean(row["label"]), _LONGEST)
    reach, between = (row["upper"] - row["lower"]) / 2, f"{row['lower']:.5f} … {row['upper']:.5f}"
    raw = [f"{row['frequency']:.5f}", f"{reach:.5f}", between]
    if "projected" not in row:
        return [label, *raw, f"{row['count']:,.0f}"]
    return [label, f"{row['projected']:.5f}", f"{row['projected_count']:,.0f}", *raw]


def _hidden(result: Result) -> str | None:
    total, here = result.estimate.domain.size, len(result.order)
    return None if here == total else f"the {here:,} most frequent of {total:,} values"
