"""Batches come in: many in one transaction, each once, whoever else writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import sqlalchemy as sa

from hush.collect.store import tables
from hush.collect.store.collections import OPEN


@dataclass(frozen=True, slots=True)
class Arrival:
    """A batch that was checked.

    Args:
        collection: The collection's number.
        period: Of its reports.
        build: Of the client.
        id: The batch's own, 16 bytes.
        digest: Of all that was sent, but for the key.
        accepted: How many records are taken.
        records: These.
    """

    collection: int
    period: int
    build: str
    id: bytes
    digest: bytes
    accepted: int
    records: bytes


class Fate(Enum):
    """What became of a batch."""

    KEPT = "kept"
    KNOWN = "known"  # the very same was there
    CONFLICT = "conflict"  # another one has its id
    CLOSED = "closed"
    PAST = "past"


def keep(connection: sa.Connection, arrivals: Sequence[Arrival]) -> list[Fate]:
    """Keep batches, each at most once, and say what became of each.

    Known ones are known whatever the collection's status is now. What is kept is pending until it is folded.
    """
    there = _known(connection, arrivals)
    open_ones = _open(connection)
    fates, fresh = [], {}
    for each in arrivals:
        key = each.collection, each.id
        if key in there:
            fates.append(Fate.KNOWN if there[key] == each.digest else Fate.CONFLICT)
        elif each.collection not in open_ones:
            fates.append(Fate.CLOSED)
        elif each.period < open_ones[each.collection]:
            fates.append(Fate.PAST)
        else:
            there[key], fresh[key] = each.digest, each
            fates.append(Fate.KEPT)
    if fresh:
        lost = _insert(connection, list(fresh.values()))
        for i, each in enumerate(arrivals):  # another collector was faster
            digest = lost.get((each.collection, each.id))
            if digest is not None:
                fates[i] = Fate.KNOWN if digest == each.digest else Fate.CONFLICT
    return fates


def _open(connection: sa.Connection) -> Mapping[int, int]:
    """The open collections and the first period that each still takes; they stay so until this is committed."""
    c = tables.collection.c
    asked = sa.select(c.number, c.pruned_below).where(c.status == OPEN)
    return dict(tuple(row) for row in connection.execute(asked.with_for_update(read=True)))


def _known(connection: sa.Connection, arrivals: Sequence[Arrival]) -> dict[tuple[int, bytes], bytes]:
    """The digests of those that are there."""
    if connection.dialect.name == "sqlite":
        cursor = _cursor(connection)
        found = {}
        for each in arrivals:
            row = cursor.execute(
                "SELECT digest FROM batch WHERE collection = ? AND id = ?", (each.collection, each.id)
            ).fetchone()
            if row is not None:
                found[each.collection, each.id] = row[0]
        return found
    return _postgres_known(_cursor(connection), [(each.collection, each.id) for each in arrivals])


def _insert(connection: sa.Connection, fresh: list[Arrival]) -> dict[tuple[int, bytes], bytes]:
    """Insert batches and note them as pending; the digests of those whose id another collector has just taken."""
    cursor = _cursor(connection)
    if connection.dialect.name == "sqlite":
        (last,) = cursor.execute("SELECT COALESCE(MAX(seq), 0) FROM batch").fetchone()
        cursor.executemany(
            "INSERT INTO batch (collection, period, build, id, digest, accepted, records) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(a.collection, a.period, a.build, a.id, a.digest, a.accepted, a.records) for a in fresh],
        )
        cursor.execute("INSERT INTO pending SELECT seq FROM batch WHERE seq > ?", (last,))
        return {}
    ordered = sorted(fresh, key=lambda a: (a.collection, a.id))  # in one order everywhere, so that nobody waits in a ring
    columns = list(zip(*((a.collection, a.period, a.build, a.id, a.digest, a.accepted, a.records) for a in ordered)))
    cursor.execute(
        "WITH given AS (SELECT * FROM unnest(%b::int[], %b::int[], %b::text[], %b::bytea[], %b::bytea[], %b::int[],"
        " %b::bytea[])), kept AS (INSERT INTO batch (collection, period, build, id, digest, accepted, records)"
        " SELECT * FROM given ON CONFLICT (collection, id) DO NOTHING RETURNING seq, collection, id),"
        " noted AS (INSERT INTO pending SELECT seq FROM kept)"
        " SELECT collection, id FROM kept",
        [list(column) for column in columns],
    )
    kept = {(number, bytes(id)) for number, id in cursor.fetchall()}
    return _postgres_known(cursor, [key for a in fresh if (key := (a.collection, a.id)) not in kept])


def _postgres_known(cursor: Any, keys: list[tuple[int, bytes]]) -> dict[tuple[int, bytes], bytes]:
    if not keys:
        return {}
    cursor.execute(
        "SELECT b.collection, b.id, b.digest FROM batch b JOIN unnest(%b::int[], %b::bytea[]) AS k(collection, id)"
        " ON b.collection = k.collection AND b.id = k.id",
        [[number for number, _ in keys], [id for _, id in keys]],
    )
    return {(number, bytes(id)): bytes(digest) for number, id, digest in cursor.fetchall()}


def _cursor(connection: sa.Connection) -> Any:
    """The driver's own: what comes in here comes a thousand times a second."""
    return connection.connection.cursor()
