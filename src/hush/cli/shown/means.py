"""Estimated means and totals as a table."""

from __future__ import annotations

from hush.cli.shown import grid, terminal
from hush.cli.shown.estimates import named, places, title_of, warn_of_randomness
from hush.files.collections import Collection
from hush.files.means import GroupMean


def show(collection: Collection, means: list[GroupMean], by: str | None, level: float) -> None:
    """Print the table: a line for each group, with the mean of its people and their total."""
    console, column = terminal.stdout(), grid.Column
    console.print(terminal.cell(title_of(collection), "bold"))
    warn_of_randomness(collection)
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
