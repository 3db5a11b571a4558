"""The aggregates of a collection, as they were folded: per period and client build, but for excluded builds."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from functools import reduce
from operator import add
from typing import NamedTuple

import sqlalchemy as sa

from hush.collect.refusals import Refused
from hush.collect.store import tables
from hush.collect.store.collections import StoredCollection
from hush.collect.store.deeds import VERIFY
from hush.errors import SpecError, Unsaid, message
from hush.estimation import Aggregate
from hush.files.folding import nothing

_PAGE = 16


def by_period(
    connection: sa.Connection, collection: StoredCollection, *, period: int | None = None
) -> dict[int, Aggregate]:
    """One aggregate for each period that has any, or for the one that is asked for."""
    found: dict[int, Aggregate] = {}
    with closing(_rows(connection, collection, period)) as rows:
        for at, content in rows:
            part = intact(collection, content)
            found[at] = found[at] + part if at in found else part
    return dict(sorted(found.items()))


def together(connection: sa.Connection, collection: StoredCollection, *, period: int | None = None) -> Aggregate:
    """All of them as one."""
    with closing(_rows(connection, collection, period)) as rows:
        return reduce(add, (intact(collection, content) for _, content in rows), nothing(collection.parsed))


class State(NamedTuple):
    """What changes whenever an estimate does.

    Args:
        sizes: Periods, builds, and how many reports are counted of each.
        verified: The number of the last deed that may have repaired aggregates: these may have as many as before.
    """

    sizes: frozenset[tuple[int, str, int]]
    verified: int | None


def state(connection: sa.Connection, collection: StoredCollection) -> State:
    """That of a collection."""
    c, d = tables.aggregate.c, tables.deed.c
    asked = sa.select(c.period, c.build, c.number).where(_counted(collection))
    sizes = frozenset((period, build, number) for period, build, number in connection.execute(asked))
    repairs = sa.select(sa.func.max(d.seq)).where(d.collection == collection.id, d.what == VERIFY)
    return State(sizes, connection.execute(repairs).scalar_one())


def _counted(collection: StoredCollection) -> sa.ColumnElement[bool]:
    c, gone = tables.aggregate.c, tables.exclusion.c
    excluded = sa.select(gone.build).where(gone.collection == collection.number)
    return sa.and_(c.collection == collection.number, c.build.not_in(excluded))


def intact(collection: StoredCollection, content: bytes) -> Aggregate:
    """The aggregate of these bytes, which must be one of the collection."""
    try:
        found: Aggregate = collection.one_round.check(Aggregate.from_bytes(content))
    except SpecError:
        rule, remedy = "must be intact in the store", "run `hush collection verify --repair`"
        raise Refused("internal", message("aggregate", rule, Unsaid("a damaged one"), remedy)) from None
    return found


def _rows(
    connection: sa.Connection, collection: StoredCollection, period: int | None
) -> Generator[tuple[int, bytes], None, None]:
    """Periods and aggregates, in bounded memory."""
    c = tables.aggregate.c
    asked = sa.select(c.period, c.content).where(_counted(collection))
    if period is not None:
        asked = asked.where(c.period == period)
    with connection.execute(asked, execution_options={"yield_per": _PAGE}) as found:
        for row in found:
            yield row[0], bytes(row[1])
