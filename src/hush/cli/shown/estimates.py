"""Estimates as plain rows, JSON and CSV."""

from __future__ import annotations

import csv
import io
import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hush.cli.shown import grid, terminal
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
    when = "" if collection.period is None else f" of {named(collection.period)}"
    return f"{described(collection.spec)}, {many(collection.total.n, 'report', 'reports')}{when}"


def named(group: Any) -> str:
    """A group in words."""
    if isinstance(group, Together):
        return str(group)
    return "missing" if group is None else terminal.clean(shortened(group, _LONGEST))


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
    together: int = 1
    """Attributes that intervals cover at once, where they cover all values at once."""

    @property
    def kind(self) -> str:
        """What the intervals cover."""
        return "simultaneous" if self.simultaneous else "pointwise"

    @property
    def over(self) -> str:
        """How many attributes they cover at once, where those are several."""
        return f" over all {self.together} attributes" if self.simultaneous and self.together > 1 else ""

    @property
    def interval(self) -> str:
        """The intervals, in words."""
        return f"{self.level * 100:g} % interval"

    def caption(self, results: list[Result]) -> str:
        """What a figure shows, in words."""
        final = "" if self.projection is None else f", and a {self.projection} projection, which has none"
        return f"{self.kind} {self.interval}s{self.over}, {resting(results)}{final}"


@dataclass(frozen=True)
class Result:
    """The numbers of one group; `order` says which values to show, and in which order."""

    group: Any
    estimate: Estimate
    interval: Interval[Floats]
    projected: Floats | None
    order: npt.NDArray[np.int64]
    attribute: str | None = None
    """Which attribute of a tuple it is about; None for a single value."""
    about: int = 0
    """How many reports are."""

    @property
    def known(self) -> bool:
        """Whether there is any report about it."""
        return self.about > 0

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
    def heading(self) -> str:
        """The attribute, and how many reports are about it where not all are."""
        n, name = self.estimate.n, terminal.clean(shortened(self.attribute, _LONGEST))
        return name if self.about == n else f"{name} ({self.about:,} of {many(n, 'report', 'reports')})"

    @property
    def plain(self) -> dict[str, Any]:
        """The group, for programs."""
        return plain_group(self.group, self.estimate.n)

    def series(self, whole: Estimate | None = None) -> Series:
        """The same for a figure; of a group, beside everybody's."""
        from hush.reports.figures import Series

        labels, at = [str(self.estimate.labels[i]) for i in self.order], self.order
        final = None if self.projected is None else self.projected[at]
        name = self.heading if self.attribute is not None else ""
        name = name if whole is None else headline(self.group, self.estimate.n)
        every = None if whole is None else whole.frequencies[at]
        lower, upper = (ends[at] for ends in self.interval)
        return Series(name, labels, self.estimate.frequencies[at], lower, upper, projected=final, whole=every)


def resting(results: list[Result]) -> str:
    """In a word or two, what the intervals rest on."""
    some = [each for each in results if each.known] or results
    return " and ".join(sorted({word for each in some for word in each.interval.methods}))


def rows_of(
    estimate: Estimate, group: Any, settings: EstimateSettings, attribute: str | None = None, about: int | None = None
) -> Result:
    """Everything that is printed of one group, and of one attribute of it; a union bound takes attributes together."""
    level = 1 - (1 - settings.level) / (settings.together if settings.simultaneous else 1)
    found = estimate.interval(level, simultaneous=settings.simultaneous)
    reports, size = estimate.n if about is None else about, estimate.domain.size
    projected = None if settings.projection is None or not reports else estimate.project(settings.projection)
    final = None if projected is None else projected.frequencies
    if settings.projection is not None and final is None:
        final = np.full(size, np.nan)
    return Result(group, estimate, found, final, np.arange(size), attribute, reports)


