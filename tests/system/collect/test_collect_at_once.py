"""A batch that comes in one piece is taken at once, one in two pieces as any request is: the answers are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hush.collect.server import gate
from tests.collectors import Opened, Served, in_thread, opened
from tests.system.collect.test_collect_limits import Raw
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that counts which requests it takes at once."""
    with in_thread(tmp_path_factory.mktemp("store")) as found:
        yield found


@pytest.fixture
def one(served: Served) -> Opened:
    """A collection whose kernels are there: the first batch of one is never taken at once."""
    found = opened(served)
    assert served.send(found, found.body([0])).status_code == 200
    return found


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Counter[bool]:
    """How many requests were taken at once, and how many were not."""
    seen: Counter[bool] = Counter()
    real = gate.Gate.at_once

    def counted(self: Any, cycle: Any) -> bool:
        seen[found := real(self, cycle)] += 1
        return found

    monkeypatch.setattr(gate.Gate, "at_once", counted)
    return seen


@contextmanager
def connected(served: Served) -> Iterator[Raw]:
    raw = Raw(served)
    with raw.socket:
        yield raw


def request(one: Opened, body: bytes, *more: str) -> tuple[bytes, bytes]:
    lines = [f"POST {one.path}/batches HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *more, "", ""]
    return "\r\n".join(lines).encode(), body


def in_one(served: Served, head: bytes, body: bytes) -> tuple[int, dict[str, str], Any]:
    with connected(served) as raw:
        return raw.send(head + body).answer()


def in_two(served: Served, head: bytes, body: bytes) -> tuple[int, dict[str, str], Any]:
    assert served.server is not None
    tasks = served.server._uvicorn.server_state.tasks
    with connected(served) as raw:
        before = set(tasks)
        raw.send(head)
        wait_until(lambda: tasks - before)  # it has read the head, and begun
        return raw.send(body).answer()


def broken(body: bytes) -> bytes:
    return body[:-1] + b"\xff"  # the bucket of the last record


def test_both_ways_take_a_batch_and_know_it_again(served: Served, one: Opened, ways: Counter[bool]) -> None:
    body = one.body([0, 1, 2])
    answers = [way(served, *request(one, body)) for way in (in_one, in_two, in_one)]
    assert [status for status, _, _ in answers] == [200, 200, 200]
    assert answers[0] == answers[1] == answers[2]
    assert ways == {True: 2}
    assert served.settled(one, 4)["n"] == 4


@pytest.mark.parametrize(
    "case", ["malformed", "record", "key", "conflict", "period-ahead", "unknown", "status", "known after the end"]
)
def test_both_ways_refuse_in_the_same_words(served: Served, one: Opened, ways: Counter[bool], case: str) -> None:
    body = one.body([0, 1, 2])
    if case in ("conflict", "known after the end"):
        assert in_one(served, *request(one, body))[0] == 200
    sent = {
        "malformed": body[:-1],
        "record": broken(body),
        "key": b"\x04none" + body[1 + body[0] :],
        "conflict": body[:-9] + one.body([3])[-9:],
        "period-ahead": one.body([0], period=7),
    }.get(case, body)
    if case in ("status", "known after the end"):
        assert served.ask("POST", f"{one.path}/close").status_code == 200
    if case == "unknown":
        one = Opened(**{**vars(one), "id": "0" * 32})
    before = ways.copy()
    first, second = in_one(served, *request(one, sent)), in_two(served, *request(one, sent))
    assert first == second
    assert first[0] == (200 if case.startswith("known") else first[2]["status"])
    assert case.startswith("known") or first[2]["reason"] == case.replace("key", "token")
    at_once = ways - before
    assert at_once == ({False: 1} if case == "unknown" else {True: 1})  # what comes in two pieces is not even tried


def test_answers_come_in_the_order_of_requests(served: Served, one: Opened, ways: Counter[bool]) -> None:
    good, bad = one.body([0, 1]), one.body([1])[:-1]
    sent, read = b"".join(part for body in (good, bad, good, one.body([2])) for part in request(one, body)), b""
    with connected(served) as raw:
        raw.send(sent)
        while read.count(b"HTTP/1.1 ") < 4 or not read.endswith(b"}"):
            read += raw.socket.recv(1 << 16)
    first, second, third, fourth = read.split(b"HTTP/1.1 ")[1:]
    assert [answer[:3] for answer in (first, second, third, fourth)] == [b"200", b"400", b"200", b"200"]
    assert first == third != fourth
    assert ways[True] == 1  # the first; those behind it wait for their turn


def test_a_connection_is_closed_where_that_was_asked_for(served: Served, one: Opened, ways: Counter[bool]) -> None:
    with connected(served) as raw:
        status, headers, _ = raw.send(b"".join(request(one, one.body([0]), "Connection: close"))).answer()
        assert (status, headers["connection"]) == (200, "close")
        assert raw.ended()
    assert ways == {True: 1}


def test_who_leaves_before_the_answer_is_counted_all_the_same(served: Served, one: Opened) -> None:
    for seed in range(20):
        with connected(served) as raw:
            raw.send(b"".join(request(one, one.body([0, 1], seed=seed))))
    assert served.settled(one, 41)["n"] == 41
    assert served.server is not None
    assert served.server.gate.under_way == 0


def test_behind_a_proxy_addresses_are_read_from_its_headers_first(tmp_path: Path, ways: Counter[bool]) -> None:
    with in_thread(tmp_path, trusted_proxies="127.0.0.1") as served:
        one = opened(served)
        assert [in_one(served, *request(one, one.body([i])))[0] for i in range(3)] == [200, 200, 200]
    assert not ways
