"""A relay at work beside its requests: it follows its collector, gathers, and sends until it is acknowledged."""

from __future__ import annotations

import logging
import math
import random
import time
from functools import partial
from typing import Any

from hush.collect.refusals import Refused
from hush.collect.relay import mirror, outbox, queue
from hush.collect.relay.settings import Rules
from hush.collect.relay.upstream import NO_KEY, CollectorAway, Upstream
from hush.collect.replies import TOO_LARGE, WAITING, Reply
from hush.collect.service import Service
from hush.collect.store.collections import StoredCollection
from hush.collect.store.database import Database
from hush.errors import HushError, ParameterError, Unsaid, message

LONGEST_BACKOFF = 120.0
"""Seconds after which a batch that was not acknowledged is sent again, at most, unless the collector says more."""
LONGEST_WAIT = 3600.0
"""Seconds that a collector may ask to wait for."""
_FIRST_BACKOFF = 0.5
_GATHER_SECONDS = 0.25
_SEND_SECONDS = 0.25
_FOLLOW_SECONDS = (0.25, 60.0)
_FULL_SECONDS = 30  # after which a device asks again whether there is room
_LOG = logging.getLogger("hush.collect.relay")


class Forwarder:
    """What a relay does, in steps that others repeat; each says after how many seconds there may be more to do.

    Args:
        service: Over the relay's own store.
        database: That store.
        upstream: The collector.
        rules: When reports are passed on.
        most: Bytes that the store may have; left out, as many as come.
    """

    def __init__(
        self, service: Service, database: Database, upstream: Upstream, rules: Rules, *, most: float = math.inf
    ) -> None:
        self._service, self._database, self._upstream, self._rules = service, database, upstream, rules
        self._most = most
        self.stored = 0
        """Bytes that the store has for the collector, about: as of the last look, and what was taken since."""
        self.views: dict[str, dict[str, Any]] = {}
        """What the collector last told of each collection."""
        self.changed: set[str] = set()
        """Collections of which the collector tells another spec than before: nothing of them is taken or sent."""
        self.keyless: set[str] = set()
        """Collections for which the collector does not take the relay's key: nothing of them is taken."""
        self._failures: dict[str, int] = {}
        self._not_before: dict[str, float] = {}
        self._passed: dict[str, int] = {}  # envelopes that are too large and cannot be cut: others do not wait for them

    @property
    def failures(self) -> int:
        """How often in a row the collector has not acknowledged a batch."""
        return max(self._failures.values(), default=0)

    def begin(self, ids: tuple[str, ...], *, anyone: bool) -> None:
        """Learn of the collections; where the collector is away, of those that are known from before."""
        with self._database.reading() as connection:
            known = mirror.views(connection)
        now = self._service.directory.clock.now()
        for id in ids:
            try:
                view = mirror.checked(self._upstream.view(id), id)
                self._upstream.check_key(id)
            except CollectorAway:
                if id not in known:
                    raise
                _LOG.warning("the collector is away; what it told before is taken to hold")
                view = known[id]
            begun = partial(mirror.begun, view=view, anyone=anyone, least=self._rules.least, now=now)
            self._database.write(begun).result()
            self.views[id] = view
        self._database.write(outbox.renoted).result()
        self._service.directory.refresh()
        self._look()

    def follow(self) -> float:
        """Take over what the collector tells now: above all the period. Where it is away, what it told before holds."""
        failed: HushError | None = None
        for id in self.views:
            try:
                self._follow(id)
            except HushError as error:
                failed = error
        self._service.directory.refresh()  # another relay may have changed the store
        if isinstance(failed, CollectorAway):
            _LOG.warning("what the collector tells now is not known: %s", failed)
            return random.uniform(0.5, 1.0) * self._follow_seconds()
        if failed is not None:
            raise failed
        return self._follow_seconds()

    def _follow_seconds(self) -> float:
        least, most = _FOLLOW_SECONDS
        return float(min(most, *(max(least, each["period_seconds"] / 20) for each in self.views.values())))

    def _follow(self, id: str) -> None:
        before, row = self.views[id], self._service.directory.named(id)
        view = mirror.checked(self._upstream.view(id), id)
        if view["spec_hash"] != before["spec_hash"]:
            self.changed.add(id)
            raise mirror.changed_spec(before, view)
        self.changed.discard(id)
        if view != before:
            self._renew(view, row)
        self._check_key(id)

    def _check_key(self, id: str) -> None:
        try:
            self._upstream.check_key(id)
        except ParameterError:
            self.keyless.add(id)
            raise
        self.keyless.discard(id)

    def _renew(self, view: dict[str, Any], row: StoredCollection) -> None:
        """Take over what is new of a collection."""
        now = self._database.write(partial(mirror.refreshed, view=view)).result()
        self.views[row.id] = view
        self._service.directory.refresh()
        if now.pruned_below > row.pruned_below:
            self.gather()
            self._database.write(partial(outbox.prune, collection=now)).result()

    def holding(self, id: str) -> None:
        """Refuse batches that could not be passed on: devices keep them, until somebody has looked."""
        if id in self.keyless:
            rule, got = "must have a key that the collector takes", Unsaid("another one")
            raise Refused("store", message("relay", rule, got, "wait, and send the same again"))
        if id in self.changed:
            rule, got = "must have the spec that it had", Unsaid("another one")
            raise Refused("store", message("collection", rule, got, "wait, and send the same again"))

    def leaving_room(self) -> None:
        """Refuse batches where the store has as much as it may: devices keep them, until the collector takes some."""
        if self.stored > self._most:
            rule, got = f"must be at most {self._most:.0f} bytes in the relay's store", Unsaid("more at the moment")
            refused = Refused("busy", message("reports", rule, got, "wait, and send the same again"))
            refused.retry = _FULL_SECONDS
            raise refused

    def _look(self) -> None:
        with self._database.reading() as connection:
            self.stored = outbox.stored(connection, self._collections())

    def gather(self) -> float:
        """Put what there is enough of into envelopes."""
        began, now = time.monotonic(), self._service.directory.clock.now()
        for each in self._collections():
            if each.id not in self.changed:
                outbox.step(self._database, each, self._rules, over=mirror.over(each, now))
        self._look()
        return max(_GATHER_SECONDS, 5 * (time.monotonic() - began))

    def send(self) -> float:
        """Send one envelope of each collection; those that were not acknowledged later, and later."""
        waits = [self._sent(each) for each in self._collections()]
        return min([*waits, LONGEST_BACKOFF])

    def _collections(self) -> list[StoredCollection]:
        return [self._service.directory.named(id) for id in self.views]

    def _sent(self, collection: StoredCollection) -> float:
        """Send an envelope, and say in how many seconds to come again."""
        left = self._not_before.get(collection.id, 0.0) - time.monotonic()
        if left > 0:
            return left
        with self._database.reading() as connection:
            found = queue.first(connection, collection.number, self._passed.get(collection.id, 0))
        if found is None:
            return _SEND_SECONDS
        seq, content = found
        if not self._database.write(partial(queue.trying, seq=seq)).result():
            return 0.0  # another relay has cut it: sent whole, its records would count twice
        reply = self._upstream.send(content)
        if reply.state == WAITING:
            return self._unacknowledged(collection, seq, reply)
        if self._failures.pop(collection.id, 0):
            _LOG.warning("the collector takes batches again")
        if reply.reason:
            _LOG.error("the collector refused a batch for good: %s", reply.reason)
        fates = {outbox.FORWARDED: reply.taken, outbox.REFUSED: reply.refused}
        self._database.write(lambda writing: outbox.sent(writing, seq, collection.number, fates)).result()
        return 0.0

    def _unacknowledged(self, collection: StoredCollection, seq: int, reply: Reply) -> float:
        if reply.untaken:
            self._database.write(partial(queue.untaken, seq=seq)).result()
        if reply.reason == TOO_LARGE:
            cut = partial(queue.cut, collection=collection, seq=seq, least=self._rules.least)
            if self._database.write(cut).result():
                _LOG.warning("a batch was too large; it is sent in two")
                return 0.0
            self._passed[collection.id] = seq
        if reply.reason in NO_KEY:
            self.keyless.add(collection.id)  # until the collector takes the key again
        return self._later(collection.id, reply.reason, min(reply.retry_after or 0.0, LONGEST_WAIT))

    def _later(self, id: str, reason: str, asked: float) -> float:
        failures = self._failures[id] = self._failures.get(id, 0) + 1
        most = min(LONGEST_BACKOFF, _FIRST_BACKOFF * 2 ** min(failures - 1, 20))
        wait = asked + random.uniform(most / 2, most)
        self._not_before[id] = time.monotonic() + wait
        _LOG.warning("a batch was not acknowledged (%s); the same is sent again in %.1f s", reason, wait)
        return wait
