"""Tables that are read: some columns of a CSV, Parquet or Arrow file, batch by batch."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from hush.errors import ParameterError, Unsaid, message
from hush.files import csv_rows
from hush.files.paths import existing, quoted
from hush.files.places import FilePlace, place_of
from hush.files.streams import ArrowStream

CSV = (".csv", ".csv.gz")
PARQUET = ".parquet"
ARROW = (".arrow", ".feather")
ARROW_STREAM = ".arrows"
_BLOCK = 1 << 22
_BATCH_BYTES = 1 << 25
_TEXTS = 1 << 14
"""Rows of a batch with cells of any length: in the file equal ones may take one place, but not in memory, unless they
are read as codes of a dictionary."""


class TableFile:
    """Some columns of a CSV, Parquet or Arrow file, in batches; at least one, though it may be empty.

    In a CSV file, columns are read as text, exactly as they are written, and an empty field is a missing value; so is
    a blank line where there is one column. In other files they keep their types. A column that the file lacks may be
    said by its folders, as in `region=north/`: then all its cells are that text.

    Args:
        path: A .csv, .csv.gz, .parquet, .arrow or .feather file; or .arrows, a stream of Arrow's.
        columns: The columns wanted, and the option that each was named with.
        rows: At most so many rows in a batch.
        coded: Columns whose texts come as codes of a dictionary, so that equal ones take one place.
    """

    def __init__(self, path: PathLike[str], columns: Mapping[str, str], rows: int, coded: Collection[str] = ()) -> None:
        self.path = path if isinstance(path, FilePlace) else place_of(path)
        self.options, self.columns, self.rows, self.coded = columns, list(columns), rows, set(coded)
        self.units: range | None = None
        """The row groups of a Parquet file that are read; all of them, if it is None."""
        self.blank = 0
        """Blank lines between several columns, which are no rows."""
        if self.path.filesystem is None:
            existing("input", Path(self.path.path))
        self.is_csv = self.path.title.lower().endswith(CSV)
        if not self.is_csv and self.path.suffix not in (PARQUET, *ARROW, ARROW_STREAM):
            rule = f"must end in {', '.join((*CSV, PARQUET, *ARROW))} or {ARROW_STREAM}"
            raise ParameterError(message("input", rule, quoted(self.path), "convert or rename it"))

    @property
    def size(self) -> int:
        """What there is to read, in bytes of the file."""
        return self.path.size

    @property
    def groups(self) -> list[int] | None:
        """Rows of each row group of a Parquet file, by its footer; None of a file that is read as a whole."""
        import pyarrow.parquet as pq

        if self.is_csv or self.path.suffix != PARQUET:
            return None
        with readable(self.path), self.path.open() as source:
            about = pq.read_metadata(source)
            return [about.row_group(i).num_rows for i in range(about.num_row_groups)]

    def batches(self, advance: Callable[[float], None]) -> Iterator[Any]:
        """Record batches; `advance` hears how many bytes of the file each one took."""
        reading = self._csv if self.is_csv else self._parquet if self.path.suffix == PARQUET else self._arrow
        with readable(self.path):
            empty = True
            for batch, size in reading():
                for start in range(0, max(batch.num_rows, 1 if empty else 0), self.rows):
                    some = self._whole(batch.slice(start, self.rows))
                    empty = False
                    yield some
                    advance(size * some.num_rows / max(batch.num_rows, 1))

    def _whole(self, batch: Any) -> Any:
        """All columns that are wanted, those of the folders too, in their order."""
        import pyarrow as pa

        said = {name: cell for name, cell in self.path.values if name not in batch.schema.names}
        columns = [
            pa.repeat(pa.scalar(said[name], pa.string()), batch.num_rows) if name in said else batch.column(name)
            for name in self.columns
        ]
        return pa.record_batch(columns, self.columns)

    def _inside(self, names: list[str]) -> list[str]:
        """The columns that the file itself has, of those that are wanted; refused where one is nowhere."""
        said = {name for name, _ in self.path.values if name not in names}
        self._present([*names, *said])
        return [name for name in self.columns if name not in said]

    def _csv(self) -> Iterator[tuple[Any, float]]:
        import pyarrow as pa
        from pyarrow import csv as arrow

        names = header(self.path)
        wanted = self._inside(names)
        codes = pa.dictionary(pa.int32(), pa.string())
        lines = csv_rows.lines(self.path)
        self.blank = lines.blank if len(names) > 1 else 0
        zipped = self.path.suffix == ".gz"
        with self.path.open() as file:
            plain = pa.CompressedInputStream(file, "gzip") if zipped else file
            reader = arrow.open_csv(
                plain,
                read_options=arrow.ReadOptions(block_size=_BLOCK),
                parse_options=arrow.ParseOptions(newlines_in_values=lines.quotes, ignore_empty_lines=len(names) > 1),
                convert_options=arrow.ConvertOptions(
                    include_columns=wanted,
                    column_types={name: codes if name in self.coded else pa.string() for name in wanted},
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

        with self.path.open() as source:
            about = pq.read_metadata(source)
            paths = [about.schema.column(i).path for i in range(about.num_columns)]
            with pq.ParquetFile(
                source,
                metadata=about,
                pre_buffer=False,
                page_checksum_verification=True,
                read_dictionary=[name for name in self.columns if name in self.coded and paths.count(name) == 1],
            ) as file:
                wanted = self._inside(file.schema_arrow.names)
                share = self.size / max(about.num_rows, 1)
                groups = None if self.units is None else list(self.units)
                rows = self._rows_of(file, paths, wanted)
                for batch in file.iter_batches(batch_size=rows, row_groups=groups, columns=wanted):
                    yield batch, batch.num_rows * share
                yield _empty(file.schema_arrow).select(wanted), 0

    def _arrow(self) -> Iterator[tuple[Any, float]]:
        import pyarrow as pa

        with self.path.open() as source:
            if self.path.suffix == ARROW_STREAM:
                with pa.ipc.open_stream(source) as reader:
                    yield from self._checked(ArrowStream(reader, source), reader.schema, source)
            else:
                with pa.ipc.open_file(source) as file:
                    batches = (file.get_batch(i) for i in range(file.num_record_batches))
                    yield from self._checked(batches, file.schema, source)

    def _checked(self, batches: Iterable[Any], schema: Any, source: Any) -> Iterator[tuple[Any, float]]:
        """Batches of Arrow's own format, whose cells nobody has looked at before: they may point anywhere."""
        wanted, seen = self._inside(schema.names), 0
        for batch in batches:
            some = batch.select(wanted)
            some.validate(full=True)
            now = source.tell()
            yield some, max(now - seen, 0)
            seen = now
        yield _empty(schema).select(wanted), 0

    def _rows_of(self, file: Any, paths: list[str], wanted: list[str]) -> int:
        """Rows of a batch: fewer where cells are long."""
        import pyarrow as pa

        kinds = {name: file.schema_arrow.field(name).type for name in wanted}
        short = [
            pa.types.is_primitive(kind) or (name in self.coded and pa.types.is_dictionary(kind))
            for name, kind in kinds.items()
        ]
        most = self.rows if all(short) else min(self.rows, _TEXTS)
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        columns = [i for i, path in enumerate(paths) if any(f"{path}.".startswith(f"{name}.") for name in wanted)]
        for group in groups:
            size = sum(group.column(i).total_uncompressed_size for i in columns)
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


def header(path: PathLike[str]) -> list[str]:
    """The names in the first row of a CSV file."""
    names = csv_rows.header(path)
    if not names:
        rule = "must have a header row that names its columns"
        got = Unsaid(f"{'an empty file' if names is None else 'a blank first row'}, {quoted(path)}")
        raise ParameterError(message("input", rule, got, "write the names in the first row"))
    return names


@contextmanager
def readable(path: PathLike[str], kind: str = "CSV (UTF-8), Parquet or Arrow file") -> Iterator[None]:
    """Turn what a reader says of a broken file into a message that names the file, and nothing that stands in it."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # the file system's own words
        raise _unreadable(path, kind, error) from None


def _unreadable(path: PathLike[str], kind: str, error: Exception) -> ParameterError:
    """What is wrong with a file; a CSV reader's own words would tell a row, so it is read again."""
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    remedy = f"fetch it or write it again; the reader says: {reason}"
    if str(path).lower().endswith(CSV):
        remedy = "check that it is a table of text, with commas between the cells"
        try:
            for _ in csv_rows.walk("input", path):
                pass
        except ParameterError as found:
            return found
    return ParameterError(message("input", f"must be a readable {kind}", quoted(path), remedy))
