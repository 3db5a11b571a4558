"""Estimated means and totals: as a table, JSON and CSV."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import Any

from hush.cli.shown import grid, terminal
from hush.cli.shown.estimates import named, title_of
from hush.estimation.laws import Interval
from hush.files.collections import Collection
from hush.files.groups import plain_group
from hush.mechanisms.numeric.estimate import MeanEstimate


@dataclass(frozen=True)
class GroupMean:
    """The mean and the total of one group."""

    group: Any
    estimate: MeanEstimate
    interval: Interval[float]

    @property
    def plain(self) -> dict[str, Any]:
        """The group, for programs."""
        return plain_group(self.group, self.estimate.n)

    @property
    def row(self) -> dict[str, Any]:
        """Plain numbers."""
        found, n = self.estimate, self.estimate.n
        lower, upper = self.interval
        return {
            "n": n,
            "mean": found.mean,
            "stderr": found.stderr,
            "lower": lower,
            "upper": upper,
            "method": self.interval.method,
            "total": found.total,
            "total_stderr": found.total_stderr,
            "total_lower": lower * n,
            "total_upper": upper * n,
        }


def means_of(collection: Collection, level: float) -> list[GroupMean]:
    """One for each group."""
    found = [(group, collection.spec.estimate(part)) for group, part in collection.parts.items()]
    return [GroupMean(group, each, each.interval(level)) for group, each in found]


def as_dict(collection: Collection, means: list[GroupMean], by: str | None, level: float) -> dict[str, Any]:
    """The JSON of `hush estimate`."""
    whole = {
        **collection.to_dict(),
        "level": level,
    }
    if by is None:
        return {**whole, "estimate": means[0].row}
    return {
        **whole,
        "by": by,
        "groups": [{**each.plain, "estimate": each.row} for each in means],
    }


def as_csv(means: list[GroupMean], by: str | None) -> str:
    """All numbers, one line a group."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*([] if by is None else [by]), *means[0].row])
    writer.writerows([*([] if by is None else [each.plain["group"]]), *each.row.values()] for each in means)
    return text.getvalue()


def show(collection: Collection, means: list[GroupMean], by: str | None, level: float) -> None:
    """Print the table: a line for each group, with the mean of its people and their total."""
    console, column = terminal.stdout(), grid.Column
    console.print(terminal.cell(title_of(collection), "bold"))
    for words in collection.randomness:
        if words != "secure":
            terminal.warn(f"these reports do not come from secure randomness: {words}")
    between = f"{level * 100:g} % interval"
    grouped = [] if by is None else [column(terminal.clean(by), "left"), column("reports", rank=1)]
    numbers = [
        column("mean"),
        column("±"),
        column(between, rank=2),
        column("total"),
        column("±"),
        column(between, rank=3),
    ]
    rows = [[*([] if by is None else [named(each.group), f"{each.estimate.n:,}"]), *_cells(each)] for each in means]
    grid.show(console, [*grouped, *numbers], rows)
    rest = " and ".join(sorted({each.interval.method for each in means}))
    whose = "of these people" if by is None else "of each group's people"
    terminal.note(
        f"Means are raw and unbiased, and may fall outside the range; totals are those {whose}, n times the mean; "
        f"intervals are {rest}."
    )


def _cells(each: GroupMean) -> list[str]:
    n, cells = each.estimate.n, []
    for times in (1, n):
        centre, lower, upper = (x * times for x in (each.estimate.mean, *each.interval))
        reach = (upper - lower) / 2
        digits = places(reach)
        cells += [f"{centre:,.{digits}f}", f"{reach:,.{digits}f}", f"{lower:,.{digits}f} … {upper:,.{digits}f}"]
    return cells


def places(reach: float) -> int:
    """Digits after the point that show three digits of an error.

    >>> places(0.01234), places(1.5), places(25_000.0)
    (4, 2, 0)
    """
    return min(max(0, 2 - math.floor(math.log10(reach))), 12) if reach > 0 else 5
