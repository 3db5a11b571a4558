"""What a device charges over time is no less than what histories lose, and is forgotten no sooner than it may be."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

import hush
import hush.longitudinal
import hush.multidim
from hush.collect import Collector
from hush.collect.client import home
from hush.errors import ParameterError
from tests.unit.collect.scripted import ID, URL, Scripted, away

SPEC = hush.Spec(hush.OUE(k=4, epsilon=1.0))
NOISY = {"epsilon_permanent": 2.0, "epsilon_report": 1.0}


def collector(server: Scripted, folder: Path | str, **more: Any) -> Collector:
    return Collector(URL, home=folder, transport=server, **{"fresh": 0.0, **more})


def tags(folder: Path) -> list[bytes]:
    with sqlite3.connect(folder / home.FILE) as sql:
        return [bytes(tag) for (tag,) in sql.execute("SELECT tag FROM answered")]


# Over time.


@pytest.mark.parametrize(
    "m",
    [hush.longitudinal.LGRR(k=2, **NOISY), hush.longitudinal.LGRR(k=3, **NOISY), hush.longitudinal.LOSUE(k=2, **NOISY)],
    ids=str,
)
def test_the_account_is_no_less_than_any_two_histories_lose(m: Any, tmp_path: Path) -> None:
    """Histories of every kind, changes at any time: of each length, all pairs, by enumeration of their reports."""
    server = Scripted(hush.Spec(m))
    ann = collector(server, tmp_path, maximum=1000, maximum_chain=1000, maximum_total=1000).person("ann")
    for n in range(1, 5):
        server.view["period"] = n
        ann.answer(n % 2)
        charged = ann.spent.chain
        assert charged is not None
        histories = list(itertools.product(range(2), repeat=n))
        worst = max(m.history_epsilon(one, two) for one, two in itertools.combinations(histories, 2))
        assert worst <= charged * (1 + 1e-12)
        assert ann.spent.total == charged


@pytest.mark.parametrize("times_known", [False, True])
def test_no_answer_costs_more_than_the_maximum(times_known: bool, tmp_path: Path) -> None:
    """One report loses 1, and the second one more than twice that: whoever allows 1 for an answer gives one answer."""
    m = hush.longitudinal.LSUE(k=4, epsilon_permanent=2.0, epsilon_report=1.0)
    server = Scripted(hush.Spec(m))
    ann = collector(server, tmp_path, maximum=1.0, times_known=times_known).person("ann")
    costs = [m.history_bound(n) if times_known else m.any_histories_bound(n) for n in (1, 2)]
    assert costs[0] == 1.0
    ann.answer(1)
    server.view["period"] = 1
    with pytest.raises(ParameterError, match=f"^maximum must be at least {costs[1] - 1.0:.9g}"[:-2]) as told:
        ann.answer(1)
    assert told.value.parameter == "maximum"
    assert ann.spent.total == 1
    assert len(server.taken) == 1
    allowed = {"maximum": costs[1] - 1.0 + 1e-9, "times_known": times_known}
    assert collector(server, tmp_path, **allowed).person("ann").answer(1).state == "accepted"
    assert float(ann.spent.total or 0) == pytest.approx(costs[1])


def test_a_value_that_changes_once_ends_at_the_limit_before_it_is_told(tmp_path: Path) -> None:
    """Many answers average the fresh noise away: what changed, and when, shows, and so they are charged."""
    m = hush.longitudinal.LGRR(k=2, **NOISY)
    server = Scripted(hush.Spec(m))
    ann = collector(server, tmp_path).person("ann")
    given = 0
    with suppress(ParameterError):
        for period in range(40):
            server.view["period"] = period
            ann.answer(int(period >= 3))
            given += 1
    assert 4 <= given < 10
    with pytest.raises(ParameterError, match="maximum_chain"):
        ann.answer(1)
    assert m.history_epsilon([0] * 3 + [1] * (given - 3), [0] * given) <= 10


@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
def test_without_fresh_noise_a_second_answer_tells_of_a_change(several: bool, tmp_path: Path) -> None:
    m = hush.longitudinal.Memoized(mechanism=hush.GRR(k=2, epsilon=1.0))
    assert m.history_epsilon([0, 1], [0, 0]) == float("inf")
    server = Scripted(hush.Spec(m))
    here = collector(server, tmp_path)
    here.person("ann").answer(0)
    assert here.person("ann").spent.total == 1
    server.view["period"] = 1
    if several:
        assert here.people(["ann"]).answer([1]).over_limit.tolist() == [True]
    else:
        with pytest.raises(ParameterError, match="times_known=True"):
            here.person("ann").answer(1)
    assert len(server.sent) == 1
    willing = collector(server, tmp_path, times_known=True)
    willing.person("ann").answer(1)
    assert len(server.sent) == 2
    assert willing.person("ann").spent.total == 2
    assert here.person("ann").spent.total is None  # as whoever does not agree sees it
    assert here.person("ann").ledger.entries == ()


def test_where_the_times_are_known_the_account_ends_with_the_answers_that_are_kept(tmp_path: Path) -> None:
    m = hush.longitudinal.LGRR(k=2, **NOISY)
    server = Scripted(hush.Spec(m))
    ann = collector(server, tmp_path, times_known=True, maximum_chain=4).person("ann")
    for period in range(6):
        server.view["period"] = period
        ann.answer(period % 2)
    assert ann.spent.chain == 4
    changing, other = [0, 1] * 3, [1, 0] * 3  # which change at the same times
    assert m.history_epsilon(changing, other) <= 4


# The file.


def test_another_current_folder_is_no_other_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    server = Scripted(SPEC)
    for folder in (second, first):
        folder.mkdir()
        monkeypatch.chdir(folder)
        here = collector(server, "answers")
        here.person("somebody").answer(0)
    told = here.person("ann").answer(1)
    for folder in (second, tmp_path):
        monkeypatch.chdir(folder)
        assert here.person("ann").answer(1) == told
    assert len(server.sent) == 3


def test_a_file_that_was_replaced_is_not_used(tmp_path: Path) -> None:
    server = Scripted(SPEC)
    here = collector(server, tmp_path / "one")
    here.person("ann").answer(1)
    collector(server, tmp_path / "two")
    os.replace(tmp_path / "two" / home.FILE, tmp_path / "one" / home.FILE)
    server.view["period"] = 1
    with pytest.raises(ParameterError, match="replaced"):
        here.person("ann").answer(1)
    assert len(server.sent) == 1


def test_a_fork_while_another_thread_writes_can_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The child has none of its parent's threads: it must not wait for one that is in a transaction."""
    monkeypatch.setattr(home, "_PATIENCE", 5.0)
    server = Scripted(SPEC)
    here = collector(server, tmp_path)
    here.person("ann").answer(1)
    inside, end = threading.Event(), threading.Event()

    def write() -> None:
        with here._home.transaction() as sql:
            sql.execute("UPDATE collection SET tries = tries")
            inside.set()
            end.wait()

    writer = threading.Thread(target=write)
    writer.start()
    inside.wait()
    threading.Timer(0.2, end.set).start()  # the fork is asked for before that, and waits
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if here.person("bob").answer(1).state == "accepted" else 2
        finally:
            os._exit(code)
    writer.join()
    assert os.waitpid(child, 0)[1] == 0
    assert here.person("bob").spent.total == 1


