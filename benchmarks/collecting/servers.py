"""Servers to measure: the collector with SQLite or PostgreSQL, and the ceiling."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import hush
from hush.collect.clock import Clock
from hush.collect.envelope import Envelope, body
from hush.collect.service import Service
from hush.collect.store import schema
from hush.collect.store.database import Database

_ID_AT = 54  # where an envelope has its batch's id


@dataclass(frozen=True)
class Batch:
    """What is sent again and again: a path, and what stands before and after the batch's id."""

    path: str
    before: bytes
    after: bytes
    reports: int


def collection(store: str, spec: hush.Spec) -> tuple[str, str]:
    """A new open collection with its key: its id and the key."""
    database = Database(store)
    try:
        schema.upgrade(database)
        service = Service(database, Clock())
        made = service.create(spec=spec.to_dict(), name="load", target_n=10**7, who="benchmark")
        service.open(made["id"], force=True, who="benchmark")
        return made["id"], service.issue_token("ingest", label="load", collection=made["id"], who="benchmark")
    finally:
        database.close()


def token(store: str, role: str) -> str:
    """A token of a store that no server has open."""
    database = Database(store)
    try:
        return Service(database, Clock()).issue_token(role, label="benchmark", who="benchmark")
    finally:
        database.close()


def batch(id: str, key: str, spec: hush.Spec, reports: int) -> Batch:
    """A batch of so many reports."""
    made = spec.privatize(np.arange(reports) % spec.mechanism.k)
    envelope = Envelope(id, spec.hash, "00" * 16, 0, "load/1", made.dtype.itemsize, made.tobytes())
    sent = body(key, envelope.to_bytes())
    at = 1 + len(key) + _ID_AT
    return Batch(f"/v1/collections/{id}/batches", sent[:at], sent[at + 16 :], reports)


@contextmanager
def collector(store: str) -> Iterator[tuple[str, int]]:
    """A real `hush serve` with everything switched on, its limits so high that they are only counted."""
    port = _free_port()
    limits = [
        "--address-rate",
        "1000000",
        "--address-burst",
        "1000000",
        "--key-rate",
        "1000000",
        "--key-burst",
        "1000000",
    ]
    command = [sys.executable, "-m", "hush", "serve", "--store", store, "--port", str(port), "--no-access-log", *limits]
    with _running(command, port, "/readyz") as server:
        yield f"http://127.0.0.1:{port}", server.pid


@contextmanager
def ceiling(file: Path) -> Iterator[tuple[str, int]]:
    """The bare handler."""
    port = _free_port()
    command = [sys.executable, "-m", "benchmarks.collecting.ceiling", str(port), str(file)]
    with _running(command, port, "/") as server:
        yield f"http://127.0.0.1:{port}", server.pid


@contextmanager
def _running(command: list[str], port: int, ready: str) -> Iterator[subprocess.Popen[bytes]]:
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=Path(__file__).parents[2])
    try:
        for _ in range(600):
            if server.poll() is not None:
                raise RuntimeError(f"{' '.join(command[1:4])} does not start")
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                connection.request("GET", ready)
                if connection.getresponse().status in (200, 404):
                    break
            except OSError:
                time.sleep(0.05)
        yield server
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            server.kill()


def peak(pid: int) -> int:
    """The most memory that a process has had, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def fsync_milliseconds(folder: Path) -> tuple[float, float]:
    """How long the disk takes to make 9 kB durable: the middle one of 300, and the third slowest."""
    file, times = os.open(folder / "fsync", os.O_CREAT | os.O_WRONLY), []
    for _ in range(300):
        os.write(file, bytes(9000))
        start = time.perf_counter()
        os.fdatasync(file)
        times.append((time.perf_counter() - start) * 1e3)
    os.close(file)
    times.sort()
    return times[150], times[-3]


def _free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])
