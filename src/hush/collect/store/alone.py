"""One at a time changes aggregates: whoever folds, excludes or forgets, in this process and in all others.

Folding goes on all the time and only tries. Whoever waits comes next: a waiting thread before one that tries, and in
PostgreSQL a waiting process before one that tries.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from hush.collect.store.database import Database

_FOLDER = 0x48555348  # the number of the advisory lock, "HUSH"

_CHANGING = 0x4855534A  # and of another one


def changing(connection: sa.Connection) -> None:
    """Be the only transaction that changes aggregates, until it ends.

    Whoever is the one holds that by a connection of its own, which may be lost meanwhile; this lock is of the very
    transaction that reads aggregates and writes them again.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_CHANGING})"))


@contextmanager
def trying(database: Database) -> Iterator[bool]:
    """Whether this is the one, as long as the block lasts."""
    if not database.folding.tried():
        yield False
        return
    try:
        if database.embedded:
            yield True
        else:
            with database.locking() as connection:
                asked = sa.text(f"SELECT pg_try_advisory_xact_lock({_FOLDER})")
                yield bool(connection.execute(asked).scalar_one())
    finally:
        database.folding.end()


@contextmanager
def alone(database: Database) -> Iterator[None]:
    """Wait to be the one; never in the writer's thread, since whoever folds waits for that."""
    database.folding.wait()
    try:
        if database.embedded:
            yield
        else:
            with database.locking() as connection:
                connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_FOLDER})"))
                yield
    finally:
        database.folding.end()
