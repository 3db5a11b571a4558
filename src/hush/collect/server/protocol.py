"""HTTP on one connection, with what uvicorn lets pass: heads that never end, answers that nobody reads, and connections
without number.

A head must be whole within a time and within a length, and so must whatever comes between bodies: chunks of no bytes,
trailers, empty lines. All of that is held in memory, and no application ever sees it.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from hush.collect.refusals import Refused
from hush.collect.server.corked import Corked
from hush.collect.server.gate import Gate
from hush.collect.server.problems import PROBLEM
from hush.collect.server.shares import Shares
from hush.collect.server.whole import EXTENSION, WholeCycle
from hush.collect.settings import ServerSettings
from hush.errors import Unsaid, message

MOST_HEAD = 1 << 16
"""Bytes of a head, or of a trailer."""
MOST_AHEAD = 16
"""Requests that may be sent before the first of them is answered."""
_PER_BYTE = 8
"""Bytes that may come around each byte of a body, as those of the smallest chunks do."""


class BoundedProtocol(HttpToolsProtocol):
    """Uvicorn's protocol, within limits."""

    settings = ServerSettings()
    shares = Shares(settings)
    gate: Gate | None = None
    """What takes requests that are whole at once; none behind a proxy, whose headers the application reads first."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._around = self._inside = 0  # bytes since the last message: of heads and the like, and of bodies
        self._completed = self._refused = False
        self._who: bytes | None = None
        self._reading = False
        self._begun: tuple[RequestResponseCycle, Any] | None = None  # a request whose body may be on its way

    def connection_made(self, transport: Any) -> None:
        """Begin; the head must come soon."""
        corked: Any = Corked(transport, self.loop, seconds=self.settings.answer_seconds)
        super().connection_made(corked)
        if self._who is None and not self.entered(self.client[0] if self.client else ""):
            rule, got = f"must be at most {self.settings.most_connections}", Unsaid("more at the moment")
            return self._refuse(Refused("busy", message("connections", rule, got, "wait, and send the same again")))
        return self._expect()

    def entered(self, address: str) -> bool:
        """Count a connection once it is accepted, and say whether there is a place for it."""
        self._who = self.shares.enter(address)
        return not self.shares.too_many(self._who)

    def left(self) -> None:
        """Count it no more."""
        if self._who is not None:
            self.shares.leave(self._who)
            self._who = None

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._expect_no_more()
        self.resume_writing()
        self.left()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read some."""
        if self._refused:
            return None
        self._around += len(data)
        self._completed = False
        self._reading = True
        try:
            super().data_received(data)
        finally:
            self._reading = False
            self._go_on()
        if self._around > MOST_HEAD + _PER_BYTE * self._inside:
            return self._refuse(_too_long())
        if self._idle and not self.transport.is_closing():
            if self._completed:  # the end of a body that nobody waited for
                self._expect_no_more()
                self.timeout_keep_alive_task = self.loop.call_later(
                    self.timeout_keep_alive, self.timeout_keep_alive_handler
                )
            elif self._deadline is None:
                self._expect()
        return None

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._expect_no_more()
        self._around = self._inside = 0  # what of this piece is body is taken off once more, which allows a little
        if len(self.pipeline) >= MOST_AHEAD:
            raise RuntimeError("too many requests ahead")  # the parser makes of it that the connection is refused
        scope: Any = self.scope
        scope["extensions"] = {EXTENSION: {}}
        before = self.cycle
        super().on_headers_complete()
        if self.cycle is not before:  # uvicorn makes it; its task has not begun
            self.cycle.__class__ = WholeCycle

    def on_body(self, body: bytes) -> None:
        """A part of a body is there."""
        self._around -= len(body)
        self._inside += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._around = self._inside = 0
        self._completed = True
        super().on_message_complete()
        if self._begun is not None and self._begun[0] is self.cycle and self.gate is not None:
            assert isinstance(self.cycle, WholeCycle)
            if self.gate.at_once(self.cycle):
                self._begun = None
        self._go_on()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Begin a request; while more of it is being read, once it is known whether that was all."""
        if self._reading and self.gate is not None:
            self._begun = cycle, app
        else:
            super()._start_asgi_task(cycle, app)

    def _go_on(self) -> None:
        """Begin the request that was waited with."""
        if self._begun is not None:
            (cycle, app), self._begun = self._begun, None
            super()._start_asgi_task(cycle, app)

    def pause_writing(self) -> None:
        """More waits to be read than the client takes; it has some time."""
        super().pause_writing()
        self.shares.wait(self, self.transport.get_write_buffer_size(), self.transport.abort)
        if self._unread is None:
            self._unread = self.loop.call_later(self.settings.answer_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        self.shares.read(self)
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is answered as all else that is refused."""
        rule, remedy = "must be HTTP/1.1", "use a client that speaks it"
        self._refuse(Refused("malformed", message("request", rule, Unsaid("something else"), remedy)))

    @property
    def _idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _expect(self) -> None:
        self._deadline = self.loop.call_later(self.settings.header_seconds, self._late)

    def _expect_no_more(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _late(self) -> None:
        self._deadline = None
        if self._idle and not self.transport.is_closing():
            rule = f"must arrive within {self.settings.header_seconds:g} seconds"
            self._refuse(Refused("slow", message("head", rule, Unsaid("a part of it"), "send it at once")))

    def _refuse(self, refused: Refused) -> None:
        self._refused = True
        self._expect_no_more()
        if self.transport.is_closing():
            return
        if self._idle:  # else an answer may be half sent
            body = json.dumps(refused.problem()).encode()
            head = f"content-type: {PROBLEM}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
            if refused.retry is not None:
                head += f"retry-after: {refused.retry}\r\n"
            head += "cache-control: no-store\r\nx-content-type-options: nosniff\r\n\r\n"
            self.transport.write(STATUS_LINE[refused.reason.status] + head.encode() + body)
        self.transport.close()


def bounded(settings: ServerSettings, gate: Gate | None = None) -> type[BoundedProtocol]:
    """The protocol under some settings, before what answers."""
    told = {"settings": settings, "shares": Shares(settings), "gate": None if settings.trusted_proxies else gate}
    return type("SettledProtocol", (BoundedProtocol,), told)


def _too_long() -> Refused:
    rule, got = f"must be at most {MOST_HEAD} bytes", Unsaid("a longer one")
    return Refused("malformed", message("head", rule, got, "send fewer and shorter headers"))
