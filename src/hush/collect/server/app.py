"""The application: all parts of a collector, put together over a store."""

from __future__ import annotations

import time
from collections.abc import Callable

from fastapi import FastAPI

from hush.collect.server import administering, keys, live, pages, reading
from hush.collect.server.frame import Frame
from hush.collect.server.gate import Gate
from hush.collect.server.measures import Measures
from hush.collect.service import Service
from hush.collect.settings import ServerSettings
from hush.collect.store.collections import OPEN
from hush.collect.store.database import Database
from hush.collect.store.folder import Folder
from hush.collect.store.recent import Recent
from hush.collect.warming import warm

_FOLD_SECONDS = 0.25
"""Between two steps of folding: each is a commit, for which batches wait."""
_MAINTAIN_SECONDS = 60.0


def application(service: Service, database: Database, settings: ServerSettings) -> Gate:
    """The server over a store, as ASGI has it; whoever opened the store closes it.

    Args:
        service: What can be done with collections.
        database: The store that it is over.
        settings: All limits.
    """
    warm(each for each in service.directory.all() if each.status == OPEN)
    recent = Recent()
    frame = Frame(service, database, settings, kept=recent.add)
    listening = live.Live(service, database, frame.access, most=settings.most_listeners)
    frame.measures.watch("hush_listeners", "Listeners to live estimates", lambda: listening.listeners)

    def add(api: FastAPI) -> None:
        administering.add(api, service, frame.access)
        reading.add(api, service, frame.access)
        live.add(api, service, frame.access, listening)
        keys.add(api, service, settings)
        pages.add(api)

    return frame.around(
        add,
        title="Hush collector",
        summary="Collects reports that devices have randomized, and estimates from them.",
        work=_work(service, database, frame.measures, recent),
        stopping=listening.stop,
    )


def _work(service: Service, database: Database, measures: Measures, recent: Recent) -> dict[str, Callable[[], float]]:
    failed = measures.failures.labels("folding").inc
    folder = Folder(database, service.directory.numbered, failed=failed, recent=recent)

    def fold() -> float:
        began = time.perf_counter()
        done = folder.step()
        if done.batches:
            measures.fold_seconds.observe(time.perf_counter() - began)
            measures.folded.inc(done.batches)
        return 0.0 if done.more else _FOLD_SECONDS

    def maintain() -> float:
        service.maintain()
        return _MAINTAIN_SECONDS

    return {"folding": fold, "maintenance": maintain}
