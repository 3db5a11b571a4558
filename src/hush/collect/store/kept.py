"""The reports that a store still has, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import sqlalchemy as sa

from hush.collect.refusals import Refused
from hush.collect.store import tables
from hush.collect.store.collections import AGGREGATES, StoredCollection
from hush.errors import Unsaid, message

_PAGE = 256


class KeptBatch(NamedTuple):
    """A batch of the store."""

    seq: int
    period: int
    build: str
    accepted: int
    records: bytes


def batches(connection: sa.Connection, collection: StoredCollection) -> Iterator[KeptBatch]:
    """All batches of a collection but those of excluded builds, in bounded memory."""
    b, gone = tables.batch.c, tables.exclusion.c
    excluded = sa.select(gone.build).where(gone.collection == collection.number)
    asked = (
        sa.select(b.seq, b.period, b.build, b.accepted, b.records)
        .where(b.collection == collection.number, b.records.is_not(None), b.build.not_in(excluded))
        .order_by(b.seq)
        .limit(_PAGE)
    )
    last = 0
    while rows := connection.execute(asked.where(b.seq > last)).all():
        for row in rows:
            yield KeptBatch(row.seq, row.period, row.build, row.accepted, bytes(row.records))
        last = rows[-1].seq


def there(connection: sa.Connection, collection: StoredCollection) -> int:
    """How many reports are forgotten, of those that count; refused where all are."""
    a = tables.aggregate.c
    asked = sa.select(sa.func.coalesce(sa.func.sum(a.number), 0)).where(a.collection == collection.number)
    n = int(connection.execute(asked).scalar_one())
    gone = int(connection.execute(asked.where(a.period < collection.forgotten_below)).scalar_one())
    if collection.keep == AGGREGATES or (n and gone == n):
        rule, got = "must still have its reports", Unsaid("one that keeps aggregates only, by now")
        raise Refused("status", message("collection", rule, got, "use its aggregates"))
    return gone
