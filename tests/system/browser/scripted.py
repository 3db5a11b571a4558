"""A collector of the tests' own, honest or not, at an origin of its own: it remembers what browsers say to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hush.collect.envelope import Envelope, opened
from hush.mechanisms.spec import Spec

ID = "0123456789abcdef" * 2
Answer = tuple[int, Any, dict[str, str]]


@dataclass
class Scripted:
    """What it tells, and what it was told.

    Args:
        view: What it tells of the collection.
        url: The collection's address.
        answer: What it answers to a batch; left out, that it has it.
        heads: The headers of every request.
        sent: The envelopes, in order.
    """

    view: dict[str, Any]
    url: str = ""
    answer: Callable[[Envelope], Answer] | None = None
    instead: Answer | None = None
    heads: list[dict[str, str]] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)

    def told(self, method: str, body: bytes) -> Answer:
        """The answer to a request."""
        if method == "GET":
            return self.instead or (200, self.view, {})
        envelope = bytes(opened(body)[1])
        self.sent.append(envelope)
        made = Envelope.from_bytes(envelope)
        if self.answer is not None:
            return self.answer(made)
        return 200, {"batch": made.batch, "period": made.period, "accepted": 1}, {}


def problem(status: int, reason: str, **headers: str) -> Answer:
    """A refusal in a collector's words."""
    return status, {"status": status, "reason": reason}, {"content-type": "application/problem+json", **headers}


@contextmanager
def scripted(spec: Spec | dict[str, Any], **more: Any) -> Iterator[Scripted]:
    """The server, while it is there."""
    plain = json.loads(spec.to_json()) if isinstance(spec, Spec) else spec
    hash = spec.hash if isinstance(spec, Spec) else "0" * 64
    view = {
        "id": ID, "name": "visits", "status": "open", "spec": plain, "spec_hash": hash, "period": 0, "chain": [ID],
        "needs_key": False, **more,
    }  # fmt: skip
    server = Scripted(view)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["content-length"])))

        def _answer(self, body: bytes) -> None:
            server.heads.append({name.lower(): value for name, value in self.headers.items()})
            status, told, headers = server.told(self.command, body)
            content = told if isinstance(told, bytes) else json.dumps(told).encode()
            named = {"content-type": "application/json", "access-control-allow-origin": "*", **headers}
            exposed = {"access-control-expose-headers": "Retry-After", "content-length": str(len(content))}
            self.send_response(status)
            for name, value in {**named, **exposed}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        server.url = f"http://127.0.0.1:{made.server_port}/v1/collections/{ID}"
        try:
            yield server
        finally:
            made.shutdown()
            thread.join()
