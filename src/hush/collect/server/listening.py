"""Connections with TLS: each has its place from the moment at which it is accepted, and must shake hands soon.

Uvicorn knows of a connection once hands are shaken. Until then nobody would count it, and whoever opens connections and
says nothing would have all files of the process.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any

from hush.collect.server.protocol import BoundedProtocol
from hush.collect.settings import ServerSettings

_PAUSE = 0.05  # seconds until the next is accepted, where no file is left for it


class SecureListener:
    """Accepts connections, shakes hands, and then lets HTTP begin; a server, as uvicorn ends it.

    Args:
        listening: The socket.
        context: The certificate.
        settings: The limits.
        made: Makes HTTP for one connection.
    """

    def __init__(
        self,
        listening: socket.socket,
        context: ssl.SSLContext,
        settings: ServerSettings,
        made: Callable[[], BoundedProtocol],
    ) -> None:
        self._listening, self._context, self._made = listening, context, made
        self._seconds = {
            "ssl_handshake_timeout": settings.header_seconds,
            "ssl_shutdown_timeout": settings.answer_seconds,
        }
        self._loop = asyncio.get_running_loop()
        self._shaking: set[asyncio.Task[None]] = set()
        self._accepting = self._loop.create_task(self._accept())

    def close(self) -> None:
        """Accept no more, and let go of those that have not shaken hands."""
        for each in (self._accepting, *self._shaking):
            each.cancel()

    async def wait_closed(self) -> None:
        """Return when that is done."""
        await asyncio.gather(self._accepting, *self._shaking, return_exceptions=True)

    async def _accept(self) -> None:
        while True:
            try:
                accepted, address = await self._loop.sock_accept(self._listening)
            except OSError:
                await asyncio.sleep(_PAUSE)
                continue
            self._begin(accepted, address)
            await asyncio.sleep(0)  # others have their turn, however many there are

    def _begin(self, accepted: socket.socket, address: Any) -> None:
        inner = self._made()
        if not inner.entered(address[0]):  # and nothing can be said to it before hands are shaken
            inner.left()
            accepted.close()
            return
        task = self._loop.create_task(self._shake(accepted, inner))
        self._shaking.add(task)
        task.add_done_callback(self._shaking.discard)

    async def _shake(self, accepted: socket.socket, inner: BoundedProtocol) -> None:
        accepted.setblocking(False)
        try:
            await self._loop.connect_accepted_socket(lambda: inner, accepted, ssl=self._context, **self._seconds)
        except OSError:  # no handshake, a broken one, or a late one
            pass
        finally:
            if inner.transport is None:
                inner.left()
                accepted.close()
