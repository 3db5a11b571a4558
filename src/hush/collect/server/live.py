"""`/live`: the estimate whenever it changed, as server-sent events, for a bounded number of listeners.

Each collection that someone listens to is looked at once a second, for all of its listeners together, and estimated
only where its aggregates have grown, or were repaired.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import Response, StreamingResponse

from hush.collect.refusals import Refused
from hush.collect.server.access import Access, Need
from hush.collect.server.administering import PATH
from hush.collect.server.reading import released
from hush.collect.server.routing import Id, held, needing
from hush.collect.service import Service
from hush.collect.store.database import Database
from hush.errors import Unsaid, message

EVENTS = "text/event-stream"
_PAUSE = 1.0
_HEARTBEAT = 15.0
_LOG = logging.getLogger("hush.collect")


@dataclass
class Feed:
    """What listeners of one collection wait for."""

    listeners: int = 0
    estimate: dict[str, Any] | None = None
    state: object = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class Live:
    """Tells listeners of estimates.

    Args:
        service: What estimates.
        database: The store, to see whether anything changed.
        access: Who may listen; asked again before each event, since tokens end.
        most: Listeners at once.
        pause: Seconds between two looks; left out, one.
        heartbeat: Seconds of silence, after which a comment is sent.
    """

    def __init__(
        self,
        service: Service,
        database: Database,
        access: Access,
        *,
        most: int,
        pause: float | None = None,
        heartbeat: float = _HEARTBEAT,
    ) -> None:
        self._service, self._database, self._access = service, database, access
        self._most, self._pause, self._heartbeat = most, _PAUSE if pause is None else pause, heartbeat
        self._feeds: dict[str, Feed] = {}
        self.listeners = 0
        self._stopped = False

    def stop(self) -> None:
        """Let all listeners go."""
        self._stopped = True
        for feed in self._feeds.values():
            feed.changed.set()

    def admit(self) -> None:
        """Take a place for a listener, where there is one."""
        if self.listeners >= self._most or self._stopped:
            rule, got = f"must be at most {self._most}", Unsaid("more at the moment")
            raise Refused("busy", message("listeners", rule, got, "ask for the estimate now and then"))
        self.listeners += 1

    async def events(self, id: str, allowed: Callable[[dict[str, Any]], dict[str, Any] | None]) -> AsyncIterator[bytes]:
        """The events for one listener, whose place was taken."""
        feed = self._feeds.setdefault(id, Feed())
        feed.listeners += 1
        if feed.task is None:
            feed.task = asyncio.get_running_loop().create_task(self._watch(id, feed))
        try:
            yield b"retry: 3000\n\n"
            seen: object = None
            while not self._stopped:
                changed, told = feed.changed, feed.estimate
                if told is not None and told is not seen:
                    seen = told
                    shown = allowed(told)
                    if shown is not None:
                        yield b"event: estimate\ndata: " + json.dumps(shown, ensure_ascii=False).encode() + b"\n\n"
                    continue
                try:
                    await asyncio.wait_for(changed.wait(), self._heartbeat)
                except TimeoutError:
                    yield b": still here\n\n"
        except Refused:
            return  # the token does not hold any more
        finally:
            self.listeners -= 1
            feed.listeners -= 1
            if not feed.listeners and feed.task is not None:
                feed.task.cancel()
                self._feeds.pop(id, None)

    async def _watch(self, id: str, feed: Feed) -> None:
        while True:
            try:
                state = await asyncio.to_thread(self._state, id)
                if state != feed.state or feed.estimate is None:
                    feed.estimate = await asyncio.to_thread(self._service.estimate, id)
                    feed.state = state
                    feed.changed.set()
                    feed.changed = asyncio.Event()
            except Exception as error:
                _LOG.error("an estimate for listeners failed (%s), is tried again", type(error).__name__)
            await asyncio.sleep(self._pause)

    def _state(self, id: str) -> object:
        """What changes whenever an estimate does."""
        return hash(self._service.state(id))


def add(api: FastAPI, service: Service, access: Access, live: Live) -> None:
    """Add the route."""
    stream = {
        "description": "Events named estimate, each with the JSON of an estimate; comments in between.",
        "content": {EVENTS: {"schema": {"type": "string"}}},
    }

    @api.get(
        f"{PATH}/{{id}}/live",
        tags=["estimates"],
        response_class=Response,
        **needing(Need.READER, stream, "unknown"),
    )
    async def listen(request: Request, id: Id) -> Response:
        """The estimate now, and again whenever it has changed, at most once a second."""
        collection = service.directory.named(id)
        access.reads(held(request), collection)

        def allowed(told: dict[str, Any]) -> dict[str, Any] | None:
            if access.reads(access.holder(request), service.directory.named(id)):
                return told
            try:
                return released(access, collection, told)
            except Refused:
                return None  # of too few people as yet

        live.admit()
        return StreamingResponse(live.events(id, allowed), media_type=EVENTS)
