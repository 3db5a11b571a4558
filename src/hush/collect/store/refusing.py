"""Refusals, counted per collection and reason: in memory for at most a second, then in the store.

What is counted is bounded, whatever clients do: reasons are those of one table, and of collections only those that
there are have a row of their own.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import sqlalchemy as sa

from hush.collect.store import tables
from hush.collect.store.database import Database

LATEST = 1.0
"""Seconds after which a count is in the store."""
NOWHERE = 0
"""The number of no collection, for refusals that name none that there is."""

Reasons = Mapping[tuple[int, str], int]
"""How often, by a collection's number and a reason's code."""


class RefusalCounts:
    """Counts refusals.

    Args:
        database: Where they go.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: Counter[tuple[int, str]] = Counter()
        self._lock = threading.Lock()
        self._writing = threading.Lock()  # held while counts go from here to the store
        self._timer: threading.Timer | None = None
        self._closed = False

    def add(self, more: Reasons) -> None:
        """Count some more; quick, and from any thread."""
        with self._lock:
            self._waiting.update(more)
            self._begin()

    @contextmanager
    def waiting(self) -> Iterator[Counter[tuple[int, str]]]:
        """What is not in the store yet; meanwhile it stays here, so that a reader of both counts it once."""
        with self._writing:
            with self._lock:
                here = Counter(self._waiting)
            yield here

    def flush(self) -> None:
        """Write what waits; where the store fails, it waits on."""
        with self._writing:
            with self._lock:
                taken, self._waiting, self._timer = self._waiting, Counter(), None
            if not taken:
                return
            try:
                self._database.write(lambda connection: added(connection, taken)).result()
            except Exception:
                with self._lock:
                    self._waiting.update(taken)
                    self._begin()
                raise

    def close(self) -> None:
        """Write what waits, and count no more."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
        self.flush()

    def _begin(self) -> None:
        if self._timer is None and self._waiting and not self._closed:
            self._timer = threading.Timer(LATEST / 2, self._flushed)
            self._timer.daemon = True
            self._timer.start()

    def _flushed(self) -> None:
        try:
            self.flush()
        except sa.exc.SQLAlchemyError:
            return  # it waits for the next time
        except RuntimeError:
            return  # the store was closed


def added(connection: sa.Connection, more: Reasons) -> None:
    """Let counts grow; in one order everywhere, so that nobody waits in a ring."""
    text = (
        "INSERT INTO refusal (collection, reason, number) VALUES (:collection, :reason, :number)"
        " ON CONFLICT (collection, reason) DO UPDATE SET number = refusal.number + excluded.number"
    )
    rows = [{"collection": key[0], "reason": key[1], "number": more[key]} for key in sorted(more)]
    connection.execute(sa.text(text), rows)


def counted(connection: sa.Connection, number: int | None = None) -> Counter[tuple[int, str]]:
    """What the store has, of all or of one collection."""
    c = tables.refusal.c
    asked = sa.select(c.collection, c.reason, c.number)
    if number is not None:
        asked = asked.where(c.collection == number)
    return Counter({(row[0], row[1]): row[2] for row in connection.execute(asked)})
