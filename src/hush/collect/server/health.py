"""`/healthz`, `/readyz` and `/metrics`: for whoever watches the server."""

from __future__ import annotations

import math
import os
import threading
import time
from concurrent.futures import CancelledError

import sqlalchemy as sa
from fastapi import FastAPI
from starlette.responses import JSONResponse, Response

from hush.collect.refusals import Refused
from hush.collect.server.access import Need
from hush.collect.server.chores import Chore
from hush.collect.server.grouping import GroupCommit
from hush.collect.server.measures import CONTENT_TYPE, Measures
from hush.collect.server.routing import needing
from hush.collect.store import schema, tables
from hush.collect.store.database import Database
from hush.errors import Unsaid, message

_FRESH_SECONDS = 1.0
_WRITE_SECONDS = 5.0
_LEAST_TRIED = 1 << 18
_TRIED = sa.Table("tried", sa.MetaData(), sa.Column("content", sa.LargeBinary))  # which is there for a moment


class Health:
    """Whether a server can do its work; looked at once a second at most, whoever asks.

    Args:
        database: The store.
        chores: What must be going on.
        groups: What writes batches.
    """

    def __init__(self, database: Database, chores: list[Chore], groups: GroupCommit) -> None:
        self._database, self._chores, self._groups = database, chores, groups
        self._version = schema.latest()
        self._lock = threading.Lock()
        self._looked, self._found = float("-inf"), ""
        self._counted, self._pending = float("-inf"), 0.0

    def trouble(self) -> str:
        """What is wrong, in a word; nothing where all is well."""
        with self._lock:
            if time.monotonic() - self._looked > _FRESH_SECONDS:
                self._found = self._look()
                self._looked = time.monotonic()
            return self._found

    def pending(self) -> float:
        """How many batches are to be folded; not a number where the store cannot be read."""
        with self._lock:
            if time.monotonic() - self._counted > _FRESH_SECONDS:
                self._pending = self._count()
                self._counted = time.monotonic()
            return self._pending

    def _count(self) -> float:
        try:
            with self._database.reading() as connection:
                return int(connection.execute(sa.select(sa.func.count()).select_from(tables.pending)).scalar_one())
        except (sa.exc.SQLAlchemyError, OSError):
            return math.nan  # and the rest is told all the same

    def _look(self) -> str:
        try:
            with self._database.reading() as connection:
                there = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
            if there != self._version:
                return "a store of another version"
        except (sa.exc.SQLAlchemyError, OSError):
            return "a store that cannot be read"
        try:
            self._database.write(_touched).result(_WRITE_SECONDS)
            if self._groups.failed_bytes:
                self._try()
        except (sa.exc.SQLAlchemyError, OSError, RuntimeError, CancelledError):
            return "a store that cannot be written"
        unwell = [chore.name for chore in self._chores if not chore.well]
        return f"{unwell[0]} that does not work" if unwell else ""

    def _try(self) -> None:
        """Write as much as the batches had that could not be written, and take it away again.

        What is there already may fit on a full disk where they do not. Nobody sends batches to a server that is not
        ready, so it must find out by itself when they can be written again.
        """
        size = max(_LEAST_TRIED, self._groups.failed_bytes)
        self._database.write(lambda connection: _filled(connection, size)).result(_WRITE_SECONDS)
        self._database.write(_emptied).result(_WRITE_SECONDS)
        self._groups.failed_bytes = 0


def _filled(connection: sa.Connection, size: int) -> None:
    _emptied(connection)  # a process that ended in between has left it
    _TRIED.create(connection)
    connection.execute(sa.insert(_TRIED).values(content=os.urandom(size)))  # which nothing can make smaller


def _emptied(connection: sa.Connection) -> None:
    connection.execute(sa.text("DROP TABLE IF EXISTS tried"))


def _touched(connection: sa.Connection) -> None:
    """Write what is there already: that needs the disk as anything else does."""
    connection.execute(sa.text("UPDATE alembic_version SET version_num = version_num"))


def add(api: FastAPI, health: Health, measures: Measures) -> None:
    """Add the routes."""
    plain = {"description": "All is well.", "content": {"application/json": {"schema": {"type": "object"}}}}
    text = {"description": "All measures.", "content": {CONTENT_TYPE: {"schema": {"type": "string"}}}}

    @api.get("/healthz", tags=["watch"], **needing(Need.NOTHING, plain))
    async def healthz() -> Response:
        """Say that the process answers."""
        return JSONResponse({"status": "ok"})

    @api.get("/readyz", tags=["watch"], **needing(Need.NOTHING, plain))
    def readyz() -> Response:
        """Say whether the store can be read and written, has the right version, and batches are being folded."""
        trouble = health.trouble()
        if trouble:
            raise Refused("store", message("server", "must be ready", Unsaid(trouble), "see the server's log"))
        return JSONResponse({"status": "ready"})

    @api.get("/metrics", tags=["watch"], response_class=Response, **needing(Need.NOTHING, text))
    def metrics() -> Response:
        """All measures, as Prometheus reads them: by route, code and reason, never by collection."""
        measures.pending.set(health.pending())
        return Response(measures.shown(), headers={"Content-Type": CONTENT_TYPE})
