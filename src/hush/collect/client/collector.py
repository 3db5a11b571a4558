"""One collection, as a device sees it: `Collector`, and the people who answer."""

from __future__ import annotations

import logging
import os
import ssl
import threading
import time
import weakref
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import hush
from hush.collect.client import spool
from hush.collect.client.answering import Answering, Turn, named, records_of
from hush.collect.client.book import Offer, offered, remember, remembered
from hush.collect.client.home import Home
from hush.collect.client.limits import Amount, Books, Limits
from hush.collect.client.receipts import Answered, Delivery, Receipt, Spent
from hush.collect.client.spool import Quota, Spool
from hush.collect.client.wire import VIEW_BYTES, Unreachable, Wire
from hush.collect.envelope import LONGEST_KEY, MOST_RECORDS, Envelope
from hush.collect.loss import Loss, SpecBounds
from hush.collect.replies import ACCEPTED, DROPPED, Reply
from hush.errors import NOTHING, HushError, ParameterError, SpecError, Unsaid, message
from hush.longitudinal.ledger import Ledger
from hush.mechanisms.spec import Spec
from hush.rules import integer

if TYPE_CHECKING:
    import httpx

_log = logging.getLogger("hush.collect")
_MOST = 1 << 62
_POLL = 0.1  # seconds between two looks at what another thread is sending
_MOVED = "moved"


