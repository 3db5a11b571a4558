"""PostgreSQL: several collectors in front of one, commits out of order, and a server that goes and comes back."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import sqlalchemy as sa

from hush.collect.envelope import new_id
from hush.collect.service import Service
from hush.collect.store import folding, tables
from hush.collect.store.alone import alone
from hush.collect.store.database import Database
from hush.collect.store.intake import Arrival, Fate, keep
from hush.collect.store.recent import Recent
from tests.collecting import DAY, SPEC, HandClock, arrival, fold, kept, made_database, opened_one, reports_of
from tests.collectors import Served, in_thread, opened

PARTS = [reports_of([i % 4] * (10 + i), seed=i) for i in range(4)]


@pytest.fixture
def pair(postgres_url: str) -> Iterator[tuple[Database, Database]]:
    """Two collectors' stores: one database."""
    first, second = made_database(postgres_url), made_database(postgres_url)
    yield first, second
    first.close()
    second.close()


@pytest.fixture
def services(pair: tuple[Database, Database], hand: HandClock) -> tuple[Service, Service]:
    return Service(pair[0], hand), Service(pair[1], hand)


def waiting_locks(database: Database) -> int:
    """How many wait for a lock of this database, at the moment."""
    text = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with database.reading() as connection:
        return int(connection.execute(sa.text(text)).scalar_one())


def in_threads(*works: Any) -> list[BaseException]:
    """Do everything at once, to its end; what went wrong."""
    wrong: list[BaseException] = []

    def guarded(work: Any) -> None:
        try:
            work()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=guarded, args=[work]) for work in works]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return wrong


def test_what_is_committed_out_of_order_is_folded_once(
    pair: tuple[Database, Database], services: tuple[Service, Service]
) -> None:
    """A transaction draws the lower number, and commits after a higher one has been folded."""
    database, service = pair[0], services[0]
    id = opened_one(service)
    number = service.directory.named(id).number
    with pair[1]._writing.connect() as slow, slow.begin() as transaction:
        assert keep(slow, [arrival(number, PARTS[0], seed=0)]) == [Fate.KEPT]
        assert kept(database, arrival(number, PARTS[1], seed=1)) == [Fate.KEPT]
        assert fold(database, service) == 1
        assert service.aggregate(id) == SPEC.aggregate(PARTS[1]).to_bytes()
        assert fold(database, service) == 0
        transaction.commit()
    assert fold(database, service) == 1
    assert fold(database, service) == 0
    assert service.aggregate(id) == (SPEC.aggregate(PARTS[0]) + SPEC.aggregate(PARTS[1])).to_bytes()
    b = tables.batch.c
    with database.reading() as connection:
        order = list(connection.execute(sa.select(b.accepted).order_by(b.seq)).scalars())
    assert order == [10, 11]  # the one that came last has the lower number
    assert service.verify(id, who="tests")["equal"]


def test_a_transaction_that_is_rolled_back_leaves_nothing(
    pair: tuple[Database, Database], services: tuple[Service, Service]
) -> None:
    id = opened_one(services[0])
    number = services[0].directory.named(id).number
    with pair[1]._writing.connect() as slow, slow.begin() as transaction:
        keep(slow, [arrival(number, PARTS[0], seed=0)])
        transaction.rollback()
    assert fold(pair[0], services[0]) == 0
    assert kept(pair[0], arrival(number, PARTS[0], seed=0)) == [Fate.KEPT]
    assert fold(pair[0], services[0]) == 1


def test_two_collectors_keep_each_batch_once(
    pair: tuple[Database, Database], services: tuple[Service, Service]
) -> None:
    """Both get the same batches in other orders and groups, and some of their own, while both fold."""
    id = opened_one(services[0])
    number = services[0].directory.named(id).number
    services[1].directory.refresh()
    common = [arrival(number, PARTS[i % 4], seed=i, build=f"app/{i % 3}") for i in range(200)]
    own = [[arrival(number, PARTS[i % 4], seed=1000 * (j + 1) + i) for i in range(50)] for j in range(2)]
    fates: list[list[tuple[bytes, Fate]]] = [[], []]

    def work(j: int) -> None:
        rng = np.random.default_rng(j)
        every: list[Arrival] = [*common, *own[j]]
        shuffled = [every[i] for i in rng.permutation(len(every))]
        while shuffled:
            size = int(rng.integers(1, 30))
            group, shuffled = shuffled[:size], shuffled[size:]
            for each, fate in zip(group, kept(pair[j], *group), strict=True):
                fates[j].append((each.id, fate))

    done = threading.Event()

    def folder(j: int) -> None:
        while not done.is_set():
            try:
                folding.step(pair[j], services[j].directory.numbered)
            except folding.FoldedTwice:
                continue

    folders = [threading.Thread(target=folder, args=[j]) for j in range(2)]
    for each in folders:
        each.start()
    wrong = in_threads(lambda: work(0), lambda: work(1))
    done.set()
    for each in folders:
        each.join()
    assert wrong == []
    assert Counter(id for some in fates for id, fate in some if fate is Fate.KEPT) == {
        each.id: 1 for each in [*common, *own[0], *own[1]]
    }
    assert {fate for some in fates for _, fate in some} == {Fate.KEPT, Fate.KNOWN}
    fold(pair[1], services[1])
    told = services[1].verify(id, who="tests")
    assert told["equal"]
    assert told["n"] == sum(each.accepted for each in [*common, *own[0], *own[1]])


