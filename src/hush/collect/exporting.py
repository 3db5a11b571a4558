"""The reports of a collection as a Parquet file that `hush estimate` reads, in an order that tells nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from hush.collect.store import kept
from hush.collect.store.collections import StoredCollection
from hush.files import reports as files
from hush.files.batches import evenly
from hush.files.order import Shuffler
from hush.files.periods import PERIOD


def exported(connection: sa.Connection, collection: StoredCollection, folder: Path) -> dict[str, Any]:
    """Write the file into a folder, in bounded memory; rows that wait to be shuffled are there, too, encrypted."""
    forgotten = kept.forgotten(connection, collection)
    path, spec = folder / f"{collection.id}.parquet", collection.parsed
    with files.writing(path, spec, "unknown", files.SHUFFLED) as put, Shuffler(temporary=folder) as shuffler:
        for batch in _batches(connection, collection):
            shuffler.add(batch)
        if not shuffler.rows:
            shuffler.add(_rows(collection, 0, b""))
        for batch in evenly(shuffler, files.batch_rows(spec), files.BATCH_BYTES):
            put(files.reports_of(spec, batch), batch.select([PERIOD]))
    return {"path": str(path), "n": shuffler.rows, "forgotten": forgotten}


def _batches(connection: sa.Connection, collection: StoredCollection) -> Iterator[Any]:
    for each in kept.batches(connection, collection):
        yield _rows(collection, each.period, each.records)


def _rows(collection: StoredCollection, period: int, records: bytes) -> Any:
    import pyarrow as pa

    reports = np.frombuffer(records, collection.parsed.mechanism.report_dtype)
    beside = pa.array(np.full(len(reports), period, np.int32))
    return pa.record_batch([files.column_of(reports), beside], [files.COLUMN, PERIOD])
