"""From batches to aggregates, as they are committed: one folder at a time, and each batch once.

A step reads what is pending and tallies it beside the writer; then, in one transaction, the aggregates grow and what
they now hold is pending no longer. Whatever ends a step before that leaves everything as it was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

import numpy as np
import sqlalchemy as sa

from hush.collect.store import tables
from hush.collect.store.alone import changing, trying
from hush.collect.store.builds import OTHERS, BuildNames
from hush.collect.store.collections import AGGREGATES, StoredCollection
from hush.collect.store.database import Database
from hush.collect.store.recent import Recent
from hush.errors import HushError
from hush.estimation import Aggregate

MOST_BYTES = 1 << 26
"""Records that one step holds."""
MOST_KEYS = 512
MOST_GROWTH = 1 << 25
"""Aggregates that one step lets grow, and bytes of them, about: those who wait for the writer wait as long."""
_MOST_BATCHES = 4096
_JOINED = 1 << 20

Key = tuple[int, int, str]
"""A collection's number, a period and a build: what has an aggregate of its own."""


@dataclass(frozen=True)
class Folded:
    """What a step did.

    Args:
        batches: How many it folded.
        collections: Of which collections.
        more: Whether it left some for the next step.
    """

    batches: int
    collections: frozenset[int]
    more: bool


class FoldedTwice(HushError, RuntimeError):
    """Another process has folded the same batches; nothing was done, and the next step goes on."""


class Unfoldable(HushError, RuntimeError):
    """A collection whose aggregates cannot grow, since one of them or a batch is damaged; nothing was done.

    Args:
        collection: Which one.
    """

    def __init__(self, collection: StoredCollection) -> None:
        super().__init__(f"nothing can be added to {collection.id[:8]}: run `hush collection verify --repair`")
        self.number = collection.number


_NOTHING = Folded(0, frozenset(), False)


def step(
    database: Database,
    specs: Callable[[int], StoredCollection],
    *,
    without: Iterable[int] = (),
    recent: Recent | None = None,
) -> Folded:
    """Fold some of what is pending; nothing where another collector is at it.

    Args:
        database: The store.
        specs: The collection of a number.
        without: Numbers of collections that are left as they are.
        recent: Batches that need not be read from the store.
    """
    recent = Recent() if recent is None else recent
    with trying(database) as mine:
        if not mine:
            return _NOTHING
        with database.reading() as connection:
            parts, renamed, more = _read(connection, specs, without, recent)
        if not parts:
            return _NOTHING
        grown: dict[Key, Aggregate] = {}
        for key, part in parts.items():
            with _folding(specs(key[0])):
                grown[key] = tallied(specs(key[0]), [records for _, records in part])
        seqs = {key: [seq for seq, _ in part] for key, part in parts.items()}
        try:
            database.write(lambda writing: _commit(writing, specs, seqs, grown, renamed)).result()
        finally:
            recent.drop(seq for some in seqs.values() for seq in some)
    return Folded(sum(map(len, seqs.values())), frozenset(key[0] for key in grown), more)


@contextmanager
def _folding(collection: StoredCollection) -> Iterator[None]:
    """Say of which collection something is that cannot be folded."""
    try:
        yield
    except (HushError, ValueError) as error:
        raise Unfoldable(collection) from error


def tallied(collection: StoredCollection, records: list[bytes]) -> Aggregate:
    """The aggregate of records that are in the store."""
    dtype = collection.parsed.mechanism.report_dtype
    found: Aggregate = collection.one_round.aggregate(np.frombuffer(part, dtype) for part in _joined(records))
    return found


def _joined(records: list[bytes]) -> Iterator[bytes]:
    """Records of many batches side by side, a megabyte at a time: others wait while they are put together."""
    some: list[bytes] = []
    size = 0
    for each in records:
        some.append(each)
        size += len(each)
        if size >= _JOINED:
            yield b"".join(some)
            some, size = [], 0
    if some:
        yield b"".join(some)


@dataclass(frozen=True)
class _Pending:
    """What waits to be folded, the first that came first.

    Args:
        rows: Of each batch its number, its collection's, its period, build, and the bytes of its records.
        more: Whether there are others behind these.
        records: The records of batches by their numbers.
    """

    rows: Sequence[tuple[int, int, int, str, int]]
    more: bool
    records: Callable[[Collection[int]], Iterable[tuple[int, bytes]]]