def results_of(collection: Collection, settings: EstimateSettings, only: str | None = None) -> list[Result]:
    """One for each group, or for each attribute of each group; or for one attribute only."""
    found = []
    for group, part in collection.parts.items():
        about = collection.reports_about(part)
        for name, each in collection.estimates(part).items():
            if only in (None, name):
                found.append(rows_of(each, group, settings, name, about[name]))
    return found


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
    if collection.attributes:
        whole |= {"guarantee": str(collection.spec.mechanism.guarantee)}
    if by is None:
        return {**whole, **_told(results)}
    groups = [{**each[0].plain, **_told(each)} for each in _by_group(results)]
    return {**whole, "by": by, "groups": groups}


def _told(results: list[Result]) -> dict[str, Any]:
    """The numbers of one group: its estimate, or that of each attribute."""
    if results[0].attribute is None:
        return {"estimate": results[0].rows}
    return {"attributes": [{"attribute": r.attribute, "reports": r.about, "estimate": r.rows} for r in results]}


def _by_group(results: list[Result]) -> list[list[Result]]:
    """The results of each group, which stand side by side."""
    return [list(some) for _, some in itertools.groupby(results, key=lambda each: each.group)]


def as_csv(results: list[Result], by: str | None) -> str:
    """All numbers, one line a value."""
    text = io.StringIO()
    several = results[0].attribute is not None
    lead = [*([] if by is None else [by, "n"]), *(["attribute"] if several else [])]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*lead, *results[0].rows[0]])
    for each in results:
        first = [*([] if by is None else [each.plain["group"], each.estimate.n])]
        first += [each.attribute] if several else []
        writer.writerows([*first, *row.values()] for row in each.rows)
    return text.getvalue()


def show(collection: Collection, results: list[Result], by: str | None, settings: EstimateSettings) -> None:
    """Print the tables."""
    console = terminal.stdout()
    console.print(terminal.cell(title_of(collection), "bold"))
    for words in collection.randomness:
        if words != "secure":
            terminal.warn(f"these reports do not come from secure randomness: {words}")
    final = settings.projection
    for result in results:
        if by is not None or result.attribute is not None:
            console.print()
        titles = [] if by is None else [f"{by} = {result.title}"]
        titles += [] if result.attribute is None else [result.heading]
        if not result.known:
            console.print(terminal.cell(f"{', '.join(titles)}: no report is about it", "bold"))
            continue
        title = ", ".join(titles) or None
        grid.show(console, _columns(settings), [_cells(row) for row in result.rows], title, _hidden(result))
    _unknown(results)
    after = "" if final is None else f" “{final}” and its count are post-processed: no interval holds for them."
    rest = f"intervals are {settings.kind}{settings.over}, {resting(results)}"
    terminal.note(f"Frequencies are raw and unbiased; {rest}.{after}")


def _unknown(results: list[Result]) -> None:
    """Say of which attributes nothing is known."""
    lost = list(dict.fromkeys(str(each.attribute) for each in results if not each.known))
    if lost:
        where = "" if len({each.group for each in results}) == 1 else ", in some group"
        terminal.warn(f"no report is about {', '.join(lost)}{where}: nothing is known of it. Collect more reports.")


def _columns(settings: EstimateSettings) -> list[grid.Column]:
    column, final = grid.Column, settings.projection
    raw = [column("frequency"), column("±"), column(settings.interval, rank=1)]
    if final is None:
        return [column("value", "left"), *raw, column("count")]
    return [column("value", "left"), column(final), column(f"count by {final}"), *raw]


def _cells(row: dict[str, Any]) -> list[str]:
    label = shortened(terminal.clean(row["label"]), _LONGEST)
    reach, between = (row["upper"] - row["lower"]) / 2, f"{row['lower']:.5f} … {row['upper']:.5f}"
    raw = [f"{row['frequency']:.5f}", f"{reach:.5f}", between]
    if "projected" not in row:
        return [label, *raw, f"{row['count']:,.0f}"]
    return [label, f"{row['projected']:.5f}", f"{row['projected_count']:,.0f}", *raw]


def _hidden(result: Result) -> str | None:
    total, here = result.estimate.domain.size, len(result.order)
    return None if here == total else f"the {here:,} most frequent of {total:,} values"
