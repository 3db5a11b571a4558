"""The workbench, running: NiceGUI behind the gate, its pages, its jobs, and its end.

NiceGUI is one application a process: so is the workbench.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Callable, Generator

import uvicorn
from fastapi import FastAPI
from nicegui import app as nicegui_app
from nicegui import core, ui

from hush.collect.server.places import bound
from hush.workbench import faults, frame, pages, routes
from hush.workbench.guard import sockets
from hush.workbench.guard.gate import WorkbenchGate
from hush.workbench.guard.hosts import Hosts
from hush.workbench.guard.sessions import Sessions
from hush.workbench.jobs import Jobs
from hush.workbench.settings import WorkbenchSettings
from hush.workbench.visits import Bench

_MESSAGE = 1 << 20  # bytes of the longest message of a socket
_BUILD_SECONDS = 40.0  # a page that is opened at once waits for what is being imported


class Workbench:
    """A workbench in this process.

    Args:
        settings: All of them.
        token: What lets in at the collector who comes by the printed link; "" for nothing.
    """

    def __init__(self, settings: WorkbenchSettings, *, token: str = "") -> None:
        self.settings = settings
        self._socket = bound(settings)
        self.port = int(self._socket.getsockname()[1])
        jobs = Jobs(
            settings.most_jobs,
            most_waiting=settings.most_waiting,
            most_each=settings.most_each,
            seconds=settings.job_seconds,
            keep_seconds=settings.keep_seconds,
        )
        self.bench = Bench(settings, Sessions(settings.session_seconds), jobs, token)
        self.gate = application(self.bench)
        self._uvicorn = _WorkbenchUvicorn(_config(settings, self.gate))

    @property
    def url(self) -> str:
        """Where it is reached; on the machine itself, where it listens at all addresses."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.settings.host, self.settings.host)
        scheme = "http" if self.settings.certificate is None else "https"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def link(self) -> str:
        """The address that lets in: who opens it was told it by whoever started the workbench."""
        return f"{self.url}/enter?key={self.bench.sessions.key}"

    def serve(self, *, ready: Callable[[Workbench], None] | None = None) -> None:
        """Serve until told to stop; then no job is left."""

        def begun() -> None:
            if ready is not None:
                ready(self)
            self.bench.warming.begin()

        self._uvicorn.ready = begun
        try:
            self._uvicorn.run(sockets=[self._socket])
        finally:
            self.bench.jobs.stop()
            self._socket.close()

    def stop(self) -> None:
        """Tell it to stop, from any thread."""
        self._uvicorn.should_exit = True


def application(bench: Bench) -> WorkbenchGate:
    """Everything that answers, as ASGI has it."""
    pages.load()
    api = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    api.router.redirect_slashes = False
    routes.add(api, bench)
    for each in frame.PAGES.values():
        ui.page(each.path, title=each.title, response_timeout=_BUILD_SECONDS)(frame.shown(each, bench))
    logging.getLogger("nicegui").addFilter(faults.Own())
    nicegui_app.on_exception(faults.logged)
    core.app.add_exception_handler(404, routes.missing)
    core.app.add_exception_handler(Exception, routes.failed)
    ui.run_with(
        api,
        title="Hush workbench",
        language="en-US",
        dark=None,
        tailwind=False,
        show_welcome_message=False,
        message_history_length=200,
        reconnect_timeout=10.0,
    )
    sockets.bind()
    core.app.config.quasar_config["loadingBar"]["skipHijack"] = True  # a bar without a name, at every request
    hosts = Hosts(bench.settings.host, bench.settings.further_names)
    return WorkbenchGate(api, hosts, bench.sessions, most_upload=bench.settings.most_upload)


class _WorkbenchUvicorn(uvicorn.Server):
    """Uvicorn, which says when it is ready, and survives the signal that stopped it."""

    ready: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started and self.ready is not None:
            self.ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """As uvicorn does, but the signal is not raised once more: then nothing could be ended after it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def _config(settings: WorkbenchSettings, gate: WorkbenchGate) -> uvicorn.Config:
    return uvicorn.Config(
        gate,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws_max_size=_MESSAGE,
        timeout_graceful_shutdown=3,
        ssl_certfile=None if settings.certificate is None else str(settings.certificate),
        ssl_keyfile=None if settings.certificate_key is None else str(settings.certificate_key),
    )
