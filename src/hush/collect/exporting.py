"""The reports of a collection as a Parquet file that `hush estimate` reads, in an order that tells nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from hush.collect.store import kept
from hush.collect.store.collections import StoredCollection
from hush.collect.store.kept import KeptBatch
from hush.files import reports as files
from hush.files.batches import evenly
from hush.files.order import Shuffler
from hush.files.periods import PERIOD

_PIECE = 1 << 22
_MOST = 1 << 14


def exported(
    connection: sa.Connection, collection: StoredCollection, folder: Path, *, period: int | None = None
) -> dict[str, Any]:
    """Write the file into a folder, in bounded memory; rows that wait to be shuffled are there, too, encrypted.

    Args:
        connection: One that sees one moment of the store.
        collection: Whose reports.
        folder: Where to.
        period: Only reports of this one; then no column says so.
    """
    if period is not None:
        kept.check(connection, collection, period)
    forgotten = kept.forgotten(connection, collection)
    path, spec = folder / f"{collection.id}.parquet", collection.parsed
    with files.writing(path, spec, "unknown", files.SHUFFLED) as put, Shuffler(temporary=folder) as shuffler:
        with closing(kept.batches(connection, collection, period=period)) as batches:
            for some in _gathered(batches):
                shuffler.add(_rows(collection, some))
        if not shuffler.rows:
            shuffler.add(_rows(collection, []))
        for batch in evenly(shuffler, files.batch_rows(spec), files.BATCH_BYTES):
            put(files.reports_of(spec, batch), batch.select([PERIOD]) if period is None else None)
    return {"path": str(path), "n": shuffler.rows, "forgotten": forgotten}


def _gathered(batches: Iterable[KeptBatch]) -> Iterator[list[KeptBatch]]:
    """Many batches as one: devices send one report each, and each piece costs more than its rows."""
    some: list[KeptBatch] = []
    size = 0
    for each in batches:
        some.append(each)
        size += len(each.records)
        if size >= _PIECE or len(some) >= _MOST:
            yield some
            some, size = [], 0
    if some:
        yield some


def _rows(collection: StoredCollection, some: list[KeptBatch]) -> Any:
    """Reports and their periods, as one record batch."""
    import pyarrow as pa

    dtype = collection.parsed.mechanism.report_dtype
    reports = np.frombuffer(b"".join(each.records for each in some), dtype)
    periods = np.array([each.period for each in some], np.int32)
    beside = np.repeat(periods, [len(each.records) // dtype.itemsize for each in some])
    return pa.record_batch([files.column_of(reports), pa.array(beside)], [files.COLUMN, PERIOD])
