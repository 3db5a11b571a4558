"""A device: what it answers, what it refuses, what it keeps, and what it sends again."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import hush
import hush.longitudinal
import hush.multidim
from hush.collect import Collector, replies
from hush.collect.client import Unreachable, home, spool
from hush.collect.envelope import Envelope, EnvelopeError
from hush.errors import DomainError, HushError, ParameterError, SpecError
from hush.longitudinal import Ledger
from hush.statistics import counts_alarm
from tests.unit.collect.scripted import ID, URL, Scripted, away, problem

pytestmark = pytest.mark.boundary

LABELS = hush.Domain(labels=["yes", "no", "perhaps", "never"])
SPEC = hush.Spec(hush.OUE(k=4, epsilon=1.0), LABELS)
OVER_TIME = hush.Spec(hush.longitudinal.LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0))
NAMED = hush.Spec(hush.multidim.SPL(sizes=(3, 2), epsilon=1.0), {"a": hush.Domain(size=3), "b": hush.Domain(size=2)})
NEXT = "f" * 32


@pytest.fixture
def server() -> Scripted:
    return Scripted(SPEC)


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries follow each other at once: tests never wait."""
    monkeypatch.setattr(spool, "FIRST_WAIT", 0.0)


def collector(server: Scripted, folder: Path, **more: Any) -> Collector:
    url = f"https://collector.example/v1/collections/{server.view['id']}"
    return Collector(url, home=folder, transport=server, **{"fresh": 0.0, **more})


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / home.FILE)) as sql, sql:
        return sql.execute(query).fetchall()


# One answer.


def test_an_answer_is_randomized_kept_and_sent(server: Scripted, tmp_path: Path) -> None:
    ann = collector(server, tmp_path, key="hush-ingest-1-x").person("ann")
    told = ann.answer("perhaps")
    (envelope,) = server.taken.values()
    assert (told.collection, told.batch, told.period, told.state) == (ID, envelope.batch, 0, "accepted")
    assert (envelope.spec_hash, envelope.number, envelope.build) == (SPEC.hash, 1, f"hush-python/{hush.__version__}")
    assert server.keys == ["hush-ingest-1-x"]
    SPEC.mechanism.validate(np.frombuffer(envelope.records, SPEC.mechanism.report_dtype))
    assert ann.spent.total == ann.spent.chain == ann.spent.collection == 1
    assert ann.spent.answers == 1


def test_asked_again_it_gives_the_first_receipt_and_refuses_another_value(server: Scripted, tmp_path: Path) -> None:
    first = collector(server, tmp_path).person("ann").answer("no")
    again = collector(server, tmp_path)  # another process, say
    assert again.person("ann").answer("no") == first
    with pytest.raises(ParameterError, match="another one") as caught:
        again.person("ann").answer("yes")
    assert "no" not in str(caught.value).replace("another one", "").split()
    assert "yes" not in str(caught.value)
    assert len(server.sent) == 1
    assert again.person("ann").spent.total == 1
    server.view["period"] = 1
    assert again.person("ann").answer("yes").period == 1
    assert again.person("ann").spent.total == 2


def test_answers_follow_the_law(tmp_path: Path) -> None:
    """People who hold 0 report what the mechanism's law says; the alarm is false once in 10^9 tests."""
    m = hush.GRR(k=4, epsilon=1.0)
    server = Scripted(hush.Spec(m))
    collector(server, tmp_path).people(range(20_000)).answer([0] * 20_000)
    (envelope,) = server.taken.values()
    counts = np.bincount(np.frombuffer(envelope.records, m.report_dtype), minlength=4)
    law = np.array([m.weight(y, 0) for y in m.outputs()], float) / m.denominator
    assert not counts_alarm(law * counts.sum(), counts)


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        (SPEC, "no"),
        (hush.Spec(hush.Duchi(low=0.0, high=10.0, epsilon=1.0)), 2.5),
        (hush.Spec(hush.multidim.SMP(sizes=(3, 2), epsilon=1.0)), (2, 1)),
        (NAMED, {"b": 1, "a": 2}),
        (OVER_TIME, 3),
        (hush.Spec(hush.multidim.LSPL(sizes=(3, 2), epsilon_permanent=2.0, epsilon_report=1.0)), (0, 1)),
    ],
    ids=["frequency", "numeric", "tuple", "named tuple", "over time", "tuple over time"],
)  # fmt: skip
def test_every_kind_answers(spec: hush.Spec, value: Any, tmp_path: Path) -> None:
    server = Scripted(spec)
    ann = collector(server, tmp_path).person("ann")
    first = ann.answer(value)
    assert ann.answer(value) == first
    (envelope,) = server.taken.values()
    spec.one_round.mechanism.validate(np.frombuffer(envelope.records, spec.mechanism.report_dtype))


