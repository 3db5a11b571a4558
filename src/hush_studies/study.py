"""What a study is: parts that each compute a table, draw it as a figure, and check what the paper prints about it.

Parts do not depend on one another, so that a study can stop and go on later. Every number of a figure is in its table.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from hush.kernels.workers import THREADS, Workers, in_turn
from hush_studies.check import Check

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Value = str | int | float | None
Advance = Callable[[float], None]
Cell = TypeVar("Cell")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Settings:
    """How to make a study.

    Args:
        quick: A small version: fewer budgets, smaller domains, fewer runs.
        seed: Where chance plays, it starts here.
        engine: Who works; the numbers do not depend on it.
    """

    quick: bool = False
    seed: int = 7
    engine: Workers = field(default=THREADS, compare=False, repr=False)

    def each(self, work: Callable[[Cell], Found], cells: Iterable[Cell]) -> Iterator[Found]:
        """What the work makes of each cell of a table, in order; it goes by the cell alone, wherever it is done."""
        return in_turn(self.engine, work, cells)


@dataclass(frozen=True)
class Table:
    """Named columns and rows, the numbers of one figure."""

    columns: tuple[str, ...]
    rows: list[tuple[Value, ...]]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"every row must have the {len(self.columns)} cells of {self.columns}")

    def column(self, name: str) -> list[Any]:
        """All values of a column."""
        at = self.columns.index(name)
        return [row[at] for row in self.rows]

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """All values of a column of numbers; NaN where there is none."""
        return np.array([np.nan if each is None else each for each in self.column(name)], np.float64)

    def where(self, **wanted: Value) -> Table:
        """The rows that hold these values."""
        pairs = [(self.columns.index(name), value) for name, value in wanted.items()]
        return Table(self.columns, [row for row in self.rows if all(row[at] == value for at, value in pairs)])

    def csv(self) -> str:
        """As CSV, numbers with all their digits."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue()

    @classmethod
    def read(cls, text: str) -> Table:
        r"""The table that `csv` wrote.

        >>> Table.read("protocol,k,asr\nGRR,100,0.25\n").rows
        [('GRR', 100, 0.25)]
        """
        head, *rows = list(csv.reader(io.StringIO(text)))
        return cls(tuple(head), [tuple(_value(cell) for cell in row) for row in rows])


def _value(cell: str) -> Value:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    return cell or None


def nothing(table: Table) -> list[Check]:
    """The checks of a part about which nothing is printed."""
    return []


@dataclass(frozen=True)
class Part:
    """One figure.

    Args:
        id: Its name, and that of its files.
        title: What it shows.
        compute: Makes the table; reports progress in shares of the whole, which add up to 1.
        draw: Makes the figure.
        check: Compares the table with what the paper prints.
        seconds: Roughly how long it takes on two cores, in full and quick; the progress bar shares its length by it.
        empirical: Whether it is measured on randomized reports, or computed from formulas.
        note: What a reader should know.
        data: Data sets that it rests on and that are not part of Hush (`hush_studies.given`).
    """

    id: str
    title: str
    compute: Callable[[Settings, Advance], Table]
    draw: Callable[[Table], Figure]
    check: Callable[[Table], list[Check]] = nothing
    seconds: tuple[float, float] = (1.0, 1.0)
    empirical: bool = False
    note: str = ""
    data: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Whether computed or measured."""
        return "empirical" if self.empirical else "analytical"

    def cost(self, settings: Settings) -> float:
        """Seconds, roughly."""
        return self.seconds[settings.quick]


@dataclass(frozen=True)
class Study:
    """A published study.

    Args:
        name: What the command calls it.
        title: What it is about.
        source: The paper.
        parts: Its figures.
        version: Counts changes of its numbers, so that what an earlier version made is made again.
        about: What a reader of the page should know first.
    """

    name: str
    title: str
    source: str
    parts: tuple[Part, ...]
    version: int = 1
    about: str = ""

    def part(self, name: str) -> Part | None:
        """A part by its id."""
        return next((each for each in self.parts if each.id == name), None)


def rows_of(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> Table:
    """A table of plain Python values, whatever kind of numbers came in."""
    return Table(tuple(columns), [tuple(_plain(each) for each in row) for row in rows])


def _plain(value: Any) -> Value:
    plain: Value = value.item() if isinstance(value, np.generic) else value
    return plain
