"""Estimates as tables, and in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hush.cli.shown import grid, terminal
from hush.estimation import Estimate
from hush.files.collections import Collection
from hush.files.estimates import EstimateSettings, Result, resting
from hush.files.groups import Together
from hush.reports.words import described, many, shortened

if TYPE_CHECKING:
    from hush.reports.figures import Series

_LONGEST, _SHORT = 40, 26
SUMMED = (
    "A total is that of these people, each value times its amount, raw and unbiased; its interval stands by itself."
)


def title_of(collection: Collection) -> str:
    """A collection in a few words."""
    bare = str(collection.period).isdigit()  # as a collector numbers them: a number alone says nothing
    when = "" if collection.period is None else f" of {'period ' * bare}{named(collection.period)}"
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


def titled(result: Result) -> str:
    """A group and its size."""
    return f"{named(result.group)} ({many(result.estimate.n, 'report', 'reports')})"


def heading(result: Result) -> str:
    """An attribute, and how many reports are about it where not all are."""
    n, name = result.estimate.n, terminal.clean(shortened(result.attribute, _LONGEST))
    return name if result.about == n else f"{name} ({result.about:,} of {many(n, 'report', 'reports')})"


def series_of(result: Result, whole: Estimate | None = None) -> Series:
    """The numbers of a group for a figure; beside everybody's."""
    from hush.reports.figures import Series

    labels, at = [str(result.estimate.labels[i]) for i in result.order], result.order
    final = None if result.projected is None else result.projected[at]
    name = heading(result) if result.attribute is not None else ""
    name = name if whole is None else headline(result.group, result.estimate.n)
    every = None if whole is None else whole.frequencies[at]
    lower, upper = (ends[at] for ends in result.interval)
    return Series(name, labels, result.estimate.frequencies[at], lower, upper, projected=final, whole=every)


def warn_of_randomness(collection: Collection) -> None:
    """Say where reports do not come from secure randomness, or may not: a collector does not see its clients' own."""
    for words in collection.randomness:
        if words == "unknown":
            terminal.note("Whether these reports come from secure randomness, their files do not say.")
        elif words != "secure":
            terminal.warn(f"these reports do not come from secure randomness: {words}")


def show(collection: Collection, results: list[Result], by: str | None, settings: EstimateSettings) -> None:
    """Print the tables."""
    console = terminal.stdout()
    console.print(terminal.cell(title_of(collection), "bold"))
    warn_of_randomness(collection)
    final = settings.projection
    for result in results:
        if by is not None or result.attribute is not None:
            console.print()
        titles = [] if by is None else [f"{by} = {titled(result)}"]
        titles += [] if result.attribute is None else [heading(result)]
        if not result.known:
            console.print(terminal.cell(f"{', '.join(titles)}: no report is about it", "bold"))
            continue
        title = ", ".join(titles) or None
        grid.show(console, _columns(settings), [_cells(row) for row in result.rows], title, _hidden(result))
        if result.total is not None:
            console.print(terminal.cell(f"total {total_in_words(result, settings)}", "bold"))
    _unknown(results)
    after = "" if final is None else f" “{final}” and its count are post-processed: no interval holds for them."
    rest = f"intervals are {settings.kind}{settings.over}, {resting(results)}"
    terminal.note(f"Frequencies are raw and unbiased; {rest}.{after}")
    if any(each.total is not None for each in results):
        terminal.note(SUMMED)


def total_in_words(result: Result, settings: EstimateSettings) -> str:
    """A total, how far its interval reaches on the longer side, its ends and what they rest on."""
    told = result.total or {}
    centre, lower, upper = told["total"], told["lower"], told["upper"]
    reach = max(upper - centre, centre - lower)
    digits = places(reach)
    ends = f"{lower:,.{digits}f} … {upper:,.{digits}f} ({told['method']})"
    return f"{centre:,.{digits}f} ± {reach:,.{digits}f}, {settings.interval} {ends}"


def places(reach: float) -> int:
    """Digits after the point that show three digits of an error.

    >>> places(0.01234), places(1.5), places(25_000.0)
    (4, 2, 0)
    """
    return min(max(0, 2 - math.floor(math.log10(reach))), 12) if reach > 0 else 5


def show_rows(title: str, result: Result, settings: EstimateSettings) -> None:
    """Print one table of an estimate that is of no single collection."""
    console = terminal.stdout()
    console.print(terminal.cell(title, "bold"))
    grid.show(console, _columns(settings), [_cells(row) for row in result.rows], None, _hidden(result))
    terminal.note(f"Frequencies are raw and unbiased; intervals are {settings.kind}, {resting([result])}.")


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