def _pending(connection: sa.Connection, without: Iterable[int], recent: Recent) -> _Pending:
    """What waits: out of memory where all of it came a moment ago, else from the store.

    Every row that is read lets other threads run and then waits for them, so that to read what is known costs whoever
    sends batches more than to fold it.
    """
    cursor = _cursor(connection)
    left = ", ".join(str(int(number)) for number in without)
    if not left:
        cursor.execute("SELECT COALESCE(MIN(seq), 0), COALESCE(MAX(seq), 0), COUNT(*) FROM pending")
        first, last, n = cursor.fetchone()
        end = min(last, first + _MOST_BATCHES - 1)
        held = recent.between(first, end) if n and n == last - first + 1 else None
        if held is not None:
            rows = [(seq, a.collection, a.period, a.build, len(a.records)) for seq, a in held.items()]
            return _Pending(rows, end < last, lambda seqs: [(seq, held[seq].records) for seq in seqs])
    pending = "FROM pending p JOIN batch b ON b.seq = p.seq" + (f" AND b.collection NOT IN ({left})" if left else "")
    cursor.execute(
        f"SELECT p.seq, b.collection, b.period, b.build, length(b.records) {pending}"
        f" ORDER BY p.seq LIMIT {_MOST_BATCHES}"
    )
    found = cursor.fetchall()

    def read(seqs: Collection[int]) -> Iterable[tuple[int, bytes]]:
        between = f"BETWEEN {int(min(seqs))} AND {int(max(seqs))}"
        cursor.execute(f"SELECT p.seq, b.records {pending} WHERE p.seq {between}")
        return cast("Iterable[tuple[int, bytes]]", cursor.fetchall())

    return _Pending(found, len(found) == _MOST_BATCHES, read)


def _read(
    connection: sa.Connection, specs: Callable[[int], StoredCollection], without: Iterable[int], recent: Recent
) -> tuple[dict[Key, list[tuple[int, bytes]]], list[int], bool]:
    """Some batches that are pending, with their numbers; which are of one build too many; whether there are more.

    As many as one step may hold, at least one.
    """
    names, waiting = BuildNames(connection, specs), _pending(connection, without, recent)
    keys: dict[int, Key] = {}
    seen: set[Key] = set()
    renamed: list[int] = []
    held = growth = 0
    for seq, number, period, build, size in waiting.rows:
        key = number, period, names.named(number, build)
        held += size
        if key not in seen:
            seen.add(key)
            growth += specs(number).tally_bytes
        if keys and (held > MOST_BYTES or growth > MOST_GROWTH or len(seen) > MOST_KEYS):
            break
        keys[seq] = key
        if key[2] != build:
            renamed.append(seq)
    parts: dict[Key, list[tuple[int, bytes]]] = defaultdict(list)
    for seq, records in waiting.records(keys) if keys else ():
        parts[keys[seq]].append((seq, records))
    return parts, renamed, len(keys) < len(waiting.rows) or waiting.more


def _cursor(connection: sa.Connection) -> Any:
    """The driver's own."""
    return connection.connection.cursor()


def _commit(
    connection: sa.Connection,
    specs: Callable[[int], StoredCollection],
    seqs: Mapping[Key, list[int]],
    grown: Mapping[Key, Aggregate],
    renamed: list[int],
) -> None:
    """Let the aggregates grow; whatever is not pending any more by now, another one has folded, and nothing is done."""
    changing(connection)
    every = [seq for some in seqs.values() for seq in some]
    if _over(connection, sa.delete(tables.pending), tables.pending.c.seq, every) != len(every):
        raise FoldedTwice("some of these batches have been folded by another process meanwhile")
    excluded = {tuple(row) for row in connection.execute(sa.select(tables.exclusion))}
    for key in grown:
        if (key[0], key[2]) not in excluded:
            with _folding(specs(key[0])):
                _add(connection, key, grown[key])
    _over(connection, sa.update(tables.batch).values(build=OTHERS), tables.batch.c.seq, renamed)
    for key in (key for key in seqs if specs(key[0]).keep == AGGREGATES):
        _over(connection, sa.update(tables.batch).values(records=None), tables.batch.c.seq, seqs[key])


def _over(connection: sa.Connection, change: Any, column: sa.Column[int], seqs: list[int]) -> int:
    """Change many rows by their numbers, most of which follow each other; how many there were."""
    where = change.where(column.between(sa.bindparam("first"), sa.bindparam("last")))
    runs = [{"first": first, "last": last} for first, last in _runs(sorted(seqs))]
    return connection.execute(where, runs).rowcount if runs else 0


def _runs(seqs: list[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of numbers that follow each other without a gap."""
    for _, run in groupby(enumerate(seqs), lambda each: each[1] - each[0]):
        found = [seq for _, seq in run]
        yield found[0], found[-1]


def _add(connection: sa.Connection, key: Key, more: Aggregate) -> None:
    """Let one aggregate grow."""
    c = tables.aggregate.c
    mine = sa.and_(c.collection == key[0], c.period == key[1], c.build == key[2])
    before = connection.execute(sa.select(c.content).where(mine)).scalar_one_or_none()
    if before is not None:
        total = Aggregate.from_bytes(bytes(before)) + more
        change = sa.update(tables.aggregate).where(mine).values(number=total.n, content=total.to_bytes())
        connection.execute(change)
        return
    names = {"collection": key[0], "period": key[1], "build": key[2]}
    connection.execute(sa.insert(tables.aggregate).values(**names, number=more.n, content=more.to_bytes()))
