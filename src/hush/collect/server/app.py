"""The application: all parts of a server, put together over a store."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

import hush
from hush.collect.refusals import Refused
from hush.collect.server import administering, documenting, health, keys, live, problems, reading
from hush.collect.server.access import Access
from hush.collect.server.bodies import Bodies
from hush.collect.server.chores import Chore
from hush.collect.server.gate import Gate
from hush.collect.server.grouping import GroupCommit
from hush.collect.server.measures import Measures
from hush.collect.server.rates import Rates
from hush.collect.server.routing import guarded
from hush.collect.server.submitting import Submissions
from hush.collect.service import Service
from hush.collect.settings import ServerSettings
from hush.collect.store.database import Database
from hush.collect.store.folder import Folder

_LOG = logging.getLogger("hush.collect")
_FOLD_SECONDS = 0.1
_REFRESH_SECONDS = 1.0
_MAINTAIN_SECONDS = 60.0


def application(service: Service, database: Database, settings: ServerSettings) -> Gate:
    """The server over a store, as ASGI has it; whoever opened the store closes it.

    Args:
        service: What can be done with collections.
        database: The store that it is over.
        settings: All limits.
    """
    measures, access = Measures(), Access(service.directory)
    bodies = Bodies(seconds=settings.body_seconds, most_in_flight=settings.most_in_flight)
    groups = GroupCommit(database, measures, most_bytes=settings.most_waiting)
    by_key = Rates(rate=settings.key_rate, burst=settings.key_burst)

    def refused(id: str, reason: str, number: int = 1) -> None:
        service.count_refusals(Counter({(id, reason): number}))

    submissions = Submissions(
        database, service.directory, groups, bodies, by_key, refused, most_bytes=settings.most_body
    )
    listening = live.Live(service, database, access, most=settings.most_listeners)
    chores = _chores(service, database, measures)

    @asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncIterator[None]:
        for each in chores:
            each.start()
        yield
        listening.stop()
        try:
            await asyncio.wait_for(groups.settled(), settings.stop_seconds)
            for each in chores:
                await asyncio.to_thread(each.stop)
            await asyncio.to_thread(service.stop)
        except (TimeoutError, Refused) as error:
            _LOG.error("not all could be settled before the end (%s)", type(error).__name__)
        finally:
            submissions.close()

    api = FastAPI(
        title="Hush collector",
        version=hush.__version__,
        summary="Collects reports that devices have randomized, and estimates from them.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    api.router.route_class = guarded(access, bodies, most_bytes=settings.most_request)
    api.router.redirect_slashes = False
    problems.install(api)
    documenting.add_submit(api, submissions.take)
    administering.add(api, service, access)
    reading.add(api, service, access)
    live.add(api, service, access, listening)
    keys.add(api, service, settings)
    health.add(api, health.Health(database, chores), measures, database)
    documenting.complete(api)
    measures.watch("hush_bytes_waiting", "Bytes of batches that wait for the store", lambda: groups.bytes_waiting)
    measures.watch("hush_bytes_in_flight", "Bytes of bodies that are held", lambda: bodies.held)
    measures.watch("hush_listeners", "Listeners to live estimates", lambda: listening.listeners)

    gate = Gate(api, submissions.take, settings, measures, refused, listening.stop)
    measures.watch("hush_requests_under_way", "Requests that are being answered", lambda: gate.under_way)
    return gate


def _chores(service: Service, database: Database, measures: Measures) -> list[Chore]:
    failed = measures.failures.labels("folding").inc
    folder = Folder(database, service.directory.numbered, failed=failed)

    def fold() -> float:
        began = time.perf_counter()
        done = folder.step()
        if done.batches:
            measures.fold_seconds.observe(time.perf_counter() - began)
            measures.folded.inc(done.batches)
        return 0.0 if done.more else _FOLD_SECONDS

    def refresh() -> float:
        service.directory.refresh()
        return _REFRESH_SECONDS

    def maintain() -> float:
        service.maintain()
        return _MAINTAIN_SECONDS

    found = [Chore("folding", fold, measures), Chore("maintenance", maintain, measures)]
    if not database.embedded:  # another collector may have changed something
        found.append(Chore("refresh", refresh, measures))
    return found
