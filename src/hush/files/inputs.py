"""Tables that are read together: the rows of one after those of the other, as if they were one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, NamedTuple

from hush.errors import DomainError, ParameterError, Unsaid, message
from hush.files.batches import plain
from hush.files.tables import TableFile


class Some(NamedTuple):
    """Rows of one file.

    Args:
        batch: The columns that are wanted.
        first_row: The number of its first row in the file, from 1.
        told: Names the file, where there are several, in what is wrong with a row.
    """

    batch: Any
    first_row: int
    told: Callable[[], Any]


class Tables:
    """Some columns of several files, each as `TableFile` reads it.

    Args:
        paths: The files, at least one.
        columns: The columns wanted, and the option that each was named with.
        rows: At most so many rows in a batch.
        coded: Columns whose texts come as codes of a dictionary.
    """

    def __init__(
        self, paths: Sequence[PathLike[str]], columns: Mapping[str, str], rows: int, coded: Collection[str] = ()
    ) -> None:
        self._tables = [TableFile(path, columns, rows, coded) for path in paths]
        self._before, self._named = 0, len(self._tables) > 1

    def cut(self, units: range | None, before: int, *, named: bool) -> Tables:
        """Only some row groups of the one file.

        Args:
            units: The row groups; None for all of it.
            before: How many of its rows come before them.
            named: Whether there are other files, so that what is wrong with a row must name this one.
        """
        self._tables[0].units, self._before, self._named = units, before, named
        return self

    @property
    def size(self) -> int:
        """What there is to read, in bytes."""
        return sum(table.size for table in self._tables)

    @property
    def blank(self) -> int:
        """Blank lines between several columns, which are no rows."""
        return sum(table.blank for table in self._tables)

    @property
    def title(self) -> str:
        """What a person would call them."""
        return self._tables[0].path.title if len(self._tables) == 1 else f"{len(self._tables):,} files"

    def batches(self, advance: Callable[[float], None]) -> Iterator[Some]:
        """Rows of all files; `advance` hears how many bytes they took."""
        for table in self._tables:
            first = 1 + self._before
            for batch in table.batches(advance):
                yield Some(batch, first, self._told(table))
                first += batch.num_rows

    def _told(self, table: TableFile) -> Callable[[], Any]:
        @contextmanager
        def told() -> Iterator[None]:
            try:
                yield
            except DomainError as error:
                raise DomainError(f"{table.path}: {error}") if self._named else error from None

        return told


class Alike:
    """Kept cells of several files, which must be of one type to stand in one column."""

    def __init__(self) -> None:
        self._schema: Any = None

    def __call__(self, kept: Any) -> Any:
        """The cells, with no dictionary; refused if they differ in type from those before."""
        cells = plain(kept)
        self._schema = cells.schema if self._schema is None else self._schema
        for now, before in zip(cells.schema, self._schema, strict=True):
            if now.type != before.type:
                rule, got = "must be of one type in all files", Unsaid(f"{now.name}: {before.type} and {now.type}")
                raise ParameterError(message("--keep", rule, got, "write the files alike"))
        return cells
