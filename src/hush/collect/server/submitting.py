"""`POST /v1/collections/{id}/batches`: the one route that devices use, and the one that must be fast."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from hush.collect import checking
from hush.collect.directory import Directory
from hush.collect.envelope import Envelope
from hush.collect.refusals import Refused
from hush.collect.server.bodies import Bodies
from hush.collect.server.grouping import GroupCommit
from hush.collect.server.rates import Rates
from hush.collect.server.whole import Acknowledgement
from hush.collect.store import intake
from hush.collect.store.collections import StoredCollection
from hush.collect.store.database import Database
from hush.collect.store.intake import Arrival, Fate
from hush.collect.tokens import RELAY
from hush.errors import Unsaid, message

_ASIDE = 1 << 18
"""Bytes of a body from which on it is checked in a thread, so that others need not wait for it; a relay's always is,
since finding each record that is wrong takes as long as a large body, and so is the first of a collection, for which
its kernels may have to be compiled."""
_THREADS = 2
"""In which that is done, and batches that come too late are looked for in the store."""
Answered = Callable[[Response | Exception], None]
"""Told what to answer."""
_WORDS = {"": True, "1": True, "true": True, "0": False, "false": False}


class Submissions:
    """Takes batches.

    Args:
        database: The store.
        directory: What collections there are.
        groups: What writes them.
        bodies: What reads them.
        rates: How often a key may be used.
        refused: Told how many records of a collection were refused, of batches whose others were kept.
        most_bytes: The longest body.
    """

    def __init__(
        self,
        database: Database,
        directory: Directory,
        groups: GroupCommit,
        bodies: Bodies,
        rates: Rates,
        refused: Callable[[str, str, int], None],
        *,
        most_bytes: int,
    ) -> None:
        self._database, self._directory, self._groups = database, directory, groups
        self._bodies, self._rates, self._refused, self._most_bytes = bodies, rates, refused, most_bytes
        self._aside = ThreadPoolExecutor(_THREADS, "hush-checking")
        self._begun: set[int] = set()
        self._waiting: set[asyncio.Future[Fate]] = set()

    def close(self) -> None:
        """End the threads."""
        self._aside.shutdown(wait=False)

    async def take(self, request: Request) -> Response:
        """Answer a request."""
        collection = self._directory.named(request.path_params["id"])
        query = request.scope["query_string"]
        partial = _partial(query) if query else False
        most = min(self._most_bytes, collection.longest_body)
        data = await self._bodies.read(request.scope, request.receive, most=most)
        try:
            if len(data) < _ASIDE and not partial and collection.number in self._begun:
                envelope, arrival, wrong = self._checked(collection, data, partial)
            else:
                loop = asyncio.get_running_loop()
                envelope, arrival, wrong = await loop.run_in_executor(
                    self._aside, self._checked, collection, data, partial
                )
                self._begun.add(collection.number)
            fate = await self._kept(collection, arrival)
        finally:
            self._bodies.release(data)
        return self._answer(collection, envelope, fate, wrong)

    def quick(self, id: str, scope: Scope, size: int) -> StoredCollection | None:
        """The collection of a batch that can be taken by `enter`; None for what there is more to do about."""
        found = self._directory.get(id)
        if found is None or found.number not in self._begun or scope["query_string"]:
            return None
        return found if size < min(_ASIDE, self._most_bytes, found.longest_body) else None

    def enter(self, collection: StoredCollection, data: bytes, answered: Answered) -> None:
        """Take a batch that is there, and answer when it is on the disk: as `take`, with nothing else to wait for."""
        self._bodies.hold(data)

        def settle(fate: Fate | Exception) -> None:
            self._bodies.release(data)
            try:
                answered(fate if isinstance(fate, Exception) else self._answer(collection, envelope, fate, wrong))
            except Refused as error:
                answered(error)

        try:
            envelope, arrival, wrong = self._checked(collection, data, False)
        except Exception as error:
            settle(error)
            return
        try:
            checking.timely(self._directory, collection, arrival.period)
            self._groups.enter(arrival, settle)
        except Refused:  # it may be there, which takes a look, or there may be no room: either is said once more
            waiting = asyncio.ensure_future(self._kept(collection, arrival))
            self._waiting.add(waiting)
            waiting.add_done_callback(self._waiting.discard)
            waiting.add_done_callback(lambda done: settle(done.exception() or done.result()))  # type: ignore[arg-type]

    def _checked(self, collection: StoredCollection, data: bytes, partial: bool) -> tuple[Envelope, Arrival, list[int]]:
        key, envelope = checking.read(data)
        held = checking.admitted(self._directory, collection, key)
        if held is not None:
            self._rates.take(held.id, time.monotonic(), parameter="batches of this key")
        if partial and (held is None or held.role != RELAY):
            rule, got = "must come with a relay's key", Unsaid("another one")
            raise Refused(
                "forbidden", message("partial", rule, got, "leave it out: a batch is taken whole or not at all")
            )
        return envelope, *checking.checked(collection, envelope, partial=partial)

    async def _kept(self, collection: StoredCollection, arrival: Arrival) -> Fate:
        """Keep a batch; of one that comes too early or too late, see whether it is there."""
        try:
            checking.timely(self._directory, collection, arrival.period)
        except Refused:
            known = await asyncio.get_running_loop().run_in_executor(self._aside, self._known, arrival)
            if known is None:
                raise
            return Fate.KNOWN if known == arrival.digest else Fate.CONFLICT
        return await self._groups.keep(arrival)

    def _known(self, arrival: Arrival) -> bytes | None:
        with self._database.reading() as connection:
            return intake.known(connection, arrival)

    def _answer(self, collection: StoredCollection, envelope: Envelope, fate: Fate, wrong: list[int]) -> Response:
        if fate is Fate.CONFLICT:
            rule, got = "must be new, or that of the very same batch", Unsaid("that of another one")
            raise Refused("conflict", message("batch", rule, got, "draw a new id for a new batch"))
        if fate is Fate.CLOSED:  # the store knows more than this process does as yet
            checking.timely(self._directory, collection, envelope.period)
            rule, remedy = "must be open", "report no more to it"
            raise Refused("status", message("collection", rule, Unsaid("closed"), remedy))
        if fate is Fate.PAST:
            rule, remedy = "must be one that is not over", "drop it: it comes too late"
            raise Refused("period-past", message("period", rule, envelope.period, remedy))
        if wrong and fate is Fate.KEPT:
            self._refused(collection.id, "record", len(wrong))
        accepted = envelope.number - len(wrong)
        told = f'{{"batch": "{envelope.batch}", "period": {envelope.period}, "accepted": {accepted}'
        if wrong:
            told += f', "refused": {json.dumps([{"index": index, "reason": "record"} for index in wrong])}'
        return Acknowledgement(told + "}")


def _partial(query: bytes) -> bool:
    asked = False
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name == "partial":
            if value.lower() not in _WORDS:
                rule, got = "must be true or false, or stand alone", Unsaid("another word")
                raise Refused("parameter", message("partial", rule, got, "leave it out, but for relays"))
            asked = _WORDS[value.lower()]
    return asked
