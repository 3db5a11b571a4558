"""Aggregates once more, from the reports that are kept; and whether they are what was folded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from typing import Any

import sqlalchemy as sa

from hush.collect.store import kept, tables
from hush.collect.store.alone import changing
from hush.collect.store.collections import StoredCollection
from hush.collect.store.database import Database
from hush.collect.store.folding import MOST_BYTES, tallied
from hush.errors import SpecError
from hush.estimation import Aggregate

Rows = dict[str, tuple[int, bytes]]
"""By build: how many reports an aggregate is said to have, and its bytes."""


def rebuilt(connection: sa.Connection, collection: StoredCollection, period: int) -> dict[str, Aggregate]:
    """The aggregates of one period, by build, of all that is kept and not pending."""
    found: dict[str, Aggregate] = {}
    held: defaultdict[str, list[bytes]] = defaultdict(list)
    size = 0

    def tally() -> None:
        for build, records in held.items():
            more = tallied(collection, records)
            found[build] = found[build] + more if build in found else more
        held.clear()

    with closing(kept.batches(connection, collection, period=period, folded=True)) as batches:
        for each in batches:
            held[each.build].append(each.records)
            size += len(each.records)
            if size >= MOST_BYTES:
                tally()
                size = 0
    tally()
    return found


def compared(connection: sa.Connection, collection: StoredCollection) -> dict[str, Any]:
    """Whether the aggregates are those of the kept reports, and where not; a period at a time."""
    forgotten = kept.forgotten(connection, collection)
    n, differences = 0, []
    for period in kept.periods(connection, collection):
        due, there = rebuilt(connection, collection, period), _folded(connection, collection, period)
        n += sum(part.n for part in due.values())
        differences += [{"period": period, "build": build, "what": what} for build, what in _differing(due, there)]
    return {"equal": not differences, "n": n, "forgotten": forgotten, "differences": differences}


def repaired(database: Database, seen: Callable[[sa.Connection], StoredCollection], period: int) -> None:
    """Make the aggregates of one period those of its kept reports; for whoever is the one that changes aggregates.

    What is kept is tallied beside the writer. The aggregates that it was compared with must still be there when it is
    written, else it is done anew: whoever was the one may have lost that meanwhile.

    Args:
        database: The store.
        seen: The collection, as a connection sees it.
        period: Which one.
    """
    while True:
        with database.reading() as connection:
            collection = seen(connection)
            if period < collection.forgotten_below:
                return
            due, there = rebuilt(connection, collection, period), _folded(connection, collection, period)
        if not _differing(due, there):
            return

        def work(writing: sa.Connection) -> bool:
            return _replaced(writing, collection, period, due, there)  # noqa: B023  # it is done before the next

        if database.write(work).result():
            return


def _replaced(
    connection: sa.Connection, collection: StoredCollection, period: int, due: dict[str, Aggregate], there: Rows
) -> bool:
    changing(connection)
    if _folded(connection, collection, period) != there:
        return False
    a = tables.aggregate.c
    for build, _ in _differing(due, there):
        mine = sa.and_(a.collection == collection.number, a.period == period, a.build == build)
        connection.execute(sa.delete(tables.aggregate).where(mine))
        if build in due:
            names = {"collection": collection.number, "period": period, "build": build}
            row = {**names, "number": due[build].n, "content": due[build].to_bytes()}
            connection.execute(sa.insert(tables.aggregate).values(**row))
    return True


def _differing(due: dict[str, Aggregate], there: Rows) -> list[tuple[str, str]]:
    """The builds whose aggregates are not those that are due, and what is wrong."""
    found = ((build, _difference(due.get(build), there.get(build))) for build in sorted({*due, *there}))
    return [(build, what) for build, what in found if what is not None]


def exclude(connection: sa.Connection, number: int, build: str) -> None:
    """Drop a build from the aggregates, for good; whoever folds leaves it out from now on.

    Each build has aggregates of its own, so what stays is what a rebuild without that build would give.
    """
    changing(connection)
    c, a = tables.exclusion.c, tables.aggregate.c
    there = sa.select(c.build).where(c.collection == number, c.build == build)
    if connection.execute(there).one_or_none() is None:
        connection.execute(sa.insert(tables.exclusion).values(collection=number, build=build))
    connection.execute(sa.delete(tables.aggregate).where(a.collection == number, a.build == build))


def _folded(connection: sa.Connection, collection: StoredCollection, period: int) -> Rows:
    a, gone = tables.aggregate.c, tables.exclusion.c
    excluded = sa.select(gone.build).where(gone.collection == collection.number)
    asked = sa.select(a.build, a.number, a.content).where(
        a.collection == collection.number, a.period == period, a.build.not_in(excluded)
    )
    return {build: (number, bytes(content)) for build, number, content in connection.execute(asked)}


def _difference(due: Aggregate | None, there: tuple[int, bytes] | None) -> str | None:
    """What is wrong with an aggregate, in words; None where it is the one that is due."""
    n = 0 if due is None else due.n
    if there is None:
        return f"{n:,} reports are kept, and no aggregate has them"
    number, content = there
    try:
        found = Aggregate.from_bytes(content)
    except SpecError:
        return "the aggregate is damaged"
    if n != found.n:
        return f"the aggregate has {found.n:,} reports, and {n:,} are kept"
    if number != found.n:
        return f"the aggregate has {found.n:,} reports, and is said to have {number:,}"
    return None if found == due else "the aggregate is another one than that of the kept reports"
