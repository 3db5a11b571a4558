"""Time goes by: periods are handed out, pruned beyond the horizon, and what was kept for so many days is forgotten.

A period is refused from the transaction on that says so, and only then the ids of its batches go. So there is no moment
in which a batch could come again and count again.
"""

from __future__ import annotations

import sqlalchemy as sa

from hush.collect.store import collections, deeds, smallest, tables
from hush.collect.store.alone import changing
from hush.collect.store.collections import AGGREGATES, CLOSED, DAY, OPEN, StoredCollection

END = "its end"
"""Who closes a collection that was to end."""
MOST_ROWS = 1000
"""Batches that go in one transaction, so that nobody waits long for the next one."""


def handed_out(connection: sa.Connection, number: int, period: int) -> int:
    """The period once it is in the store, or a later one that is there already."""
    c = tables.collection.c
    later = sa.case((c.period > period, c.period), else_=period)
    change = sa.update(tables.collection).where(c.number == number).values(period=later).returning(c.period)
    return int(connection.execute(change).scalar_one())


def kept_periods(collection: StoredCollection) -> int | None:
    """How many periods before the present one what is kept stays, at least its late time; None for always."""
    if collection.keep_days is None:
        return None
    return max(-(-collection.keep_days * DAY // collection.period_seconds), collection.horizon)


def advanced(connection: sa.Connection, id: str, now: float) -> None:
    """Bring a collection to the present: its period, the periods that it refuses, and its end."""
    found = collections.found(connection, id)
    if found.began is None:
        return
    if found.period_at(now) > found.period or found.pruned_below < found.period - found.horizon:
        _advanced(connection, found, handed_out(connection, found.number, found.period_at(now)))
    if found.status == OPEN and found.ends is not None and now >= found.ends:
        collections.changed(connection, found.number, status=CLOSED)
        deeds.note(connection, "close", who=END, now=now, collection=id)


def _advanced(connection: sa.Connection, found: StoredCollection, period: int) -> None:
    stays = kept_periods(found)
    collections.changed(
        connection,
        found.number,
        pruned_below=max(found.pruned_below, period - found.horizon),
        forgotten_below=found.forgotten_below if stays is None else max(found.forgotten_below, period - stays),
    )


def forgotten(connection: sa.Connection, id: str) -> int:
    """Drop some batches of periods that are refused, where nothing needs them any more; how many.

    What is pending waits until it is folded.
    """
    found, b = collections.found(connection, id), tables.batch.c
    only_aggregates = found.keep == AGGREGATES
    below = found.pruned_below if only_aggregates else found.forgotten_below
    if only_aggregates:
        changing(connection)
        a = tables.aggregate.c
        old = a.period < found.forgotten_below
        connection.execute(sa.delete(tables.aggregate).where(a.collection == found.number, old))
    pending = sa.select(tables.pending.c.seq).where(tables.pending.c.seq == b.seq).exists()
    some = (
        sa.select(b.seq)
        .where(b.collection == found.number, b.period < below, ~pending)
        .order_by(b.seq)
        .limit(MOST_ROWS)
    )
    if found.relayed_only:
        smallest.remember(connection, found.number, some)
    return int(connection.execute(sa.delete(tables.batch).where(b.seq.in_(some))).rowcount)
