"""What waits: no batch stands in another's way, none that can be cut is lost, and nobody is asked too often."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pytest

import hush
from hush.collect import Collector
from hush.collect.client import Unreachable, home, spool
from hush.collect.client.collector import _POLL
from hush.collect.envelope import Envelope
from tests.unit.collect.scripted import ID, URL, Scripted, away, problem, serving

SPEC = hush.Spec(hush.OUE(k=64, epsilon=1.0))


def collector(server: httpx.BaseTransport, folder: Path, **more: Any) -> Collector:
    return Collector(URL, home=folder, transport=server, **{"fresh": 0.0, **more})


@pytest.fixture
def long_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause is over before the test is."""
    monkeypatch.setattr(spool, "backoff", lambda tries, asked: 1000.0)


def too_large(most: int) -> Any:
    return lambda envelope: problem(413, "too-large") if envelope.number > most else None


def test_what_is_too_large_goes_in_parts(tmp_path: Path) -> None:
    """The very records, in order, in batches with ids of their own: nothing is drawn again, and nothing lost."""
    server = Scripted(SPEC)
    server.refuse = too_large(30)
    here = collector(server, tmp_path)
    told = here.people(range(100)).answer([1] * 100)
    whole = Envelope.from_bytes(server.sent[0])
    assert whole.number == 100
    assert whole.batch not in server.taken
    assert sorted(each.number for each in server.taken.values()) == [25] * 4
    size = SPEC.mechanism.report_dtype.itemsize
    parts = np.concatenate([np.frombuffer(each.records, f"V{size}") for each in server.taken.values()])
    assert sorted(parts.tolist()) == sorted(np.frombuffer(whole.records, f"V{size}").tolist())
    assert [(each.batch, each.state) for each in told.receipts] == [(whole.batch, "accepted")]
    assert here.waiting == 0
    assert here.person(7).answer(1).state == "accepted"
    assert here.person(7).spent.total == 1
    with sqlite3.connect(tmp_path / home.FILE) as sql:
        assert sql.execute("SELECT COUNT(*) FROM batch WHERE envelope IS NOT NULL").fetchone() == (0,)


def test_a_receipt_of_parts_waits_until_all_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "FIRST_WAIT", 0.0)
    server = Scripted(SPEC)
    few = [1]

    def refuse(envelope: Envelope) -> httpx.Response | None:
        if envelope.number > 50:
            return problem(413, "too-large")
        return problem(503, "busy") if few and len(server.taken) == 1 else None

    server.refuse = refuse
    here = collector(server, tmp_path)
    (receipt,) = here.people(range(100)).answer([1] * 100).receipts
    assert (receipt.state, receipt.reason) == ("waiting", "busy")
    few.clear()
    assert here.flush(wait=60).accepted == 1
    assert here.person(7).answer(1).state == "accepted"


def lost(request: httpx.Request) -> None:
    raise httpx.ReadError("the answer is lost")


