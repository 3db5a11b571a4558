"""The reports that a store still has, batch by batch."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import NamedTuple

import sqlalchemy as sa

from hush.collect.refusals import Refused
from hush.collect.store import tables
from hush.collect.store.collections import AGGREGATES, StoredCollection
from hush.errors import Unsaid, message

_PAGE = 64


class KeptBatch(NamedTuple):
    """A batch of the store."""

    period: int
    build: str
    records: bytes


def batches(
    connection: sa.Connection,
    collection: StoredCollection,
    *,
    period: int | None = None,
    folded: bool = False,
    build: str | None = None,
) -> Generator[KeptBatch, None, None]:
    """All batches of a collection but those of excluded builds, in bounded memory; to be closed.

    Args:
        connection: One that sees one moment of the store.
        collection: Whose.
        period: Only those of one period.
        folded: Only those that are not pending.
        build: Only those of one build, whether it is excluded or not.
    """
    b, gone, p = tables.batch.c, tables.exclusion.c, tables.pending.c
    excluded = sa.select(gone.build).where(gone.collection == collection.number)
    asked = (
        sa.select(b.period, b.build, b.records)
        .where(b.collection == collection.number, b.records.is_not(None))
        .where(b.period >= collection.forgotten_below)
        .where(b.build.not_in(excluded) if build is None else b.build == build)
    )
    if period is not None:
        asked = asked.where(b.period == period)
    if folded:
        asked = asked.where(~sa.exists().where(p.seq == b.seq))
    with connection.execute(asked, execution_options={"yield_per": _PAGE}) as found:
        for row in found:
            yield KeptBatch(row.period, row.build, bytes(row.records))


def periods(connection: sa.Connection, collection: StoredCollection) -> list[int]:
    """The periods that there are batches or aggregates of, and whose reports are not forgotten."""
    found = (set(_periods(connection, table, collection)) for table in (tables.batch, tables.aggregate))
    return sorted(set().union(*found))


def _periods(connection: sa.Connection, table: sa.Table, collection: StoredCollection) -> Iterator[int]:
    """The periods of a table, one after the other: each is looked up, since a period may have millions of batches."""
    c, last = table.c, collection.forgotten_below - 1
    asked = sa.select(sa.func.min(c.period)).where(c.collection == collection.number)
    while (found := connection.execute(asked.where(c.period > last)).scalar_one()) is not None:
        yield (last := int(found))


def check(connection: sa.Connection, collection: StoredCollection, period: int) -> None:
    """Refuse a period whose reports are forgotten."""
    forgotten(connection, collection)
    if period < collection.forgotten_below:
        rule = f"must be at least {collection.forgotten_below}, the first whose reports are still kept"
        raise Refused("parameter", message("period", rule, period, "use its aggregate"))


def forgotten(connection: sa.Connection, collection: StoredCollection) -> int:
    """How many reports are forgotten, of those that count; refused where all are."""
    a = tables.aggregate.c
    asked = sa.select(sa.func.coalesce(sa.func.sum(a.number), 0)).where(a.collection == collection.number)
    n = int(connection.execute(asked).scalar_one())
    gone = int(connection.execute(asked.where(a.period < collection.forgotten_below)).scalar_one())
    if collection.keep == AGGREGATES or (n and gone == n):
        rule, got = "must still have its reports", Unsaid("one that keeps aggregates only, by now")
        raise Refused("status", message("collection", rule, got, "use its aggregates"))
    return gone
