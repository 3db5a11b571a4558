"""Columns that stand beside the reports in the clear: which they may be, and among how many they leave a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hush.errors import ParameterError, message
from hush.files.reports import COLUMN

_MOST, _MOST_BYTES = 100_000, 1 << 26
"""Groups that are counted, and what their cells may take."""
_COUNT = "rows"
_COUNTABLE = b"countable"


def kept_columns(keep: list[str] | None, columns: Sequence[str]) -> list[str]:
    """The names, each once, none of which may be a protected column's or the reports' own."""
    names = list(dict.fromkeys(keep or []))
    for name in names:
        if name in columns:
            raise ParameterError(message("--keep", "must not be a column to protect", name, "keep another column"))
        if name == COLUMN:
            raise ParameterError(message("--keep", "must not take the reports' own name", name, "rename that column"))
    return names


class Groups:
    """Counts rows with equal cells."""

    def __init__(self) -> None:
        self._counts: Any = None
        self._countable = True

    def add(self, cells: Any) -> None:
        """Count the rows of a record batch."""
        import pyarrow as pa

        if not self._countable or cells.num_rows == 0:
            return
        names = [str(i) for i in range(cells.num_columns)]
        table = pa.table(cells.columns, names).append_column(_COUNT, pa.repeat(1, cells.num_rows))
        try:
            some = _summed(table, names)
        except pa.ArrowNotImplementedError:  # lists and the like have no groups
            self._countable = False
            return
        self._take(some if self._counts is None else _summed(pa.concat_tables([self._counts, some]), names))

    def _take(self, counts: Any) -> None:
        self._counts = counts
        self._countable = len(counts) <= _MOST and counts.nbytes <= _MOST_BYTES

    def with_all(self, others: Groups) -> Groups:
        """These rows and others, counted elsewhere."""
        import pyarrow as pa

        found = Groups()
        counts = [each._counts for each in (self, others) if each._counts is not None]
        names = counts[0].column_names[:-1] if counts else []
        found._countable = self._countable and others._countable
        if found._countable and counts:
            found._take(_summed(pa.concat_tables(counts), names))
        return found

    def to_table(self) -> Any:
        """What was counted, as a table of Arrow; of what cannot be counted, one without columns."""
        import pyarrow as pa

        counts = pa.table({}) if self._counts is None or not self._countable else self._counts
        return counts.replace_schema_metadata({_COUNTABLE: str(int(self._countable))})

    @classmethod
    def from_table(cls, table: Any) -> Groups:
        """What `to_table` told."""
        found = cls()
        found._counts = table if table.num_columns else None
        found._countable = table.schema.metadata[_COUNTABLE] == b"1"
        return found

    @property
    def smallest(self) -> int | None:
        """Rows of the smallest group; None where there are none, too many groups, or cells that make none."""
        import pyarrow.compute as pc

        if self._counts is None or not self._countable:
            return None
        return int(pc.min(self._counts[_COUNT]).as_py())


def _summed(table: Any, names: list[str]) -> Any:
    found = table.group_by(names).aggregate([(_COUNT, "sum")])
    return found.rename_columns([name.removesuffix("_sum") for name in found.column_names])