def test_one_collector_folds_at_a_time(pair: tuple[Database, Database], services: tuple[Service, Service]) -> None:
    id = opened_one(services[0])
    kept(pair[0], arrival(services[0].directory.named(id).number, PARTS[0]))
    with alone(pair[0]):
        assert folding.step(pair[1], services[1].directory.numbered).batches == 0
    assert folding.step(pair[1], services[1].directory.numbered).batches == 1
    assert services[0].estimate(id)["n"] == 10


@pytest.mark.parametrize("there", [True, False])
def test_two_that_fold_at_once_lose_nothing(
    pair: tuple[Database, Database], services: tuple[Service, Service], there: bool
) -> None:
    """The connection that says who folds may be lost, and another collector begins: each has other batches."""
    id = opened_one(services[0])
    number = services[0].directory.named(id).number
    services[1].directory.refresh()
    if there:
        kept(pair[0], arrival(number, PARTS[0], seed=0))
        fold(pair[0], services[0])
    read = []
    for i in (1, 2):
        kept(pair[0], arrival(number, PARTS[i], seed=i))
        with pair[0].reading() as connection:
            parts, renamed, _ = folding._read(connection, services[0].directory.numbered, (), Recent())
        ((key, rows),) = parts.items()
        read.append(({key: [rows[-1][0]]}, {key: SPEC.aggregate(PARTS[i])}, renamed))
    written, go = threading.Event(), threading.Event()

    def commit(j: int) -> None:
        def work(connection: sa.Connection) -> None:
            folding._commit(connection, services[j].directory.numbered, *read[j])
            if j == 0:
                written.set()
                go.wait()

        pair[j].write(work).result()

    def second() -> None:
        written.wait()
        commit(1)

    def release() -> None:
        written.wait()
        while not waiting_locks(pair[0]):
            pass
        go.set()

    assert in_threads(lambda: commit(0), second, release) == []
    told = services[0].verify(id, who="tests")
    assert told["equal"]
    assert told["n"] == there * 10 + 11 + 12


def test_a_collector_that_waits_comes_before_one_that_folds(
    pair: tuple[Database, Database], services: tuple[Service, Service]
) -> None:
    id = opened_one(services[0])
    kept(pair[0], arrival(services[0].directory.named(id).number, PARTS[0]))
    has, end = threading.Event(), threading.Event()

    def wait() -> None:
        with alone(pair[0]):
            has.set()
            end.wait()

    other = threading.Thread(target=wait)
    with alone(pair[1]):
        other.start()
        while not waiting_locks(pair[1]):
            assert other.is_alive()
    assert folding.step(pair[1], services[1].directory.numbered).batches == 0
    has.wait()
    end.set()
    other.join()
    assert folding.step(pair[1], services[1].directory.numbered).batches == 1


def test_a_period_is_pruned_after_what_is_being_kept_of_it(
    pair: tuple[Database, Database], services: tuple[Service, Service], hand: HandClock
) -> None:
    """Pruning waits for transactions that were begun before; those that begin after it hear that it is over."""
    id = opened_one(services[0], horizon=0, keep_days=1)
    number = services[0].directory.named(id).number
    hand.forward(3 * DAY)
    pruner = threading.Thread(target=services[0].maintain)
    with pair[1]._writing.connect() as slow, slow.begin() as transaction:
        assert keep(slow, [arrival(number, PARTS[0], seed=0)]) == [Fate.KEPT]
        pruner.start()
        while not waiting_locks(pair[1]):
            assert pruner.is_alive()
        transaction.commit()
    pruner.join()
    assert kept(pair[1], arrival(number, PARTS[0], seed=1)) == [Fate.PAST]
    assert kept(pair[1], arrival(number, PARTS[0], seed=0)) == [Fate.KNOWN]  # it waits to be folded
    assert fold(pair[1], services[1]) == 1
    services[1].maintain()
    assert kept(pair[1], arrival(number, PARTS[0], seed=0)) == [Fate.PAST]
    assert services[1].estimate(id)["n"] == 10


