"""Rows of one run before anybody is charged: people and periods by number, values as few bytes, in a random order."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, Unsaid, message
from hush.files.clients.rows import PeopleRows, numbered
from hush.files.order import Shuffler
from hush.files.periods import in_order
from hush.mechanisms.spec import Spec
from hush.people.arrow import to_arrow
from hush.types import Ints

NO_PERIOD = ""
"""The name of the only period where there are none."""
FIRST = 2
"""Columns of a batch before the values: person and period."""

_PERSON_BITS = 40
_PERSON = (1 << _PERSON_BITS) - 1

Staged = npt.NDArray[np.int64]
"""Pairs of a period and a person, one number each, in ascending order."""


def pairs(periods: Ints, people: Ints) -> Staged:
    """A period and a person as one number."""
    return periods << _PERSON_BITS | people


def value_types(spec: Spec) -> list[np.dtype[Any]]:
    """The smallest type of each value of a row."""
    m = spec.mechanism
    if m.kind == "numeric":
        return [np.dtype(float)]
    return [np.dtype(np.min_scalar_type(k - 1)) for k in getattr(m, "sizes", None) or [m.k]]


class Staging:
    """Takes the rows of a run.

    Args:
        connection: Of the store, within a transaction.
        collection: Its number.
        hashed: What a person is called in the store.
        spec: What the rows' values are of.
        temporary: A folder for rows that do not fit the memory.
        shuffled: Whether they come out in a random order.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        collection: int,
        hashed: Callable[[object], bytes],
        spec: Spec,
        temporary: Path | None,
        shuffled: bool,
    ) -> None:
        self._sql, self._collection, self._hashed = connection, collection, hashed
        self._types = value_types(spec)
        self.rows = 0
        """How many were taken."""
        self._shuffler = Shuffler(temporary=temporary)
        self._rows: list[Any] | None = None if shuffled else []
        self.periods: dict[str, int] = {}
        """The number of each period of this run."""
        connection.execute("DROP TABLE IF EXISTS temp.asked")
        connection.execute(
            "CREATE TEMP TABLE asked (period INT, person INT, times INT, PRIMARY KEY (period, person)) WITHOUT ROWID"
        )

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._shuffler.__exit__(kind, error, at)

    @property
    def names(self) -> dict[int, str]:
        """The name of each period, by its number."""
        return {number: name for name, number in self.periods.items()}

    def in_order(self) -> tuple[str, ...]:
        """The periods, in their order."""
        return tuple(name for name in in_order(self.periods) if name != NO_PERIOD)

    def add(self, rows: PeopleRows) -> None:
        """Take some rows."""
        import pyarrow as pa

        names = [NO_PERIOD] * len(rows.people) if rows.periods is None else rows.periods
        if not len(rows.people) == len(names) == len(rows.held):
            rule, got = "must have a person, a period and a value each", Unsaid("columns of different lengths")
            raise ParameterError(message("rows", rule, got, "fill them up"))
        people, periods = self._numbers(rows.people), self._period_numbers(names)
        asked, times = np.unique(pairs(periods, people), return_counts=True)
        self._sql.executemany(
            "INSERT INTO asked VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET times = times + excluded.times",
            zip((asked >> _PERSON_BITS).tolist(), (asked & _PERSON).tolist(), times.tolist(), strict=True),
        )
        columns = np.atleast_2d(rows.held.T)
        held = [np.ascontiguousarray(column, kind) for column, kind in zip(columns, self._types, strict=True)]
        arrays = [people, periods, *held]
        kept = [] if rows.kept is None else rows.kept.columns
        titles = [str(i) for i in range(len(arrays))] + ([] if rows.kept is None else rows.kept.schema.names)
        batch = pa.record_batch([*map(to_arrow, arrays), *kept], titles)
        self.rows += batch.num_rows
        (self._shuffler.add if self._rows is None else self._rows.append)(batch)

    def batches(self) -> Iterator[Any]:
        """All rows, once: person, period, values, and what is kept."""
        yield from self._shuffler if self._rows is None else self._rows

    def _numbers(self, people: Any) -> Ints:
        """The number of each person; those who are new get one."""
        return numbered(self._sql, list(map(self._hashed, people)))

    def _period_numbers(self, periods: Any) -> Ints:
        for name in dict.fromkeys(periods):
            if name not in self.periods:
                self._sql.execute("INSERT INTO period (name) VALUES (?) ON CONFLICT DO NOTHING", [name])
                (number,) = self._sql.execute("SELECT id FROM period WHERE name = ?", [name]).fetchone()
                self.periods[name] = int(number)
        return np.fromiter(map(self.periods.__getitem__, periods), np.int64, len(periods))
