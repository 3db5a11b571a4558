"""From staged rows to reports, with the answers that people keep."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

import numpy as np

from hush.files.clients.memory import StoredMemory
from hush.files.clients.staging import FIRST, NO_PERIOD, Staged, pairs, value_types
from hush.files.periods import PERIOD
from hush.files.reports import COLUMN, column_of
from hush.mechanisms.spec import Spec
from hush.people.arrow import to_arrow, to_numpy
from hush.randomness import CHUNK, source
from hush.types import Ints, Reports


def made(
    spec: Spec, connection: sqlite3.Connection, collection: int, batch: Any, skipped: Staged, names: Mapping[int, str]
) -> Any:
    """The reports of a batch of staged rows, but for those that are skipped, with their periods and kept cells."""
    import pyarrow as pa

    people, periods = (to_numpy(batch.column(i)).astype(np.int64) for i in range(FIRST))
    if skipped.size:
        each = pairs(periods, people)
        at = np.minimum(np.searchsorted(skipped, each), skipped.size - 1)
        chosen = np.nonzero(skipped[at] != each)[0]
        batch, people, periods = batch.take(to_arrow(chosen)), people[chosen], periods[chosen]
    width = len(value_types(spec))
    columns = [to_numpy(batch.column(FIRST + j)) for j in range(width)]
    reports = randomized(spec, StoredMemory(connection, collection), people, columns)
    kept = batch.schema.names[FIRST + width :]
    if NO_PERIOD in names.values():
        arrays = [column_of(reports), *(batch.column(name) for name in kept)]
        return pa.record_batch(arrays, [COLUMN, *kept])
    listed = pa.array([names[number] for number in names], pa.string())
    places = {number: place for place, number in enumerate(names)}
    lookup = np.zeros(max(places, default=0) + 1, np.int64)
    lookup[list(places)] = list(places.values())
    cells = listed.take(to_arrow(lookup[periods]))
    arrays = [column_of(reports), cells, *(batch.column(name) for name in kept)]
    return pa.record_batch(arrays, [COLUMN, PERIOD, *kept])


def randomized(spec: Spec, memory: StoredMemory, people: Ints, columns: list[Any]) -> Reports:
    """One report of each person, with the answers that are kept; securely drawn.

    Args:
        spec: What makes them.
        memory: Where answers are kept; nothing is, but over time.
        people: Whose they are, by number.
        columns: What each holds, as the mechanism takes it: one column, or one for each attribute.
    """
    m = spec.mechanism
    several = hasattr(m, "sizes")
    if m.kind != "longitudinal":
        return np.asarray(m.privatize(np.stack(columns, axis=1) if several else columns[0]))
    held = np.stack(columns, axis=1).astype(np.int64) if several else columns[0].astype(np.int64)
    out = np.empty(people.size, m.report_dtype)
    for start in range(0, people.size, CHUNK):
        part = slice(start, start + CHUNK)
        out[part] = m.remembered(people[part], held[part], memory, source(None))
    return out
