"""Batches come in: many by one statement, each once, whoever else writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from typing import Any

import sqlalchemy as sa

from hush.collect.envelope import LONGEST_BUILD
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


class Fate(Enum):
    """What became of a batch."""

    KEPT = "kept"
    KNOWN = "known"  # the very same was there
    CONFLICT = "conflict"  # another one has its id
    CLOSED = "closed"
    PAST = "past"


Key = tuple[int, bytes]
"""A collection's number and a batch's id."""


def keep(
    connection: sa.Connection,
    arrivals: Sequence[Arrival],
    told: Callable[[Mapping[int, Arrival]], None] = lambda _: None,
) -> list[Fate]:
    """Keep batches, each at most once, and say what became of each.

    All that are kept are kept by one statement, which is a transaction where none has begun: between two statements
    other threads of this process would run, and those who wait for the disk would wait for them, too. Known ones are
    known whatever the collection's status is now. What is kept is pending until it is folded.

    Args:
        connection: That of the writer.
        arrivals: The batches.
        told: Hears which are kept, by their numbers; for where no transaction has begun that could still be undone.
    """
    cursor, embedded = _cursor(connection), connection.dialect.name == "sqlite"
    new = (_sqlite_kept if embedded else _postgres_kept)(cursor, arrivals)
    told(new)
    if len(new) == len(arrivals):
        return [Fate.KEPT] * len(arrivals)
    first = {(each.collection, each.id): each for each in new.values()}
    old = [key for each in arrivals if (key := (each.collection, each.id)) not in first]
    return _fates(arrivals, _open(cursor, {each.collection for each in arrivals}), first, _digests(connection, old))


def _fates(
    arrivals: Sequence[Arrival], open_ones: Set[int], new: Mapping[Key, Arrival], there: Mapping[Key, bytes]
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


def _open(cursor: Any, numbers: set[int]) -> Set[int]:
    """Which of some collections are open."""
    listed = ", ".join(str(int(number)) for number in numbers)
    cursor.execute(f"SELECT number FROM collection WHERE number IN ({listed}) AND status = '{OPEN}'")
    return {number for (number,) in cursor.fetchall()}


_NUMBERS = 6 * 10
"""Digits of the numbers of one batch, ten each: SQLite reads digits, but no other numbers in bytes. In bytes it finds a
place at once, in a text it would count letters from the first."""
_IDS = 16 + 32


def _number(place: int) -> str:
    return f"CAST(substr(:numbers, i * {_NUMBERS} + {10 * place + 1}, 10) AS INTEGER)"


_SQLITE = (
    "INSERT INTO batch (collection, period, build, id, digest, accepted, records)"
    " WITH RECURSIVE each (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM each WHERE i + 1 < :n),"
    f" given AS (SELECT i, {_number(0)} AS collection, {_number(1)} AS period, {_number(2)} AS accepted FROM each)"
    " SELECT g.collection, g.period,"
    f" CAST(substr(:builds, i * {LONGEST_BUILD} + 1, {_number(3)}) AS TEXT),"
    f" substr(:ids, i * {_IDS} + 1, 16), substr(:ids, i * {_IDS} + 17, 32), g.accepted,"
    f" substr(:records, {_number(4)} + 1, {_number(5)})"
    " FROM given g CROSS JOIN collection c ON c.number = g.collection"  # which keeps the order of the batches
    f" WHERE c.status = '{OPEN}' AND g.period >= c.pruned_below"
    " ON CONFLICT DO NOTHING"
)
"""Keeps any number of batches, side by side in four values; a trigger of the table notes them as pending."""


def _sqlite_kept(cursor: Any, arrivals: Sequence[Arrival]) -> dict[int, Arrival]:
    numbers: list[str] = []
    builds: list[str] = []
    ids: list[bytes] = []
    at = 0
    for a in arrivals:
        size = len(a.records)
        numbers.append(f"{a.collection:010d}{a.period:010d}{a.accepted:010d}{len(a.build):010d}{at:010d}{size:010d}")
        builds.append(a.build.ljust(LONGEST_BUILD))  # of letters that are one byte each
        ids += (a.id, a.digest)
        at += size
    cursor.execute(
        _SQLITE,
        {
            "n": len(arrivals),
            "numbers": "".join(numbers).encode(),
            "builds": "".join(builds).encode("ascii"),
            "ids": b"".join(ids),
            "records": b"".join([a.records for a in arrivals]),
        },
    )
    new: int = cursor.rowcount
    if new == len(arrivals):  # nobody else writes, so that their numbers follow each other
        return dict(enumerate(arrivals, cursor.lastrowid - new + 1))
    latest = cursor.execute("SELECT seq, collection, id FROM batch ORDER BY seq DESC LIMIT ?", (new,))
    return _by_number(latest.fetchall(), arrivals)


_POSTGRES = (
    "WITH given AS (SELECT * FROM unnest(%b::int[], %b::int[], %b::text[], %b::bytea[], %b::bytea[], %b::int[],"
    " %b::bytea[]) WITH ORDINALITY AS g (collection, period, build, id, digest, accepted, records, place)),"
    f" open AS (SELECT number, pruned_below FROM collection WHERE status = '{OPEN}'"
    " AND number IN (SELECT collection FROM given) ORDER BY number FOR SHARE),"  # until it is committed
    " kept AS (INSERT INTO batch (collection, period, build, id, digest, accepted, records)"
    " SELECT collection, period, build, id, digest, accepted, records FROM given JOIN open ON number = collection"
    " WHERE period >= pruned_below ORDER BY place"
    " ON CONFLICT (collection, id) DO NOTHING RETURNING seq, collection, id),"
    " noted AS (INSERT INTO pending SELECT seq FROM kept)"
    " SELECT seq, collection, id FROM kept"
)


def _postgres_kept(cursor: Any, arrivals: Sequence[Arrival]) -> dict[int, Arrival]:
    ordered = sorted(arrivals, key=lambda a: (a.collection, a.id))  # the same everywhere: nobody waits in a ring
    cursor.execute(_POSTGRES, [list(column) for column in zip(*map(_row, ordered), strict=True)])
    return _by_number(cursor.fetchall(), arrivals)


def _by_number(rows: Iterable[tuple[int, int, bytes]], arrivals: Sequence[Arrival]) -> dict[int, Arrival]:
    """The batches that rows are of; of two with the same id, the one that came first."""
    first = {(each.collection, each.id): each for each in reversed(arrivals)}
    return {seq: first[number, bytes(id)] for seq, number, id in rows}


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
