"""The relay on HTTP: the collections that it relays, their batches, and its health."""

from __future__ import annotations

import math

import sqlalchemy as sa
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from hush.collect import views
from hush.collect.relay import mirror, outbox
from hush.collect.relay.forwarding import Forwarder
from hush.collect.relay.settings import RelaySettings
from hush.collect.relay.upstream import Upstream
from hush.collect.server.access import Need
from hush.collect.server.administering import PATH
from hush.collect.server.bodies import announced
from hush.collect.server.frame import Frame
from hush.collect.server.gate import Gate
from hush.collect.server.measures import Measures
from hush.collect.server.models import PublicCollection
from hush.collect.server.routing import Id, needing
from hush.collect.server.running import Server
from hush.collect.service import Service
from hush.collect.store.database import Database
from hush.collect.warming import warm


def relay(settings: RelaySettings) -> Server:
    """A relay that is ready to serve; its collector must be there the first time."""
    return Server(settings, application=application)


def application(service: Service, database: Database, settings: RelaySettings) -> Gate:
    """The relay over a store of its own, as ASGI has it."""
    upstream = Upstream(settings.collector, settings.key)
    forwarder = Forwarder(service, database, upstream, settings.rules, most=settings.most_stored)
    try:
        forwarder.begin(settings.ids, anyone=settings.anyone)
    except BaseException:
        upstream.close()
        raise
    warm(service.directory.named(id) for id in settings.ids)
    frame = Frame(service, database, settings)
    _watch(frame.measures, database)
    tries = "Times in a row that the collector did not acknowledge a batch"
    frame.measures.watch("hush_relay_failures", tries, lambda: forwarder.failures)
    size = "Bytes that the store has for the collector, about"
    frame.measures.watch("hush_relay_bytes_stored", size, lambda: forwarder.stored)

    async def take(request: Request) -> Response:
        forwarder.holding(request.path_params["id"])
        forwarder.leaving_room()
        answer = await frame.submissions.take(request)
        if answer.status_code == 200:
            forwarder.stored += announced(request.scope["headers"]) or settings.most_body
        return answer

    return frame.around(
        lambda api: _add_public(api, service, forwarder, settings.least),
        title="Hush relay",
        summary="Takes batches of reports from devices, and passes the reports on to a collector, permuted.",
        take=take,
        work={"following": forwarder.follow, "gathering": forwarder.gather, "sending": forwarder.send},
        stopped=upstream.close,
    )


def _add_public(api: FastAPI, service: Service, forwarder: Forwarder, least: int) -> None:
    @api.get(f"{PATH}/{{id}}", tags=["collections"], **needing(Need.NOTHING, PublicCollection, "unknown"))
    async def show(id: Id) -> Response:
        """What anyone may see of a collection: the collector's own, with the relay's periods and keys."""
        found = service.directory.named(id)
        told = mirror.described(forwarder.views[id], found, least=least)
        return Response(views.encoded(told, found), media_type="application/json")


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

    def read() -> dict[str, float]:
        try:
            found: dict[str, float] = {**fates(database)}
        except (sa.exc.SQLAlchemyError, OSError):
            found = dict.fromkeys(told, math.nan)  # and the rest is told all the same
        return {_measure(fate): float(number) for fate, number in found.items()}

    measures.watch_together({_measure(fate): help for fate, help in told.items()}, read)


def _measure(fate: str) -> str:
    return f"hush_relay_reports_{fate}"


def fates(database: Database) -> dict[str, int]:
    """What became of reports so far."""
    with database.reading() as connection:
        return outbox.counted(connection)
