"""One at a time changes aggregates: whoever folds, rebuilds or forgets, in this process and in all others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from hush.collect.store.database import Database

_FOLDER = 0x48555348  # the number of the advisory lock, "HUSH"
_PAUSE = 0.02


@contextmanager
def trying(database: Database) -> Iterator[bool]:
    """Whether this is the one, as long as the block lasts."""
    if not database.folding.acquire(blocking=False):
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
        database.folding.release()


@contextmanager
def alone(database: Database) -> Iterator[None]:
    """Wait to be the one; the writer's thread never waits here, since whoever folds waits for it."""
    while True:
        with trying(database) as mine:
            if mine:
                yield
                return
        time.sleep(_PAUSE)
