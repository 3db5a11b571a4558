"""Batches come in: many in one transaction, each once, whoever else writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Any

import sqlalchemy as sa

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


Row = tuple[int, int, str, bytes, bytes, int, bytes]
_INSERT = "INSERT INTO batch (collection, period, build, id, digest, accepted, records) VALUES"
_VALUES = "(?, ?, ?, ?, ?, ?, ?)"
_SIZES = (256, 64, 16, 4, 1)


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
    open_ones = _open(connection, {each.collection for each in arrivals})
    fresh: dict[tuple[int, bytes], Arrival] = {}
    for each in arrivals:
        if each.period >= open_ones.get(each.collection, each.period + 1):
            fresh.setdefault((each.collection, each.id), each)
    new = _inserted(connection, fresh)
    if len(new) == len(arrivals):
        return [Fate.KEPT] * len(arrivals)
    old = [key for each in arrivals if (key := (each.collection, each.id)) not in new]
    return _fates(arrivals, open_ones, new, _digests(connection, old))


def _fates(
    arrivals: Sequence[Arrival],
    open_ones: Mapping[int, int],
    new: Mapping[tuple[int, bytes], Arrival],
    there: Mapping[tuple[int, bytes], bytes],
) -> list[Fate]:
    """What became of batches, where some were known before, came twice, or were not taken."""
    fates = []
    for each in arrivals:
        key = each.collection, each.id
        first = new.get(key)
        digest = there.get(key) if first is None else first.digest
        if first is each:
            fates.append(Fate.KEPT)
        elif digest is not None:
            fates.append(Fate.KNOWN if digest == each.digest else Fate.CONFLICT)
        else:
            fates.append(Fate.PAST if each.collection in open_ones else Fate.CLOSED)
    return fates


def known(connection: sa.Connection, arrival: Arrival) -> bytes | None:
    """The digest of the batch that has a batch's id, where there is one."""
    key = arrival.collection, arrival.id
    return _digests(connection, [key]).get(key)


def _open(connection: sa.Connection, numbers: set[int]) -> Mapping[int, int]:
    """Which of some collections are open, and the first period that each still takes; that stays until the commit."""
    cursor = _cursor(connection)
    listed = ", ".join(str(int(number)) for number in numbers)
    shared = "" if connection.dialect.name == "sqlite" else " ORDER BY number FOR SHARE"
    cursor.execute(
        f"SELECT number, pruned_below FROM collection WHERE number IN ({listed}) AND status = '{OPEN}'{shared}"
    )
    return dict(cursor.fetchall())


def _inserted(
    connection: sa.Connection, fresh: Mapping[tuple[int, bytes], Arrival]
) -> Mapping[tuple[int, bytes], Arrival]:
    """Insert batches whose ids are new, and note them as pending; those that were."""
    if not fresh:
        return {}
    cursor = _cursor(connection)
    if connection.dialect.name == "sqlite":
        return _sqlite_inserted(cursor, fresh)
    ordered = sorted(fresh.values(), key=lambda a: (a.collection, a.id))  # the same everywhere: nobody waits in a ring
    cursor.execute(
        "WITH given AS (SELECT * FROM unnest(%b::int[], %b::int[], %b::text[], %b::bytea[], %b::bytea[], %b::int[],"
        " %b::bytea[])), kept AS (INSERT INTO batch (collection, period, build, id, digest, accepted, records)"
        " SELECT * FROM given ON CONFLICT (collection, id) DO NOTHING RETURNING seq, collection, id),"
        " noted AS (INSERT INTO pending SELECT seq FROM kept)"
        " SELECT collection, id FROM kept",
        [list(column) for column in zip(*map(_row, ordered), strict=True)],
    )
    keys = [(number, bytes(id)) for number, id in cursor.fetchall()]
    return {key: fresh[key] for key in keys}


def _sqlite_inserted(cursor: Any, fresh: Mapping[tuple[int, bytes], Arrival]) -> Mapping[tuple[int, bytes], Arrival]:
    (last,) = cursor.execute("SELECT COALESCE(MAX(seq), 0) FROM batch").fetchone()
    number = 0
    for rows in _pieces([_row(each) for each in fresh.values()]):
        cursor.execute(f"{_INSERT} {', '.join([_VALUES] * len(rows))} ON CONFLICT DO NOTHING", [*chain(*rows)])
        number += cursor.rowcount
    cursor.execute("INSERT INTO pending SELECT seq FROM batch WHERE seq > ?", (last,))
    if number == len(fresh):
        return fresh
    kept = cursor.execute("SELECT collection, id FROM batch WHERE seq > ?", (last,)).fetchall()
    return {(number, id): fresh[number, id] for number, id in kept}


def _pieces(rows: list[Row]) -> Iterator[list[Row]]:
    """Rows in few pieces, of few different sizes: a statement of each is prepared once.

    Every statement lets the event loop run and then waits for it, so there must not be one for every row.
    """
    for size in _SIZES:
        while len(rows) >= size:
            yield rows[:size]
            rows = rows[size:]


def _row(a: Arrival) -> Row:
    return a.collection, a.period, a.build, a.id, a.digest, a.accepted, a.records


def _digests(connection: sa.Connection, keys: Sequence[tuple[int, bytes]]) -> dict[tuple[int, bytes], bytes]:
    """The digests of the batches that are there."""
    cursor = _cursor(connection)
    if connection.dialect.name == "sqlite":
        found = {}
        for key in keys:
            row = cursor.execute("SELECT digest FROM batch WHERE collection = ? AND id = ?", key).fetchone()
            if row is not None:
                found[key] = row[0]
        return found
    cursor.execute(
        "SELECT b.collection, b.id, b.digest FROM batch b JOIN unnest(%b::int[], %b::bytea[]) AS k(collection, id)"
        " ON b.collection = k.collection AND b.id = k.id",
        [[number for number, _ in keys], [id for _, id in keys]],
    )
    return {(number, bytes(id)): bytes(digest) for number, id, digest in cursor.fetchall()}


def _cursor(connection: sa.Connection) -> Any:
    """The driver's own: what comes in here comes a thousand times a second."""
    return connection.connection.cursor()
