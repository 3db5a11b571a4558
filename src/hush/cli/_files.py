"""Files: whole or not at all when written, batch by batch when read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hush.errors import ParameterError, message

CSV = (".csv", ".csv.gz")
_BLOCK = 1 << 22


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when all went well, and vanishes otherwise."""
    if path.is_dir():
        raise ParameterError(message("output", "must be a file", str(path), "name a file inside that folder"))
    if not path.parent.is_dir():
        raise ParameterError(
            message("output", "must lie in a folder that exists", str(path), f"make {path.parent} first")
        )
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write(path: Path, content: str | bytes) -> None:
    """Write a small file, whole or not at all."""
    with replacing(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def is_csv(path: Path) -> bool:
    """Whether the name says CSV."""
    return path.name.lower().endswith(CSV)


class Table:
    """Some columns of a CSV or Parquet file, in batches.

    In a CSV file, columns are read as text, exactly as they are written, and an empty field is a missing value. In a
    Parquet file they keep their types.

    Args:
        path: A .csv, .csv.gz or .parquet file.
        columns: The columns wanted.
        rows: At most so many rows in a batch.
    """

    def __init__(self, path: Path, columns: list[str], rows: int) -> None:
        self.path, self.columns, self.rows = path, columns, rows
        if not path.is_file():
            raise ParameterError(message("input", "must be a file that exists", str(path), "check the path"))
        if not is_csv(path) and path.suffix.lower() != ".parquet":
            raise ParameterError(
                message("input", "must end in .csv, .csv.gz or .parquet", str(path), "convert or rename it")
            )

    @property
    def size(self) -> int:
        """What there is to read, in bytes of the file."""
        return self.path.stat().st_size

    def batches(self, advance: Callable[[float], None]) -> Iterator[Any]:
        """Record batches; `advance` hears how many bytes of the file each one took."""
        with readable(self.path):
            for batch, size in self._csv() if is_csv(self.path) else self._parquet():
                for start in range(0, batch.num_rows, self.rows):
                    some = batch.slice(start, self.rows)
                    yield some
                    advance(size * some.num_rows / batch.num_rows)

    def _csv(self) -> Iterator[tuple[Any, float]]:
        import pyarrow as pa
        from pyarrow import csv

        with pa.OSFile(str(self.path)) as file:
            plain = pa.CompressedInputStream(file, "gzip") if self.path.suffix.lower() == ".gz" else file
            self._present(_header(self.path))
            reader = csv.open_csv(
                plain,
                read_options=csv.ReadOptions(block_size=_BLOCK),
                parse_options=csv.ParseOptions(newlines_in_values=True),
                convert_options=csv.ConvertOptions(
                    include_columns=self.columns,
                    column_types={name: pa.string() for name in self.columns},
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            )
            seen = 0
            for batch in reader:  # a batch is a block; the file itself is read further ahead
                now = file.tell() if plain is not file else min(seen + _BLOCK, self.size)
                yield batch, now - seen
                seen = now

    def _parquet(self) -> Iterator[tuple[Any, float]]:
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path, pre_buffer=False) as file:
            self._present(file.schema_arrow.names)
            share = self.size / max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(batch_size=self.rows, columns=self.columns):
                yield batch.select(self.columns), batch.num_rows * share

    def _present(self, names: list[str]) -> None:
        for column in self.columns:
            if column not in names:
                raise ParameterError(
                    message("column", f"must be one of {', '.join(names)}", column, f"see the columns of {self.path}")
                )


def _header(path: Path) -> list[str]:
    import csv
    import gzip
    from typing import IO

    def opened() -> IO[str]:
        if path.suffix.lower() == ".gz":
            return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
        return path.open(encoding="utf-8-sig", newline="")

    with opened() as file:
        return next(csv.reader(file), [])


@contextmanager
def readable(path: Path, kind: str = "CSV (UTF-8) or Parquet file") -> Iterator[None]:
    """Turn what a reader says of a broken file into a message that names the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, EOFError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ParameterError(
            message("input", f"must be a readable {kind}", str(path), f"the reader says: {reason}")
        ) from None
