"""Tables that are read: some columns of a CSV or Parquet file, batch by batch."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from hush.errors import ParameterError, Unsaid, message
from hush.files import csv_rows
from hush.files.paths import existing, quoted

CSV = (".csv", ".csv.gz")
_BLOCK = 1 << 22
_BATCH_BYTES = 1 << 25
_TEXTS = 1 << 14
"""Rows of a batch with cells of any length: in the file equal ones may take one place, but not in memory."""


class TableFile:
    """Some columns of a CSV or Parquet file, in batches; at least one, though it may be empty.

    In a CSV file, columns are read as text, exactly as they are written, and an empty field is a missing value; so is
    a blank line where there is one column. In a Parquet file they keep their types.

    Args:
        path: A .csv, .csv.gz or .parquet file.
        columns: The columns wanted, and the option that each was named with.
        rows: At most so many rows in a batch.
    """

    def __init__(self, path: Path, columns: Mapping[str, str], rows: int) -> None:
        self.path, self.options, self.columns, self.rows = path, columns, list(columns), rows
        self.blank = 0
        """Blank lines between several columns, which are no rows."""
        existing("input", path)
        self.is_csv = path.name.lower().endswith(CSV)
        if not self.is_csv and path.suffix.lower() != ".parquet":
            rule = "must end in .csv, .csv.gz or .parquet"
            raise ParameterError(message("input", rule, quoted(path), "convert or rename it"))

    @property
    def size(self) -> int:
        """What there is to read, in bytes of the file."""
        return self.path.stat().st_size

    def batches(self, advance: Callable[[float], None]) -> Iterator[Any]:
        """Record batches; `advance` hears how many bytes of the file each one took."""
        with readable(self.path):
            empty = True
            for batch, size in self._csv() if self.is_csv else self._parquet():
                for start in range(0, max(batch.num_rows, 1 if empty else 0), self.rows):
                    some = batch.slice(start, self.rows)
                    empty = False
                    yield some
                    advance(size * some.num_rows / max(batch.num_rows, 1))

    def _csv(self) -> Iterator[tuple[Any, float]]:
        import pyarrow as pa
        from pyarrow import csv as arrow

        names = header(self.path)
        self._present(names)
        blank = csv_rows.blank_lines(self.path)
        self.blank = blank if len(names) > 1 else 0
        zipped = self.path.suffix.lower() == ".gz"
        with pa.OSFile(str(self.path)) as file:
            plain = pa.CompressedInputStream(file, "gzip") if zipped else file
            reader = arrow.open_csv(
                plain,
                read_options=arrow.ReadOptions(block_size=_BLOCK),
                parse_options=arrow.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(names) > 1),
                convert_options=arrow.ConvertOptions(
                    include_columns=self.columns,
                    column_types={name: pa.string() for name in self.columns},
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            )
            seen = 0
            for batch in reader:  # a batch is a block; the file itself is read further ahead
                now = file.tell() if zipped else min(seen + _BLOCK, self.size)
                yield batch, now - seen
                seen = now
            yield _empty(reader.schema), 0

    def _parquet(self) -> Iterator[tuple[Any, float]]:
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path, pre_buffer=False, page_checksum_verification=True) as file:
            self._present(file.schema_arrow.names)
            share = self.size / max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(batch_size=self._rows_of(file), columns=self.columns):
                yield batch.select(self.columns), batch.num_rows * share
            yield _empty(file.schema_arrow).select(self.columns), 0

    def _rows_of(self, file: Any) -> int:
        """Rows of a batch: fewer where cells are long."""
        import pyarrow as pa

        kinds = [file.schema_arrow.field(name).type for name in self.columns]
        most = self.rows if all(pa.types.is_primitive(kind) for kind in kinds) else min(self.rows, _TEXTS)
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        paths = [file.schema.column(i).path for i in range(file.metadata.num_columns)]
        wanted = [i for i, path in enumerate(paths) if any(f"{path}.".startswith(f"{name}.") for name in self.columns)]
        for group in groups:
            size = sum(group.column(i).total_uncompressed_size for i in wanted)
            most = min(most, _BATCH_BYTES * group.num_rows // max(size, 1))
        return max(most, 1)

    def _present(self, names: list[str]) -> None:
        for column, option in self.options.items():
            if names.count(column) > 1:
                rule = f"must be a column that {self.path} has once"
                got = Unsaid(f"{column!r}, which it has {names.count(column)} times")
                raise ParameterError(message(option, rule, got, "rename one of them in the first row"))
            if column not in names:
                raise ParameterError(message(option, self._named(names), column, _spelling(column, names)))

    def _named(self, names: list[str]) -> str:
        """Which names there are; not those of a CSV file, whose first row may be a person's."""
        if not self.is_csv:
            return f"must be one of {', '.join(names)}"
        return f"must be one of the {len(names)} names in the first row of {self.path}"


def _spelling(column: str, names: list[str]) -> str:
    alike = [name for name in names if name.strip().casefold() == column.strip().casefold()]
    return f"did you mean {alike[0]!r}?" if alike else "check its spelling, and that the file names its columns"


def _empty(schema: Any) -> Any:
    import pyarrow as pa

    return pa.record_batch([pa.nulls(0, field.type) for field in schema], schema=schema)


def header(path: Path) -> list[str]:
    """The names in the first row of a CSV file."""
    names = csv_rows.header(path)
    if not names:
        rule = "must have a header row that names its columns"
        got = Unsaid(f"{'an empty file' if names is None else 'a blank first row'}, {quoted(path)}")
        raise ParameterError(message("input", rule, got, "write the names in the first row"))
    return names


@contextmanager
def readable(path: PathLike[str], kind: str = "CSV (UTF-8) or Parquet file") -> Iterator[None]:
    """Turn what a reader says of a broken file into a message that names the file, and nothing that stands in it."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # the file system's own words
        raise _unreadable(Path(path), kind, error, str(path)) from None


def _unreadable(path: Path, kind: str, error: Exception, name: str) -> ParameterError:
    """What is wrong with a file; a CSV reader's own words would tell a row, so it is read again."""
    remedy = f"the reader says: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
    if path.name.lower().endswith(CSV) and path.exists():
        remedy = "check that it is a table of text, with commas between the cells"
        try:
            for _ in csv_rows.walk("input", path):
                pass
        except ParameterError as found:
            return found
    return ParameterError(message("input", f"must be a readable {kind}", quoted(name), remedy))
