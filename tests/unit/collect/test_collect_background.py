"""What a server does beside answering: chores that go on whatever happens, and events for listeners."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

import hush
from hush.collect.refusals import Refused
from hush.collect.server import chores
from hush.collect.server.access import Access
from hush.collect.server.chores import Chore
from hush.collect.server.grouping import GroupCommit
from hush.collect.server.live import Live
from hush.collect.server.measures import Measures
from hush.collect.server.running import Server
from hush.collect.settings import ServerSettings
from hush.collect.store import tables
from tests.collecting import SPEC
from tests.collectors import in_thread, opened, settings
from tests.waiting import wait_until

WAIT = 60.0
"""Seconds in which what must happen has happened."""


def test_a_chore_that_fails_is_logged_counted_and_tried_again(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chores, "LONGEST_WAIT", 0.0)
    done, failures = threading.Event(), iter([OSError("the disk is full"), ValueError("and more")])

    def work() -> float:
        error = next(failures, None)
        if error is not None:
            raise error
        done.set()
        return 60.0

    measures = Measures()
    chore = Chore("folding", work, measures)
    assert not chore.well
    with caplog.at_level(logging.WARNING):
        chore.start()
        assert done.wait(WAIT)
        wait_until(lambda: chore.well)
        chore.stop()
    assert not chore.well
    said = [record.getMessage() for record in caplog.records]
    assert said == ["folding failed (OSError), is tried again", "folding failed (ValueError), is tried again",
                    "folding works again"]  # fmt: skip
    assert [record.exc_info is not None for record in caplog.records] == [True, False, False]
    assert 'hush_background_failures_total{work="folding"} 2.0' in measures.shown().decode()


def test_a_chore_that_never_began_stops() -> None:
    Chore("nothing", lambda: 1.0, Measures()).stop()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(ServerSettings(**settings(tmp_path)))
    yield made
    made.close()


def collection(server: Server) -> str:
    made = server.service.create(spec=SPEC.to_dict(), name="live", target_n=1_000_000, who="tests")
    return str(made["id"])


def live(server: Server, **more: Any) -> Live:
    access = Access(server.service.directory)
    return Live(server.service, server.database, access, **{"most": 2, "pause": 0.02, "heartbeat": 0.05, **more})


async def some(events: AsyncIterator[bytes], number: int) -> list[bytes]:
    async with asyncio.timeout(WAIT):
        return [await anext(events) for _ in range(number)]


def test_silence_is_filled_with_comments(server: Server) -> None:
    id = collection(server)

    async def listen() -> list[bytes]:
        made = live(server)
        made.admit()
        events = made.events(id, lambda told: told)
        heard = await some(events, 2)
        while not heard[-1].startswith(b"event"):
            heard += await some(events, 1)
        heard += await some(events, 2)
        await events.aclose()  # type: ignore[attr-defined]
        assert made.listeners == 0
        return heard

    whole = asyncio.run(listen())
    assert whole[-2:] == [b": still here\n\n"] * 2
    heard = [each for each in whole if not each.startswith(b":")]
    assert heard[0] == b"retry: 3000\n\n"
    assert heard[1].startswith(b"event: estimate\ndata: {")
    assert heard[1].endswith(b"}\n\n")
    assert len(heard) == 2


def test_places_are_bounded_and_all_go_at_the_end(server: Server) -> None:
    id = collection(server)

    async def listen() -> None:
        made = live(server, most=1, heartbeat=WAIT)
        made.admit()
        with pytest.raises(Refused, match="listeners must be at most 1"):
            made.admit()
        events = made.events(id, lambda told: told)
        await some(events, 2)
        made.stop()
        with pytest.raises(StopAsyncIteration):
            await some(events, 1)
        assert made.listeners == 0
        with pytest.raises(Refused):
            made.admit()

    asyncio.run(listen())


def test_an_estimate_that_fails_is_tried_again(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    id, real, failed = collection(server), server.service.estimate, threading.Event()

    def once(*args: Any, **more: Any) -> Any:
        if not failed.is_set():
            failed.set()
            raise OSError("the store is gone")
        return real(*args, **more)

    monkeypatch.setattr(server.service, "estimate", once)

    async def listen() -> list[bytes]:
        made = live(server, heartbeat=WAIT)
        made.admit()
        events = made.events(id, lambda told: told)
        heard = await some(events, 2)
        await events.aclose()  # type: ignore[attr-defined]
        return heard

    assert b'"n": 0' in asyncio.run(listen())[1]
    assert "an estimate for listeners failed (OSError), is tried again" in caplog.text


def test_listeners_hear_of_a_repair_that_changes_no_number(tmp_path: Path) -> None:
    """A damaged aggregate has as many reports as the one that is due; the event after the repair is the right one."""
    spec = hush.Spec(hush.GRR(k=4, epsilon=4.0))
    wrong = spec.aggregate(spec.privatize(np.full(1000, 3), rng=hush.seeded(1))).to_bytes()
    with in_thread(tmp_path) as served:
        one = opened(served, spec=spec)
        assert served.server is not None
        server = served.server
        assert served.send(one, one.body([0] * 1000)).status_code == 200
        right = served.settled(one, 1000)["estimate"]
        server.database.write(
            lambda writing: writing.execute(sa.update(tables.aggregate).values(content=wrong))
        ).result()
        shown = list[Any]()
        with served.http.stream("GET", f"{one.path}/live", headers={"Authorization": f"Bearer {served.admin}"}) as live:
            for line in live.iter_lines():
                assert not line.startswith(":"), "nothing is told for 15 seconds"
                if not line.startswith("data:"):
                    continue
                shown.append(json.loads(line.removeprefix("data:"))["estimate"])
                if len(shown) == 2:
                    break
                assert server.service.verify(one.id, repair=True, who="tests")["repaired"]
    assert shown[0] != right
    assert shown[1] == right


def test_nothing_goes_on_after_a_server_that_stops_at_once(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with in_thread(tmp_path, stop_seconds=0.0) as served:
        one = opened(served)
        assert served.send(one, one.body([0])).status_code == 200
        assert served.send(one, b"broken").status_code == 400
    assert not [each.name for each in set(threading.enumerate()) - before if each.name.startswith("hush-")]
    assert served.server is not None
    assert served.server.gate.api.state.settled is True
    with in_thread(tmp_path) as served:
        assert served.ask("GET", f"{one.path}/refusals").json() == {"malformed": 1}


def test_chores_end_though_batches_wait_for_a_store_that_is_stuck(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(threading.enumerate())

    async def never(self: GroupCommit) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(GroupCommit, "settled", never)
    with caplog.at_level(logging.ERROR), in_thread(tmp_path, stop_seconds=0.1) as served:
        pass
    assert served.server is not None
    assert served.server.gate.api.state.settled is False
    assert "not all could be settled before the end: batches still wait for the store" in caplog.text
    assert not [each.name for each in set(threading.enumerate()) - before if each.name.startswith("hush-")]
