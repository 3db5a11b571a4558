"""The application: what answers which request."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from hush.collect.clock import Clock
from hush.collect.directory import Directory
from hush.collect.refusals import Refused
from hush.collect.server.grouping import Groups
from hush.collect.server.submitting import Submissions
from hush.collect.store import folding
from hush.collect.store.database import Database

PROBLEM = "application/problem+json"


def application(database: Database, clock: Clock) -> FastAPI:
    """The collector over a store."""
    directory = Directory(database, clock)
    stop = threading.Event()

    def fold() -> None:
        while not stop.is_set():
            if not folding.step(database, directory.numbered).batches:
                stop.wait(0.1)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        folder = threading.Thread(target=fold, name="hush-folder")
        folder.start()
        yield
        stop.set()
        folder.join()

    app = FastAPI(title="Hush collector", lifespan=lifespan)
    submissions = Submissions(directory, Groups(database), most_bytes=1 << 26)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        headers = {} if error.reason.retry is None else {"Retry-After": str(error.reason.retry)}
        return Response(json.dumps(error.problem()), error.reason.status, headers, PROBLEM)

    app.add_exception_handler(Refused, refused)
    app.add_route("/v1/collections/{id}/batches", submissions.take, methods=["POST"])
    return app
