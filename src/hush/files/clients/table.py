"""Rows of a table that say whose they are, on their way through the store to a file of reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from hush.errors import ParameterError, Unsaid, message
from hush.files import reports as report_files
from hush.files.cells import CellReaders
from hush.files.clients.rows import PeopleRows, name_of
from hush.files.clients.store import ClientStore, StoreRun
from hush.files.inputs import Alike, Tables
from hush.files.kept import Groups
from hush.files.progress import Progress, unseen
from hush.files.randomizing import READ, Written
from hush.files.randomizing import Rows as Table


@dataclass(frozen=True, kw_only=True)
class PeopleTable(Table):
    """PeopleRows that become reports, of people and periods.

    Args:
        person: The column that says whose a row is; it is written nowhere.
        period: The column that says when it was asked for, which is written in the clear; None for no periods.
        always: The one period of all rows, where no column says it.
    """

    person: str
    period: str | None = None
    always: str | None = None

    def collect(
        self,
        store: ClientStore,
        output: Path,
        order: str,
        temporary: Path,
        *,
        limit: float | Fraction | str | None = None,
        progress: Progress = unseen,
    ) -> tuple[Written, StoreRun]:
        """Make the reports of all rows with what people keep in the store, and write them."""
        groups, table = Groups(), self._people()
        cells = CellReaders(self.spec, self.columns, clip=self.clip, alike=self.alike)
        made = store.collect(
            self.spec,
            self._rows(table, cells, progress),
            output,
            limit=limit,
            shuffled=order == report_files.SHUFFLED,
            temporary=temporary,
            progress=progress,
            look=groups.add,
        )
        rows = made.reports + made.passed_over + made.refused
        counted = (cells.unmatched, cells.missing, cells.clipped, table.blank)
        return Written(made.reports + made.left_over, rows, groups.smallest, *counted), made

    def _people(self) -> Tables:
        wanted = {**dict.fromkeys(self.columns, "--column"), **dict.fromkeys(self.kept, "--keep")}
        wanted |= {self.person: "--person"} | ({} if self.period is None else {self.period: "--period"})
        return Tables(self.paths, wanted, READ, self.columns)

    def _rows(self, table: Tables, cells: CellReaders, progress: Progress) -> Iterator[PeopleRows]:
        alike = Alike()
        with progress(f"Reading {table.title}", table.size) as advance:
            for batch, first_row, told in table.batches(advance):
                people = [name_of(each) for each in self._texts(batch, self.person, "--person", first_row)]
                periods = None if self.always is None else [self.always] * batch.num_rows
                if self.period is not None:
                    periods = self._texts(batch, self.period, "--period", first_row)
                with told():
                    held = cells.values(cells.encode(batch, first_row))
                yield PeopleRows(people, periods, held, alike(batch.select(self.kept)) if self.kept else None)

    def _texts(self, batch: Any, column: str, option: str, first_row: int) -> list[str]:
        """The cells of a column as texts, none of which may be missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        cells = batch.column(column)
        if cells.null_count:
            row = first_row + pc.index(pc.is_null(cells), pa.scalar(True)).as_py()
            rule, got = "must be in every row of the input", Unsaid(f"an empty cell in row {row}")
            raise ParameterError(message(option, rule, got, "fill it in, or leave that row out"))
        try:
            texts: list[str] = pc.cast(cells, pa.string()).to_pylist()
        except pa.ArrowException:
            rule, got = "must be a column of names or numbers", Unsaid(f"{cells.type} cells")
            raise ParameterError(message(option, rule, got, "write it as text")) from None
        return texts
