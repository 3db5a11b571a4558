"""What every request passes first, and every answer last: limits, cross-origin rules, headers, counts and the log.

Batches go from here straight to what takes them. The routes of the interface stand in the application behind the gate,
that of batches too, which is where its place in the OpenAPI document comes from; but what frameworks do for each
request costs more than all of a batch. One whose body is there when its head is read is not even a task of its own: it
is checked at once (`at_once`), by the same rules, and answered when it is on the disk.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from hush.collect.refusals import Refused
from hush.collect.server.bodies import WHOLE
from hush.collect.server.measures import Measures
from hush.collect.server.origins import Origins
from hush.collect.server.problems import REFUSED, ProblemResponse, unexpected
from hush.collect.server.rates import Addresses, Rates
from hush.collect.server.submitting import Submissions
from hush.collect.server.whole import EXTENSION, Acknowledgement, WholeCycle, head
from hush.collect.settings import ServerSettings
from hush.errors import Unsaid, message

SUBMIT = "/v1/collections/{id}/batches"
UNMATCHED = "unmatched"
"""What the log and the measures call an address that there is not: they never repeat one."""

_BATCHES = re.compile(r"/v1/collections/([^/]+)/batches")
_MEASURES = "/metrics"
_WATCHED = frozenset({"/healthz", "/readyz", _MEASURES})
_LOOKS = 10.0
"""Times a second that one address may look at the measures: they cost more than to say that all is well."""
_LOG = logging.getLogger("hush.collect.access")
_SAFE = [
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
]
_SECURE = [*_SAFE, (b"strict-transport-security", b"max-age=31536000")]
_NO_STORE = (b"cache-control", b"no-store")


Take = Callable[[Request], Awaitable[Response]]
"""What takes batches."""


class Gate:
    """The whole server, as ASGI has it.

    Args:
        api: The application, with all routes.
        submit: What takes batches.
        settings: The limits.
        measures: What counts.
        refused: Told of each refused batch: of which collection, and why.
        stopping: Called when the server begins to stop.
        direct: What takes batches that are there; None where `submit` takes all.
    """

    def __init__(
        self,
        api: FastAPI,
        submit: Take,
        settings: ServerSettings,
        measures: Measures,
        refused: Callable[[str, str], None],
        stopping: Callable[[], None],
        direct: Submissions | None = None,
    ) -> None:
        self.api, self._submit, self._measures, self._refused, self.stopping = api, submit, measures, refused, stopping
        self._direct, self._refusing = direct, set[asyncio.Task[None]]()
        self._most, self._log = settings.most_requests, settings.access_log
        self._rates, self._addresses = Rates(rate=settings.address_rate, burst=settings.address_burst), Addresses()
        self._looks = Rates(rate=min(settings.address_rate, _LOOKS), burst=settings.address_burst)
        self._origins = Origins(settings.allowed_origins)
        self._of_address: dict[bytes, int] = {}
        self._most_of_address = max(1, self._most // 2) if settings.address_rate else self._most
        self.under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return await self.api(scope, receive, send)
        began = time.perf_counter()
        path: str = scope["path"]
        sending = _Sending(send, self._added(scope))
        batches = _BATCHES.fullmatch(path) if scope["method"] == "POST" else None
        who = None if path in _WATCHED else self._who(scope)
        self.under_way += 1
        try:
            try:
                if who is not None:
                    self._limit(who)
                elif path == _MEASURES and scope.get("client"):
                    self._looks.take(self._addresses.hashed(scope["client"][0]), time.monotonic(), parameter="requests")
                preflight = self._origins.preflight(scope) if scope["method"] == "OPTIONS" else None
                if preflight is not None:
                    await preflight(scope, receive, sending)
                elif batches is not None:
                    scope["path_params"] = {"id": batches[1]}
                    answer = await self._submit(Request(scope, receive))
                    if isinstance(answer, Acknowledgement) and EXTENSION in scope.get("extensions", ()):
                        sending.status = answer.status_code
                        await answer.whole(send, [*sending.added, _NO_STORE])
                    else:
                        await answer(scope, receive, sending)
                else:
                    await self.api(scope, receive, sending)
            finally:  # whoever is refused has no place, however long the answer takes to be read
                self.under_way -= 1
                if who is not None:
                    self._leave(who)
        except Exception as error:
            if not sending.status:  # what the application answered, it has logged
                await _problem(error)(scope, receive, sending)
        finally:
            template = SUBMIT if batches is not None else getattr(scope.get("route"), "path", UNMATCHED)
            self._note(scope, template, sending.status, time.perf_counter() - began, batches[1] if batches else None)
        return None

    def at_once(self, cycle: WholeCycle) -> bool:
        """Take a request whose body is there, if it is a batch that needs nothing else; else nothing is done.

        Args:
            cycle: The request and its answer, as uvicorn has them.
        """
        scope: Any = cycle.scope
        batches = _BATCHES.fullmatch(scope["path"]) if scope["method"] == "POST" else None
        if batches is None or self._direct is None or cycle.waiting_for_100_continue:
            return False
        id, began = batches[1], time.perf_counter()
        collection = self._direct.quick(id, scope, len(cycle.body))
        if collection is None:
            return False
        data, cycle.body = bytes(cycle.body), bytearray()
        scope[WHOLE] = True
        who = self._who(scope)

        def answered(answer: Response | Exception) -> None:
            self.under_way -= 1
            if who is not None:
                self._leave(who)
            if isinstance(answer, Acknowledgement):
                cycle.answer(head((*self._added(scope), _NO_STORE)), answer.body)
                self._note(scope, SUBMIT, answer.status_code, time.perf_counter() - began, id)
                return
            task = asyncio.ensure_future(self._answer(answer, cycle, began, id))
            self._refusing.add(task)
            task.add_done_callback(self._refusing.discard)

        self.under_way += 1
        try:
            if who is not None:
                self._limit(who)
            self._direct.enter(collection, data, answered)
        except Refused as error:
            answered(error)
        return True

    async def _answer(self, answer: Response | Exception, cycle: WholeCycle, began: float, id: str) -> None:
        """Answer what is no acknowledgement, as any other request."""
        scope: Any = cycle.scope
        send: Any = cycle.send
        sending = _Sending(send, self._added(scope))
        try:
            told = _problem(answer) if isinstance(answer, Exception) else answer
            await told(scope, cycle.receive, sending)  # type: ignore[arg-type]
        finally:
            self._note(scope, SUBMIT, sending.status, time.perf_counter() - began, id)

    def _added(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """The headers that every answer has, by how it was asked for."""
        return [*(_SECURE if scope["scheme"] == "https" else _SAFE), *self._origins.headers(scope)]

    def _who(self, scope: Scope) -> bytes | None:
        return self._addresses.hashed(scope["client"][0]) if scope.get("client") else None

    def _limit(self, who: bytes) -> None:
        """Count a request of an address; one address has half of all places at most, and not more often than said."""
        mine = self._of_address[who] = self._of_address.get(who, 0) + 1
        self._rates.take(who, time.monotonic(), parameter="requests")
        if self.under_way > self._most or mine > self._most_of_address:
            rule, got = f"must be at most {self._most} at once", Unsaid("more at the moment")
            raise Refused("busy", message("requests", rule, got, "wait, and send the same again"))

    def _leave(self, who: bytes) -> None:
        left = self._of_address[who] - 1
        if left:
            self._of_address[who] = left
        else:
            del self._of_address[who]

    def _note(self, scope: Scope, template: str, status: int, seconds: float, batches_of: str | None) -> None:
        """Count an answer and log it: by its template, for addresses have ids in them."""
        refused: Refused | None = scope.get(REFUSED)
        if refused is not None:
            self._measures.refused(refused.reason.code)
            if batches_of is not None:
                self._refused(batches_of, refused.reason.code)
        self._measures.answered(template, status, seconds)
        if self._log:
            _LOG.info("%s %s %d %.1f ms", scope["method"], template, status, seconds * 1000)


class _Sending:
    """Sends an answer with some headers more, unless it has its own, and knows its status.

    Args:
        send: What sends it.
        added: These headers.
    """

    def __init__(self, send: Send, added: list[tuple[bytes, bytes]]) -> None:
        self._send, self.added = send, added
        self.status = 0

    async def __call__(self, event: Message) -> None:
        """Send a part of it."""
        if event["type"] == "http.response.start":
            self.status = event["status"]
            own = list(event.get("headers", ()))
            names = {name for name, _ in own}
            event["headers"] = [*own, *(each for each in (*self.added, _NO_STORE) if each[0] not in names)]
        await self._send(event)


def _problem(error: Exception) -> ProblemResponse:
    return ProblemResponse(error if isinstance(error, Refused) else unexpected(error))
