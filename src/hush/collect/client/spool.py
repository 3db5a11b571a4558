"""What waits to be sent: whole envelopes, which never change, and when to try again."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hush.collect.client.home import Home
from hush.collect.client.receipts import Receipt
from hush.collect.envelope import Envelope, new_id
from hush.collect.replies import ACCEPTED, LONGEST_WAIT, TOO_LARGE, WAITING, Reply
from hush.errors import ParameterError, Unsaid, message

FIRST_WAIT = 1.0
"""Seconds, at most, before the second try; twice as many before each one after it."""
MOST_WAIT = 3600.0
CUT = "cut"
"""The state of a batch whose records wait in smaller ones."""
_FAR = MOST_WAIT + 2 * LONGEST_WAIT  # no wait is longer, unless the clock was set back
_jitter = random.SystemRandom()


@dataclass(frozen=True)
class Quota:
    """How much may wait in a home, and be kept there.

    Args:
        bytes: Of envelopes that wait.
        batches: How many may.
        kept: Bytes of permanent answers.
    """

    bytes: int
    batches: int
    kept: int

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

    def check_kept(self, there: int, more: int) -> None:
        """Refuse answers that may need so many bytes more for what is kept of them."""
        if there + more > self.kept:
            rule = f"must leave room: {self.kept} bytes of permanent answers may be kept"
            got = Unsaid(f"{there} bytes that may be, and {more} more")
            raise ParameterError(
                message("quota_kept", rule, got, "raise it, where the disk has room; nothing was spent")
            )


def insert(sql: sqlite3.Connection, collection: int, made: Envelope, part_of: int | None = None) -> int:
    """Keep an envelope to be sent, maybe a part of another one; its number."""
    data = made.to_bytes()
    found = sql.execute(
        "INSERT INTO batch (name, collection, period, records, size, state, reason, envelope, part_of) "
        "VALUES (?, ?, ?, ?, ?, ?, '', ?, ?)",
        (made.batch, collection, made.period, made.number, len(data), WAITING, data, part_of),
    )
    return int(found.lastrowid or 0)


def receipt(sql: sqlite3.Connection, number: int) -> Receipt | None:
    """The receipt of a batch; None where it was forgotten, long after it was settled."""
    row = sql.execute(
        "SELECT c.name, b.period, b.name, b.state, b.reason FROM batch b JOIN collection c ON c.id = b.collection "
        "WHERE b.id = ?",
        [number],
    ).fetchone()
    if row is None:
        return None
    if row[3] == WAITING and not row[4]:
        return Receipt(row[0], row[1], row[2], WAITING, _before(sql, row[0]))
    if row[3] != CUT:
        return Receipt(*row)
    of_parts = sql.execute(
        "SELECT state, reason FROM batch WHERE part_of = ? AND state != ? ORDER BY state = ?, state != ? LIMIT 1",
        (number, CUT, ACCEPTED, WAITING),  # accepted once all are
    ).fetchone()
    return Receipt(*row[:3], *(of_parts or (ACCEPTED, "")))


def _before(sql: sqlite3.Connection, collection: str) -> str:
    """Why a batch waits that was not tried: the reason of the one that all others of its collection wait behind."""
    found = sql.execute(
        "SELECT b.reason FROM batch b JOIN collection c ON c.id = b.collection "
        "WHERE c.name = ? AND b.state = ? AND b.reason != '' AND b.due = 0 ORDER BY b.id DESC LIMIT 1",
        (collection, WAITING),  # one that is a matter of its own is due by itself
    ).fetchone()
    return "" if found is None else str(found[0])


class Spool:
    """What waits for one collection.

    Args:
        home: The file.
        collection: The collection's id.
        origin: Where its server must have been so far; None for anywhere.
    """

    def __init__(self, home: Home, collection: str, origin: str | None) -> None:
        self._home, self._collection, self._origin = home, collection, origin

    def waiting(self) -> tuple[int, int]:
        """How many batches wait, and how many of them for another address than this one."""
        with self._home.transaction(write=False) as sql:
            row = sql.execute(
                "SELECT COUNT(*), COALESCE(SUM(c.origin != COALESCE(?, c.origin)), 0) "
                "FROM batch b JOIN collection c ON c.id = b.collection WHERE c.name = ? AND b.state = ?",
                (self._origin, self._collection, WAITING),
            ).fetchone()
        return int(row[0]), int(row[1])

    def each(self, first: int | None = None, *, early: bool = False) -> Iterator[tuple[int, bytes]]:
        """Every batch that waits, one by one: the one that is asked for, and then the oldest first.

        Args:
            first: The one that is asked for.
            early: Whether those are meant, too, that must not be sent yet.
        """
        last = -1
        if first is not None and (found := self._one("b.id = ?", first, early)) is not None:
            yield found
        while (found := self._one("b.id > ?", last, early)) is not None:
            last = found[0]
            if last != first:
                yield found

    def _one(self, which: str, number: int, early: bool) -> tuple[int, bytes] | None:
        now = time.time()
        with self._home.transaction(write=False) as sql:
            row = sql.execute(
                "SELECT b.id, b.envelope FROM batch b JOIN collection c ON c.id = b.collection "
                f"WHERE c.name = ? AND c.origin = COALESCE(?, c.origin) AND b.state = ? AND {which} "
                "AND (? OR NOT b.due BETWEEN ? AND ?) ORDER BY b.id LIMIT 1",
                (self._collection, self._origin, WAITING, number, early, now, now + _FAR),
            ).fetchone()
        return None if row is None else (int(row[0]), bytes(row[1]))

    def due(self) -> float:
        """Seconds until the server may be asked again."""
        with self._home.transaction(write=False) as sql:
            row = sql.execute("SELECT due FROM collection WHERE name = ?", [self._collection]).fetchone()
        return 0.0 if row is None else _left(row[0])

    def pause(self) -> float:
        """Seconds until something that waits may be sent."""
        with self._home.transaction(write=False) as sql:
            (first,) = sql.execute(
                "SELECT MIN(b.due) FROM batch b JOIN collection c ON c.id = b.collection "
                "WHERE c.name = ? AND c.origin = COALESCE(?, c.origin) AND b.state = ?",
                (self._collection, self._origin, WAITING),
            ).fetchone()
        return max(self.due(), _left(first or 0.0))

    def offering(self, number: int) -> bool:
        """Note, before a batch is sent, that it may be taken though nobody hears of it: then it is never cut.

        Where it does not wait any more, since another process has cut or settled it, it must not be sent: False. A
        single record cannot be cut, so of it nothing is noted.
        """
        with self._home.transaction() as sql:
            change = "UPDATE batch SET unsure = unsure + 1 WHERE id = ? AND state = ?"
            return bool(sql.execute(change, (number, WAITING)).rowcount)

    def settle(self, number: int, outcome: Reply) -> bool:
        """Enter what became of a batch, and say whether it waits: it is forgotten once it is accepted or dropped."""
        with self._home.transaction() as sql:
            if outcome.untaken:
                sql.execute("UPDATE batch SET unsure = unsure - 1 WHERE id = ? AND unsure > 0", [number])
            if outcome.state != WAITING:
                sql.execute(
                    "UPDATE batch SET state = ?, reason = ?, envelope = NULL WHERE id = ? AND state = ?",
                    (outcome.state, outcome.reason, number, WAITING),
                )
                sql.execute("UPDATE collection SET tries = 0, due = 0 WHERE name = ? AND tries > 0", [self._collection])
                return False
            sql.execute("UPDATE batch SET reason = ? WHERE id = ? AND state = ?", (outcome.reason, number, WAITING))
            if outcome.reason == TOO_LARGE and _cut(sql, number):
                return False
            table, where, which = ("batch", "id", number) if outcome.alone else ("collection", "name", self._collection)
            (tries,) = sql.execute(f"SELECT tries FROM {table} WHERE {where} = ?", [which]).fetchone()
            sql.execute(
                f"UPDATE {table} SET tries = tries + 1, due = ? WHERE {where} = ?",
                (time.time() + backoff(tries, outcome.retry_after), which),
            )
            return True


def _cut(sql: sqlite3.Connection, number: int) -> bool:
    """Put the very records of a batch into two smaller ones; False where there is but one, or they may be taken."""
    row = sql.execute(
        "SELECT collection, envelope, part_of, unsure FROM batch WHERE id = ? AND state = ?", (number, WAITING)
    ).fetchone()
    if row is None:
        return True  # another process has done it
    collection, data, part_of, unsure = row
    whole = Envelope.from_bytes(bytes(data))
    if whole.number == 1 or unsure:
        return False
    middle = whole.number // 2 * whole.size
    for records in (whole.records[:middle], whole.records[middle:]):
        part = replace(whole, batch=new_id(), records=records)
        insert(sql, collection, part, number if part_of is None else part_of)
    sql.execute("UPDATE batch SET state = ?, envelope = NULL WHERE id = ?", (CUT, number))
    return True


def _left(due: float) -> float:
    """Seconds until then; none where the clock was set back."""
    left = due - time.time()
    return max(left, 0.0) if left <= _FAR else 0.0


def backoff(tries: int, asked: float | None) -> float:
    """Seconds to wait after so many failures before this one: what the server asks for, and a random time more.

    The random time doubles, and is as long as what is asked for at least, so that devices that failed together, or
    were all sent away together, do not come back together.
    """
    longest = min(FIRST_WAIT * 2.0 ** min(tries, 30), MOST_WAIT)
    return (asked or 0.0) + _jitter.uniform(0.0, max(longest, asked or 0.0))
