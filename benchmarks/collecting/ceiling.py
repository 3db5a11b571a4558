"""What a server can do at most: a bare Starlette handler that appends bodies to one file, with grouped fsync.

    python -m benchmarks.collecting.ceiling PORT FILE

It checks nothing, keeps no ids and counts nothing; that a batch is on the disk before it is acknowledged is all that
it has in common with a collector.
"""

from __future__ import annotations

import asyncio
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


class Appending:
    """One file, and whoever waits for it."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        self._thread = ThreadPoolExecutor(1)
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._writing = False

    async def keep(self, data: bytes) -> None:
        """Append, and return when it is on the disk."""
        loop = asyncio.get_running_loop()
        settled = loop.create_future()
        self._waiting.append((data, settled))
        if not self._writing:
            self._begin(loop)
        await settled

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        group, self._waiting, self._writing = self._waiting, [], True
        done = self._thread.submit(self._write, b"".join(data for data, _ in group))
        done.add_done_callback(lambda _: loop.call_soon_threadsafe(self._settle, loop, [each for _, each in group]))

    def _write(self, data: bytes) -> None:
        assert os.write(self._file, data) == len(data)
        os.fdatasync(self._file)

    def _settle(self, loop: asyncio.AbstractEventLoop, group: list[asyncio.Future[None]]) -> None:
        for each in group:
            if not each.done():
                each.set_result(None)
        self._writing = False
        if self._waiting:
            self._begin(loop)


def main(port: int, path: str) -> None:
    """Serve until stopped."""
    file = Appending(path)

    async def take(request: Request) -> Response:
        await file.keep(await request.body())
        return Response(b"{}", media_type="application/json")

    app = Starlette(routes=[Route("/v1/collections/{id}/batches", take, methods=["POST"])])
    uvicorn.run(
        app, host="127.0.0.1", port=port, loop="uvloop", http="httptools", log_level="warning", access_log=False
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
