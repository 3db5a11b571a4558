"""A server of the tests' own, honest or not, that a client speaks to without a network: a transport of httpx."""

from __future__ import annotations

import json
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

from hush.collect.envelope import Envelope, opened
from hush.mechanisms.spec import Spec

ID = "0123456789abcdef" * 2
URL = f"https://collector.example/v1/collections/{ID}"


class Scripted(httpx.BaseTransport):
    """Tells of a collection, and takes batches: each once, as a collector does."""

    def __init__(self, spec: Spec | dict[str, Any], *, id: str = ID, **more: Any) -> None:
        plain = json.loads(spec.to_json()) if isinstance(spec, Spec) else spec
        hash = spec.hash if isinstance(spec, Spec) else "0" * 64
        self.view: dict[str, Any] = {
            "id": id, "name": "visits", "status": "open", "spec": plain, "spec_hash": hash, "period": 0,
            "period_seconds": 86_400, "horizon": 7, "chain": [id], "needs_key": False, "relayed_only": False, **more,
        }  # fmt: skip
        self.taken: dict[str, Envelope] = {}
        self.sent: list[bytes] = []
        self.keys: list[str] = []
        self.views = 0
        self.refuse: Callable[[Envelope], httpx.Response | None] = lambda envelope: None
        self.before: Callable[[httpx.Request], None] = lambda request: None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.before(request)
        if request.method == "GET":
            self.views += 1
            return httpx.Response(200, json=self.view)
        key, data = opened(request.read())
        self.keys.append(key)
        self.sent.append(data)
        envelope = Envelope.from_bytes(data)
        refused = self.refuse(envelope)
        if refused is not None:
            return refused
        assert self.taken.setdefault(envelope.batch, envelope).to_bytes() == data
        told = {"batch": envelope.batch, "period": envelope.period, "accepted": envelope.number}
        return httpx.Response(200, json=told)


def problem(status: int, reason: str, **headers: str) -> httpx.Response:
    """A refusal in a collector's words."""
    told = {"type": f"urn:hush:problem:{reason}", "status": status, "reason": reason}
    media = {"content-type": "application/problem+json", **headers}
    return httpx.Response(status, content=json.dumps(told).encode(), headers=media)


def away(request: httpx.Request) -> None:
    """No server."""
    raise httpx.ConnectError("nobody is there")


@contextmanager
def serving(server: Scripted) -> Iterator[str]:
    """The same server on the network of this machine, for other processes; the collection's address there."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["content-length"])))

        def _answer(self, content: bytes) -> None:
            answer = server.handle_request(httpx.Request(self.command, f"http://here{self.path}", content=content))
            self.send_response(answer.status_code)
            self.send_header("content-type", answer.headers["content-type"])
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{made.server_port}/v1/collections/{server.view['id']}"
        finally:
            made.shutdown()
            thread.join()


def hung_up(connection: socket.socket) -> bool:
    """Whether the other side ends a connection within a hundredth of a second: the pace of a server that dribbles."""
    return bool(select.select([connection], [], [], 0.01)[0]) and connection.recv(1 << 16) == b""


@contextmanager
def answering(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a collection at a server that says what it is told to."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    try:
                        connection.recv(1 << 16)
                        talk(connection)
                    except OSError:
                        pass  # the device hung up

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1/collections/{ID}"
        server.shutdown(socket.SHUT_RDWR)
    thread.join()
