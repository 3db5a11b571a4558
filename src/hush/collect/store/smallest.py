"""The smallest batch that came to a collection through relays: among so many reports each one hides, at least.

Batches that are forgotten leave their smallest size behind, so that it is known whatever is kept.
"""

from __future__ import annotations

import sqlalchemy as sa

from hush.collect.store import tables


def remember(connection: sa.Connection, collection: int, going: sa.Select[tuple[int]]) -> None:
    """Keep the size of the smallest of the batches that are about to be forgotten, by their numbers."""
    b = tables.batch.c
    least = connection.execute(sa.select(sa.func.min(b.accepted)).where(b.seq.in_(going))).scalar_one()
    if least is None:
        return
    text = (
        "INSERT INTO smallest (collection, number) VALUES (:collection, :number) ON CONFLICT (collection) DO UPDATE"
        " SET number = CASE WHEN excluded.number < smallest.number THEN excluded.number ELSE smallest.number END"
    )
    connection.execute(sa.text(text), {"collection": collection, "number": least})


def smallest(connection: sa.Connection, collection: int) -> int | None:
    """How many reports the smallest batch had, of all that ever came; None where none did."""
    b, s = tables.batch.c, tables.smallest.c
    there = connection.execute(sa.select(sa.func.min(b.accepted)).where(b.collection == collection)).scalar_one()
    gone = connection.execute(sa.select(s.number).where(s.collection == collection)).scalar_one_or_none()
    return min((n for n in (there, gone) if n is not None), default=None)