def test_a_fork_while_another_thread_asks_the_server_can_answer(tmp_path: Path) -> None:
    server = Scripted(SPEC)
    here = collector(server, tmp_path)
    here.person("ann").answer(1)
    inside, end = threading.Event(), threading.Event()

    def slow(request: httpx.Request) -> None:
        if threading.current_thread() is asking:
            inside.set()
            end.wait()

    server.before = slow
    asking = threading.Thread(target=lambda: here.period)
    asking.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # else it would wait for ever
        code = 1
        try:
            code = 0 if here.person("bob").answer(1).state == "accepted" else 2
        finally:
            os._exit(code)
    told = os.waitpid(child, 0)[1]
    end.set()
    asking.join()
    assert told == 0


# What is over.


@pytest.mark.parametrize("asked", ["period", "spec", "flush"])
def test_the_hash_of_a_value_is_forgotten_when_its_period_is_over(asked: str, tmp_path: Path) -> None:
    server = Scripted(SPEC)
    here = collector(server, tmp_path)
    here.person("ann").answer(2)
    (tag,) = tags(tmp_path)
    server.view["period"] = 1
    _ = here.flush() if asked == "flush" else getattr(here, asked)
    assert tags(tmp_path) == []
    assert tag not in (tmp_path / home.FILE).read_bytes()


@pytest.mark.parametrize("asked", ["period", "spec", "flush"])
def test_the_hash_of_a_value_is_forgotten_when_the_collection_is_closed(asked: str, tmp_path: Path) -> None:
    server = Scripted(SPEC)
    here = collector(server, tmp_path)
    here.person("ann").answer(2)
    (tag,) = tags(tmp_path)
    server.view["status"] = "closed"
    _ = here.flush() if asked == "flush" else getattr(here, asked)
    assert tags(tmp_path) == [b""]
    assert tag not in (tmp_path / home.FILE).read_bytes()
    server.view["status"] = "open"  # as no collector does: the period has its answer
    with pytest.raises(ParameterError, match="first answer stands"):
        here.person("ann").answer(2)
    assert len(server.sent) == 1


def test_a_flush_without_a_server_says_what_waits(tmp_path: Path) -> None:
    server = Scripted(SPEC)
    here = collector(server, tmp_path)
    here.person("ann").answer(2)
    server.before = away
    assert here.flush().waiting == 0


def test_a_period_below_an_earlier_one_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    server = Scripted(SPEC, period=5)
    here = collector(server, tmp_path)
    first = here.person("ann").answer(2)
    assert (first.period, first.told) == (5, None)
    server.view["period"] = 3
    again = here.person("ann").answer(2)
    assert again == first
    assert (again.period, again.told) == (5, 3)
    assert here.period == 5
    assert "period 3, after 5" in caplog.text


def test_of_what_is_told_only_what_is_read_is_kept(tmp_path: Path) -> None:
    server = Scripted(SPEC, horizon="x" * 1000, relayed_only=["y" * 1000], needs_key=None, name="z" * 1000)
    collector(server, tmp_path).person("ann").answer(2)
    with sqlite3.connect(tmp_path / home.FILE) as sql:
        ((view,),) = sql.execute("SELECT view FROM collection")
    assert view == f'{{"chain": ["{ID}"], "needs_key": false, "status": "open"}}'
