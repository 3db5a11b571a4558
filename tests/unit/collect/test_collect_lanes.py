"""Groups of batches side by side, where a store takes them so: each batch counts once all the same."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import suppress
from itertools import pairwise

import pytest
import sqlalchemy as sa

from hush.collect.server.grouping import GroupCommit
from hush.collect.server.measures import Measures
from hush.collect.service import Service
from hush.collect.store import database as databases
from hush.collect.store import intake
from hush.collect.store.database import Database
from hush.collect.store.folding import _runs
from hush.collect.store.intake import Arrival, Fate
from tests.collecting import arrival, fold, opened_one, reports_of
from tests.waiting import wait_until_async

REPORTS = reports_of([0] * 20, seed=1)


def several(service: Service, number: int) -> tuple[str, list[Arrival]]:
    id = opened_one(service)
    return id, [arrival(service.directory.named(id).number, REPORTS, seed=seed) for seed in range(number)]


def test_as_many_groups_as_a_store_has_lanes_are_written_at_once(
    database: Database, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, batches = several(service, 60)
    inside, most, lock = 0, 0, threading.Lock()
    both = threading.Barrier(database.lanes)
    real = intake.keep

    def slowly(*given: object) -> list[Fate]:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        if not both.broken:
            with suppress(threading.BrokenBarrierError):
                both.wait(60)  # nobody goes on alone, as long as a second group is to come
            both.abort()
        found = real(*given)  # type: ignore[arg-type]
        with lock:
            inside -= 1
        return found

    monkeypatch.setattr("hush.collect.server.grouping.keep", slowly)

    async def all_at_once() -> list[Fate]:
        groups = GroupCommit(database, Measures())
        first = asyncio.ensure_future(groups.keep(batches[0]))
        await wait_until_async(lambda: most)
        return await asyncio.gather(first, *map(groups.keep, batches[1:]))

    assert Counter(asyncio.run(all_at_once())) == {Fate.KEPT: 60}
    assert most == database.lanes == (1 if database.embedded else 2)
    assert fold(database, service) == 60
    assert service.verify(id, who="tests")["equal"]


def test_the_same_batch_in_two_groups_is_kept_by_one_of_them(database: Database, service: Service) -> None:
    id, batches = several(service, 30)
    twice = [each for each in batches for _ in range(2)]

    async def all_at_once() -> list[Fate]:
        groups = [GroupCommit(database, Measures()), GroupCommit(database, Measures())]
        return await asyncio.gather(*(groups[i % 2].keep(each) for i, each in enumerate(twice)))

    assert Counter(asyncio.run(all_at_once())) == {Fate.KEPT: 30, Fate.KNOWN: 30}
    assert fold(database, service) == 30
    assert service.verify(id, who="tests")["equal"]


def test_a_connection_that_was_cut_while_idle_is_made_anew(
    database: Database, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    if database.embedded:
        assert database.lanes == 1  # there is no connection that could be cut
        return
    monkeypatch.setattr(databases, "_IDLE_SECONDS", 0.0)
    _, (first, second) = several(service, 2)

    def keep(each: Arrival) -> list[Fate]:
        return database.at_once(lambda connection: intake.keep(connection, [each])).result()

    assert keep(first) == [Fate.KEPT]
    cut = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%given%'"
    )
    with database.locking() as connection:
        assert any(connection.execute(sa.text(cut)).scalars())
    assert keep(second) == [Fate.KEPT]


def test_postgres_does_not_try_to_compress_noise(database: Database, service: Service) -> None:
    assert opened_one(service)
    if database.embedded:
        return
    stored = "SELECT attstorage FROM pg_attribute WHERE attrelid = 'batch'::regclass AND attname = 'records'"
    with database.reading() as connection:
        assert connection.execute(sa.text(stored)).scalar_one() in ("e", b"e")


@pytest.mark.parametrize("seqs", [[], [5], [5, 6, 7], [1, 2, 4, 5, 9], list(range(0, 20, 2))])
def test_runs_are_all_numbers_and_no_others(seqs: list[int]) -> None:
    runs = list(_runs(seqs))
    assert [seq for first, last in runs for seq in range(first, last + 1)] == seqs
    assert all(before[1] + 1 < after[0] for before, after in pairwise(runs))
