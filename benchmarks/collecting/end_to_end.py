"""Ten million reports over real HTTP, and the estimate that comes back, compared bit for bit with the direct one."""

from __future__ import annotations

import http.client
import json
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import hush
from benchmarks.collecting import servers
from hush.collect.envelope import Envelope, body, new_id
from hush.types import Reports

_A_BATCH = 10_000
_SENDERS = 4


def sent_and_read(store: str, n: int) -> dict[str, Any]:
    """Send n reports of OLH, k = 266, read the aggregate and the estimate, and compare."""
    spec = hush.Spec(hush.OLH(k=266, epsilon=1.0))
    weights = 1 / np.arange(1, 267)
    people = np.random.default_rng(7).choice(266, n, p=weights / weights.sum())
    reports = spec.privatize(people)
    id, key = servers.collection(store, spec)
    reader = servers.token(store, "reader")
    with servers.collector(store) as (url, pid):
        start = time.perf_counter()
        parts = np.array_split(reports, -(-n // _A_BATCH))
        with ThreadPoolExecutor(_SENDERS) as pool:
            taken = sum(pool.map(lambda some: _send(url, id, key, spec, some), _shares(parts)))
        sending = time.perf_counter() - start
        while _get(url, id, reader, "estimate")["n"] < n:
            time.sleep(0.05)
        settled = time.perf_counter() - start
        aggregate, estimate = _read(url, id, reader, "aggregate"), _get(url, id, reader, "estimate")
        peak = servers.peak(pid)
    direct = spec.aggregate(reports)
    due = spec.estimate(direct)
    same = aggregate == direct.to_bytes()
    return {
        "n": n,
        "taken": taken,
        "sending": sending,
        "settled": settled,
        "equal": same and [row["frequency"] for row in estimate["estimate"]] == due.frequencies.tolist(),
        "peak": peak,
    }


def _shares(parts: list[Reports]) -> list[list[Reports]]:
    return [parts[i::_SENDERS] for i in range(_SENDERS)]


def _send(url: str, id: str, key: str, spec: hush.Spec, parts: list[Reports]) -> int:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    taken = 0
    for some in parts:
        envelope = Envelope(id, spec.hash, new_id(), 0, "load/1", some.dtype.itemsize, some.tobytes())
        connection.request("POST", f"/v1/collections/{id}/batches", body(key, envelope.to_bytes()))
        answer = connection.getresponse()
        told = json.loads(answer.read())
        assert answer.status == 200, told
        taken += told["accepted"]
    return taken


def _read(url: str, id: str, token: str, what: str) -> bytes:
    asked = urllib.request.Request(f"{url}/v1/collections/{id}/{what}", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return bytes(answer.read())


def _get(url: str, id: str, token: str, what: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_read(url, id, token, what))
    return found
