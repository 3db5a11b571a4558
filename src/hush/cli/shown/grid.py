"""Tables on the terminal: in one style, and never wider than it.

Where a window is narrow, the least important columns are left out, and said to be; what still does not fit is folded
into several lines. Nothing is cut off, even where a window has not three letters for each column that stays: then it
must break the lines itself. Into a file or another program, which have no width, all columns go as wide as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hush.cli.shown import terminal

_GAP = 2
_LEAST = 6  # what a label needs to be read
_FOLDED = 3  # what any cell gets


@dataclass(frozen=True)
class Column:
    """A column; of those with a rank, the one with the highest is the first to go."""

    name: str
    justify: Literal["left", "right"] = "right"
    rank: int = 0


def show(
    console: Console,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Any]],
    title: str | None = None,
    caption: str | None = None,
) -> None:
    """Print a table of plain texts or `terminal.cell`s."""
    cells = [[each if isinstance(each, Text) else terminal.cell(each) for each in row] for row in rows]
    width, wide = console.width, _wide(columns, cells)
    if terminal.is_pipe(console):
        width = max(width, sum(wide) + _GAP * len(columns))
    kept = fitting(columns, cells, width)
    width = max(width, sum(min(wide[i], _FOLDED) + _GAP for i in kept) - _GAP)
    fixed = _fixed([columns[i] for i in kept], [[row[i] for row in cells] for i in kept], width)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for i, own in zip(kept, fixed, strict=True):
        table.add_column(Text(columns[i].name), justify=columns[i].justify, overflow="fold", width=own)
    for row in cells:
        table.add_row(*(row[i] for i in kept))
    if title is not None:
        console.print(terminal.cell(title, "bold"))
    usual, console.width = console.width, width
    console.print(table)
    console.width = usual
    if caption is not None:
        console.print(terminal.cell(caption, "dim"))
    out = [column.name for i, column in enumerate(columns) if i not in kept]
    if out:
        terminal.note(f"The window is narrow: left out {', '.join(out)}. Widen it, or use --json.")


def fitting(columns: Sequence[Column], rows: Sequence[Sequence[Any]], width: int) -> list[int]:
    """Which columns to show, by index."""
    wide = _wide(columns, rows)
    kept = list(range(len(columns)))
    while sum(wide[i] + _GAP for i in kept) - _GAP > width:
        least = max(kept, key=lambda i: columns[i].rank)
        if columns[least].rank == 0:
            break
        kept.remove(least)
    return kept


def _fixed(columns: Sequence[Column], cells: Sequence[Sequence[Any]], width: int) -> list[int | None]:
    """Widths at which headers fold between their words and labels fold, but no number does; none where all fits.

    None too where even that is too wide: then everything shrinks alike.
    """
    free = [None] * len(columns)
    if sum(_width(c.name, inside) + _GAP for c, inside in zip(columns, cells, strict=True)) - _GAP <= width:
        return list(free)
    least = [_width(max(c.name.split(), key=len, default=""), i) for c, i in zip(columns, cells, strict=True)]
    left = [column.justify == "left" for column in columns]
    needed = sum(min(w, _LEAST) if is_left else w for w, is_left in zip(least, left, strict=True))
    if needed + _GAP * (len(columns) - 1) > width:
        return list(free)
    return [None if is_left else w for w, is_left in zip(least, left, strict=True)]


def _wide(columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> list[int]:
    """How wide each column is where nothing bounds it."""
    return [_width(column.name, [row[i] for row in rows]) for i, column in enumerate(columns)]


def _width(name: str, cells: Sequence[Any]) -> int:
    return max([cell_len(name), *(cell.cell_len for cell in cells)])