@pytest.mark.parametrize("failing", [away, lost])
def test_what_may_have_been_taken_is_never_cut(failing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch whose answer was lost may count already, and its parts would count once more; one that never left may be
    cut."""
    monkeypatch.setattr(spool, "FIRST_WAIT", 0.0)
    server = Scripted(SPEC)
    here = collector(server, tmp_path)
    here.spec  # noqa: B018, so that it is known
    server.before = lambda request: failing(request) if request.method == "POST" else None
    here.people(range(100)).answer([1] * 100)
    server.before = lambda request: None
    server.refuse = too_large(50)
    here.flush()
    assert sorted(each.number for each in server.taken.values()) == ([50] * 2 if failing is away else [])
    server.refuse = lambda envelope: None
    here.flush(wait=60)
    assert sum(each.number for each in server.taken.values()) == 100


def test_one_record_that_is_too_large_waits(tmp_path: Path) -> None:
    server = Scripted(SPEC)
    server.refuse = too_large(0)
    told = collector(server, tmp_path).person("ann").answer(1)
    assert (told.state, told.reason) == ("waiting", "too-large")


@pytest.mark.usefixtures("long_pause")
def test_a_batch_that_a_proxy_refuses_does_not_stop_the_others(tmp_path: Path) -> None:
    server = Scripted(SPEC)
    here = collector(server, tmp_path)
    here.spec  # noqa: B018, so that it is known
    server.refuse = lambda envelope: httpx.Response(403, html="<h1>403</h1>") if envelope.number > 1 else None
    here.people(range(100)).answer([1] * 100)
    for i in range(5):
        assert here.person(f"p{i}").answer(1).state == "accepted"
    assert len(server.sent) == 6  # the large one waits for itself, and is not tried with each of the others
    told = here.flush()
    assert told.waiting == 1
    assert told.due > 0
    assert here.discard() == 1


@pytest.mark.usefixtures("long_pause")
@pytest.mark.parametrize(("status", "reason"), [(401, "token"), (429, "rate"), (503, None), (302, None)])
def test_what_every_batch_would_be_told_is_asked_once(status: int, reason: str | None, tmp_path: Path) -> None:
    server = Scripted(SPEC)
    here = collector(server, tmp_path)
    server.refuse = lambda envelope: httpx.Response(status) if reason is None else problem(status, reason)
    for i in range(5):
        here.person(i).answer(1)
    assert len(server.sent) == 1
    assert here.waiting == 5


@pytest.mark.usefixtures("long_pause")
def test_who_waits_behind_another_is_told_why(tmp_path: Path) -> None:
    server = Scripted(SPEC)
    here = collector(server, tmp_path, fresh=1000.0)
    server.refuse = lambda envelope: problem(503, "store")
    first, second = here.person("ada").answer(1), here.person("ben").answer(2)
    assert len(server.sent) == 1  # the other one was not tried
    assert [(each.state, each.reason) for each in (first, second)] == [("waiting", "store")] * 2
    assert here.person("ben").answer(2).reason == "store"


@pytest.mark.usefixtures("long_pause")
def test_who_waits_for_a_matter_of_its_own_is_nobody_elses_reason(tmp_path: Path) -> None:
    server = Scripted(SPEC)
    here = collector(server, tmp_path, fresh=1000.0)
    server.refuse = lambda envelope: problem(422, "period-ahead")
    assert here.person("ada").answer(1).reason == "period-ahead"
    with sqlite3.connect(tmp_path / home.FILE) as sql:
        assert spool._before(sql, ID) == ""


def test_a_server_that_tells_nothing_is_not_asked_each_time(tmp_path: Path) -> None:
    asked = []

    class Down(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            asked.append(request)
            return httpx.Response(503, headers={"retry-after": "3600"})

    here = collector(Down(), tmp_path)
    for _ in range(20):
        with pytest.raises(Unreachable):
            here.person("ann").answer(1)
    assert len(asked) == 1


@pytest.mark.usefixtures("long_pause")
def test_a_known_collection_goes_on_without_asking_each_time(tmp_path: Path) -> None:
    server = Scripted(SPEC)
    collector(server, tmp_path).person("ann").answer(1)
    asked = []

    def counted(request: httpx.Request) -> None:
        asked.append(request.method)
        away(request)

    server.before = counted
    here = collector(server, tmp_path)
    assert [here.person(i).answer(1).state for i in range(20)] == ["waiting"] * 20
    assert asked == ["GET", "POST"]


_FLUSHING = """
import sys
from hush.collect import Collector
from hush.collect.client import spool
spool.FIRST_WAIT = 0.0
with Collector(sys.argv[1], home=sys.argv[2]) as here:
    here.flush()
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_batch_that_another_process_cuts_is_not_sent_whole(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process is about to send a batch when another is told that it is too large; then the limit is raised.

    Whether it is just before or after the first has noted that it sends: each record counts once.
    """
    monkeypatch.setattr(spool, "FIRST_WAIT", 0.0)
    server = Scripted(SPEC)
    server.refuse = lambda envelope: problem(503, "busy")
    with serving(server) as url, Collector(url, home=tmp_path, fresh=0.0) as here:
        here.people(range(10)).answer([1] * 10)
        offering, others = here._spool.offering, [1]

        def held_up(number: int) -> bool:
            noted = offering(number) if when == "after" else None
            if others:
                others.clear()
                server.refuse = too_large(5)
                subprocess.run([sys.executable, "-c", _FLUSHING, url, str(tmp_path)], check=True, timeout=60)
                server.refuse = lambda envelope: None
            return offering(number) if noted is None else noted

        monkeypatch.setattr(here._spool, "offering", held_up)
        here.flush(wait=30)
        assert here.waiting == 0
    assert [each.number for each in server.taken.values()] == ([5, 5] if when == "before" else [10])
    assert here.person(7).spent.total == 1


def test_a_proxy_before_the_collector_may_find_a_batch_too_large(tmp_path: Path) -> None:
    """It says so in words of its own, with 413: the records go in parts all the same."""
    server = Scripted(SPEC)
    page = httpx.Response(413, text="<html>413 Request Entity Too Large</html>")
    server.refuse = lambda envelope: page if envelope.number > 30 else None
    here = collector(server, tmp_path)
    (receipt,) = here.people(range(100)).answer([1] * 100).receipts
    assert receipt.state == "accepted"
    assert [each.number for each in server.taken.values()] == [25] * 4


def test_where_nothing_waits_there_is_no_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "FIRST_WAIT", 0.0)
    server = Scripted(SPEC)
    server.refuse = lambda envelope: problem(503, "busy")
    here = collector(server, tmp_path)
    here.people(range(10)).answer([1] * 10)
    server.refuse = too_large(5)
    told = here.flush()
    assert (told.accepted, told.waiting, told.reason) == (2, 0, "")


def test_what_waits_for_another_address_is_told_and_not_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "FIRST_WAIT", 0.0)
    server, mirror = Scripted(SPEC), Scripted(SPEC)
    server.refuse = lambda envelope: problem(500, "internal")
    collector(server, tmp_path).person(1).answer(1)
    other = Collector(f"https://mirror.example/v1/collections/{ID}", home=tmp_path, transport=mirror)
    rounds = counted(other, monkeypatch)
    told = other.flush(wait=5)
    assert (told.waiting, told.reason, told.due) == (1, "moved", 0.0)
    assert len(rounds) == 1
    assert not mirror.sent
    assert other.waiting == 1


def test_what_another_thread_sends_is_waited_for_at_leisure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks are `_POLL` apart, by a clock that goes on when a look sleeps; the other thread ends after ten of them."""
    monkeypatch.setattr(spool, "FIRST_WAIT", 0.0)
    server, begun, go_on = Scripted(SPEC), threading.Event(), threading.Event()
    server.refuse = lambda envelope: problem(500, "internal")
    here = collector(server, tmp_path)
    here.person(1).answer(1)

    def slow(envelope: Envelope) -> None:
        begun.set()
        assert go_on.wait(60)

    server.refuse = slow
    first = threading.Thread(target=here.flush)
    first.start()
    assert begun.wait(60)
    now, pauses = [time.monotonic()], list[float]()

    def sleep(seconds: float) -> None:
        now[0] += seconds
        pauses.extend([seconds] if seconds else [])
        if len(pauses) == 10:
            go_on.set()
            first.join()

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=sleep)
    monkeypatch.setattr("hush.collect.client.collector.time", clock)
    rounds = counted(here, monkeypatch)
    assert here.flush(wait=30).waiting == 0
    assert pauses == [_POLL] * 10
    assert len(rounds) == 11
    assert len(server.taken) == 1


def counted(here: Collector, monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """What grows with each round of sending."""
    rounds, deliver = list[None](), here._deliver

    def one() -> Any:
        rounds.append(None)
        return deliver()

    monkeypatch.setattr(here, "_deliver", one)
    return rounds
