"""A server that runs: its socket, its store, its process's signals, and its end.

    run(settings, ready=lambda server: print(server.url))

returns when the process is told to stop, by SIGTERM or SIGINT, and everything that was taken is settled. Nothing is
printed here. `Server` is the same in steps, for whoever wants it in a thread: `with Server(settings) as server: ...`.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Generator
from typing import Any, Self

import uvicorn

from hush.collect.clock import Clock
from hush.collect.server.app import application
from hush.collect.server.files import within_files
from hush.collect.server.gate import Gate
from hush.collect.server.listening import SecureListener
from hush.collect.server.places import BACKLOG, bound, check_backups
from hush.collect.server.protocol import BoundedProtocol, bounded
from hush.collect.service import Service
from hush.collect.settings import ServerSettings
from hush.collect.store import schema
from hush.collect.store.database import Database
from hush.errors import ParameterError, Unsaid, message

_SWITCH_SECONDS = 0.001
"""After which a thread must let another one run. Python's own 5 ms are longer than a commit takes, and the writer
waits several times in each."""


def run(settings: ServerSettings, *, ready: Callable[[Server], None] | None = None) -> None:
    """Serve until the process is told to stop.

    Args:
        settings: All of them.
        ready: Called once with the server, when it takes requests.
    """
    server, before = Server(settings), sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        server.serve(ready=ready)
    finally:
        sys.setswitchinterval(before)
        server.close()


class Server:
    """A server and its store. The store is open from the beginning, so that a first token can be issued.

    Args:
        settings: All of them.
        clock: What tells the time.
        application: What answers, over a store; a collector if left out.
    """

    def __init__(
        self,
        settings: ServerSettings,
        *,
        clock: Clock | None = None,
        application: Callable[[Service, Database, Any], Gate] = application,
    ) -> None:
        self.settings = settings = within_files(settings)
        certificate = _certificate(settings)
        check_backups(settings)
        self._socket = bound(settings)
        try:
            self.database = Database(settings.store, holder=self.url)
            try:
                schema.upgrade(self.database)
                self.service = Service(self.database, clock or Clock())
                self.gate = application(self.service, self.database, settings)
            except BaseException:
                self.database.close()
                raise
        except BaseException:
            self._socket.close()
            raise
        self._uvicorn = _Uvicorn(_config(settings, self.gate))
        self._uvicorn.certificate = certificate
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port that it listens at."""
        return int(self._socket_name[1])

    @property
    def url(self) -> str:
        """Where it is reached; on the machine itself, where it listens at all addresses."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.settings.host, self.settings.host)
        scheme = "http" if self.settings.certificate is None else "https"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def _socket_name(self) -> Any:
        if not hasattr(self, "_name"):
            self._name = self._socket.getsockname()  # which a closed one forgets
        return self._name

    def serve(self, *, ready: Callable[[Server], None] | None = None) -> None:
        """Serve until told to stop."""
        self._uvicorn.ready = None if ready is None else lambda: ready(self)
        self._uvicorn.stopping = self.gate.stopping
        self._uvicorn.run(sockets=[self._socket])

    def stop(self) -> None:
        """Tell it to stop, from any thread."""
        self._uvicorn.should_exit = True

    def close(self) -> None:
        """Close the store; after it has stopped."""
        self._socket.close()
        self.database.close()

    def __enter__(self) -> Self:
        """Serve in a thread."""
        taking = threading.Event()
        failed: list[BaseException] = []

        def work() -> None:
            try:
                self.serve(ready=lambda _: taking.set())
            except BaseException as error:
                failed.append(error)
            finally:
                taking.set()

        self._thread = threading.Thread(target=work, name="hush-server")
        self._thread.start()
        taking.wait()
        if failed:
            self._thread.join()
            self.close()
            raise failed[0]
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and wait until all is settled."""
        assert self._thread is not None
        self.stop()
        self._thread.join()
        self.close()


class _Uvicorn(uvicorn.Server):
    """Uvicorn, which says when it is ready, tells listeners that it stops, and survives the signal that stopped it."""

    ready: Callable[[], None] | None = None
    stopping: Callable[[], None] | None = None
    certificate: ssl.SSLContext | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self.certificate is None:
            await super().startup(sockets=sockets)
        else:
            await super().startup(sockets=[])
            self.servers += [self._secure(each, self.certificate) for each in sockets or ()]
        if self.started and self.ready is not None:
            self.ready()

    def _secure(self, listening: socket.socket, certificate: ssl.SSLContext) -> Any:
        kind: Any = self.config.http_protocol_class

        def made() -> BoundedProtocol:
            found: BoundedProtocol = kind(
                config=self.config, server_state=self.server_state, app_state=self.lifespan.state
            )
            return found

        return SecureListener(listening, certificate, kind.settings, made)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.stopping is not None:
            self.stopping()
        await super().shutdown(sockets=sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """As uvicorn does, but the signal is not raised once more: then nothing could be closed after it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def _config(settings: ServerSettings, gate: Gate) -> uvicorn.Config:
    return uvicorn.Config(
        gate,
        http=bounded(settings, gate),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or None,
        timeout_keep_alive=settings.keep_alive_seconds,  # type: ignore[arg-type]  # any number of seconds
        timeout_graceful_shutdown=max(1, round(settings.stop_seconds)),
        backlog=BACKLOG,
    )


def _certificate(settings: ServerSettings) -> ssl.SSLContext | None:
    """What TLS goes by; says what is wrong with the files before anything is opened."""
    if settings.certificate is None or settings.certificate_key is None:
        return None
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        made.load_cert_chain(settings.certificate, settings.certificate_key)
    except (OSError, ssl.SSLError) as error:
        rule, got = "must be a certificate and its key, in PEM", Unsaid(type(error).__name__)
        raise ParameterError(message("certificate", rule, got, "check both files")) from None
    return made
