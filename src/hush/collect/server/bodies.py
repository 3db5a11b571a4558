"""Bodies of requests, whole and within limits: of bytes and time for each, and of bytes for all of them together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from starlette.types import Receive, Scope

from hush.collect.refusals import Refused
from hush.errors import Unsaid, message

SMALL = 1 << 20
"""Bytes up to which a body is small. A quarter of what may be held is for these alone, so that a few who send much, and
slowly, keep nobody else out."""
WHOLE = "hush.body"
"""The entry of a scope that says that its body has been read to the end."""


class Bodies:
    """Reads bodies, and knows how much of them is held.

    Args:
        seconds: In which one must have arrived.
        most_in_flight: Bytes that all of them may hold, until each is released.
    """

    def __init__(self, *, seconds: float, most_in_flight: int) -> None:
        self._seconds, self._most = seconds, most_in_flight
        self.held = 0

    async def read(self, scope: Scope, receive: Receive, *, most: int) -> bytes:
        """A whole body, which counts as held until it is released."""
        if (announced(scope["headers"]) or 0) > most:
            raise _too_large(most)
        try:
            if _there(receive):
                data = await self._collected(receive, most)
            else:
                async with asyncio.timeout(self._seconds):
                    data = await self._collected(receive, most)
        except TimeoutError:
            rule = f"must arrive within {self._seconds:g} seconds"
            raise Refused(
                "slow", message("body", rule, Unsaid("a part of it"), "send fewer records at a time")
            ) from None
        scope[WHOLE] = True
        return data

    def hold(self, data: bytes) -> None:
        """Count a body that is there as held."""
        self._hold(len(data), of=len(data))

    def release(self, data: bytes) -> None:
        """Say that a body is not needed any more."""
        self.held -= len(data)

    async def _collected(self, receive: Receive, most: int) -> bytes:
        first, more = await self._part(receive)
        if not more and len(first) <= most:
            self._hold(len(first), of=len(first))
            return first
        whole, held = bytearray(first), 0
        try:
            while True:
                if len(whole) > most:
                    raise _too_large(most)
                self._hold(len(whole) - held, of=len(whole))
                held = len(whole)
                if not more:
                    return bytes(whole)
                part, more = await self._part(receive)
                whole += part
        except BaseException:
            self.held -= held
            whole.clear()  # which the error would keep until it is answered
            raise

    @staticmethod
    async def _part(receive: Receive) -> tuple[bytes, bool]:
        event = await receive()
        if event["type"] == "http.disconnect":
            rule, got = "must arrive whole", Unsaid("a part of it, and then nothing")
            raise Refused("interrupted", message("body", rule, got, "send it again"))
        return event.get("body", b""), event.get("more_body", False)

    def _hold(self, size: int, *, of: int) -> None:
        most = self._most if of <= SMALL else self._most * 3 // 4
        if self.held + size > most:
            rule, got = f"must be at most {most} bytes together", Unsaid("more of them at the moment")
            raise Refused("busy", message("bodies", rule, got, "wait, and send the same again"))
        self.held += size


def _there(receive: Receive) -> bool:
    """Whether a body has come whole, as uvicorn's own part of a request knows: then nobody need be waited for."""
    return getattr(getattr(receive, "__self__", None), "more_body", True) is False


def announced(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """How long a request says that its body is; None where it does not say."""
    for name, value in headers:
        if name == b"content-length":
            return int(value) if value.isdigit() else None
    return None


def _too_large(most: int) -> Refused:
    rule, remedy = f"must be at most {most} bytes", "send less at a time"
    return Refused("too-large", message("body", rule, Unsaid("a longer one"), remedy))