def test_closing_waits_for_what_is_being_kept(
    pair: tuple[Database, Database], services: tuple[Service, Service]
) -> None:
    id = opened_one(services[0])
    number = services[0].directory.named(id).number
    closer = threading.Thread(target=lambda: services[0].close(id, who="tests"))
    with pair[1]._writing.connect() as slow, slow.begin() as transaction:
        assert keep(slow, [arrival(number, PARTS[0], seed=0)]) == [Fate.KEPT]
        closer.start()
        while not waiting_locks(pair[1]):
            assert closer.is_alive()
        transaction.commit()
    closer.join()
    assert kept(pair[1], arrival(number, PARTS[0], seed=1)) == [Fate.CLOSED]


def test_excluding_while_others_fold_leaves_nothing_of_the_build(
    pair: tuple[Database, Database], services: tuple[Service, Service]
) -> None:
    id = opened_one(services[0])
    number = services[0].directory.named(id).number
    services[1].directory.refresh()
    kept(pair[0], *(arrival(number, PARTS[0], seed=i, build="bad/1") for i in range(50)))
    kept(pair[0], *(arrival(number, PARTS[1], seed=i, build="good/1") for i in range(50, 100)))
    wrong = in_threads(
        lambda: fold(pair[0], services[0]),
        lambda: services[0].exclude(id, "bad/1", who="tests"),
        lambda: services[1].exclude(id, "worse/1", who="tests"),
    )
    assert wrong == []
    fold(pair[1], services[1])
    told = services[1].show(id, whole=True)
    assert (told["n"], told["builds"], told["excluded"]) == (550, {"good/1": 550}, ["bad/1", "worse/1"])
    assert services[1].verify(id, who="tests")["equal"]


def test_both_collectors_may_upgrade_at_once(postgres_url: str) -> None:
    made: list[Database] = []
    assert in_threads(*[lambda: made.append(made_database(postgres_url))] * 4) == []
    assert len(made) == 4
    for each in made:
        each.close()


def test_refusals_of_both_collectors_add_up(services: tuple[Service, Service]) -> None:
    id = opened_one(services[0])
    services[1].directory.refresh()

    def count(service: Service) -> None:
        for _ in range(20):
            service.count_refusals(Counter({(id, "record"): 1, (None, "unknown"): 2}))
            service._refusals.flush()

    assert in_threads(lambda: count(services[0]), lambda: count(services[1])) == []
    assert services[0].refusals() == {"record": 40, "unknown": 80}


def test_commits_are_on_the_disk_whatever_the_server_is_set_to(postgres: Any, postgres_url: str) -> None:
    name = postgres_url.partition("@/")[2].partition("?")[0]
    postgres.psql(f"ALTER DATABASE {name} SET synchronous_commit = off")
    database = made_database(postgres_url)
    shown = database.write(lambda connection: connection.exec_driver_sql("SHOW synchronous_commit").scalar_one())
    assert shown.result() == "on"
    database.close()


def test_readers_of_postgresql_see_one_moment_and_cannot_write(
    pair: tuple[Database, Database], services: tuple[Service, Service]
) -> None:
    id = opened_one(services[0])
    number = services[0].directory.named(id).number
    count = sa.select(sa.func.count()).select_from(tables.batch)
    with pair[0].reading() as connection:
        assert connection.execute(count).scalar_one() == 0
        kept(pair[1], arrival(number, PARTS[0]))
        assert connection.execute(count).scalar_one() == 0
        with pytest.raises(sa.exc.DBAPIError, match="read-only transaction"):
            connection.execute(sa.delete(tables.batch))


def test_two_servers_in_front_of_one_database(postgres_url: str, tmp_path: Path) -> None:
    """Real servers: a batch may go to any, and again to another; what one closes, the other refuses."""
    with in_thread(tmp_path, store=postgres_url) as first, in_thread(tmp_path, store=postgres_url) as second:
        to = opened(first)
        second.server.service.directory.refresh()  # type: ignore[union-attr]
        bodies = [to.body([0, 1, 2, 3] * 5, batch=new_id()) for _ in range(10)]
        wrong: list[str] = []

        def send(served: Served, some: list[bytes]) -> None:
            with httpx.Client(base_url=served.url, timeout=30) as http:
                for data in some:
                    answer = http.post(f"{to.path}/batches", content=data)
                    if answer.status_code != 200:
                        wrong.append(answer.text)

        assert in_threads(lambda: send(first, bodies), lambda: send(second, bodies[::-1])) == []
        assert wrong == []
        assert [served.settled(to, 200)["n"] for served in (first, second)] == [200, 200]
        verified = second.ask("POST", f"{to.path}/verify", token=first.admin)
        assert verified.json()["equal"]
        assert first.ask("POST", f"{to.path}/close").status_code == 200
        late = second.send(to, to.body([0] * 5, batch=new_id()))
        assert (late.status_code, late.json()["reason"]) == (409, "status")
        again = second.send(to, bodies[0])  # what was taken is answered as before
        assert (again.status_code, again.json()["accepted"]) == (200, 20)
