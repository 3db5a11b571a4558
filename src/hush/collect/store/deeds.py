"""A log of what administrators did: each deed is written in the transaction that does it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from hush.collect.store import tables

MOST_LISTED = 10_000
VERIFY = "verify"
"""The deed of whoever compares aggregates with the kept reports, and maybe repairs them."""


def note(
    connection: sa.Connection, what: str, *, who: str, now: float, collection: str | None = None, **more: Any
) -> None:
    """Write down that someone did something, and on which day.

    Args:
        connection: The transaction in which it is done.
        what: A word: "create", "open", …
        who: The label of the token, or "command line".
        now: The second of the clock.
        collection: The id of the one that it is about.
        more: Further particulars, none of them a secret.
    """
    day = datetime.fromtimestamp(now, UTC).date().isoformat()
    detail = json.dumps(more, sort_keys=True)
    values = {"day": day, "who": who, "what": what, "collection": collection, "detail": detail}
    connection.execute(sa.insert(tables.deed).values(**values))


def listed(connection: sa.Connection, limit: int) -> list[dict[str, Any]]:
    """The latest deeds, the last one first."""
    c = tables.deed.c
    rows = connection.execute(sa.select(tables.deed).order_by(c.seq.desc()).limit(min(max(limit, 0), MOST_LISTED)))
    return [
        {
            "day": row.day,
            "who": row.who,
            "what": row.what,
            "collection": row.collection,
            "detail": json.loads(row.detail),
        }
        for row in rows
    ]
