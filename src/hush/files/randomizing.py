"""From the rows of a table to a file of reports: read, put in order, randomized, written once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from hush.files import reports as report_files
from hush.files.batches import evenly
from hush.files.cells import CellReaders
from hush.files.inputs import Alike, Tables
from hush.files.kept import Groups
from hush.files.order import Shuffler
from hush.files.overlap import ahead, behind
from hush.files.progress import Progress, unseen
from hush.mechanisms.spec import Spec
from hush.people.coding import EQUAL, Likeness

READ = 1 << 18
"""Rows of a table that are read at a time."""


@dataclass(frozen=True)
class Written:
    """What a file of reports holds."""

    reports: int
    rows: int
    """Rows that were read; over time not all of them report."""
    smallest_group: int | None
    """Reports whose kept cells are alike, at least; None where none are kept, or groups cannot be counted."""
    unmatched: dict[str, int]
    """For each column, rows whose cell is no label, which report the label that takes those in."""
    missing: dict[str, int]
    """For each column, rows without a value, which do so, too."""
    clipped: dict[str, int]
    """For each column, rows whose number lies beyond the range, which report its end."""
    blank: int
    """Blank lines between several columns, which report nothing."""


@dataclass(frozen=True)
class Rows:
    """Rows that become reports.

    Args:
        paths: The tables, of one file or several.
        columns: The columns to protect: for tuples one for each attribute, in order; else one.
        kept: Columns that stay beside the reports.
        spec: What makes reports of their values, one for each row.
        clip: Whether numbers beyond the range count as its end.
        alike: What a cell may differ in from its label.
    """

    paths: Sequence[PathLike[str]]
    columns: list[str]
    kept: list[str]
    spec: Spec
    clip: bool
    alike: Likeness = EQUAL

    def write(self, output: Path, order: str, temporary: Path, *, progress: Progress = unseen) -> Written:
        """Randomize all rows into a report file, in this order (see `hush.files.reports`)."""
        groups, n, table = Groups(), 0, self.table()
        cells = CellReaders(self.spec, self.columns, clip=self.clip, alike=self.alike)
        if order == report_files.SHUFFLED:
            ordered = self._shuffled(table, cells, temporary, progress)
        else:
            ordered = self._as_read(table, cells, progress)
        with (
            report_files.writing(output, self.spec, "secure", order) as write,
            behind(write) as put,
            closing(ordered),
        ):
            for batch in ordered:
                kept = batch.select(self.kept) if self.kept else None
                put(self.spec.mechanism.privatize(cells.values(batch.column(0))), kept)
                n += batch.num_rows
                if kept is not None:
                    groups.add(kept)
        return Written(n, n, groups.smallest, cells.unmatched, cells.missing, cells.clipped, table.blank)

    def _shuffled(
        self, table: Tables, cells: CellReaders, temporary: Path, progress: Progress
    ) -> Generator[Any, None, None]:
        with Shuffler(temporary=temporary) as shuffler:
            with (
                progress(f"Reading {table.title}", table.size) as advance,
                closing(ahead(self._coded(table, cells, advance))) as batches,
            ):
                for batch in batches:
                    shuffler.add(batch)
            with (
                progress(f"Randomizing {table.title}", shuffler.rows) as advance,
                closing(ahead(self._parts(shuffler, cells))) as parts,
            ):
                for batch in parts:
                    yield batch
                    advance(batch.num_rows)

    def _as_read(self, table: Tables, cells: CellReaders, progress: Progress) -> Generator[Any, None, None]:
        with (
            progress(f"Randomizing {table.title}", table.size) as advance,
            closing(ahead(self._parts(self._coded(table, cells, advance), cells))) as parts,
        ):
            yield from parts

    def _parts(self, batches: Iterable[Any], cells: CellReaders) -> Iterator[Any]:
        """The row groups of the file."""
        rows = min(report_files.batch_rows(self.spec), cells.rows)
        return evenly(batches, rows, report_files.BATCH_BYTES)

    def table(self) -> Tables:
        """The tables, as they are read."""
        wanted = {**dict.fromkeys(self.columns, "--column"), **dict.fromkeys(self.kept, "--keep")}
        return Tables(self.paths, wanted, READ, self.columns)

    def blocks(self, table: Tables, cells: CellReaders) -> Iterator[Any]:
        """The rows in their order, coded, in batches that depend on nothing but the rows."""
        return self._parts(self._coded(table, cells, lambda size: None), cells)

    def _coded(self, table: Tables, cells: CellReaders, advance: Callable[[float], None]) -> Iterator[Any]:
        """The values as few bytes, never as labels, and the kept cells behind them."""
        import pyarrow as pa

        alike = Alike()
        for batch, first_row, told in table.batches(advance):
            kept = alike(batch.select(self.kept))
            with told():
                values = cells.encode(batch, first_row)
            yield pa.record_batch([values, *kept.columns], [report_files.COLUMN, *self.kept])
