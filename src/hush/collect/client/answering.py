"""From values to envelopes that are on the disk: who may answer is charged, randomized and entered, all at once.

One transaction does it. If it is cut short, nothing was drawn that anybody saw, and nothing is spent; once it is done,
the randomized bytes are on the disk, and no others will ever be made for the same person and period.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.collect.client import spool
from hush.collect.client.book import Offer, remember
from hush.collect.client.home import Home
from hush.collect.client.limits import Books, Limits, asked
from hush.collect.client.receipts import Receipt
from hush.collect.client.spool import Quota
from hush.collect.envelope import LONGEST_HEAD, MOST_RECORDS, Envelope, new_id
from hush.errors import Message, ParameterError, Unsaid, message
from hush.files.clients.making import randomized
from hush.files.clients.memory import StoredMemory
from hush.files.clients.rows import name_of, numbered, rows_of
from hush.mechanisms.spec import Spec
from hush.randomness import source
from hush.types import Ints

Flags = npt.NDArray[np.bool_]

BATCH_BYTES = 1 << 24
"""Records of one envelope, at most."""


@dataclass(frozen=True)
class Answering:
    """How answers are made.

    Args:
        home: Where they are kept.
        limits: What people agree to.
        quota: How much may wait, and be kept.
        build: What envelopes are signed with.
    """

    home: Home
    limits: Limits
    quota: Quota
    build: str

    def answer(self, offer: Offer, people: Sequence[object], values: Any) -> Turn:
        """Make the answers of some people, at most as many as `records_of` says."""
        rows = rows_of(offer.spec, [named(each) for each in people], values)
        if len(rows.held) != len(people):
            rule, got = f"must be as many as there are people, {len(people)}", Unsaid(f"{len(rows.held)}")
            raise ParameterError(message("values", rule, got, "give each person one"))
        names = [self.home.hashed(b"person", name) for name in rows.people]
        if len(set(names)) < len(names):
            rule, got = "must be different", Unsaid("somebody twice")
            raise ParameterError(message("people", rule, got, "name each person once"))
        plain = _plain(offer.spec, rows.held)
        with self.home.transaction() as sql:
            return _Transaction(self, sql, offer).answer(names, rows.held, plain)


@dataclass(frozen=True)
class Turn:
    """What became of the answers of some people.

    Args:
        batches: The number of the batch that each one's answer is in; -1 for none.
        receipts: Those of these batches, before anything new is sent.
        same: Who had answered in this period before, with the same value.
        other: Who had with another value.
        over: Whom a limit kept from answering.
        made: The number of the new batch; None where nobody answered anew.
        why: Why the first of those whom a limit kept was.
    """

    batches: Ints
    receipts: Mapping[int, Receipt]
    same: Flags
    other: Flags
    over: Flags
    made: int | None
    why: Message | None


class _Transaction:
    """One transaction."""

    def __init__(self, how: Answering, sql: sqlite3.Connection, offer: Offer) -> None:
        self._how, self._sql, self._offer = how, sql, offer
        self._collection, self._protocol, self._period = remember(sql, offer)

    def answer(self, names: list[bytes], held: npt.NDArray[Any], plain: npt.NDArray[Any]) -> Turn:
        people, tags = numbered(self._sql, names), self._tags(names, plain)
        batches, before_tags = self._before(people)
        before = batches >= 0
        same = np.array([one == two for one, two in zip(before_tags, tags, strict=True)], np.bool_)
        may, why = np.zeros(people.size, np.bool_), None
        if not before.all():
            books = Books.opened(self._sql, self._protocol)
            counts = books.counts(self._sql, people[~before])
            may[~before], why = books.within(self._how.limits, counts)
            more = books.more_bytes(counts[may[~before]])
            if more:
                self._how.quota.check_kept(books.kept_bytes(self._sql), more)
        chosen = np.nonzero(may)[0]
        made = self._made(people[chosen], held[chosen]) if chosen.size else None
        if made is not None:
            batches[chosen] = made
            self._enter(people[chosen], [tags[i] for i in chosen.tolist()], made)
        other = before & ~same
        told = np.where(other, -1, batches)
        receipts = {number: spool.receipt(self._sql, number) for number in np.unique(told[told >= 0]).tolist()}
        known = {number: each for number, each in receipts.items() if each is not None}
        return Turn(told, known, same, other, ~before & ~may, made, why)

    def _tags(self, names: list[bytes], plain: npt.NDArray[Any]) -> list[bytes]:
        """What tells a value from another one of the same person and period: to whoever has the key."""
        where = f"{self._offer.collection} {self._period}".encode()
        hashed = self._how.home.hashed
        return [hashed(b"value", where, name, row.tobytes()) for name, row in zip(names, plain, strict=True)]

    def _before(self, people: Ints) -> tuple[Ints, list[bytes]]:
        """The batch and the tag of those who have answered in this period; -1 and nothing of the others."""
        batches, tags = np.full(people.size, -1, np.int64), [b""] * people.size
        asked(self._sql, people)
        rows = self._sql.execute(
            "SELECT w.id, a.tag, a.batch FROM whose w CROSS JOIN answered a "
            "ON a.collection = ? AND a.period = ? AND a.person = w.person",
            (self._collection, self._period),
        )
        for at, tag, batch in rows:
            batches[at], tags[at] = batch, bytes(tag)
        return batches, tags

    def _made(self, people: Ints, held: npt.NDArray[Any]) -> int:
        """Randomize, and keep the envelope; its number."""
        spec = self._offer.spec
        size = spec.mechanism.report_dtype.itemsize
        self._how.quota.check(self._sql, people.size * size + LONGEST_HEAD)
        memory = StoredMemory(self._sql, self._protocol)
        reports = randomized(spec, memory, people, list(np.atleast_2d(held.T)))
        shuffled = reports[source(None).permutation(len(reports))]  # the place of a report tells nobody whose it is
        collection, build = self._offer.collection, self._how.build
        made = Envelope(collection, spec.hash, new_id(), self._period, build, size, shuffled.tobytes())
        return spool.insert(self._sql, self._collection, made)

    def _enter(self, people: Ints, tags: list[bytes], batch: int) -> None:
        self._sql.executemany(
            "INSERT INTO account VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET reports = reports + 1",
            ((self._collection, person) for person in people.tolist()),
        )
        rows = ((self._collection, self._period, *each, batch) for each in zip(people.tolist(), tags, strict=True))
        self._sql.executemany("INSERT INTO answered VALUES (?, ?, ?, ?, ?)", rows)


def _plain(spec: Spec, held: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What people hold, checked, one row each: equal where the mechanism takes it for the same."""
    m = spec.mechanism
    return np.stack(m.ticks(held), axis=1) if m.kind == "numeric" else held.astype(np.int64).reshape(len(held), -1)


def named(id: object) -> bytes:
    """A person's name as bytes; refused where it would be another one the next time, as that of an object would."""
    whole = isinstance(id, (float, np.floating)) and float(id).is_integer()
    if (
        isinstance(id, bool)
        or not (isinstance(id, (str, bytes, int, np.integer, uuid.UUID)) or whole)
        or id in ("", b"")
    ):
        rule, got = "must be a text, bytes, a whole number or a UUID", Unsaid(f"a {type(id).__name__}")
        raise ParameterError(message("id", rule, got, "give everybody a name that stays the same"))
    return name_of(id)


def records_of(spec: Spec) -> int:
    """How many records go into one envelope."""
    return max(1, min(MOST_RECORDS, BATCH_BYTES // spec.mechanism.report_dtype.itemsize))
