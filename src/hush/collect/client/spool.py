"""What waits to be sent: whole envelopes, which never change, and when to try again."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass

from hush.collect.client.home import Home
from hush.collect.client.receipts import WAITING, Receipt
from hush.collect.client.wire import LONGEST_WAIT, SendOutcome
from hush.collect.envelope import Envelope
from hush.errors import ParameterError, Unsaid, message

FIRST_WAIT = 1.0
"""Seconds, at most, before the second try; twice as many before each one after it."""
MOST_WAIT = 3600.0
_jitter = random.SystemRandom()


@dataclass(frozen=True)
class Quota:
    """How much may wait in a home.

    Args:
        bytes: Of envelopes.
        batches: How many.
    """

    bytes: int
    batches: int

    def check(self, sql: sqlite3.Connection, size: int) -> None:
        """Refuse a batch of so many bytes more."""
        number, there = sql.execute(
            "SELECT COUNT(*), COALESCE(SUM(size), 0) FROM batch WHERE state = ?", [WAITING]
        ).fetchone()
        if number >= self.batches or there + size > self.bytes:
            rule = f"must leave room: {self.batches} batches and {self.bytes} bytes may wait"
            got = Unsaid(f"{number} that wait, of {there} bytes")
            raise ParameterError(
                message("quota", rule, got, "flush() when the server can be reached; nothing was spent")
            )


def insert(sql: sqlite3.Connection, collection: int, made: Envelope) -> int:
    """Keep an envelope to be sent; its number."""
    data = made.to_bytes()
    found = sql.execute(
        "INSERT INTO batch (name, collection, period, records, size, state, reason, envelope) "
        "VALUES (?, ?, ?, ?, ?, ?, '', ?)",
        (made.batch, collection, made.period, made.number, len(data), WAITING, data),
    )
    return int(found.lastrowid or 0)


def receipt(sql: sqlite3.Connection, number: int) -> Receipt | None:
    """The receipt of a batch; None where it was forgotten, long after it was settled."""
    row = sql.execute(
        "SELECT c.name, b.period, b.name, b.state, b.reason FROM batch b JOIN collection c ON c.id = b.collection "
        "WHERE b.id = ?",
        [number],
    ).fetchone()
    return None if row is None else Receipt(*row)


class Spool:
    """What waits for one collection.

    Args:
        home: The file.
        collection: The collection's id.
        origin: Where its server must have been so far; None for anywhere.
    """

    def __init__(self, home: Home, collection: str, origin: str | None) -> None:
        self._home, self._collection, self._origin = home, collection, origin

    def waiting(self) -> int:
        """How many batches wait."""
        with self._home.transaction(write=False) as sql:
            row = sql.execute(
                "SELECT COUNT(*) FROM batch b JOIN collection c ON c.id = b.collection "
                "WHERE c.name = ? AND b.state = ?",
                (self._collection, WAITING),
            ).fetchone()
        return int(row[0])

    def each(self, first: int | None = None) -> Iterator[tuple[int, bytes]]:
        """Every batch that waits, one by one: the one that is asked for, and then the oldest first."""
        last = -1
        if first is not None and (found := self._one("b.id = ?", first)) is not None:
            yield found
        while (found := self._one("b.id > ?", last)) is not None:
            last = found[0]
            if last != first:
                yield found

    def _one(self, which: str, number: int) -> tuple[int, bytes] | None:
        with self._home.transaction(write=False) as sql:
            row = sql.execute(
                "SELECT b.id, b.envelope FROM batch b JOIN collection c ON c.id = b.collection "
                f"WHERE c.name = ? AND c.origin = COALESCE(?, c.origin) AND b.state = ? AND {which} "
                "ORDER BY b.id LIMIT 1",
                (self._collection, self._origin, WAITING, number),
            ).fetchone()
        return None if row is None else (int(row[0]), bytes(row[1]))

    def due(self) -> float:
        """Seconds until the server may be asked again."""
        with self._home.transaction(write=False) as sql:
            row = sql.execute("SELECT due FROM collection WHERE name = ?", [self._collection]).fetchone()
        left = 0.0 if row is None else row[0] - time.time()
        return max(left, 0.0) if left <= MOST_WAIT + LONGEST_WAIT else 0.0  # else the clock was set back

    def settle(self, number: int, outcome: SendOutcome) -> None:
        """Enter what became of a batch: its bytes are forgotten once it is accepted or dropped."""
        with self._home.transaction() as sql:
            if outcome.state != WAITING:
                sql.execute(
                    "UPDATE batch SET state = ?, reason = ?, envelope = NULL WHERE id = ? AND state = ?",
                    (outcome.state, outcome.reason, number, WAITING),
                )
                sql.execute("UPDATE collection SET tries = 0, due = 0 WHERE name = ? AND tries > 0", [self._collection])
                return
            sql.execute("UPDATE batch SET reason = ? WHERE id = ? AND state = ?", (outcome.reason, number, WAITING))
            (tries,) = sql.execute("SELECT tries FROM collection WHERE name = ?", [self._collection]).fetchone()
            sql.execute(
                "UPDATE collection SET tries = tries + 1, due = ? WHERE name = ?",
                (time.time() + backoff(tries, outcome.retry_after), self._collection),
            )


def backoff(tries: int, asked: float | None) -> float:
    """Seconds to wait after so many failures before this one: what the server asks for, and a random time more.

    The random time doubles, so that devices that failed together do not come back together.
    """
    longest = min(FIRST_WAIT * 2.0 ** min(tries, 30), MOST_WAIT)
    return (asked or 0.0) + _jitter.uniform(0.0, longest)
