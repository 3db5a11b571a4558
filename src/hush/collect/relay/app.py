"""The relay on HTTP: the collections that it relays, their batches, and its health."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import hush
from hush.collect.relay import mirror, outbox
from hush.collect.relay.forwarding import Forwarder
from hush.collect.relay.settings import RelaySettings
from hush.collect.relay.upstream import Upstream
from hush.collect.server import documenting, health, problems
from hush.collect.server.access import Access, Need
from hush.collect.server.administering import PATH
from hush.collect.server.bodies import Bodies
from hush.collect.server.chores import Chore
from hush.collect.server.gate import Gate
from hush.collect.server.grouping import GroupCommit
from hush.collect.server.measures import Measures
from hush.collect.server.models import PublicCollection
from hush.collect.server.rates import Rates
from hush.collect.server.routing import Id, guarded, needing
from hush.collect.server.running import Server
from hush.collect.server.submitting import Submissions
from hush.collect.service import Service
from hush.collect.store.database import Database


def relay(settings: RelaySettings) -> Server:
    """A relay that is ready to serve; its collector must be there the first time."""
    return Server(settings, application=application)


def application(service: Service, database: Database, settings: RelaySettings) -> Gate:
    """The relay over a store of its own, as ASGI has it."""
    upstream = Upstream(settings.collector, settings.key)
    forwarder = Forwarder(service, database, upstream, settings.rules)
    try:
        forwarder.begin(settings.ids, anyone=settings.anyone)
    except BaseException:
        upstream.close()
        raise
    measures, access = Measures(), Access(service.directory)
    bodies = Bodies(seconds=settings.body_seconds, most_in_flight=settings.most_in_flight)
    groups = GroupCommit(database, measures, most_bytes=settings.most_waiting)
    by_key = Rates(rate=settings.key_rate, burst=settings.key_burst)

    def refused(id: str, reason: str, number: int = 1) -> None:
        service.count_refusals(Counter({(id, reason): number}))

    submissions = Submissions(
        database, service.directory, groups, bodies, by_key, refused, most_bytes=settings.most_body
    )

    async def take(request: Request) -> Response:
        forwarder.holding(request.path_params["id"])
        return await submissions.take(request)

    work = {"following": forwarder.follow, "gathering": forwarder.gather, "sending": forwarder.send}
    chores = [Chore(name, each, measures) for name, each in work.items()]

    @asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncIterator[None]:
        for each in chores:
            each.start()
        yield
        await groups.settled()
        for each in chores:
            await asyncio.to_thread(each.stop)
        await asyncio.to_thread(service.stop)
        upstream.close()

    api = FastAPI(
        title="Hush relay",
        version=hush.__version__,
        summary="Takes batches of reports from devices, and passes the reports on to a collector, permuted.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    api.router.route_class = guarded(access, bodies, most_bytes=settings.most_request)
    api.router.redirect_slashes = False
    problems.install(api)
    documenting.add_submit(api, take)
    _add_public(api, service, forwarder, settings.least)
    health.add(api, health.Health(database, chores), measures, database)
    documenting.complete(api)
    _watch(measures, database)
    tries = "Times in a row that the collector did not acknowledge a batch"
    measures.watch("hush_relay_failures", tries, lambda: forwarder.failures)

    return Gate(api, take, settings, measures, refused, lambda: None)


def _add_public(api: FastAPI, service: Service, forwarder: Forwarder, least: int) -> None:
    @api.get(f"{PATH}/{{id}}", tags=["collections"], **needing(Need.NOTHING, PublicCollection, "unknown"))
    async def show(id: Id) -> Response:
        """What anyone may see of a collection: the collector's own, with the relay's periods and keys."""
        found = service.directory.named(id)
        return JSONResponse(mirror.public(forwarder.views[id], found, least=least))


def _watch(measures: Measures, database: Database) -> None:
    """Gauges of what became of reports, read when someone looks."""
    told = {
        outbox.FORWARDED: "Reports that the collector has acknowledged",
        outbox.FEW: "Reports that were dropped, since too few came in their period",
        outbox.ENDED: "Reports that were dropped, since the collection was closed",
        outbox.REFUSED: "Reports that the collector refused",
        "held": "Reports that wait for others",
        "outgoing": "Reports in batches that are not acknowledged yet",
    }

    def reading(fate: str) -> Callable[[], float]:
        def read() -> float:
            with database.reading() as connection:
                return float(outbox.counted(connection)[fate])

        return read

    for fate, help in told.items():
        measures.watch(f"hush_relay_reports_{fate}", help, reading(fate))


def fates(database: Database) -> dict[str, Any]:
    """What became of reports so far."""
    with database.reading() as connection:
        return dict(outbox.counted(connection))
