"""Aggregates once more, from the reports that are kept; and whether they are what was folded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import sqlalchemy as sa

from hush.collect.refusals import Refused
from hush.collect.store import kept, tables
from hush.collect.store.alone import changing
from hush.collect.store.collections import AGGREGATES, StoredCollection
from hush.collect.store.database import Database
from hush.collect.store.folding import MOST_BYTES, tallied
from hush.errors import SpecError, Unsaid, message
from hush.estimation import Aggregate

Rows = dict[str, tuple[int, bytes]]
"""By build: how many reports an aggregate is said to have, and its bytes."""


def rebuilt(
    connection: sa.Connection, collection: StoredCollection, period: int, *, build: str | None = None
) -> dict[str, Aggregate]:
    """The aggregates of one period, by build, of all that is kept and not pending, or of one build, though excluded."""
    found: dict[str, Aggregate] = {}
    held: defaultdict[str, list[bytes]] = defaultdict(list)
    size = 0

    def tally() -> None:
        for build, records in held.items():
            more = tallied(collection, records)
            found[build] = found[build] + more if build in found else more
        held.clear()

    with closing(kept.batches(connection, collection, period=period, folded=True, build=build)) as batches:
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
    for build, _ in _differing(due, there):
        _put(connection, collection.number, period, build, due)
    return True


def _differing(due: dict[str, Aggregate], there: Rows) -> list[tuple[str, str]]:
    """The builds whose aggregates are not those that are due, and what is wrong."""
    found = ((build, _difference(due.get(build), there.get(build))) for build in sorted({*due, *there}))
    return [(build, what) for build, what in found if what is not None]


def included(
    database: Database,
    seen: Callable[[sa.Connection], StoredCollection],
    build: str,
    noted: Callable[[sa.Connection], None],
) -> None:
    """Let an excluded build count again, from its kept reports; for whoever is the one that changes aggregates.

    Its aggregates are written first, a period at a time: none counts as long as the build is excluded. What was folded
    of it must still be the same when it counts again, else it is done anew.

    Args:
        database: The store.
        seen: The collection, as a connection sees it.
        build: Which one.
        noted: Called in the transaction from which on it counts.
    """
    while True:
        with database.reading() as connection:
            collection = seen(connection)
            if build not in _excluded_of(connection, collection.number):
                rule, got = "must be one that is left out", Unsaid("another one")
                raise Refused("parameter", message("build", rule, got, "see `hush collection show`"))
            _whole(collection)
            before, periods = _folded_of(connection, collection.number, build), kept.periods(connection, collection)
        for period in periods:
            with database.reading() as connection:
                due = rebuilt(connection, collection, period, build=build)
            database.write(partial(_put, number=collection.number, period=period, build=build, due=due)).result()

        def work(writing: sa.Connection) -> bool:
            changing(writing)
            if _folded_of(writing, collection.number, build) != before:  # noqa: B023  # it is done before the next
                return False
            c = tables.exclusion.c
            mine = sa.and_(c.collection == collection.number, c.build == build)  # noqa: B023
            writing.execute(sa.delete(tables.exclusion).where(mine))
            noted(writing)
            return True

        if database.write(work).result():
            return


def _excluded_of(connection: sa.Connection, number: int) -> set[str]:
    c = tables.exclusion.c
    return set(connection.execute(sa.select(c.build).where(c.collection == number)).scalars())


def _whole(collection: StoredCollection) -> None:
    """Refuse a collection that has not all of its reports: a build would count in some periods, and not in others."""
    if collection.keep == AGGREGATES or collection.forgotten_below:
        got = "one that keeps aggregates only" if collection.keep == AGGREGATES else "one that has forgotten some"
        rule, remedy = "must still have all its reports", "the build stays left out; make a collection that follows it"
        raise Refused("status", message("collection", rule, Unsaid(got), remedy))


def _folded_of(connection: sa.Connection, number: int, build: str) -> tuple[int, int | None]:
    """How many batches of a build are folded, and the last of them."""
    b, p = tables.batch.c, tables.pending.c
    asked = sa.select(sa.func.count(), sa.func.max(b.seq)).where(b.collection == number, b.build == build)
    n, last = connection.execute(asked.where(~sa.exists().where(p.seq == b.seq))).one()
    return int(n), last


def _put(connection: sa.Connection, number: int, period: int, build: str, due: dict[str, Aggregate]) -> None:
    """Write the aggregate that is due of a period and build in place of the one that is there."""
    changing(connection)
    a = tables.aggregate.c
    mine = sa.and_(a.collection == number, a.period == period, a.build == build)
    connection.execute(sa.delete(tables.aggregate).where(mine))
    if build in due:
        names = {"collection": number, "period": period, "build": build}
        row = {**names, "number": due[build].n, "content": due[build].to_bytes()}
        connection.execute(sa.insert(tables.aggregate).values(**row))


def exclude(connection: sa.Connection, number: int, build: str) -> int:
    """Drop a build from the aggregates; whoever folds leaves it out from now on. How many reports of it there were.

    Each build has aggregates of its own, so what stays is what a rebuild without that build would give.
    """
    changing(connection)
    c, a = tables.exclusion.c, tables.aggregate.c
    left_out = 0
    there = sa.select(c.build).where(c.collection == number, c.build == build)
    if connection.execute(there).one_or_none() is None:
        left_out = _number(connection, number, build)
        connection.execute(sa.insert(tables.exclusion).values(collection=number, build=build))
    connection.execute(sa.delete(tables.aggregate).where(a.collection == number, a.build == build))
    return left_out


def _number(connection: sa.Connection, number: int, build: str) -> int:
    """How many reports of a build are counted, or will be."""
    a, b, p = tables.aggregate.c, tables.batch.c, tables.pending.c
    counted = sa.select(sa.func.sum(a.number)).where(a.collection == number, a.build == build)
    waiting = sa.select(sa.func.sum(b.accepted)).join(tables.pending, p.seq == b.seq)
    waiting = waiting.where(b.collection == number, b.build == build)
    return sum(int(connection.execute(each).scalar_one() or 0) for each in (counted, waiting))


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
