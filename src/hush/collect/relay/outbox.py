"""From what devices sent to what is passed on: gathered by period, permuted, and put into fresh envelopes.

What a device sent is held until there is enough of the same collection and period. Then, in one transaction, the
envelopes to be sent are written and the records that went into them are gone; so whatever ends the process, each record
is in one of the two, and never in both. The id of what a device sent stays until its period is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa

import hush
from hush.collect.envelope import Envelope, new_id
from hush.collect.relay.mirror import most_records
from hush.collect.relay.settings import Rules
from hush.collect.store import tables
from hush.collect.store.alone import trying
from hush.collect.store.collections import CLOSED, StoredCollection
from hush.collect.store.database import Database
from hush.randomness import source

BUILD = f"hush-relay/{hush.__version__}"
"""Which client the collector sees, whoever it was."""
FORWARDED, FEW, ENDED, REFUSED = "forwarded", "few", "ended", "refused"
FATES = (FORWARDED, FEW, ENDED, REFUSED)
"""What becomes of records: the collector has them; too few came in their period; it closed; it refused them."""
_SOME = 900  # as many as a statement of SQLite may name


def step(database: Database, collection: StoredCollection, rules: Rules) -> int:
    """Gather what there is enough of, and settle periods that are refused by now; how many records that was."""
    with trying(database) as mine:
        if not mine:
            return 0
        with database.reading() as connection:
            waiting = held(connection, collection.number)
        done = 0
        for period, number in sorted(waiting.items()):
            if collection.status == CLOSED:
                done += _dropped(database, collection, period, ENDED)
            elif number >= rules.least and (period < collection.period or not rules.whole_periods):
                done += _gathered(database, collection, period, rules.least)
            elif period < collection.pruned_below:
                if rules.send_few:
                    done += _gathered(database, collection, period, number)
                else:
                    done += _dropped(database, collection, period, FEW)
    return done


def held(connection: sa.Connection, number: int) -> dict[int, int]:
    """How many records of a collection wait, by period."""
    b = tables.batch.c
    asked = sa.select(b.period, sa.func.sum(b.accepted)).select_from(_waiting()).where(b.collection == number)
    return {period: int(n) for period, n in connection.execute(asked.group_by(b.period))}


def renoted(connection: sa.Connection) -> None:
    """Note as waiting whatever still has its records: a collector that opened the store may have counted it."""
    connection.execute(
        sa.text(
            "INSERT INTO pending SELECT b.seq FROM batch b JOIN mirror m ON m.collection = b.collection"
            " WHERE b.records IS NOT NULL AND b.seq NOT IN (SELECT seq FROM pending)"
        )
    )


def prune(connection: sa.Connection, collection: StoredCollection) -> None:
    """Forget the ids of periods that are refused, once nothing of them waits."""
    b = tables.batch.c
    over = sa.and_(b.collection == collection.number, b.period < collection.pruned_below, b.records.is_(None))
    connection.execute(sa.delete(tables.batch).where(over))


def next_outgoing(connection: sa.Connection, collection: int) -> tuple[int, bytes] | None:
    """The oldest envelope of a collection that is to be sent, and its number."""
    o = tables.outgoing.c
    row = connection.execute(
        sa.select(o.seq, o.content).where(o.collection == collection).order_by(o.seq).limit(1)
    ).one_or_none()
    return None if row is None else (row.seq, bytes(row.content))


def sent(connection: sa.Connection, seq: int, collection: int, fates: dict[str, int]) -> None:
    """An envelope is settled: it is gone, and counted once."""
    if connection.execute(sa.delete(tables.outgoing).where(tables.outgoing.c.seq == seq)).rowcount:
        _count(connection, collection, fates)


def counted(connection: sa.Connection, collection: int | None = None) -> dict[str, int]:
    """How many records had each fate, of one collection or of all; and how many wait, or are being sent."""
    r, o, b = tables.relayed.c, tables.outgoing.c, tables.batch.c

    def total(column: Any, of: Any, *more: Any) -> int:
        asked = sa.select(sa.func.coalesce(sa.func.sum(column), 0)).where(*more)
        return int(connection.execute(asked if collection is None else asked.where(of == collection)).scalar_one())

    waits = sa.select(sa.func.coalesce(sa.func.sum(b.accepted), 0)).select_from(_waiting())
    if collection is not None:
        waits = waits.where(b.collection == collection)
    return {
        **{fate: total(r.number, r.collection, r.fate == fate) for fate in FATES},
        "held": int(connection.execute(waits).scalar_one()),
        "outgoing": total(o.number, o.collection),
    }


def permuted(records: bytes, size: int) -> bytes:
    """Records in an order that tells nothing: every one is equally likely, by secure randomness."""
    from hush.kernels.orders import permutation

    rows = np.frombuffer(records, np.dtype((np.void, size)))
    return rows[permutation(source(None).bit_generator, len(rows))].tobytes()


def envelopes(collection: StoredCollection, period: int, records: bytes) -> list[Envelope]:
    """Permuted records in as few envelopes as they need, all of about one size, with ids of their own."""
    size, most = collection.parsed.mechanism.report_dtype.itemsize, most_records(collection)
    number = len(records) // size
    parts = -(-number // most)
    cuts = [number * part // parts * size for part in range(parts + 1)]
    mixed = permuted(records, size)
    return [
        Envelope(collection.id, collection.spec_hash, new_id(), period, BUILD, size, mixed[start:stop])
        for start, stop in itertools.pairwise(cuts)
    ]


def _gathered(database: Database, collection: StoredCollection, period: int, least: int) -> int:
    """Put what waits into envelopes: as much as one holds, and the rest too, where that would be too little."""
    with database.reading() as connection:
        seqs = _chosen(connection, collection, period, least)
        made = envelopes(collection, period, b"".join(_records(connection, seqs)))

    def work(writing: sa.Connection) -> None:
        for each in made:
            values = {"collection": collection.number, "number": each.number, "content": each.to_bytes()}
            writing.execute(sa.insert(tables.outgoing).values(**values))
        _emptied(writing, seqs)

    database.write(work).result()
    return sum(each.number for each in made)


def _chosen(connection: sa.Connection, collection: StoredCollection, period: int, least: int) -> list[int]:
    """Whole batches of devices, so many that these are enough, and that what is left is, too, or nothing."""
    b, most = tables.batch.c, most_records(collection)
    mine = sa.and_(b.collection == collection.number, b.period == period)
    asked = sa.select(b.seq, b.accepted).select_from(_waiting()).where(mine).order_by(b.seq)
    rows = connection.execute(asked.limit(most + least)).all()
    total = held(connection, collection.number)[period]
    ends = np.cumsum([row.accepted for row in rows])
    stop = int(np.searchsorted(ends, most, "right"))
    while stop < len(rows) and (stop == 0 or ends[stop - 1] < least or total - ends[stop - 1] < least):
        stop += 1
    return [row.seq for row in rows[:stop]]


def _records(connection: sa.Connection, seqs: Sequence[int]) -> Iterable[bytes]:
    b = tables.batch.c
    for some in _cut(seqs):
        for row in connection.execute(sa.select(b.records).where(b.seq.in_(some))):
            yield bytes(row.records)


def _dropped(database: Database, collection: StoredCollection, period: int, fate: str) -> int:
    b = tables.batch.c
    asked = sa.select(b.seq, b.accepted).select_from(_waiting())
    with database.reading() as connection:
        rows = connection.execute(asked.where(b.collection == collection.number, b.period == period)).all()
    number = sum(row.accepted for row in rows)

    def work(writing: sa.Connection) -> None:
        _emptied(writing, [row.seq for row in rows])
        _count(writing, collection.number, {fate: number})

    database.write(work).result()
    return number


def _emptied(connection: sa.Connection, seqs: Sequence[int]) -> None:
    """Let the records of these batches go; their ids stay."""
    done = 0
    for some in _cut(seqs):
        done += connection.execute(sa.delete(tables.pending).where(tables.pending.c.seq.in_(some))).rowcount
        connection.execute(sa.update(tables.batch).where(tables.batch.c.seq.in_(some)).values(records=None))
    if done != len(seqs):
        raise RuntimeError("some of these batches were gathered by another process meanwhile")


def _count(connection: sa.Connection, collection: int, fates: dict[str, int]) -> None:
    text = (
        "INSERT INTO relayed (collection, fate, number) VALUES (:collection, :fate, :number)"
        " ON CONFLICT (collection, fate) DO UPDATE SET number = relayed.number + excluded.number"
    )
    rows = [{"collection": collection, "fate": fate, "number": n} for fate, n in sorted(fates.items()) if n]
    if rows:
        connection.execute(sa.text(text), rows)


def _waiting() -> sa.Join:
    return tables.pending.join(tables.batch, tables.pending.c.seq == tables.batch.c.seq)


def _cut(seqs: Sequence[int]) -> Iterable[Sequence[int]]:
    return (seqs[i : i + _SOME] for i in range(0, len(seqs), _SOME))