class Collector:
    """Answers to one collection, from this device: what is randomized here is all that leaves it.

    The spec is fetched and not believed: its loss is computed here, from its thresholds and parameters, and a spec
    that loses more than it declares, or more than `maximum`, is refused. An answer is randomized once; its bytes are
    on the disk before they are sent, and those very bytes are sent until the server has them.

    Threads and processes may share a collector's home.

    Args:
        url: The collection's address, https://HOST/v1/collections/ID.
        home: The folder for accounts, kept answers and what waits; left out, $HUSH_HOME, or ~/.hush. As private as
            the values themselves, and never to be copied or set back: that would spend twice.
        key: The ingest key, where the collection needs one. It may be changed at any time: `collector.key = …`.
        spec: The hash of the one spec to answer to; left out, any that is within the limits.
        maximum: The most that one answer may lose, in nats.
        maximum_chain: The most that one person's answers may lose in this collection and those that it follows.
        maximum_total: The most that one person's answers may lose in all collections of this home.
        delta: The most that the deltas of one person's answers may sum up to; 0 to take none.
        unprotected: Whether to answer where some values are not protected (ULDP).
        times_known: Whether it may be seen when a person's value changes, though not to what. Protocols that keep
            answers charge less then: what they bound for changes at known times. Left out, every answer is charged
            with what fresh noise hides of it, and one without fresh noise is given once.
        build: Which release of a program this is; the server can leave out one that is broken.
        batch_records: How many reports go into one batch of many people, at most 100,000.
        quota_bytes: How much may wait for the server, all collections of this home together.
        quota_batches: How many batches may.
        quota_kept: How many bytes of permanent answers may be kept, all collections of this home together; counted as
            if every answer were about another value.
        most_values: The most values that a spec may have, so that no server can stop the device; a tenth of it where
            there are several attributes.
        most_record: The most bytes of one report.
        most_view: The most bytes that a server may tell of a collection; its spec has all labels.
        fresh: Seconds for which the server is not asked again for the spec and the period.
        timeout: Seconds to wait for the server.
        secret: A key for the home that is kept elsewhere, in the system's keychain, say: 16 bytes at least.
        tls: Which certificates to believe; left out, those that the system does.
        plaintext: Whether to speak without TLS to another machine.
        moved: Whether the collection, known from another address, has moved to this one.
        transport: What requests go through, of httpx.
    """

    def __init__(
        self,
        url: str,
        *,
        home: str | os.PathLike[str] | None = None,
        key: str | None = None,
        spec: str | None = None,
        maximum: Amount = 2.0,
        maximum_chain: Amount = 10.0,
        maximum_total: Amount = 20.0,
        delta: Amount = 0.0,
        unprotected: bool = False,
        times_known: bool = False,
        build: str | None = None,
        batch_records: int = MOST_RECORDS,
        quota_bytes: int = 1 << 26,
        quota_batches: int = 10_000,
        quota_kept: int = 1 << 28,
        most_values: int = 10**7,
        most_record: int = 1 << 20,
        most_view: int = VIEW_BYTES,
        fresh: float = 60.0,
        timeout: float = 10.0,
        secret: bytes | None = None,
        tls: ssl.SSLContext | None = None,
        plaintext: bool = False,
        moved: bool = False,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._limits = Limits.of(
            maximum=maximum,
            maximum_chain=maximum_chain,
            maximum_total=maximum_total,
            delta=delta,
            unprotected=unprotected,
            times_known=times_known,
        )
        self._pinned, self._fresh = _pinned(spec), _seconds("fresh", fresh)
        self._batch_records = integer("batch_records", batch_records, 1, MOST_RECORDS, "leave it out")
        self._moved = bool(moved)
        self.key = key or ""
        self._bounds = SpecBounds(
            integer("most_values", most_values, 1, _MOST, "leave it out"),
            integer("most_record", most_record, 1, _MOST, "leave it out"),
        )
        self._wire = Wire(
            url,
            timeout=_seconds("timeout", timeout, least=0.001),
            tls=tls,
            transport=transport,
            plaintext=plaintext,
            most_view=integer("most_view", most_view, 1, _MOST, "leave it out"),
        )
        self._home = Home(_folder(home), secret=secret)
        quota = Quota(
            integer("quota_bytes", quota_bytes, 0, _MOST, "leave it out"),
            integer("quota_batches", quota_batches, 0, _MOST, "leave it out"),
            integer("quota_kept", quota_kept, 0, _MOST, "leave it out"),
        )
        self._answering = Answering(self._home, self._limits, quota, _build(build))
        self._spool = Spool(self._home, self._wire.collection, None if self._moved else self._wire.origin)
        self._known: tuple[float, Offer] | None = None
        self._failed = 0, 0.0  # how often the server told nothing, and when it may be asked again
        self._alone()
        _alive.add(self)

    def _alone(self) -> None:
        """Begin with no other thread: what those of a parent held before a fork, nobody here will let go."""
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._flying: set[int] = set()
        self._wire.alone()

    def __enter__(self) -> Collector:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of connections. What waits is kept."""
        self._wire.close()

    @property
    def key(self) -> str:
        """The ingest key; "" for none. What waits is sent with the one of the moment."""
        return self._key

    @key.setter
    def key(self, key: str) -> None:
        if not isinstance(key, str) or not key.isascii() or not (key.isprintable() and len(key) <= LONGEST_KEY):
            rule, got = f"must be at most {LONGEST_KEY} characters of ASCII", Unsaid("another one")
            raise ParameterError(message("key", rule, got, "use the ingest key that the collection has"))
        self._key = key

    # What the server offers.

    @property
    def spec(self) -> Spec:
        """What makes the reports: the collection's spec, checked."""
        return self._offer().spec

    @property
    def loss(self) -> Loss:
        """What one answer loses, as computed here."""
        return self._offer().loss

    @property
    def period(self) -> int:
        """The period that the server handed out."""
        return self._offer().period

    def _offer(self) -> Offer:
        with self._lock:
            if self._known is not None and time.monotonic() < self._known[0]:
                return self._known[1]
            found = self._told(None if self._known is None else self._known[1])
            self._known = time.monotonic() + self._fresh, found
            return found

    def _told(self, known: Offer | None) -> Offer:
        """What the server tells; what it told last, where it cannot be reached or has asked to be left alone."""
        last, (tries, due) = known or self._remembered(), self._failed
        early = max(due - time.monotonic(), 0.0 if last is None else self._spool.due())
        if early > 0 and last is None:
            got, remedy = Unsaid("no answer the last time"), f"try again in {early:.0f} seconds"
            raise Unreachable(message("url", "must be that of a collection that can be reached", got, remedy))
        if early > 0 and last is not None:
            return last
        try:
            found = self._agreed(self._offered(last))
        except Unreachable as error:
            self._failed = tries + 1, time.monotonic() + spool.backoff(tries, error.retry_after)
            if last is None:
                raise
            return last
        self._failed = 0, 0.0
        return found if last is None else self._noted(found)

    def _offered(self, known: Offer | None) -> Offer:
        return offered(self._wire.collection, self._wire.origin, self._wire.view(), known, self._bounds)

    def _noted(self, offer: Offer) -> Offer:
        """Enter what was told of a known collection, and forget what is over: its period never goes back."""
        with self._home.transaction() as sql:
            *_, period = remember(sql, offer)
        if offer.period < period:
            _log.warning("the server tells of period %d, after %d: the later one stands", offer.period, period)
        return replace(offer, period=period, told=offer.period)

    def _agreed(self, offer: Offer) -> Offer:
        if self._pinned is not None and offer.spec.hash != self._pinned:
            rule, got = f"must be {self._pinned[:12]}…, which is pinned", Unsaid(f"{offer.spec.hash[:12]}…")
            raise SpecError(message("spec", rule, got, "report nothing; or pin this one, if you have read it"))
        self._limits.consent(offer.loss)
        return replace(offer, origin=self._wire.origin, moved=self._moved)

    def _remembered(self) -> Offer | None:
        """What the server told the last time that it could be reached."""
        with self._home.transaction(write=False) as sql:
            found = remembered(sql, self._wire.collection)
        return None if found is None else self._agreed(found)

    # Answers.

    def person(self, id: object) -> Person:
        """Somebody who answers.

        Args:
            id: Their name: a text, a number or bytes. The home has only a keyed hash of it, and the server nothing.
        """
        return Person(self, id)

    def people(self, ids: Sequence[object]) -> Persons:
        """Many people who answer at once, each with an account of their own: for whoever holds values of others."""
        return Persons(self, ids)

    def _answer(self, ids: Sequence[object], values: Any) -> Turn:
        offer = self._offer()
        if offer.status != "open":
            rule, got = "must be open", Unsaid(offer.status)
            raise ParameterError(message("collection", rule, got, "answer when it is"))
        if offer.plain.get("needs_key") and not self.key:
            rule, remedy = "must be given for this collection", "ask whoever runs it"
            raise ParameterError(message("key", rule, NOTHING, remedy))
        turn = self._answering.answer(offer, ids, values)
        if turn.made is not None:
            self._deliver(turn.made)
        return turn

    def _receipts(self, batches: Mapping[int, Receipt]) -> tuple[Receipt, ...]:
        """What became of batches by now."""
        offer = None if self._known is None else self._known[1]
        told = offer.told if offer is not None and offer.told is not None and offer.told < offer.period else None
        with self._home.transaction(write=False) as sql:
            now = [spool.receipt(sql, number) or before for number, before in batches.items()]
        return tuple(replace(each, told=told) for each in now)

    # Sending.

    @property
    def waiting(self) -> int:
        """How many batches wait to be sent."""
        return self._spool.waiting()[0]

    def flush(self, *, wait: float = 0.0) -> Delivery:
        """Send what waits: the very bytes that were made, until the server has them.

        Args:
            wait: Seconds to go on for, at most. The times between tries are random, double each time, and are no
                shorter than the server asks for; without a wait there is one try, unless it is too early for it.
        """
        end, told = time.monotonic() + _seconds("wait", wait), Delivery()
        while True:
            pause = self._spool.pause()
            if pause and time.monotonic() + pause > end:
                break
            time.sleep(pause)
            done = self._deliver()
            told, (waiting, moved) = _together(told, done), self._spool.waiting()
            left = end - time.monotonic()
            if waiting == moved or left <= 0:
                break
            if not (done.accepted or done.dropped or done.waiting):  # all that waits is on its way, by another thread
                time.sleep(min(_POLL, left))
        waiting, moved = self._spool.waiting()
        if told.accepted or told.dropped or not waiting:  # and it can be reached, as it seems
            with suppress(HushError):
                self._offer()  # which forgets what is over
        reason = told.reason if waiting > moved else _MOVED if moved else ""
        return Delivery(told.accepted, dict(told.dropped), waiting, reason, self._spool.pause())

    def discard(self) -> int:
        """Forget what waits for this collection, for good; how many batches it was. What was spent stays spent."""
        thrown = 0
        for number, _ in self._spool.each(early=True):
            self._spool.settle(number, Reply(DROPPED, "discarded"))
            thrown += 1
        return thrown

    def _deliver(self, first: int | None = None) -> Delivery:
        """Send what waits, one batch first, until the server cannot be reached, or takes none."""
        accepted, dropped, reason = 0, Counter[str](), ""
        if self._spool.due():
            return Delivery(waiting=1)
        for number, envelope in self._spool.each(first):
            with self._sending:
                if number in self._flying:
                    continue  # another thread has it
                self._flying.add(number)
            try:
                made = Envelope.from_bytes(envelope)
                if made.number > 1 and not self._spool.offering(number):
                    continue  # another process has cut it: sent whole, its records would count twice
                outcome = self._wire.send(self.key, envelope, made)
                waits = self._spool.settle(number, outcome)
            finally:
                with self._sending:
                    self._flying.discard(number)
            if outcome.state == ACCEPTED:
                accepted += 1
            elif outcome.state == DROPPED:
                dropped[outcome.reason] += 1
                _log.warning("a batch was dropped: %s", outcome.reason)
            elif waits:
                reason = outcome.reason
                _log.info("a batch waits: %s", reason)
                if not outcome.alone:
                    break
        return Delivery(accepted, dropped, int(bool(reason)), reason)

    # Accounts.

    def _spent(self, id: object) -> tuple[Books, list[int], int]:
        """The books, how many answers somebody has in each, and how many in this collection."""
        offer = self._offer()
        name = self._home.hashed(b"person", named(id))
        with self._home.transaction() as sql:
            collection, protocol, _ = remember(sql, offer)
            row = sql.execute("SELECT id FROM person WHERE name = ?", [name]).fetchone()
            person = -1 if row is None else int(row[0])
            books = Books.opened(sql, protocol)
            (counts,) = books.counts(sql, np.array([person], np.int64)).tolist()
            own = sql.execute(
                "SELECT reports FROM account WHERE collection = ? AND person = ?", (collection, person)
            ).fetchone()
        return books, counts, 0 if own is None else int(own[0])


class Person:
    """Somebody who answers, with one account for all collections of a home.

    Args:
        collector: The collection.
        id: Their name.
    """

    def __init__(self, collector: Collector, id: object) -> None:
        self._collector, self._id = collector, id

    def answer(self, value: Any) -> Receipt:
        """Answer in the present period: randomized, entered in the account, on the disk, and only then sent.

        Asked again in the same period, it gives the receipt of the first answer, and another value is refused.

        Args:
            value: A label, or a number; of several attributes a tuple, or a mapping of their names to labels.
        """
        one = {name: [each] for name, each in value.items()} if isinstance(value, Mapping) else [value]
        turn = self._collector._answer([self._id], one)
        if turn.other[0]:
            rule, got = "must be the one that was answered in this period before", Unsaid("another one")
            raise ParameterError(message("value", rule, got, "the first answer stands; ask again in the next period"))
        if turn.over[0]:
            raise ParameterError(turn.why)
        (receipt,) = self._collector._receipts(turn.receipts)
        return receipt

    @property
    def spent(self) -> Spent:
        """What this person has spent: here, along the chain, and in all."""
        books, counts, own = self._collector._spent(self._id)
        return books.spent(counts, own, self._collector._limits.times_known)

    @property
    def ledger(self) -> Ledger:
        """All that was spent in this home, as a ledger with the limit `maximum_total`."""
        books, counts, _ = self._collector._spent(self._id)
        limits = self._collector._limits
        return books.ledger(counts, limits.maximum_total, limits.times_known)


class Persons:
    """Many people who answer at once, for an organisation that holds what they hold.

    Args:
        collector: The collection.
        ids: Their names, each once.
    """

    def __init__(self, collector: Collector, ids: Sequence[object]) -> None:
        self._collector, self._ids = collector, list(ids)
        if len({named(id) for id in self._ids}) < len(self._ids):
            rule, got = "must be different", Unsaid("somebody twice")
            raise ParameterError(message("ids", rule, got, "name each person once"))

    def answer(self, values: Any) -> Answered:
        """Answer for each, in the present period: in batches, each on the disk before it is sent.

        Who has answered, or has reached a limit, is passed over: see what comes back.

        Args:
            values: One for each: a list or an array; of several attributes rows, or columns by name.
        """
        columns = {name: list(each) for name, each in values.items()} if isinstance(values, Mapping) else None
        rows = values if columns is not None or isinstance(values, np.ndarray) else list(values)
        for each in [rows] if columns is None else columns.values():
            if len(each) != len(self._ids):
                rule, got = f"must be as many as there are people, {len(self._ids)}", Unsaid(f"{len(each)}")
                raise ParameterError(message("values", rule, got, "give each person one"))
        step = min(self._collector._batch_records, records_of(self._collector.spec))
        turns = list[Turn]()
        for start in range(0, len(self._ids), step):
            part = slice(start, start + step)
            some = rows[part] if columns is None else {name: each[part] for name, each in columns.items()}
            turns.append(self._collector._answer(self._ids[part], some))
        return self._answered(turns)

    def _answered(self, turns: list[Turn]) -> Answered:
        batches = _joined([turn.batches for turn in turns], np.int64)
        known = {number: receipt for turn in turns for number, receipt in turn.receipts.items()}
        numbers, which = np.unique(batches[batches >= 0], return_inverse=True)
        places = np.full(batches.size, -1, np.int64)
        places[batches >= 0] = which.ravel()
        flags = [_joined([getattr(turn, name) for turn in turns], np.bool_) for name in ("same", "other", "over")]
        return Answered(
            self._collector._receipts({number: known[number] for number in numbers.tolist()}), places, *flags
        )


_alive: weakref.WeakSet[Collector] = weakref.WeakSet()


def _forked() -> None:
    for each in list(_alive):
        each._alone()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _joined(parts: list[Any], dtype: type) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def _together(first: Delivery, second: Delivery) -> Delivery:
    dropped = Counter(first.dropped) + Counter(second.dropped)
    return Delivery(first.accepted + second.accepted, dropped, second.waiting, second.reason)


def _folder(home: str | os.PathLike[str] | None) -> Path:
    return Path(home if home is not None else os.environ.get("HUSH_HOME") or "~/.hush")


def _build(build: str | None) -> str:
    made = f"hush-python/{hush.__version__}" if build is None else build
    Envelope("0" * 32, "0" * 64, "0" * 32, 0, made, 1, b"0")  # refuses what no envelope takes
    return made


def _pinned(spec: str | None) -> str | None:
    if spec is not None and (not isinstance(spec, str) or len(spec) != 64 or set(spec) - set("0123456789abcdef")):
        rule, remedy = "must be the hash of a spec, 64 hexadecimal digits", "pass Spec.hash, or leave it out"
        raise ParameterError(message("spec", rule, spec, remedy))
    return spec


def _seconds(name: str, value: float, *, least: float = 0) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= 86_400:
        raise ParameterError(message(name, f"must be seconds, {least:g} to 86400", value, "leave it out"))
    return float(value)
