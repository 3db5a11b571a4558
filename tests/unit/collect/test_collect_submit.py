"""Batches are taken once, whole or not at all, and answered the same however often they are sent."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import hush
from hush.collect import checking
from hush.collect.envelope import Envelope, body, new_id
from hush.collect.store import collections
from tests.collecting import HandClock
from tests.collectors import SPEC, Opened, Served, in_thread, opened

DAY = 86_400


@pytest.fixture(scope="module")
def hand() -> HandClock:
    return HandClock()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, hand: HandClock) -> Iterator[Served]:
    with in_thread(tmp_path_factory.mktemp("submit"), clock=hand) as made:
        yield made


@pytest.fixture(scope="module")
def one(served: Served) -> Opened:
    return opened(served)


def reason(answer: httpx.Response) -> str:
    assert answer.headers["content-type"] == "application/problem+json"
    return str(answer.json()["reason"])


def counted(served: Served, one: Opened) -> int:
    return int(served.ask("GET", one.path).json()["n"])


def with_wrong(one: Opened, wrong: list[int], n: int = 10) -> bytes:
    """A batch of which some records are out of range."""
    reports = one.spec.privatize(np.zeros(n, int), rng=hush.seeded(1)).copy()
    for index in wrong:
        reports[index] = np.frombuffer(b"\xff" * reports.dtype.itemsize, reports.dtype)[0]
    return Envelope(one.id, one.spec.hash, new_id(), 0, "t/1", reports.dtype.itemsize, reports.tobytes()).to_bytes()


@pytest.mark.parametrize(
    "kind", [None, "application/octet-stream", "text/plain;charset=UTF-8", "application/json", "no media type"]
)
def test_any_media_type_will_do(served: Served, one: Opened, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    for data in (one.body([0, 1]), _as_json(one.key, one.envelope([0, 1]))):
        answer = served.send(one, data, headers=headers)
        assert answer.status_code == 200
        assert answer.json()["accepted"] == 2


def _as_json(key: str, envelope: bytes) -> bytes:
    return json.dumps({"key": key, "envelope": base64.b64encode(envelope).decode()}).encode()


def test_the_same_batch_is_answered_the_same_and_counts_once(served: Served) -> None:
    one = opened(served)
    envelope = one.envelope([0, 1, 2])
    ways = [body(one.key, envelope), _as_json(one.key, envelope), body(served.token("relay"), envelope)]
    answers = [served.send(one, each).text for each in (*ways, *ways)]
    assert len(set(answers)) == 1
    assert counted(served, one) == 3


def test_another_batch_of_the_same_id_is_a_conflict(served: Served) -> None:
    one = opened(served)
    batch = new_id()
    assert served.send(one, one.body([0, 1], batch=batch)).status_code == 200
    assert reason(served.send(one, one.body([0, 2], batch=batch, seed=2))) == "conflict"
    assert counted(served, one) == 2
    assert served.ask("GET", f"{one.path}/refusals").json() == {"conflict": 1}


def test_what_is_known_is_answered_after_the_end_and_what_is_not_is_refused(served: Served) -> None:
    one = opened(served)
    batch = new_id()
    known = one.body([0, 1], batch=batch)
    first = served.send(one, known)
    served.ask("POST", f"{one.path}/close")
    assert served.send(one, known).text == first.text
    assert reason(served.send(one, one.body([0, 1]))) == "status"
    assert reason(served.send(one, one.body([2, 1], batch=batch, seed=2))) == "conflict"
    assert counted(served, one) == 2


def test_what_is_known_is_answered_after_its_period_until_that_is_forgotten(served: Served, hand: HandClock) -> None:
    one = opened(served, horizon=2, keep="aggregates")
    known = one.body([0, 1])
    first = served.send(one, known)
    assert reason(served.send(one, one.body([0], period=1))) == "period-ahead"
    hand.second += 2 * DAY
    assert served.ask("GET", one.path).json()["period"] == 2
    assert served.send(one, one.body([0], period=0)).status_code == 200
    hand.second += DAY
    assert served.send(one, known).text == first.text
    assert reason(served.send(one, one.body([0], period=0))) == "period-past"
    assert served.server is not None
    served.settled(one, 3)
    served.server.service.maintain()
    assert reason(served.send(one, known)) == "period-past"
    assert counted(served, one) == 3


def test_a_period_that_another_collector_has_pruned_is_past(served: Served) -> None:
    """The store knows it before this process does."""
    one = opened(served)
    assert served.server is not None
    number = served.server.service.directory.named(one.id).number
    database = served.server.database
    database.write(lambda connection: collections.changed(connection, number, pruned_below=1)).result()
    assert reason(served.send(one, one.body([0]))) == "period-past"


def test_a_relay_s_batch_is_checked_beside_the_others(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """However small it is: finding each wrong record takes as long as a large batch."""
    threads = set()
    checked = checking.checked

    def noted(*args: Any, **more: Any) -> Any:
        threads.add(threading.current_thread().name.partition("_")[0])
        return checked(*args, **more)

    monkeypatch.setattr(checking, "checked", noted)
    one = opened(served)
    sent = body(served.token("relay", collection=one.id), with_wrong(one, [3]))
    assert served.send(one, sent, query="?partial").status_code == 200
    assert threads == {"hush-checking"}


def test_an_end_that_was_set_is_kept(served: Served, hand: HandClock) -> None:
    one = opened(served, ends=int(hand.second) + 100)
    known = one.body([0])
    first = served.send(one, known)
    hand.second += 100
    assert reason(served.send(one, one.body([0]))) == "status"
    assert served.send(one, known).text == first.text


def test_a_device_s_batch_is_taken_whole_or_not_at_all(served: Served) -> None:
    one = opened(served)
    answer = served.send(one, body(one.key, with_wrong(one, [3, 7])))
    assert reason(answer) == "record"
    assert answer.json()["index"] == 3
    assert answer.json()["parameter"] == "record 3"
    assert counted(served, one) == 0


def test_a_relay_s_batch_is_taken_without_what_is_wrong(served: Served) -> None:
    one = opened(served)
    relay = served.token("relay", collection=one.id)
    sent = body(relay, with_wrong(one, [3, 7]))
    for query in ("?partial", "?partial=true", "?partial=1", "?partial="):
        answer = served.send(one, sent, query=query)
        assert answer.json()["accepted"] == 8
        assert answer.json()["refused"] == [{"index": 3, "reason": "record"}, {"index": 7, "reason": "record"}]
    assert counted(served, one) == 8
    assert served.ask("GET", f"{one.path}/refusals").json() == {"record": 2}  # once, however often it came
    fine = served.send(one, one.body([0, 1], key=relay), query="?partial")
    assert "refused" not in fine.json()
    assert reason(served.send(one, body(relay, with_wrong(one, [*range(10)])), query="?partial")) == "record"
    assert reason(served.send(one, body(relay, with_wrong(one, [1])), query="?partial=false")) == "record"
    assert reason(served.send(one, sent, query="?partial=perhaps")) == "parameter"


def test_partial_is_for_relays_alone(served: Served) -> None:
    one, free = opened(served), opened(served, anyone_submits=True)
    assert reason(served.send(one, one.body([0]), query="?partial")) == "forbidden"
    assert reason(served.send(free, free.body([0], key=""), query="?partial")) == "forbidden"
    assert served.send(free, free.body([0], key="")).status_code == 200


def test_keys(served: Served) -> None:
    one, other, relayed = opened(served), opened(served), opened(served, relayed_only=True, anyone_submits=True)
    for key in ("", other.key, served.admin, served.token("reader"), one.key + "x", "hush-ingest-00000000-x"):
        assert reason(served.send(one, one.body([0], key=key))) == "token", key
    assert served.send(one, one.body([0], key=served.token("ingest"))).status_code == 200
    for key in ("", relayed.key):
        assert reason(served.send(relayed, relayed.body([0], key=key))) == "token"
    assert served.send(relayed, relayed.body([0], key=served.token("relay"))).status_code == 200


def test_a_batch_of_another_collection_spec_or_size(served: Served) -> None:
    one, other = opened(served), opened(served, spec=hush.Spec(hush.OLH(k=5, epsilon=2.0)))
    key = served.token("ingest")
    assert reason(served.send(one, other.body([0], key=key))) == "malformed"
    reports = SPEC.privatize([0], rng=hush.seeded(1))
    size = reports.dtype.itemsize
    foreign = Envelope(one.id, other.spec.hash, new_id(), 0, "", size, reports.tobytes())
    assert reason(served.send(one, body(key, foreign.to_bytes()))) == "spec"
    short = Envelope(one.id, SPEC.hash, new_id(), 0, "", 1, b"\0")
    answer = served.send(one, body(key, short.to_bytes()))
    assert reason(answer) == "record"
    assert answer.json()["index"] == 0


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\0", b"\xff", b"{", b"{}", b"[]", b'{"envelope": 1}', b'{"envelope": "%"}', b'{"envelope": ""}',
        b'{"key": null, "envelope": ""}', b'{"envelope": "", "envelope": ""}', b'{"envelope": "", "more": 1}',
        b"{" * 100_000, b"\0HSHB", b"\0HSHB\x01\0" + b"\0" * 200, b"\x05key",
    ],
)  # fmt: skip
def test_what_is_no_batch_is_refused(served: Served, one: Opened, data: bytes) -> None:
    assert reason(served.send(one, data)) == "malformed"


def test_a_large_batch_is_checked_like_a_small_one(served: Served) -> None:
    """It goes another way, through a thread."""
    one = opened(served)
    envelope = one.envelope([0, 1, 2, 3] * 15_000)
    assert len(envelope) > 1 << 18
    assert served.send(one, body(one.key, envelope)).json()["accepted"] == 60_000
    assert served.send(one, body(one.key, envelope)).json()["accepted"] == 60_000
    answer = served.send(one, body(one.key, with_wrong(one, [59_999], 60_000)))
    assert answer.json()["index"] == 59_999
    assert counted(served, one) == 60_000


def test_a_store_that_cannot_be_written_is_no_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What was refused may be sent again, and is then kept."""
    with in_thread(tmp_path) as served:
        one = opened(served)
        sent = one.body([0])

        def failing(*args: object) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("hush.collect.server.grouping.keep", failing)
            served.send(one, sent)
            answer = served.send(one, sent)
        assert reason(answer) == "store"
        assert answer.headers["retry-after"] == "10"
        assert served.send(one, sent).status_code == 200
        assert counted(served, one) == 1
    said = [
        (record.getMessage(), record.exc_info is not None) for record in caplog.records if record.name == "hush.collect"
    ]
    failed = "1 batches were not written: OSError"
    assert said == [(failed, True), (failed, False), ("batches are written again", False)]
