"""A server of the tests' own, honest or not, that a client speaks to without a network: a transport of httpx."""

from __future__ import annotations

import json
from collections.abc import Callable
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
