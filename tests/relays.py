"""Real relays for tests, before a collector: in a thread, or in a process of their own.

with in_thread(folder, served, [one.id], least=10) as relayed: ...
httpx.post(relayed.address(one), content=body(relayed.key, one.envelope([0, 1])))
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from hush.collect.envelope import body
from hush.collect.relay.app import relay
from hush.collect.relay.settings import RelaySettings
from hush.collect.server.running import Server
from tests.collectors import Opened, Served, frequent

_PROGRAM = """
import json, logging, sys
from hush.collect.relay.app import relay
from hush.collect.relay.settings import RelaySettings
logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(name)s %(levelname)s %(message)s")
given = json.loads(sys.argv[1])
server = relay(RelaySettings(**given))
try:
    server.serve(ready=lambda server: print(json.dumps({"url": server.url}), flush=True))
finally:
    server.close()
"""


@dataclass
class Relayed:
    """A relay that runs."""

    url: str
    key: str
    server: Server | None = None
    process: subprocess.Popen[str] | None = None
    written: Path | None = None

    def address(self, one: Opened) -> str:
        """Where devices send batches of a collection."""
        return f"{self.url}{one.path}/batches"

    def send(self, one: Opened, values: Sequence[int], **more: Any) -> httpx.Response:
        """Send a batch as a device does."""
        return httpx.post(self.address(one), content=body(self.key, one.envelope(values, **more)), timeout=30)


def settings(folder: Path, served: Served, ids: Sequence[str], **more: Any) -> dict[str, Any]:
    """Settings for a test; the key is a new one of the collector's."""
    usual = {"store": str(folder / "relay.db"), "port": 0, "address_rate": 0.0, "key_rate": 0.0, "least": 10}
    where = {"collector": served.url, "collections": ",".join(ids), "key": served.token("relay")}
    return {**usual, **where, **more}


@contextmanager
def in_thread(folder: Path, served: Served, ids: Sequence[str], **more: Any) -> Iterator[Relayed]:
    """A relay in a thread of this process."""
    with frequent():
        server = relay(RelaySettings(**settings(folder, served, ids, **more)))
        key = server.service.issue_token("ingest", label="devices", who="tests")
        with server:
            yield Relayed(server.url, key, server)


@contextmanager
def in_process(given: dict[str, Any], log: Path) -> Iterator[Relayed]:
    """A relay in a process of its own, which takes batches from anyone and is killed in the end, if it still runs."""
    with log.open("a") as written:
        command = [sys.executable, "-c", _PROGRAM, json.dumps({**given, "anyone": True})]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=written, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, log.read_text()
        yield Relayed(json.loads(line)["url"], "", process=process, written=log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
