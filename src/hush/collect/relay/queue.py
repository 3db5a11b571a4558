"""Envelopes that are to be sent: each the same bytes under the same id, until the collector has answered for it.

Only one that the collector certainly never took may become others: so it is written down before each try that the try
may come through, and after it where it certainly did not.
"""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from hush.collect.envelope import Envelope
from hush.collect.relay.mixing import envelopes
from hush.collect.store import tables
from hush.collect.store.collections import StoredCollection

_O = tables.outgoing.c


def put(connection: sa.Connection, collection: StoredCollection, made: Iterable[Envelope]) -> None:
    """Let envelopes be sent, after all that are to be sent already."""
    for each in made:
        values = {"collection": collection.number, "number": each.number, "content": each.to_bytes(), "unsure": 0}
        connection.execute(sa.insert(tables.outgoing).values(**values))


def first(connection: sa.Connection, collection: int, after: int = 0) -> tuple[int, bytes] | None:
    """The envelope of a collection that is to be sent next, and its number.

    Args:
        connection: To the store.
        collection: Whose.
        after: The number of one that was passed over: those that came after it go first.
    """
    asked = sa.select(_O.seq, _O.content).where(_O.collection == collection).order_by(_O.seq <= after, _O.seq).limit(1)
    row = connection.execute(asked).one_or_none()
    return None if row is None else (row.seq, bytes(row.content))


def trying(connection: sa.Connection, seq: int) -> bool:
    """An envelope is about to be sent, and from now on may have been taken.

    Where it is not there any more, since another relay has cut or settled it, it must not be sent: False.
    """
    noted = sa.update(tables.outgoing).where(_O.seq == seq).values(unsure=_O.unsure + 1)
    return bool(connection.execute(noted).rowcount)


def untaken(connection: sa.Connection, seq: int) -> None:
    """A try certainly did not come through."""
    connection.execute(sa.update(tables.outgoing).where(_O.seq == seq).values(unsure=_O.unsure - 1))


def cut(connection: sa.Connection, collection: StoredCollection, seq: int, *, least: int) -> bool:
    """Let two smaller envelopes stand for one that is too large, and say whether that was possible.

    It is not where these would have too few records, or where a try may have come through, or still may.
    """
    sure = sa.and_(_O.seq == seq, _O.unsure == 0, _O.number >= 2 * least)
    row = connection.execute(sa.delete(tables.outgoing).where(sure).returning(_O.content)).one_or_none()
    if row is None:  # and where it is gone, another process has settled it
        return connection.execute(sa.select(_O.seq).where(_O.seq == seq)).one_or_none() is None
    whole = Envelope.from_bytes(bytes(row.content))
    put(connection, collection, envelopes(collection, whole.period, whole.records, parts=2))
    return True
