"""From the rows of a table to a file of reports: read, put in order, randomized, written once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hush.errors import ParameterError, Unsaid, message
from hush.files import reports as report_files
from hush.files.batches import evenly, plain
from hush.files.kept import Groups
from hush.files.order import Shuffler
from hush.files.progress import Progress, unseen
from hush.files.tables import TableFile
from hush.mechanisms.spec import Spec
from hush.people.amounts import AmountReader
from hush.people.arrow import to_arrow, to_numpy
from hush.people.coding import EQUAL, Coder, Likeness

Cells = Coder | AmountReader

_READ = 1 << 18


@dataclass(frozen=True)
class Written:
    """What a file of reports holds."""

    reports: int
    smallest_group: int | None
    """Reports whose kept cells are alike, at least; None where none are kept, or groups cannot be counted."""
    unmatched: int
    """Rows whose cell is no label, which report the label that takes those in."""
    missing: int
    """Rows without a value, which do so, too."""
    clipped: int
    """Rows whose number lies beyond the range, which report its end."""
    blank: int
    """Blank lines between several columns, which report nothing."""


@dataclass(frozen=True)
class Rows:
    """Rows that become reports.

    Args:
        path: The table.
        column: The column to protect.
        kept: Columns that stay beside it.
        spec: What makes reports of its values, one by one: of frequencies, or of a mean.
        clip: Whether numbers beyond the range count as its end.
        alike: What a cell may differ in from its label.
    """

    path: Path
    column: str
    kept: list[str]
    spec: Spec
    clip: bool
    alike: Likeness = EQUAL

    def write(self, output: Path, order: str, temporary: Path, *, progress: Progress = unseen) -> Written:
        """Randomize all rows into a report file, in this order (see `hush.files.reports`)."""
        groups, n, cells, table = Groups(), 0, self._reader(), self._table()
        if order == report_files.SHUFFLED:
            ordered = self._shuffled(table, cells, temporary, progress)
        else:
            ordered = self._as_read(table, cells, progress)
        with report_files.writing(output, self.spec, "secure", order) as write, closing(ordered):
            for batch in ordered:
                kept = batch.select(self.kept) if self.kept else None
                write(self.spec.mechanism.privatize(to_numpy(batch.column(0))), kept)
                n += batch.num_rows
                if kept is not None:
                    groups.add(kept)
        return Written(n, groups.smallest, cells.unmatched, cells.missing, cells.clipped, table.blank)

    def _shuffled(
        self, table: TableFile, cells: Cells, temporary: Path, progress: Progress
    ) -> Generator[Any, None, None]:
        with Shuffler(temporary=temporary) as shuffler:
            with progress(f"Reading {self.path.name}", table.size) as advance:
                for batch in self._coded(table, cells, advance):
                    shuffler.add(batch)
            with progress(f"Randomizing {self.path.name}", shuffler.rows) as advance:
                for batch in self._parts(shuffler):
                    yield batch
                    advance(batch.num_rows)

    def _as_read(self, table: TableFile, cells: Cells, progress: Progress) -> Generator[Any, None, None]:
        with progress(f"Randomizing {self.path.name}", table.size) as advance:
            yield from self._parts(self._coded(table, cells, advance))

    def _parts(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The row groups of the file."""
        return evenly(batches, report_files.batch_rows(self.spec), report_files.BATCH_BYTES)

    def _table(self) -> TableFile:
        return TableFile(self.path, {self.column: "--column", **dict.fromkeys(self.kept, "--keep")}, _READ)

    def _coded(self, table: TableFile, cells: Cells, advance: Callable[[float], None]) -> Iterator[Any]:
        """The values as few bytes, never as labels, and the kept cells behind them."""
        import pyarrow as pa

        done = 0
        for batch in table.batches(advance):
            values = cells.encode(batch.column(0), done + 1).astype(_values(self.spec), copy=False)
            kept = plain(batch.select(self.kept))
            yield pa.record_batch([to_arrow(values), *kept.columns], [report_files.COLUMN, *self.kept])
            done += batch.num_rows

    def _reader(self) -> Cells:
        """What turns the column's cells into what the mechanism takes."""
        if self.spec.mechanism.kind != "numeric":
            return Coder(self.spec.domain, self.column, clip=self.clip, alike=self.alike)
        if self.alike.option is not None:
            raise ParameterError(message(self.alike.option, "needs labels", Unsaid("numbers"), "leave it out"))
        return AmountReader(self.spec.mechanism, self.column, clip=self.clip)


def _values(spec: Spec) -> np.dtype[Any]:
    """The smallest type of what the mechanism takes."""
    return np.dtype(float) if spec.mechanism.kind == "numeric" else np.min_scalar_type(spec.mechanism.k - 1)