@pytest.mark.parametrize("value", ["maybe", None, 4, float("nan"), ["yes"], {"a": "yes"}])
def test_what_is_no_value_spends_nothing(value: Any, server: Scripted, tmp_path: Path) -> None:
    ann = collector(server, tmp_path).person("ann")
    with pytest.raises((HushError, TypeError)):
        ann.answer(value)
    assert server.sent == []
    assert ann.spent.total == 0


@pytest.mark.parametrize("value", [10.5, -1, "x", float("inf"), None])
def test_what_is_no_number_spends_nothing(value: Any, tmp_path: Path) -> None:
    server = Scripted(hush.Spec(hush.Piecewise(low=0.0, high=10.0, epsilon=1.0)))
    ann = collector(server, tmp_path).person("ann")
    with pytest.raises(HushError):
        ann.answer(value)
    assert server.sent == []
    assert ann.spent.total == 0
    ann.answer(-0.0)
    assert ann.answer(0).state == "accepted"  # the same number


# What is kept.


def test_neither_names_nor_values_are_in_the_home(server: Scripted, tmp_path: Path) -> None:
    collector(server, tmp_path).person("ann-of-the-mill").answer("perhaps")
    content = (tmp_path / home.FILE).read_bytes()
    assert b"ann-of-the-mill" not in content
    assert content.count(b"perhaps") == 1  # in the spec
    assert rows(tmp_path, "SELECT envelope FROM batch") == [(None,)]


def test_the_home_is_its_owners_alone(server: Scripted, tmp_path: Path) -> None:
    collector(server, tmp_path / "new" / "folder").person("ann").answer("no")
    assert stat.S_IMODE(os.stat(tmp_path / "new" / "folder" / home.FILE).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(tmp_path / "new" / "folder").st_mode) == 0o700
    assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == [home.FILE]


def test_with_a_secret_that_is_kept_elsewhere_the_file_has_no_key(server: Scripted, tmp_path: Path) -> None:
    secret = b"s" * 32
    first = collector(server, tmp_path, secret=secret).person("ann").answer("no")
    assert rows(tmp_path, "SELECT key FROM secret") == [(None,)]
    assert collector(server, tmp_path, secret=secret).person("ann").answer("no") == first
    for other in (None, b"t" * 32):
        with pytest.raises(ParameterError, match="secret"):
            collector(server, tmp_path, secret=other)
    with pytest.raises(ParameterError, match="16 bytes"):
        collector(server, tmp_path, secret=b"short")


def test_who_answered_what_is_forgotten_with_the_period_and_accounts_are_not(server: Scripted, tmp_path: Path) -> None:
    ann = collector(server, tmp_path).person("ann")
    ann.answer("no")
    server.view["period"] = 3
    ann.answer("yes")
    assert rows(tmp_path, "SELECT period FROM answered") == [(3,)]
    assert rows(tmp_path, "SELECT reports FROM account") == [(2,)]


def test_a_period_never_goes_back(server: Scripted, tmp_path: Path) -> None:
    server.view["period"] = 5
    ann = collector(server, tmp_path).person("ann")
    first = ann.answer("no")
    server.view["period"] = 4
    assert ann.answer("no") == first
    assert ann.spent.total == 1


@pytest.mark.parametrize("content", [b"something else", b"SQLite format 3\0" + bytes(100)])
def test_another_file_is_no_home(content: bytes, server: Scripted, tmp_path: Path) -> None:
    (tmp_path / home.FILE).write_bytes(content)
    with pytest.raises(ParameterError, match="home"):
        collector(server, tmp_path)


def test_a_home_of_a_later_version_is_refused(server: Scripted, tmp_path: Path) -> None:
    collector(server, tmp_path)
    rows(tmp_path, "PRAGMA user_version=99")
    with pytest.raises(ParameterError, match="version"):
        collector(server, tmp_path)


