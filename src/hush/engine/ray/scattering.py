"""The first half of writing: the rows of a piece become reports, each dealt to a random bucket.

Values are read, randomized and forgotten in one task, where they lie in the clear anyway. What leaves it are reports,
and what is kept beside them, sealed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from hush.engine.ray.keys import Bytes, sealed, unsealed
from hush.errors import HushError, ParameterError, Unsaid, message
from hush.files import reports as report_files
from hush.files.batches import joined
from hush.files.cells import CellReaders
from hush.files.kept import Groups
from hush.files.paths import quoted
from hush.files.places import FilePlace, place_of, reachable
from hush.files.randomizing import Rows
from hush.files.tables import TableFile
from hush.people.arrow import to_arrow
from hush.randomness import chunk_generator

_ROWS = 1 << 17
"""Rows of a piece, at least, if its file can be cut there."""
HELD = 1 << 31
"""Bytes of reports, and of what is kept beside them, of one piece: a worker holds them until all are dealt."""
_GUESSED = 8  # bytes of a row of text, for the progress bar


@dataclass(frozen=True, kw_only=True)
class TablePiece:
    """Some rows of a table of people.

    Args:
        rows: The table, one file, and what becomes of it.
        units: Row groups of a Parquet file; None for a whole file of another kind.
        before: Rows of the file before these.
        count: How many rows these are; of text, about.
        stamp: Size and time of the file: what is read again must be what was read.
        named: Whether there are other files.
    """

    rows: Rows
    units: range | None
    before: int
    count: int
    stamp: tuple[int, int | str]
    named: bool = False


@dataclass(frozen=True)
class Dealt:
    """What a piece held, in numbers, and the types of what is kept.

    The groups are sealed as parts are: they name every cell that is kept, and Ray may write an answer of more than
    100 KB to a disk.
    """

    count: int
    groups: Bytes
    unmatched: dict[str, int]
    missing: dict[str, int]
    clipped: dict[str, int]
    blank: int
    kept: dict[str, str]


def cut(rows: Rows, most: int) -> list[TablePiece]:
    """Rows of all files in pieces, by what footers say, about so many at most."""
    places = [_absolute(path) for path in rows.paths]
    whole = [TableFile(place, {}, 1).groups for place in places]
    total = sum(sum(sizes) for sizes in whole if sizes is not None)
    least, found = max(_ROWS, -(-total // most)), list[TablePiece]()
    for place, sizes in zip(places, whole, strict=True):
        about: dict[str, Any] = {"rows": replace(rows, paths=[place]), "stamp": stamp(place), "named": len(places) > 1}
        if not sizes:
            some = 0 if sizes is not None else place.size // _GUESSED
            found.append(TablePiece(**about, units=None, before=0, count=some))
            continue
        start = before = some = 0
        for i, size in enumerate(sizes, 1):
            some += size
            if some >= least or i == len(sizes):
                found.append(TablePiece(**about, units=range(start, i), before=before, count=some))
                start, before, some = i, before + some, 0
    return found


def _absolute(path: os.PathLike[str]) -> FilePlace:
    """A place for workers, who run in other folders."""
    place = path if isinstance(path, FilePlace) else place_of(path)
    return place if place.filesystem is not None else replace(place, path=os.path.abspath(place.path))


def stamp(place: FilePlace) -> tuple[int, int | str]:
    """What changes when a file does: its size, and its time or what else the filesystem knows of it."""
    with reachable(place.name):
        seen = place.system.get_file_info(place.path)
        known = seen.mtime_ns
        inner = getattr(getattr(place.system, "handler", None), "fs", None)  # of fsspec
        if known is None and inner is not None:
            known = str(inner.ukey(place.path))
    if known is None:
        rule = "must lie on a filesystem that tells when a file changed, where a cluster reads it"
        raise ParameterError(message("input", rule, quoted(place), "copy it to another place"))
    return int(seen.size or 0), known


def scatter(piece: TablePiece, buckets: int, key: bytes, seal: bytes) -> Iterator[Dealt | Bytes]:
    """What a piece held, and then the part of each bucket, sealed.

    Args:
        piece: The rows.
        buckets: How many there are.
        key: Of the piece alone: the same key and rows give the same reports, however often.
        seal: Of all parts.
    """
    rows = piece.rows
    place = _absolute(rows.paths[0])
    if stamp(place) != piece.stamp:
        rule = "must stay as it is until all of it is randomized"
        raise ParameterError(message("input", rule, quoted(place), "run the command again"))
    rng, groups, count = chunk_generator(key), Groups(), 0
    cells = CellReaders(rows.spec, rows.columns, clip=rows.clip, alike=rows.alike)
    table = rows.table().cut(piece.units, piece.before, named=piece.named)
    held: list[list[Any]] = [[] for _ in range(buckets)]
    schema: Any = None
    size = 0
    for batch in rows.blocks(table, cells):
        some = _reports(rows, cells, batch, rng)
        count, schema, size = count + some.num_rows, some.schema, size + some.nbytes
        if size > HELD:
            rule = f"must be cut where its reports take more than {HELD >> 20:,} MB, which a worker holds"
            remedy = "write it as Parquet with row groups of fewer rows, or as several files"
            raise ParameterError(message("input", rule, quoted(place), remedy))
        if rows.kept:
            groups.add(some.select(rows.kept))
        where = rng.integers(buckets, size=some.num_rows, dtype=np.int64)
        some = some.take(to_arrow(np.argsort(where, kind="stable")))
        ends = np.cumsum(np.bincount(where, minlength=buckets)).tolist()
        for bucket, (start, stop) in zip(held, pairwise([0, *ends]), strict=True):
            if stop > start:
                bucket.append(some.slice(start, stop - start))
    types = {name: str(schema.field(name).type) for name in rows.kept}
    told = sealed(seal, packed(groups.to_table()))
    yield Dealt(count, told, cells.unmatched, cells.missing, cells.clipped, table.blank, types)
    for bucket in held:
        yield sealed(seal, packed(joined(bucket) if bucket else _empty(schema)))
        bucket.clear()


def _reports(rows: Rows, cells: CellReaders, batch: Any, rng: np.random.Generator) -> Any:
    """The rows of a batch with reports in place of values."""
    import pyarrow as pa

    with _unsaid():
        made = report_files.column_of(rows.spec.mechanism.privatize(cells.values(batch.column(0)), rng=rng))
    return pa.record_batch([made, *batch.columns[1:]], batch.schema.names)


@contextmanager
def _unsaid() -> Iterator[None]:
    """Let no words of a mechanism's own error leave the task: they may tell a person's value, and Ray keeps logs."""
    try:
        yield
    except HushError:
        raise
    except Exception as error:
        rule = "must randomize every value, and failed on a worker"
        got = Unsaid(f"{type(error).__name__}, whose words are left out, since they may tell a person's value")
        remedy = "mend its class, with hush.testing.check_mechanism, which makes values up"
        raise ParameterError(message("mechanism", rule, got, remedy)) from None


def groups_of(told: Dealt, seal: bytes) -> Groups:
    """The groups of a piece, for whoever has the key."""
    import pyarrow as pa

    with pa.ipc.open_stream(pa.py_buffer(unsealed(seal, told.groups))) as reader:
        return Groups.from_table(reader.read_all())


def packed(rows: Any) -> Bytes:
    """A record batch or a table with its schema, as bytes."""
    import pyarrow as pa

    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, rows.schema) as writer:
        writer.write(rows)
    return np.frombuffer(out.getvalue(), np.uint8)


def unpacked(data: Bytes) -> Any:
    """The record batch."""
    import pyarrow as pa

    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_next_batch()


def _empty(schema: Any) -> Any:
    import pyarrow as pa

    return pa.record_batch([pa.nulls(0, field.type) for field in schema], schema=schema)
