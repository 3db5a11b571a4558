"""A connection that is written to once where uvicorn writes twice: the head of an answer and its body go together.

A write is a call of the system, which costs as much as all that is checked of a small batch.
"""

from __future__ import annotations

import asyncio
from typing import Any


class Corked:
    """A transport that holds what is written until the event loop's next turn.

    Args:
        inner: The transport itself.
        loop: That it runs in.
        seconds: In which the other side must have read what is left when it is closed.
    """

    def __init__(self, inner: Any, loop: asyncio.AbstractEventLoop, *, seconds: float) -> None:
        self._inner, self._loop, self._seconds = inner, loop, seconds
        self._held: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Write, soon."""
        if not self._held:
            self._loop.call_soon(self._flush)
        self._held.append(data)

    def close(self) -> None:
        """Write what is held, and end."""
        self._flush()
        self._inner.close()
        if self._inner.get_write_buffer_size():  # else it would stay until someone reads
            self._loop.call_later(self._seconds, self._inner.abort)

    def _flush(self) -> None:
        if self._held and not self._inner.is_closing():
            self._inner.write(b"".join(self._held))
        self._held.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
