"""Real collectors for tests: in a thread, or in a process of their own, with a collection to send to.

with in_thread(tmp_path) as server: ...        # hush.collect.server.running.Server, its store and service
with in_process(tmp_path) as server: ...       # a process; `server.log()` is what it wrote
one = opened(server)                           # a collection that is open, with a key
httpx.post(one.address, content=one.body([0, 1, 2]))
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
import numpy as np

import hush
from hush.collect.clock import Clock
from hush.collect.envelope import Envelope, body, new_id
from hush.collect.server.running import Server
from hush.collect.settings import ServerSettings
from tests.waiting import wait_until

OFTEN = {
    "hush.collect.server.app._FOLD_SECONDS": 0.02,
    "hush.collect.server.frame._REFRESH_SECONDS": 0.05,
    "hush.collect.server.live._PAUSE": 0.05,
    "hush.collect.relay.forwarding._GATHER_SECONDS": 0.02,
    "hush.collect.relay.forwarding._SEND_SECONDS": 0.02,
    "hush.collect.relay.forwarding._FOLLOW_SECONDS": (0.02, 60.0),
}
"""Intervals at which servers and relays look for work, in tests."""
SPEC = hush.Spec(hush.OLH(k=4, epsilon=2.0))
_PROGRAM = """
import importlib, json, logging, sys
from hush.collect.server.running import run
from hush.collect.settings import ServerSettings
logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(name)s %(levelname)s %(message)s")
for name, value in json.loads(sys.argv[2]).items():
    module, _, constant = name.rpartition(".")
    setattr(importlib.import_module(module), constant, value)
def ready(server):
    admin = server.service.issue_token("admin", label="tests", who="tests")
    print(json.dumps({"url": server.url, "admin": admin}), flush=True)
run(ServerSettings(**json.loads(sys.argv[1])), ready=ready)
"""


@dataclass
class Served:
    """A server that runs.

    Args:
        url: Where.
        admin: A token that may do all.
        http: What speaks to it.
        server: Itself, where it is in this process.
        process: Its process, where it has one.
        written: What it logs to.
    """

    url: str
    admin: str
    http: httpx.Client
    server: Server | None = None
    process: subprocess.Popen[str] | None = None
    written: Path | None = None

    def ask(self, method: str, path: str, *, token: str | None = None, **more: Any) -> httpx.Response:
        """Send a request with a token, the admin's if none is given; "" for none."""
        token = self.admin if token is None else token
        headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **more.pop("headers", {})}
        return self.http.request(method, path, headers=headers, **more)

    def token(self, role: str, **more: Any) -> str:
        """A new token."""
        answer = self.ask("POST", "/v1/tokens", json={"role": role, "label": f"a {role}", **more})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["token"])

    def send(self, to: Opened, data: bytes, *, query: str = "", **more: Any) -> httpx.Response:
        """Submit a batch."""
        return self.ask("POST", f"{to.path}/batches{query}", token="", content=data, **more)

    def settled(self, to: Opened, n: int, **more: Any) -> dict[str, Any]:
        """The estimate, once so many reports are in it."""
        found = dict[str, Any]()

        def folded() -> bool:
            answer = self.ask("GET", f"{to.path}/estimate", **more)
            assert answer.status_code == 200, answer.text
            found.update(answer.json())
            return int(found["n"]) >= n

        wait_until(folded)
        return found

    def log(self) -> str:
        """What a process has logged so far."""
        assert self.written is not None
        return self.written.read_text()


@dataclass
class Opened:
    """A collection that takes batches."""

    id: str
    key: str
    url: str
    spec: hush.Spec = field(default=SPEC)

    @property
    def path(self) -> str:
        """Where it is on its server."""
        return f"/v1/collections/{self.id}"

    @property
    def address(self) -> str:
        """Where batches go."""
        return f"{self.url}{self.path}/batches"

    def envelope(self, values: Sequence[int], *, batch: str | None = None, period: int = 0, seed: int = 1) -> bytes:
        """A batch of people with these values."""
        held = np.asarray(values)
        if self.spec.mechanism.kind == "longitudinal":
            held = held[:, None]  # one round
        reports = self.spec.privatize(held, rng=hush.seeded(seed)).ravel()
        size = reports.dtype.itemsize
        return Envelope(self.id, self.spec.hash, batch or new_id(), period, "t/1", size, reports.tobytes()).to_bytes()

    def body(self, values: Sequence[int], *, key: str | None = None, **more: Any) -> bytes:
        """What is sent."""
        return body(self.key if key is None else key, self.envelope(values, **more))


def opened(served: Served, *, spec: hush.Spec = SPEC, **more: Any) -> Opened:
    """A new collection, open, and a key for it."""
    asked = {"spec": spec.to_dict(), "name": "visits", "target_n": 1_000_000, **more}
    made = served.ask("POST", "/v1/collections", json=asked)
    assert made.status_code == 201, made.text
    id = str(made.json()["id"])
    answer = served.ask("POST", f"/v1/collections/{id}/open", json={"force": True})
    assert answer.status_code == 200, answer.text
    return Opened(id, served.token("ingest", collection=id), served.url, spec)


def settings(folder: Path, **more: Any) -> dict[str, Any]:
    """Settings for a test: a store in a folder, a free port, and no limits of rate."""
    return {"store": str(folder / "store.db"), "port": 0, "address_rate": 0.0, "key_rate": 0.0, **more}


@contextmanager
def frequent() -> Iterator[None]:
    """Let servers and relays of this process look for work every few hundredths of a second, not every quarter."""
    with ExitStack() as stack:
        for name, seconds in OFTEN.items():
            stack.enter_context(mock.patch(name, seconds))
        yield


@contextmanager
def in_thread(folder: Path, *, clock: Clock | None = None, **more: Any) -> Iterator[Served]:
    """A server in a thread of this process."""
    with frequent():
        yield from _in_thread(folder, clock, more)


def _in_thread(folder: Path, clock: Clock | None, more: dict[str, Any]) -> Iterator[Served]:
    server = Server(ServerSettings(**settings(folder, **more)), clock=clock)
    admin = server.service.issue_token("admin", label="tests", who="tests")
    with server, httpx.Client(base_url=server.url, timeout=60) as http:
        yield Served(server.url, admin, http, server)


@contextmanager
def in_process(
    folder: Path, *, under: Sequence[str] = (), constants: Mapping[str, float] | None = None, **more: Any
) -> Iterator[Served]:
    """A server in a process of its own, which is stopped in the end, if it has not been.

    Args:
        folder: Where its store and its log are.
        under: The words of a program that starts it.
        constants: What to set in its modules, by full name: intervals in seconds that are shorter for a test.
        more: Settings.
    """
    written = folder / "log.txt"
    with written.open("a") as log:
        asked = [json.dumps(settings(folder, **more), default=str), json.dumps({**(constants or {})})]
        command = [*under, sys.executable, "-c", _PROGRAM, *asked]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, written.read_text()
        told = json.loads(line)
        with httpx.Client(base_url=told["url"], timeout=60) as http:
            yield Served(told["url"], told["admin"], http, process=process, written=written)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()
        process.stdout.close()
