"""Aggregates once more, from the reports that are kept; and whether they are what was folded."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import sqlalchemy as sa

from hush.collect.store import kept, tables
from hush.collect.store.collections import StoredCollection
from hush.collect.store.folding import MOST_BYTES, tallied
from hush.errors import SpecError
from hush.estimation import Aggregate

Part = tuple[int, str]
"""A period and a build."""


def rebuilt(connection: sa.Connection, collection: StoredCollection) -> dict[Part, Aggregate]:
    """The aggregates of all that is kept and not pending."""
    waiting = {row[0] for row in connection.execute(sa.select(tables.pending.c.seq))}
    found: dict[Part, Aggregate] = {}
    held: defaultdict[Part, list[bytes]] = defaultdict(list)
    size = 0

    def tally() -> None:
        for part, records in held.items():
            more = tallied(collection, records)
            found[part] = found[part] + more if part in found else more
        held.clear()

    for each in kept.batches(connection, collection):
        if each.seq in waiting or each.period < collection.forgotten_below:
            continue
        held[each.period, each.build].append(each.records)
        size += len(each.records)
        if size >= MOST_BYTES:
            tally()
            size = 0
    tally()
    return found


def compared(connection: sa.Connection, collection: StoredCollection) -> dict[str, Any]:
    """Whether the aggregates are those of the kept reports, and where not."""
    forgotten = kept.there(connection, collection)
    again, differences, n = rebuilt(connection, collection), [], 0
    a, gone = tables.aggregate.c, tables.exclusion.c
    excluded = sa.select(gone.build).where(gone.collection == collection.number)
    asked = sa.select(a.period, a.build, a.number, a.content).where(
        a.collection == collection.number, a.period >= collection.forgotten_below, a.build.not_in(excluded)
    )
    for period, build, number, content in connection.execute(asked.order_by(a.period, a.build)):
        due = again.pop((period, build), None)
        n += 0 if due is None else due.n
        what = _difference(due, number, bytes(content))
        if what is not None:
            differences.append({"period": period, "build": build, "what": what})
    for (period, build), due in sorted(again.items()):
        n += due.n
        what = f"{due.n} reports are kept, and no aggregate has them"
        differences.append({"period": period, "build": build, "what": what})
    return {"equal": not differences, "n": n, "forgotten": forgotten, "differences": differences}


def _difference(due: Aggregate | None, number: int, content: bytes) -> str | None:
    try:
        found = Aggregate.from_bytes(content)
    except SpecError:
        return "the aggregate is damaged"
    if due is None or due.n != found.n:
        return f"the aggregate has {found.n} reports, and {0 if due is None else due.n} are kept"
    if number != found.n:
        return f"the aggregate has {found.n} reports, and is said to have {number}"
    return None if found == due else "the aggregate is another one than that of the kept reports"


def exclude(connection: sa.Connection, number: int, build: str) -> None:
    """Drop a build from the aggregates, for good; whoever folds leaves it out from now on."""
    c, a = tables.exclusion.c, tables.aggregate.c
    there = sa.select(c.build).where(c.collection == number, c.build == build)
    if connection.execute(there).one_or_none() is None:
        connection.execute(sa.insert(tables.exclusion).values(collection=number, build=build))
    connection.execute(sa.delete(tables.aggregate).where(a.collection == number, a.build == build))
