"""From batches to aggregates, as they are committed: one folder at a time, and each batch once.

A step reads what is pending and tallies it beside the writer; then, in one transaction, the aggregates grow and what
they now hold is pending no longer. Whatever ends a step before that leaves everything as it was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from hush.collect.store import tables
from hush.collect.store.alone import trying
from hush.collect.store.collections import AGGREGATES, StoredCollection
from hush.collect.store.database import Database
from hush.estimation import Aggregate

MOST_BYTES = 1 << 26
"""Records that one step holds."""
_MOST_BATCHES = 4096

Key = tuple[int, int, str]
"""A collection's number, a period and a build: what has an aggregate of its own."""


@dataclass(frozen=True)
class Folded:
    """What a step did.

    Args:
        batches: How many it folded.
        collections: Of which collections.
    """

    batches: int
    collections: frozenset[int]


_NOTHING = Folded(0, frozenset())


def step(database: Database, specs: Callable[[int], StoredCollection]) -> Folded:
    """Fold some of what is pending; nothing where another collector is at it.

    Args:
        database: The store.
        specs: The collection of a number.
    """
    with trying(database) as mine:
        if not mine:
            return _NOTHING
        with database.reading() as connection:
            seqs, parts = _read(connection)
        if not seqs:
            return _NOTHING
        grown = {key: tallied(specs(key[0]), records) for key, records in parts.items()}
        forgotten = [number for number in {key[0] for key in grown} if specs(number).keep == AGGREGATES]
        database.write(lambda writing: _commit(writing, seqs, grown, forgotten)).result()
    return Folded(len(seqs), frozenset(key[0] for key in grown))


def tallied(collection: StoredCollection, records: list[bytes]) -> Aggregate:
    """The aggregate of records that are in the store."""
    dtype = collection.parsed.mechanism.report_dtype
    found: Aggregate = collection.one_round.aggregate(iter([np.frombuffer(b"".join(records), dtype)]))
    return found


def _read(connection: sa.Connection) -> tuple[list[int], dict[Key, list[bytes]]]:
    """The numbers of some batches that are pending, and their records: as many as one step may hold, at least one."""
    cursor: Any = connection.connection.cursor()
    pending = "FROM pending p JOIN batch b ON b.seq = p.seq"
    cursor.execute(f"SELECT p.seq, length(b.records) {pending} ORDER BY p.seq LIMIT {_MOST_BATCHES}")
    seqs: list[int] = []
    held = 0
    for seq, size in cursor.fetchall():
        held += size
        if seqs and held > MOST_BYTES:
            break
        seqs.append(seq)
    parts: dict[Key, list[bytes]] = defaultdict(list)
    if seqs:
        cursor.execute(
            f"SELECT p.seq, b.collection, b.period, b.build, b.records {pending}"
            f" WHERE p.seq BETWEEN {int(seqs[0])} AND {int(seqs[-1])} ORDER BY p.seq"
        )
        rows = cursor.fetchall()  # one may have been committed since, between those that were
        seqs = [seq for seq, *_ in rows]
        for _, number, period, build, records in rows:
            parts[number, period, build].append(records)
    return seqs, parts


def _commit(connection: sa.Connection, seqs: list[int], grown: dict[Key, Aggregate], forgotten: list[int]) -> None:
    excluded = {tuple(row) for row in connection.execute(sa.select(tables.exclusion))}
    for key in sorted(grown):
        if (key[0], key[2]) not in excluded:
            add(connection, key, grown[key])
    listed: sa.BindParameter[Any] = sa.bindparam("seqs", expanding=True)
    done = 0
    for some in (seqs[i : i + 900] for i in range(0, len(seqs), 900)):
        cleared = connection.execute(sa.delete(tables.pending).where(tables.pending.c.seq.in_(listed)), {"seqs": some})
        done += cleared.rowcount
        if forgotten:
            of = tables.batch.c
            gone = sa.update(tables.batch).where(of.seq.in_(listed), of.collection.in_(forgotten)).values(records=None)
            connection.execute(gone, {"seqs": some})
    if done != len(seqs):
        raise RuntimeError("some of these batches have been folded by another process meanwhile")


def add(connection: sa.Connection, key: Key, more: Aggregate) -> None:
    """Let one aggregate grow."""
    c = tables.aggregate.c
    mine = sa.and_(c.collection == key[0], c.period == key[1], c.build == key[2])
    before = connection.execute(sa.select(c.content).where(mine)).scalar_one_or_none()
    total = more if before is None else Aggregate.from_bytes(bytes(before)) + more
    values = {"number": total.n, "content": total.to_bytes()}
    if before is None:
        names = {"collection": key[0], "period": key[1], "build": key[2]}
        connection.execute(sa.insert(tables.aggregate).values(**names, **values))
    else:
        connection.execute(sa.update(tables.aggregate).where(mine).values(**values))
