"""What collectors and relays have in common: how batches come in, what goes on beside, who watches, and how it ends."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from fastapi import FastAPI

import hush
from hush.collect.refusals import Refused
from hush.collect.server import documenting, health, problems
from hush.collect.server.access import Access
from hush.collect.server.bodies import Bodies
from hush.collect.server.chores import Chore
from hush.collect.server.gate import Gate, Take
from hush.collect.server.grouping import GroupCommit
from hush.collect.server.measures import Measures
from hush.collect.server.rates import Rates
from hush.collect.server.routing import guarded
from hush.collect.server.submitting import Submissions
from hush.collect.service import Service
from hush.collect.settings import ServerSettings
from hush.collect.store.database import Database
from hush.collect.store.intake import Arrival

_LOG = logging.getLogger("hush.collect")
_REFRESH_SECONDS = 1.0


class Frame:
    """A server but for what it is for.

    Args:
        service: What can be done with collections.
        database: The store that it is over; whoever opened it closes it.
        settings: All limits.
        kept: Hears which batches are kept, by their numbers.
    """

    def __init__(
        self,
        service: Service,
        database: Database,
        settings: ServerSettings,
        *,
        kept: Callable[[Mapping[int, Arrival]], None] = lambda _: None,
    ) -> None:
        self._service, self._database, self._settings = service, database, settings
        self.measures, self.access = Measures(), Access(service.directory)
        self._bodies = Bodies(seconds=settings.body_seconds, most_in_flight=settings.most_in_flight)
        self._groups = GroupCommit(database, self.measures, most_bytes=settings.most_waiting, kept=kept)
        by_key = Rates(rate=settings.key_rate, burst=settings.key_burst)
        self.submissions = Submissions(
            database,
            service.directory,
            self._groups,
            self._bodies,
            by_key,
            self._refused,
            most_bytes=settings.most_body,
        )

    def around(
        self,
        add: Callable[[FastAPI], None],
        *,
        title: str,
        summary: str,
        work: Mapping[str, Callable[[], float]],
        stopping: Callable[[], None] = lambda: None,
        stopped: Callable[[], None] = lambda: None,
        take: Take | None = None,
    ) -> Gate:
        """The whole server, as ASGI has it.

        Args:
            add: Adds the routes that it has beside those of batches and of whoever watches.
            title: What its document is called.
            summary: What it is for.
            work: What goes on beside requests, by name; each says after how many seconds there may be more to do.
            stopping: Called when it is told to stop, so that nothing keeps it.
            stopped: Called when everything is settled.
            take: Answers batches; left out, they are simply kept.
        """
        direct = self.submissions if take is None else None
        taking = take or self.submissions.take
        chores = [Chore(name, each, self.measures) for name, each in {**work, **self._refreshing()}.items()]

        @asynccontextmanager
        async def lifespan(api: FastAPI) -> AsyncIterator[None]:
            for each in chores:
                each.start()
            yield
            stopping()
            try:
                api.state.settled = await self._settled(chores)
            finally:
                self.submissions.close()
                stopped()

        api = FastAPI(
            title=title,
            version=hush.__version__,
            summary=summary,
            openapi_url=None,
            docs_url=None,
            redoc_url=None,
            lifespan=lifespan,
        )
        api.state.settled = False
        """Whether all that was under way when it stopped has come to its end."""
        api.router.route_class = guarded(self.access, self._bodies, most_bytes=self._settings.most_request)
        api.router.redirect_slashes = False
        problems.install(api)
        documenting.add_submit(api, taking)
        add(api)
        health.add(api, health.Health(self._database, chores, self._groups), self.measures)
        documenting.complete(api)
        gate = Gate(api, taking, self._settings, self.measures, self._refused, stopping, direct)
        self._watch(gate)
        return gate

    def _refreshing(self) -> dict[str, Callable[[], float]]:
        """Read again who may do what, where another process may have changed it."""

        def refresh() -> float:
            self._service.directory.refresh()
            return _REFRESH_SECONDS

        return {} if self._database.embedded else {"refresh": refresh}

    async def _settled(self, chores: list[Chore]) -> bool:
        """Let what is under way come to its end; whether all of it has."""
        done = True
        try:
            async with asyncio.timeout(self._settings.stop_seconds):
                await self._groups.settled()
        except TimeoutError:
            done = False
            _LOG.error("not all could be settled before the end: batches still wait for the store")
        finally:  # whatever waits: nothing may go on over a store that is closed
            for each in chores:
                await asyncio.to_thread(each.stop)
            try:
                await asyncio.to_thread(self._service.stop)
            except Refused as error:
                done = False
                _LOG.error("not all could be settled before the end (%s)", type(error).__name__)
        return done

    def _watch(self, gate: Gate) -> None:
        watch = self.measures.watch
        watch("hush_bytes_waiting", "Bytes of batches that wait for the store", lambda: self._groups.bytes_waiting)
        watch("hush_bytes_in_flight", "Bytes of bodies that are held", lambda: self._bodies.held)
        watch("hush_requests_under_way", "Requests that are being answered", lambda: gate.under_way)

    def _refused(self, id: str, reason: str, number: int = 1) -> None:
        self._service.count_refusals(Counter({(id, reason): number}))
