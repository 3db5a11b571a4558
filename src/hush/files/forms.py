"""The forms that report files have: Parquet, Arrow IPC files and Arrow IPC streams, told by their first bytes.

Parquet is read by row groups, an IPC file by record batches; a stream only from its beginning. The first two say in
their footers how long they are, so that several workers can share a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hush.errors import ParameterError, Unsaid, message
from hush.files import footer
from hush.files.places import FilePlace
from hush.files.streams import stream

PARQUET, ARROW, STREAM = "parquet", "arrow", "stream"
_BEGINNINGS = {b"PAR1": PARQUET, b"ARRO": ARROW, b"\xff\xff\xff\xff": STREAM}
_BUFFER = 1 << 22
"""Bytes of a column that are read ahead where its row groups are longer."""


def form_of(place: FilePlace) -> str | None:
    """Which of the forms a file has, by its first bytes; None if it has none of them."""
    with place.open() as file:
        return _BEGINNINGS.get(file.read(4))


@dataclass(frozen=True)
class Contents:
    """What a file says of itself.

    Args:
        schema: The columns.
        metadata: What whoever wrote it says.
        sizes: The rows of each row group or record batch; of an IPC file their mean, of a stream nothing.
        rows: How many there are; None where only reading would tell.
        constants: Columns that hold one cell in all rows, as far as statistics tell, and that cell as text.
    """

    schema: Any
    metadata: dict[bytes, bytes]
    sizes: tuple[int, ...]
    rows: int | None
    constants: dict[str, str | None]


def contents(place: FilePlace, form: str, among: Sequence[str] = ()) -> Contents:
    """What a file says of itself, by its footer alone; `among` are the columns that may be constant."""
    if form == STREAM:
        with stream(place) as opened:
            return Contents(opened.schema, dict(opened.schema.metadata or {}), (), None, {})
    if form == ARROW:
        with _arrow(place) as file:
            schema, units = file.schema, file.num_record_batches
        rows = _counted(place)
        sizes = tuple((i + 1) * rows // units - i * rows // units for i in range(units))
        return Contents(schema, dict(schema.metadata or {}), sizes, rows, {})
    with _parquet(place) as file:
        schema, about = file.schema_arrow, file.metadata
        sizes = tuple(about.row_group(i).num_rows for i in range(about.num_row_groups))
        known = {name: _constant(about, name) for name in among if name in schema.names}
        constants = {name: cell[0] for name, cell in known.items() if cell is not None}
        return Contents(schema, dict(schema.metadata or {}), sizes, int(about.num_rows), constants)


def batches(place: FilePlace, form: str, units: range | None, columns: Sequence[str], rows: int) -> Iterator[Any]:
    """Record batches of some columns, of at most so many rows.

    Args:
        place: The file.
        form: Of it.
        units: Which row groups or record batches; None for all of them.
        columns: Which columns.
        rows: At most so many in a batch.
    """
    if form == PARQUET:
        with _parquet(place, columns) as file:
            wanted = range(file.metadata.num_row_groups) if units is None else units
            yield from file.iter_batches(rows, row_groups=list(wanted), columns=list(columns), use_threads=False)
        return
    opened: Any = stream(place) if form == STREAM else _arrow(place)
    with opened as file:
        if form == STREAM:
            found = iter(file)
        else:
            found = (file.get_batch(i) for i in (range(file.num_record_batches) if units is None else units))
        for batch in found:
            some = batch.select(list(columns))
            some.validate(full=True)
            yield from (some.slice(at, rows) for at in range(0, some.num_rows, rows))


@contextmanager
def _parquet(place: FilePlace, columns: Sequence[str] = ()) -> Iterator[Any]:
    """A file whose pages are verified, and whose spec may be as long as the file itself."""
    import pyarrow.parquet as pq

    with place.open() as source:
        longest = min(max(source.size(), 1 << 20), footer.MOST)
        settings = {"page_checksum_verification": True, "thrift_string_size_limit": longest, "pre_buffer": False}
        with pq.ParquetFile(source, **settings) as file:
            if not columns or not _long(file.metadata, columns):
                yield file
                return
            about = file.metadata
        with pq.ParquetFile(source, metadata=about, buffer_size=_BUFFER, **settings) as file:
            yield file


def _long(about: Any, columns: Sequence[str]) -> bool:
    """Whether a row group takes more than what is held of a column at a time."""
    groups = (about.row_group(i) for i in range(about.num_row_groups))
    return any(group.column(i).total_compressed_size > _BUFFER for group in groups for i in _leaves(about, columns))


def _leaves(about: Any, columns: Sequence[str]) -> list[int]:
    """The columns of a Parquet file that some of Arrow's are made of."""
    paths = [about.schema.column(i).path for i in range(about.num_columns)]
    return [i for i, path in enumerate(paths) if any(f"{path}.".startswith(f"{name}.") for name in columns)]


def _constant(about: Any, column: str) -> tuple[str | None] | None:
    """The one cell that a column holds in all rows, in a tuple; None where statistics do not tell that there is one."""
    leaves = _leaves(about, [column])
    found: set[str | None] = set()
    for group in (about.row_group(i) for i in range(about.num_row_groups)):
        known = group.column(leaves[0]).statistics if len(leaves) == 1 else None
        if known is None or not known.has_null_count or (known.null_count < group.num_rows and not known.has_min_max):
            return None
        found |= {None} if known.null_count else set()
        found |= {_text(known.min), _text(known.max)} if known.null_count < group.num_rows else set()
    return (found.pop(),) if len(found) == 1 else None


def _text(cell: object) -> str:
    """A cell as folders have it; other programs write both `true` and `True`."""
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


@contextmanager
def _arrow(place: FilePlace) -> Iterator[Any]:
    """An Arrow IPC file; on this machine its pages are mapped, and not copied."""
    import pyarrow as pa

    if place.filesystem is None:
        with place.open():  # so that what cannot be opened is told as everywhere
            pass
        with pa.memory_map(place.path) as source, pa.ipc.open_file(source) as file:
            yield file
    else:
        with place.open() as source, pa.ipc.open_file(source) as file:
            yield file


def _counted(place: FilePlace) -> int:
    """The rows of an Arrow IPC file, of which only the heads of record batches are read."""
    from pyarrow import dataset

    return int(dataset.IpcFileFormat().make_fragment(place.path, place.system).count_rows())


def refuse(place: FilePlace) -> ParameterError:
    """What to say of a file that has none of the forms."""
    rule = "must be a readable Parquet file of reports, an Arrow file or stream of them, or a saved aggregate (.hush)"
    remedy = "name others; in a folder, a file is passed over if its name begins with _ or a dot"
    return ParameterError(message("input", rule, Unsaid(repr(str(place))), remedy))
