"""Answers that are whole when they are sent: head and body as bytes, written in one go.

Servers that can do so say it in a request's scope, as ASGI has it for extensions; with others the same answer goes the
usual way. For an acknowledgement, putting a head together costs more than all that is checked of a small batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from starlette.responses import Response
from starlette.types import Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

EXTENSION = "hush.whole"
Headers = tuple[tuple[bytes, bytes], ...]


class Acknowledgement(Response):
    """That a batch is kept, in JSON.

    Args:
        told: What it says, in ASCII.
    """

    media_type = "application/json"
    body: bytes

    def __init__(self, told: str) -> None:
        self.status_code, self.body, self.background = 200, told.encode("ascii"), None

    @property
    def raw_headers(self) -> list[tuple[bytes, bytes]]:  # type: ignore[override]  # made only where they are asked for
        """The headers of its own."""
        return [(b"content-length", b"%d" % len(self.body)), (b"content-type", b"application/json")]

    async def whole(self, send: Send, more: Iterable[tuple[bytes, bytes]]) -> None:
        """Send it in one go, with some headers more."""
        await send({"type": EXTENSION, "head": head(tuple(more)), "body": self.body})


@lru_cache(maxsize=64)
def head(more: Headers) -> bytes:
    """The head of an acknowledgement but for its length, which comes last."""
    listed = [(b"content-type", b"application/json"), *more]
    return STATUS_LINE[200] + b"".join(b"%b: %b\r\n" % each for each in listed)


class WholeCycle(RequestResponseCycle):
    """A request and its answer, as uvicorn has them, and the answer may be whole."""

    async def send(self, message: Any) -> None:
        """Send a part of an answer, or all of it."""
        if message["type"] != EXTENSION:
            await super().send(message)
            return
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        self.answer(message["head"], message["body"])

    def answer(self, head: bytes, body: bytes) -> None:
        """Write a whole answer, unless nobody is there any more."""
        if self.disconnected:
            return
        default = b"".join(b"%b: %b\r\n" % each for each in self.default_headers)
        close = b"" if self.keep_alive else b"connection: close\r\n"
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        self.transport.write(b"%b%b%bcontent-length: %d\r\n\r\n%b" % (head, default, close, len(body), body))
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()
