"""From batches to aggregates, as they are committed: one folder at a time, and each batch once.

A step reads what is pending and tallies it beside the writer; then, in one transaction, the aggregates grow and what
they now hold is pending no longer. Whatever ends a step before that leaves everything as it was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from hush.collect.store import tables
from hush.collect.store.alone import trying
from hush.collect.store.collections import AGGREGATES, StoredCollection
from hush.collect.store.database import Database
from hush.errors import HushError
from hush.estimation import Aggregate

MOST_BYTES = 1 << 26
"""Records that one step holds."""
_MOST_BATCHES = 4096
MOST_TALLIES = 1 << 27
"""Bytes of aggregates that one step holds, or one period of a collection has, about."""
_FEWEST_BUILDS = 4
MOST_BUILDS = 256
"""Client builds of one collection that have aggregates of their own: clients say what they are, and some lie."""
OTHERS = "(others)"
"""What all further builds are called, in aggregates and batches; no client can call itself so."""

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


class FoldedTwice(HushError, RuntimeError):
    """Another process has folded the same batches; nothing was done, and the next step goes on."""


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
            parts = _read(connection, lambda number: specs(number).tally_bytes)
        if not parts:
            return _NOTHING
        grown = {key: tallied(specs(key[0]), [records for _, records in part]) for key, part in parts.items()}
        seqs = {key: [seq for seq, _ in part] for key, part in parts.items()}
        forgotten = [number for number in {key[0] for key in parts} if specs(number).keep == AGGREGATES]
        most = {number: most_builds(specs(number)) for number in {key[0] for key in parts}}
        database.write(lambda writing: _commit(writing, seqs, grown, forgotten, most)).result()
    return Folded(sum(map(len, seqs.values())), frozenset(key[0] for key in grown))


def tallied(collection: StoredCollection, records: list[bytes]) -> Aggregate:
    """The aggregate of records that are in the store."""
    dtype = collection.parsed.mechanism.report_dtype
    found: Aggregate = collection.one_round.aggregate(iter([np.frombuffer(b"".join(records), dtype)]))
    return found


def most_builds(collection: StoredCollection) -> int:
    """How many builds have aggregates of their own: fewer where these are large."""
    return min(MOST_BUILDS, max(_FEWEST_BUILDS, MOST_TALLIES // collection.tally_bytes))


def _read(connection: sa.Connection, tally_bytes: Callable[[int], int]) -> dict[Key, list[tuple[int, bytes]]]:
    """Some batches that are pending, with their numbers: as many as one step may hold, at least one.

    Args:
        connection: To the store.
        tally_bytes: How large an aggregate of a collection is.
    """
    cursor: Any = connection.connection.cursor()
    pending = "FROM pending p JOIN batch b ON b.seq = p.seq"
    cursor.execute(
        f"SELECT p.seq, b.collection, b.period, b.build, length(b.records) {pending}"
        f" ORDER BY p.seq LIMIT {_MOST_BATCHES}"
    )
    seqs: list[int] = []
    keys: set[Key] = set()
    held = tallies = 0
    for seq, number, period, build, size in cursor.fetchall():
        held += size
        if (number, period, build) not in keys:
            keys.add((number, period, build))
            tallies += tally_bytes(number)
        if seqs and (held > MOST_BYTES or tallies > MOST_TALLIES):
            break
        seqs.append(seq)
    parts: dict[Key, list[tuple[int, bytes]]] = defaultdict(list)
    if seqs:
        cursor.execute(
            f"SELECT p.seq, b.collection, b.period, b.build, b.records {pending}"
            f" WHERE p.seq BETWEEN {int(seqs[0])} AND {int(seqs[-1])}"
        )
        for seq, number, period, build, records in cursor.fetchall():
            parts[number, period, build].append((seq, records))
    return parts


def _commit(
    connection: sa.Connection,
    seqs: Mapping[Key, list[int]],
    grown: Mapping[Key, Aggregate],
    forgotten: list[int],
    most: Mapping[int, int],
) -> None:
    """Let the aggregates grow; whatever is not pending any more by now, another one has folded, and nothing is done."""
    excluded = {tuple(row) for row in connection.execute(sa.select(tables.exclusion))}
    for key in sorted(grown):
        if (key[0], key[2]) in excluded or add(connection, key, grown[key], most[key[0]]):
            continue
        add(connection, (*key[:2], OTHERS), grown[key])
        _over(connection, sa.update(tables.batch).values(build=OTHERS), tables.batch.c.seq, seqs[key])
    every = [seq for some in seqs.values() for seq in some]
    if _over(connection, sa.delete(tables.pending), tables.pending.c.seq, every) != len(every):
        raise FoldedTwice("some of these batches have been folded by another process meanwhile")
    for key in (key for key in seqs if key[0] in forgotten):
        _over(connection, sa.update(tables.batch).values(records=None), tables.batch.c.seq, seqs[key])


def _over(connection: sa.Connection, change: Any, column: sa.Column[int], seqs: list[int]) -> int:
    """Change many rows by their numbers; how many there were."""
    listed: Any = sa.bindparam("seqs", expanding=True)
    done = 0
    for some in (seqs[i : i + 900] for i in range(0, len(seqs), 900)):
        done += connection.execute(change.where(column.in_(listed)), {"seqs": some}).rowcount
    return done


def add(connection: sa.Connection, key: Key, more: Aggregate, most: int | None = None) -> bool:
    """Let one aggregate grow; False where it would be of one build too many.

    Args:
        connection: Of the writer.
        key: Which one.
        more: What it grows by.
        most: How many builds may have aggregates; None for as many as come.
    """
    c = tables.aggregate.c
    mine = sa.and_(c.collection == key[0], c.period == key[1], c.build == key[2])
    before = connection.execute(sa.select(c.content).where(mine)).scalar_one_or_none()
    if before is not None:
        total = Aggregate.from_bytes(bytes(before)) + more
        change = sa.update(tables.aggregate).where(mine).values(number=total.n, content=total.to_bytes())
        connection.execute(change)
        return True
    if most is not None and not _has_room(connection, key, most):
        return False
    names = {"collection": key[0], "period": key[1], "build": key[2]}
    connection.execute(sa.insert(tables.aggregate).values(**names, number=more.n, content=more.to_bytes()))
    return True


def _has_room(connection: sa.Connection, key: Key, most: int) -> bool:
    """Whether a collection knows a build, or has not too many yet."""
    c = tables.aggregate.c
    asked = sa.select(c.build).where(c.collection == key[0], c.build != OTHERS).distinct()
    known = set(connection.execute(asked).scalars())
    return key[2] in known or len(known) < most
