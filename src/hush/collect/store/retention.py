"""Time goes by: periods are handed out, pruned beyond the horizon, and what was kept for so many days is forgotten.

A period is pruned in one transaction: it is refused from then on, and only with it the ids of its batches go. So there
is no moment in which a batch could come again and count again.
"""

from __future__ import annotations

import sqlalchemy as sa

from hush.collect.store import collections, deeds, tables
from hush.collect.store.collections import AGGREGATES, CLOSED, DAY, OPEN, StoredCollection

END = "its end"
"""Who closes a collection that was to end."""


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


def due(collection: StoredCollection, now: float) -> bool:
    """Whether there is something to do."""
    if collection.began is None:
        return False
    ended = collection.status == OPEN and collection.ends is not None and now >= collection.ends
    return ended or collection.period_at(now) > collection.period


def maintained(connection: sa.Connection, id: str, now: float) -> None:
    """Bring one collection up to date."""
    found = collections.found(connection, id)
    if found.began is None:
        return
    period = handed_out(connection, found.number, found.period_at(now))
    if found.status == OPEN and found.ends is not None and now >= found.ends:
        collections.changed(connection, found.number, status=CLOSED)
        deeds.note(connection, "close", who=END, now=now, collection=id)
    _pruned(connection, found, period)


def _pruned(connection: sa.Connection, collection: StoredCollection, period: int) -> None:
    """Refuse periods beyond the horizon, and drop their batches where nothing else needs them."""
    b, number = tables.batch.c, collection.number
    below = max(collection.pruned_below, period - collection.horizon)
    stays = kept_periods(collection)
    forgotten = collection.forgotten_below if stays is None else max(collection.forgotten_below, period - stays)
    collections.changed(connection, number, pruned_below=below, forgotten_below=forgotten)
    gone = below if collection.keep == AGGREGATES else min(below, forgotten)
    pending = sa.select(tables.pending.c.seq)
    connection.execute(sa.delete(tables.batch).where(b.collection == number, b.period < gone, b.seq.not_in(pending)))
    if collection.keep == AGGREGATES and stays is not None:
        a = tables.aggregate.c
        connection.execute(sa.delete(tables.aggregate).where(a.collection == number, a.period < forgotten))