def test_a_home_that_several_make_at_once_is_one(tmp_path: Path) -> None:
    made: list[home.Home] = []
    threads = [threading.Thread(target=lambda: made.append(home.Home(tmp_path / "new"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({each.hashed(b"ann") for each in made}) == 1
    assert len(made) == 8
    assert [path.name for path in (tmp_path / "new").iterdir()] == [home.FILE]


def test_a_home_is_found_by_the_environment(server: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUSH_HOME", str(tmp_path / "mine"))
    Collector(URL, transport=server).person("ann").answer("no")
    assert (tmp_path / "mine" / home.FILE).exists()
    monkeypatch.delenv("HUSH_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    Collector(URL, transport=server).person("ann").answer("no")
    assert (tmp_path / ".hush" / home.FILE).exists()


def test_transactions_are_on_the_disk_and_there_is_no_second_log(tmp_path: Path) -> None:
    with home.Home(tmp_path).transaction() as sql:
        assert sql.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
        assert sql.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert sql.execute("PRAGMA secure_delete").fetchone() == (1,)
        assert sql.execute("PRAGMA fullfsync").fetchone() == (1,)  # where fsync leaves bytes in the drive


# Bytes are made once.


@pytest.mark.usefixtures("no_pause")
def test_a_retry_sends_the_very_bytes(server: Scripted, tmp_path: Path) -> None:
    server.refuse = lambda envelope: problem(503, "busy") if len(server.sent) < 4 else None
    waiting = collector(server, tmp_path).person("ann").answer("no")
    assert (waiting.state, waiting.reason) == ("waiting", "busy")
    told = collector(server, tmp_path, key="renewed").flush(wait=60)
    assert (told.accepted, told.waiting, told.dropped) == (1, 0, {})
    assert len(server.sent) == 4
    assert len(set(server.sent)) == 1
    assert server.keys[0] == ""
    assert server.keys[-1] == "renewed"
    assert collector(server, tmp_path).person("ann").answer("no").state == "accepted"


@pytest.mark.usefixtures("no_pause")
def test_an_answer_that_got_lost_on_its_way_back_counts_once(server: Scripted, tmp_path: Path) -> None:
    def lost(request: httpx.Request) -> None:
        if request.method == "POST" and len(server.sent) == 0:
            Scripted.handle_request(quiet, request)
            server.sent.append(quiet.sent[0])
            raise httpx.ReadError("the connection broke")

    quiet = Scripted(SPEC)
    quiet.taken = server.taken
    server.before = lost
    assert collector(server, tmp_path).person("ann").answer("no").state == "waiting"
    assert collector(server, tmp_path).flush().accepted == 1
    assert len(server.sent) == 2
    assert len(set(server.sent)) == 1
    assert len(server.taken) == 1


def test_offline_answers_wait_and_go_when_the_server_is_back(
    server: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.before = away
    with pytest.raises(Unreachable):
        collector(server, tmp_path).person("ann").answer("no")
    server.before = lambda request: None
    assert collector(server, tmp_path).loss.epsilon == 1.0  # which only asks
    collector(server, tmp_path).person("ann").answer("no")
    server.before = away
    offline = collector(server, tmp_path)  # started while there is no server
    assert [offline.person(i).answer("yes").state for i in range(3)] == ["waiting"] * 3
    assert offline.waiting == 3
    told = offline.flush()
    assert (told.accepted, told.waiting) == (0, 3)
    assert told.due > 0
    server.before = lambda request: None
    assert offline.flush().accepted == 0  # too early
    monkeypatch.setattr(spool.time, "time", lambda: 4e9)
    assert offline.flush().accepted == 3
    assert len(server.taken) == 4


@pytest.mark.parametrize("values", [[0, 0, 0], [0, 1, 2]])
def test_a_quota_of_kept_answers_goes_by_their_number_alone(values: list[int], tmp_path: Path) -> None:
    """Whether values changed or not: two answers fit, and the third does not; nothing of it is drawn or spent."""
    server = Scripted(hush.Spec(hush.longitudinal.LSUE(k=4, epsilon_permanent=2.0, epsilon_report=1.0)))
    limits = {"maximum": 10, "maximum_chain": 100, "maximum_total": 100}
    here = collector(server, tmp_path, quota_kept=2 * (1 + 32), **limits)
    ann = here.person("ann")
    for period, value in enumerate(values):
        server.view["period"] = period
        if period < 2:
            assert ann.answer(value).state == "accepted"
            continue
        before = ann.spent
        with pytest.raises(ParameterError, match=r"^quota_kept must leave room: 66 bytes of permanent answers"):
            ann.answer(value)
        assert ann.spent == before
        assert len(server.taken) == 2
        assert collector(server, tmp_path, **limits).person("ann").answer(value).state == "accepted"
    assert rows(tmp_path, "SELECT COUNT(*) FROM answer") == [(len(set(values)),)]


def test_where_nothing_new_is_kept_no_quota_is_needed(tmp_path: Path) -> None:
    """Of two values there are two permanent answers at most, however many reports there are; of fresh noise none."""
    server = Scripted(hush.Spec(hush.longitudinal.LGRR(k=2, epsilon_permanent=2.0, epsilon_report=1.0)))
    limits = {"maximum": 10, "maximum_chain": 100, "maximum_total": 100}
    ann = collector(server, tmp_path / "kept", quota_kept=2 * (1 + 32), **limits).person("ann")
    for period in range(6):
        server.view["period"] = period
        assert ann.answer(period % 2).state == "accepted"
    assert collector(Scripted(SPEC), tmp_path / "fresh", quota_kept=0).person("ann").answer("no").state == "accepted"


def test_a_quota_is_refused_before_anything_is_spent(server: Scripted, tmp_path: Path) -> None:
    collector(server, tmp_path).person("ann").answer("no")
    server.before = away
    few = collector(server, tmp_path, quota_batches=1)
    few.person("bob").answer("no")
    for full in (few, collector(server, tmp_path, quota_bytes=250)):
        with pytest.raises(ParameterError, match="quota"):
            full.person("cem").answer("no")
        assert full.person("cem").spent.total == 0
    assert few.discard() == 1
    assert few.waiting == 0
    told = few.person("bob").answer("no")
    assert (told.state, told.reason) == ("dropped", "discarded")
    assert few.person("bob").spent.total == 1


@pytest.mark.usefixtures("no_pause")
def test_a_flush_ends_when_its_time_is_over(server: Scripted, tmp_path: Path) -> None:
    server.refuse = lambda envelope: problem(503, "busy")
    here = collector(server, tmp_path)
    here.person("ann").answer("no")
    told = here.flush(wait=0.05)
    assert (told.waiting, told.reason) == (1, "busy")
    assert len(server.sent) >= 2


def test_what_waits_for_a_server_is_not_sent_to_another(server: Scripted, tmp_path: Path) -> None:
    server.refuse = lambda envelope: problem(401, "token")
    collector(server, tmp_path).person("ann").answer("no")
    impostor = Scripted(SPEC)
    elsewhere = f"https://elsewhere.example/v1/collections/{ID}"
    with closing(sqlite3.connect(tmp_path / home.FILE)) as sql, sql:
        sql.execute("UPDATE collection SET due = 0")
    assert Collector(elsewhere, home=tmp_path, transport=impostor).flush().waiting == 1
    assert impostor.sent == []
    assert Collector(elsewhere, home=tmp_path, transport=impostor, moved=True).flush().accepted == 1


@pytest.mark.parametrize("wait", [-1, float("nan"), "long", None])
def test_a_flush_waits_for_a_number_of_seconds(wait: Any, server: Scripted, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="wait"):
        collector(server, tmp_path).flush(wait=wait)


# What a server answers.


@pytest.mark.parametrize("reason", sorted(replies.FINAL))
def test_a_final_refusal_drops_the_batch_and_gives_nothing_back(reason: str, server: Scripted, tmp_path: Path) -> None:
    server.refuse = lambda envelope: problem(409, reason)
    ann = collector(server, tmp_path).person("ann")
    told = ann.answer("no")
    assert (told.state, told.reason) == ("dropped", reason)
    assert ann.answer("no") == told
    assert ann.spent.total == 1
    assert len(server.sent) == 1
    assert rows(tmp_path, "SELECT envelope FROM batch") == [(None,)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda: problem(401, "token"), "token"),
        (lambda: problem(403, "forbidden"), "forbidden"),
        (lambda: problem(404, "unknown"), "unknown"),
        (lambda: problem(422, "period-ahead"), "period-ahead"),
        (lambda: problem(429, "rate"), "rate"),
        (lambda: problem(500, "internal"), "internal"),
        (lambda: problem(503, "store"), "store"),
        (lambda: httpx.Response(409, json={"reason": "conflict", "status": 409}), "status-409"),  # not in its words
        (lambda: problem(400, "../../etc"), "status-400"),
        (lambda: httpx.Response(404, text="<html>"), "status-404"),
        (lambda: httpx.Response(302, headers={"location": "https://elsewhere.example"}), "status-302"),
        (lambda: httpx.Response(200, text="<html>Welcome to our hotel"), "not-a-collector"),
        (lambda: httpx.Response(200, json={"batch": "0" * 32, "period": 0, "accepted": 1}), "not-a-collector"),
        (lambda: httpx.Response(200, content=b"[" * (1 << 20) * 2), "answer-too-long"),
    ],
)
def test_after_any_other_answer_it_waits(
    answer: Callable[[], httpx.Response], reason: str, server: Scripted, tmp_path: Path
) -> None:
    server.refuse = lambda envelope: answer()
    told = collector(server, tmp_path).person("ann").answer("no")
    assert (told.state, told.reason) == ("waiting", reason)
    assert collector(server, tmp_path).waiting == 1


def test_every_reason_of_the_server_is_dropped_kept_or_not_of_batches() -> None:
    """The table of the documentation, in one place: what is not final waits."""
    from hush.collect.refusals import REASONS

    never = {"method", "plan"}  # which no batch is refused for
    waits = {
        "token",
        "forbidden",
        "unknown",
        "slow",
        "too-large",
        "period-ahead",
        "rate",
        "interrupted",
        "internal",
        "busy",
        "store",
    }
    assert replies.FINAL | waits | never <= set(REASONS)
    assert {code for code, reason in REASONS.items() if reason.retry is not None} <= waits
    page = (Path(__file__).parents[3] / "docs" / "collector-client.md").read_text("utf-8")
    for code in replies.FINAL | waits:
        assert f"`{code}`" in page, code


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("7", 7, 14),
        ("0", 0, 1),
        ("999999999", 86_400, 172_800),
        ("soon", 0, 1),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 1),
    ],
)
def test_it_waits_as_long_as_the_server_asks(
    header: str, least: float, most: float, server: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool.time, "time", lambda: 2e9)
    server.refuse = lambda envelope: problem(429, "rate", **{"retry-after": header})
    here = collector(server, tmp_path)
    here.person("ann").answer("no")
    assert least <= here.flush().due <= most
    assert len(server.sent) == 1
    here.person("bob").answer("no")  # waits, too, without asking
    assert len(server.sent) == 1


def test_pauses_double_are_random_and_end() -> None:
    for tries in range(40):
        longest = min(2.0**tries, spool.MOST_WAIT)
        drawn = [spool.backoff(tries, None) for _ in range(50)]
        assert all(0 <= each <= longest for each in drawn)
        assert len(set(drawn)) > 40
        asked = [spool.backoff(tries, 60.0) for _ in range(50)]
        assert all(60 <= each <= 60 + max(longest, 60) for each in asked)
        assert max(asked) - min(asked) > 6  # a herd that was sent away together; else once in 10^40 times or less


def test_a_clock_that_was_set_back_does_not_stop_it(
    server: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool.time, "time", lambda: 4e9)
    server.before = lambda request: away(request) if request.method == "POST" else None
    here = collector(server, tmp_path)
    here.person("ann").answer("no")
    monkeypatch.setattr(spool.time, "time", lambda: 2e9)
    server.before = lambda request: None
    assert here.flush().accepted == 1


def test_no_cookie_is_sent_back(server: Scripted, tmp_path: Path) -> None:
    seen = []
    server.before = lambda request: seen.append(request.headers.get("cookie"))
    server.refuse = lambda envelope: httpx.Response(503, headers={"set-cookie": "who=ann; Path=/"})
    here = collector(server, tmp_path)
    for i in range(3):
        here.person(i).answer("no")
    assert seen
    assert set(seen) == {None}


# What a server may not do.


@pytest.mark.parametrize(
    "lie",
    [
        {"id": NEXT},
        {"status": "free"},
        {"period": -1},
        {"period": 1 << 31},
        {"period": True},
        {"period": "0"},
        {"chain": []},
        {"chain": None},
        {"chain": [NEXT]},
        {"chain": [ID, ID]},
        {"chain": [ID, "x"]},
        {"chain": [ID] + [f"{i:032x}" for i in range(1000)]},
        {"spec": None},
        {"spec_hash": "0" * 64},
    ],
    ids=str,
)
def test_an_odd_view_is_refused(lie: dict[str, Any], server: Scripted, tmp_path: Path) -> None:
    server.view |= lie
    with pytest.raises(SpecError):
        collector(server, tmp_path).person("ann").answer("no")
    assert server.sent == []


def test_another_spec_under_a_known_id_is_refused(server: Scripted, tmp_path: Path) -> None:
    collector(server, tmp_path).person("ann").answer("no")
    other = Scripted(hush.Spec(hush.OUE(k=4, epsilon=0.5), LABELS))
    with pytest.raises(SpecError, match="never change"):
        collector(other, tmp_path).person("bob").answer("no")
    assert other.sent == []


def test_a_pinned_hash_is_held(server: Scripted, tmp_path: Path) -> None:
    assert collector(server, tmp_path, spec=SPEC.hash).person("ann").answer("no").state == "accepted"
    with pytest.raises(SpecError, match="pinned"):
        collector(server, tmp_path, spec="0" * 64).person("bob").answer("no")


@pytest.mark.parametrize("status", ["draft", "closed"])
def test_only_an_open_collection_is_answered(status: str, server: Scripted, tmp_path: Path) -> None:
    server.view["status"] = status
    with pytest.raises(ParameterError, match="open"):
        collector(server, tmp_path).person("ann").answer("no")


def test_without_a_key_that_is_needed_nothing_is_spent(server: Scripted, tmp_path: Path) -> None:
    server.view["needs_key"] = True
    here = collector(server, tmp_path)
    with pytest.raises(ParameterError, match="key"):
        here.person("ann").answer("no")
    here.key = "hush-ingest-1-x"
    assert here.person("ann").answer("no").state == "accepted"


@pytest.mark.parametrize(
    "url",
    ["", "collector.example", f"ftp://a/v1/collections/{ID}", "https://a/v1/collections/7", f"https://a/v1/collections/{ID}?x",
     f"https://user:word@a/v1/collections/{ID}", f"http://a.example/v1/collections/{ID}", 7, None],
)  # fmt: skip
def test_an_address_is_that_of_a_collection(url: Any, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="url") as caught:
        Collector(url, home=tmp_path)
    assert "word" not in str(caught.value)


@pytest.mark.parametrize(
    "option",
    [{"build": "no\nlines"}, {"build": "x" * 65}, {"key": "x" * 65}, {"key": "schlüssel"}, {"key": "two\nlines"},
     {"key": 7}, {"batch_records": 0}, {"batch_records": 100_001}, {"quota_bytes": True}, {"spec": "abc"},
     {"timeout": -1}, {"timeout": 0}, {"fresh": "long"}, {"quota_bytes": -1}, {"quota_batches": 1.5},
     {"quota_kept": -1}, {"maximum": 0}, {"delta": 1.0}, {"delta": "x"}],
    ids=str,
)  # fmt: skip
def test_a_wrong_option_is_refused(option: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises((ParameterError, EnvelopeError)):
        Collector(URL, home=tmp_path, **option)


def test_certificates_are_checked(tmp_path: Path) -> None:
    import ssl

    careless = ssl.create_default_context()
    careless.check_hostname = False
    careless.verify_mode = ssl.CERT_NONE
    with pytest.raises(ParameterError, match="tls"):
        Collector(URL, home=tmp_path, tls=careless)


# Accounts.


def test_limits_hold_before_anything_is_drawn(server: Scripted, tmp_path: Path) -> None:
    ann = collector(server, tmp_path, maximum_chain=2, maximum_total="5/2").person("ann")
    for period in range(2):
        server.view["period"] = period
        ann.answer("no")
    server.view["period"] = 2
    with pytest.raises(ParameterError, match="maximum_chain"):
        ann.answer("no")
    other = Scripted(SPEC, id=NEXT)
    with pytest.raises(ParameterError, match="maximum_total"):
        collector(other, tmp_path, maximum_total="5/2").person("ann").answer("no")
    assert other.sent == []
    assert len(server.sent) == 2
    assert ann.spent.total == 2
    assert collector(other, tmp_path).person("ann").answer("no").state == "accepted"
    assert ann.spent.total == 3
    assert ann.spent.chain == 2


def test_the_account_is_a_ledger(server: Scripted, tmp_path: Path) -> None:
    here = collector(server, tmp_path, maximum_total=7)
    here.person("ann").answer("no")
    ledger = here.person("ann").ledger
    assert isinstance(ledger, Ledger)
    assert (ledger.spent, ledger.left) == (1, 6)
    assert [entry.what for entry in ledger.entries] == [f"spec {SPEC.hash[:12]}"]
    assert here.person("bob").ledger.entries == ()


def test_delta_adds_up_to_what_was_agreed(tmp_path: Path) -> None:
    server = Scripted(hush.Spec(hush.AGRR(k=4, epsilon=1.0, delta=1e-6)))
    with pytest.raises(SpecError, match="delta"):
        collector(server, tmp_path).person("ann").answer(0)
    ann = collector(server, tmp_path, delta="0.0000015").person("ann")
    ann.answer(0)
    server.view["period"] = 1
    with pytest.raises(ParameterError, match="delta"):
        ann.answer(0)
    assert ann.spent.delta == Fraction(1, 10**6)


def test_epsilon_adds_along_a_chain_and_a_lie_about_it_resets_nothing(server: Scripted, tmp_path: Path) -> None:
    collector(server, tmp_path, maximum_chain=2).person("ann").answer("no")
    after = Scripted(hush.Spec(hush.OUE(k=4, epsilon=0.5), LABELS), id=NEXT, chain=[NEXT, ID])
    ann = collector(after, tmp_path, maximum_chain=2).person("ann")
    ann.answer("no")
    assert (ann.spent.collection, ann.spent.chain) == (Fraction(1, 2), Fraction(3, 2))
    after.view |= {"chain": [NEXT], "period": 1}  # as if it followed nothing
    ann.answer("no")
    assert ann.spent.chain == 2
    after.view["period"] = 2
    with pytest.raises(ParameterError, match="maximum_chain"):
        ann.answer("no")


def test_chains_that_are_told_late_are_joined(tmp_path: Path) -> None:
    ids = [f"{i:032x}" for i in range(4)]
    for id in ids[:3]:
        collector(Scripted(SPEC, id=id), tmp_path).person("ann").answer("no")
    last = Scripted(SPEC, id=ids[3], chain=[ids[3], ids[2], "e" * 32, ids[0]])
    ann = collector(last, tmp_path).person("ann")
    assert ann.spent.chain == 2
    ann.answer("no")
    assert (ann.spent.chain, ann.spent.total) == (3, 4)
    late = Scripted(SPEC, id="e" * 32)  # of which it was only told before
    assert collector(late, tmp_path).person("ann").spent.chain == 3


def test_people_have_accounts_of_their_own(server: Scripted, tmp_path: Path) -> None:
    here = collector(server, tmp_path)
    here.person(7).answer("no")
    assert here.person("7").spent.total == 1  # as in a table
    assert here.person("8").spent.total == 0
    assert here.people([7, 8]).answer(["no", "yes"]).again.tolist() == [True, False]


@pytest.mark.parametrize("id", [None, True, "", b"", 1.5, float("nan"), object(), ("ann",), ["ann"]])
def test_a_name_is_one_that_stays_the_same(id: Any, server: Scripted, tmp_path: Path) -> None:
    """That of an object would be another one in the next process, with an account of its own."""
    with pytest.raises(ParameterError, match="id"):
        collector(server, tmp_path).person(id).answer("no")
    with pytest.raises(ParameterError, match="id"):
        collector(server, tmp_path).people([id])
    assert server.sent == []


def test_names_of_many_kinds(server: Scripted, tmp_path: Path) -> None:
    one = uuid.UUID(int=7)
    here = collector(server, tmp_path)
    here.people(["ann", b"bob", 7, np.int64(8), 9.0, one]).answer(["no"] * 6)
    for same in (b"ann", "bob", "7", 8, "9", str(one)):
        assert here.person(same).spent.total == 1


# Over time.


def test_answers_are_kept_over_periods_restarts_and_a_chain_with_the_same_spec(tmp_path: Path) -> None:
    """With memoization alone, the same value is reported by the same bytes for ever."""
    spec = hush.Spec(hush.longitudinal.Memoized(mechanism=hush.OUE(k=64, epsilon=1.0)))
    first = Scripted(spec)
    for period in range(3):
        first.view["period"] = period
        collector(first, tmp_path, maximum_chain=100, times_known=True).person("ann").answer(5)
    after = Scripted(spec, id=NEXT, chain=[NEXT, ID])
    collector(after, tmp_path, maximum_chain=100, times_known=True).person("ann").answer(5)
    assert len({envelope.records for envelope in [*first.taken.values(), *after.taken.values()]}) == 1
    ann = collector(after, tmp_path, times_known=True).person("ann")
    assert (ann.spent.answers, ann.spent.collection, ann.spent.chain) == (1, 1, 4)
    stranger = Scripted(spec, id="e" * 32)  # another chain does not see the same answers
    collector(stranger, tmp_path, times_known=True).person("ann").answer(5)
    assert {envelope.records for envelope in stranger.taken.values()}.isdisjoint(
        envelope.records for envelope in first.taken.values()
    )


def test_another_server_does_not_get_the_answers_that_are_kept_for_one(tmp_path: Path) -> None:
    """It may claim to follow it, or to be it: who answers both must not be known again by what is reported."""
    spec = hush.Spec(hush.longitudinal.Memoized(mechanism=hush.OUE(k=64, epsilon=1.0)))
    first, follower, impostor = Scripted(spec), Scripted(spec, id=NEXT, chain=[NEXT, ID]), Scripted(spec)
    collector(first, tmp_path).person("ann").answer(5)
    elsewhere = "https://elsewhere.example/v1/collections"
    ann = Collector(f"{elsewhere}/{NEXT}", home=tmp_path, transport=follower).person("ann")
    ann.answer(5)
    (mine,), (theirs,) = first.taken.values(), follower.taken.values()
    assert mine.records != theirs.records  # the same once in 2^64 times or less
    assert ann.spent.chain == 2  # but the account is one
    impostor.view["period"] = 1
    with pytest.raises(SpecError, match="moved"):
        Collector(f"{elsewhere}/{ID}", home=tmp_path, transport=impostor, times_known=True).person("ann").answer(5)
    assert impostor.sent == []
    Collector(f"{elsewhere}/{ID}", home=tmp_path, transport=impostor, moved=True, times_known=True).person(
        "ann"
    ).answer(5)
    assert next(iter(impostor.taken.values())).records == mine.records


# Many people at once.


def test_many_people_answer_in_one_batch(tmp_path: Path) -> None:
    server = Scripted(hush.Spec(hush.GRR(k=4, epsilon=2.0)))
    here = collector(server, tmp_path)
    values = np.arange(1000) % 4
    told = here.people(range(1000)).answer(values)
    (envelope,) = server.taken.values()
    assert envelope.number == 1000
    assert told.receipts[0].state == "accepted"
    assert (told.which == 0).all()
    values[:10] = (values[:10] + 1) % 4
    again = here.people(range(1100)).answer(np.append(values, np.zeros(100, np.int64)))
    assert again.other_value.sum() == 10
    assert again.again.sum() == 990
    assert [receipt.batch for receipt in again.receipts] == list(server.taken)
    assert np.bincount(again.which + 1).tolist() == [10, 990, 100]
    assert sum(envelope.number for envelope in server.taken.values()) == 1100


def test_who_has_reached_a_limit_is_passed_over(server: Scripted, tmp_path: Path) -> None:
    here = collector(server, tmp_path, maximum_total=1)
    here.person("ann").answer("no")
    server.view["period"] = 1
    told = here.people(["ann", "bob"]).answer(["no", "no"])
    assert told.over_limit.tolist() == [True, False]
    assert told.which.tolist() == [-1, 0]
    assert [envelope.number for envelope in server.taken.values()] == [1, 1]


def test_more_people_than_fit_one_envelope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hush.collect.client import answering

    monkeypatch.setattr(answering, "BATCH_BYTES", 1000)
    server = Scripted(hush.Spec(hush.GRR(k=4, epsilon=2.0)))
    told = collector(server, tmp_path).people(range(2500)).answer([1] * 2500)
    assert [envelope.number for envelope in server.taken.values()] == [1000, 1000, 500]
    assert np.bincount(told.which).tolist() == [1000, 1000, 500]
    fewer = Scripted(hush.Spec(hush.GRR(k=4, epsilon=2.0)), id=NEXT)
    collector(fewer, tmp_path, batch_records=400).people(range(1000)).answer([1] * 1000)
    assert [envelope.number for envelope in fewer.taken.values()] == [400, 400, 200]


@pytest.mark.parametrize(("ids", "values"), [(["ann", "ann"], ["no", "no"]), (["ann"], []), (["ann"], ["no", "no"])])
def test_each_person_has_one_value(ids: list[str], values: list[str], server: Scripted, tmp_path: Path) -> None:
    with pytest.raises(ParameterError):
        collector(server, tmp_path).people(ids).answer(values)
    assert server.sent == []


def test_nobody_answers(server: Scripted, tmp_path: Path) -> None:
    told = collector(server, tmp_path).people([]).answer([])
    assert told.receipts == ()
    assert server.sent == []


# Together.


def test_threads_spend_once(server: Scripted, tmp_path: Path) -> None:
    """Threads of two collectors of one home answer for the same people: one report each, and one receipt."""
    both = [collector(server, tmp_path) for _ in range(2)]
    receipts: list[Any] = []

    def work(i: int) -> None:
        receipts.extend(both[i % 2].person(j).answer("no").batch for j in range(5))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(receipts) == 30
    assert set(receipts) == set(server.taken)
    assert len(server.taken) == 5
    assert both[0].person(3).spent.total == 1


def test_a_fork_has_connections_of_its_own(server: Scripted, tmp_path: Path) -> None:
    here = collector(server, tmp_path)
    here.person("ann").answer("no")
    parent = here._wire._line._client()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            other = here._wire._line._client() is not parent
            code = 0 if other and here.person("bob").answer("no").state == "accepted" else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert here.person("bob").spent.total == 1


def test_a_disk_that_is_full_spends_nothing(server: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = collector(server, tmp_path)
    here.person("ann").answer("no")
    real = home._connected

    def full(where: str) -> sqlite3.Connection:
        made = real(where)
        (pages,) = made.execute("PRAGMA page_count").fetchone()
        made.execute(f"PRAGMA max_page_count={pages}")
        return made

    monkeypatch.setattr(home, "_connected", full)
    with pytest.raises(ParameterError, match="full"):
        here.people(range(5000)).answer(["no"] * 5000)
    monkeypatch.setattr(home, "_connected", real)
    assert len(server.sent) == 1
    assert here.person(7).spent.total == 0


def test_a_device_needs_httpx_and_nothing_of_the_server() -> None:
    code = (
        "import sys\n"
        "for name in ('fastapi', 'starlette', 'uvicorn', 'sqlalchemy', 'alembic', 'psycopg', 'prometheus_client'):\n"
        "    sys.modules[name] = None\n"
        "from hush.collect import Collector\n"
        "import hush\n"
        "assert hush.collect.Collector is Collector\n"
        "print('httpx' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert told.stdout == "False\n"


def test_without_httpx_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hush.errors import MissingDependency

    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingDependency, match=r"\[collect\]"):
        Collector(URL, home=tmp_path).person("ann").answer("no")


def test_messages_and_logs_have_neither_values_nor_keys(
    server: Scripted, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "hush.collect")
    server.refuse = lambda envelope: problem(409, "status")
    here = collector(server, tmp_path, key="hush-ingest-1-secret")
    here.person("ann-of-the-mill").answer("perhaps")
    with pytest.raises(DomainError) as caught:
        here.person("bob").answer("my own secret")
    said = caplog.text + str(caught.value)
    assert "dropped" in caplog.text
    assert not any(word in said for word in ("secret", "ann-of", "perhaps"))


def test_envelopes_are_kept_before_they_are_sent(server: Scripted, tmp_path: Path) -> None:
    """When the first byte leaves, the file has the envelope, committed: seen by another connection."""
    seen = []

    def look(request: httpx.Request) -> None:
        if request.method == "POST":
            seen.extend(rows(tmp_path, "SELECT envelope, state FROM batch"))
            seen.extend(rows(tmp_path, "SELECT reports FROM account"))

    server.before = look
    collector(server, tmp_path).person("ann").answer("no")
    (sent,) = server.sent
    assert seen == [(sent, "waiting"), (1,)]
    assert json.loads(rows(tmp_path, "SELECT view FROM collection")[0][0])["status"] == "open"
    assert Envelope.from_bytes(sent).number == 1
