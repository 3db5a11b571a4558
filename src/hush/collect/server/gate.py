"""What every request passes first, and every answer last: limits, cross-origin rules, headers, counts and the log.

Batches go from here straight to what takes them. The routes of the interface stand in the application behind the gate,
that of batches too, which is where its place in the OpenAPI document comes from; but what frameworks do for each
request costs more than all of a batch.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Awaitable, Callable

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from hush.collect.refusals import Refused
from hush.collect.server.measures import Measures
from hush.collect.server.origins import Origins
from hush.collect.server.problems import REFUSED, ProblemResponse, unexpected
from hush.collect.server.rates import Addresses, Rates
from hush.collect.server.whole import EXTENSION, Acknowledgement
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
    """

    def __init__(
        self,
        api: FastAPI,
        submit: Take,
        settings: ServerSettings,
        measures: Measures,
        refused: Callable[[str, str], None],
        stopping: Callable[[], None],
    ) -> None:
        self.api, self._submit, self._measures, self._refused, self.stopping = api, submit, measures, refused, stopping
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
        began, status = time.perf_counter(), 0
        added = _SECURE if scope["scheme"] == "https" else _SAFE
        path: str = scope["path"]
        shared = self._origins.headers(scope)

        async def sending(event: Message) -> None:
            nonlocal status
            if event["type"] == "http.response.start":
                status = event["status"]
                headers = [*event.get("headers", ()), *added, *shared]
                if b"cache-control" not in [name for name, _ in headers]:
                    headers.append(_NO_STORE)
                event["headers"] = headers
            await send(event)

        batches = _BATCHES.fullmatch(path) if scope["method"] == "POST" else None
        who = None if path in _WATCHED or not scope.get("client") else self._addresses.hashed(scope["client"][0])
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
                        status = answer.status_code
                        await answer.whole(send, [*added, *shared, _NO_STORE])
                    else:
                        await answer(scope, receive, sending)
                else:
                    await self.api(scope, receive, sending)
            finally:  # whoever is refused has no place, however long the answer takes to be read
                self.under_way -= 1
                if who is not None:
                    self._leave(who)
        except Exception as error:
            if not status:  # what the application answered, it has logged
                refused = error if isinstance(error, Refused) else unexpected(error)
                await ProblemResponse(refused)(scope, receive, sending)
        finally:
            template = SUBMIT if batches is not None else getattr(scope.get("route"), "path", UNMATCHED)
            self._note(scope, template, status, time.perf_counter() - began, batches[1] if batches else None)
        return None

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
