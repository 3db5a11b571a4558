"""Aggregates grow with what is committed, per period and build; and can be had again from what is kept."""

from __future__ import annotations

import threading

import pytest
import sqlalchemy as sa

import hush
from hush.collect.refusals import Refused
from hush.collect.service import Service
from hush.collect.store import folding, tables
from hush.collect.store.alone import alone, trying
from hush.collect.store.database import Database
from tests.collecting import SPEC, fold, opened_one, reports_of, send

PARTS = [reports_of([i % 4] * (10 + i), seed=i) for i in range(6)]


def test_aggregates_are_per_period_and_build(database: Database, service: Service) -> None:
    id = opened_one(service)
    for i, part in enumerate(PARTS):
        send(service, database, id, part, period=0, build=f"app/{i % 2}")
    assert fold(database, service) == 6
    assert fold(database, service) == 0
    with database.reading() as connection:
        found = {row.build: row.number for row in connection.execute(sa.select(tables.aggregate))}
    assert found == {"app/0": 10 + 12 + 14, "app/1": 11 + 13 + 15}
    assert service.show(id, whole=True)["n"] == 75


def test_a_step_holds_so_many_bytes_and_at_least_one_batch(
    database: Database, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "MOST_BYTES", 1)
    id = opened_one(service)
    for part in PARTS:
        send(service, database, id, part)
    assert [folding.step(database, service.directory.numbered).batches for _ in range(7)] == [1] * 6 + [0]
    assert service.aggregate(id) == sum(SPEC.aggregate(part) for part in PARTS).to_bytes()  # type: ignore[union-attr]


def test_a_step_holds_so_many_aggregates_and_at_least_one(
    database: Database, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever says to be another build in each batch makes steps short, and no memory full."""
    id = opened_one(service)
    size = service.directory.named(id).tally_bytes
    assert size == SPEC.aggregate(PARTS[0]).tally.nbytes
    monkeypatch.setattr(folding, "MOST_TALLIES", 2 * size)
    for i, part in enumerate(PARTS):
        send(service, database, id, part, build=f"app/{i // 2}.{i % 4}")
    assert [folding.step(database, service.directory.numbered).batches for _ in range(4)] == [2, 2, 2, 0]
    assert service.verify(id, who="tests")["equal"]
    assert len(service.show(id, whole=True)["builds"]) == folding._FEWEST_BUILDS + 1


def test_builds_with_large_aggregates_are_fewer(service: Service) -> None:
    few, many = opened_one(service), opened_one(service, hush.Spec(hush.OLH(k=1_000_000, epsilon=2.0)))
    assert [folding.most_builds(service.directory.named(id)) for id in (few, many)] == [256, 16]


def test_a_step_that_does_not_end_leaves_everything_as_it_was(
    database: Database, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = opened_one(service)
    send(service, database, id, PARTS[0])

    def broken(*_: object) -> None:
        raise RuntimeError("in the middle")

    with monkeypatch.context() as patched:
        patched.setattr(folding, "_over", broken)
        with pytest.raises(RuntimeError, match="in the middle"):
            fold(database, service)
    assert service.estimate(id)["n"] == 0
    assert fold(database, service) == 1
    assert service.estimate(id)["n"] == 10


def test_what_another_one_has_folded_is_not_folded_again(database: Database, service: Service) -> None:
    id = opened_one(service)
    send(service, database, id, PARTS[0])
    with database.reading() as connection:
        parts = folding._read(connection, lambda _: 1)
    seqs = {key: [seq for seq, _ in part] for key, part in parts.items()}
    grown = {key: SPEC.aggregate(PARTS[0]) for key in parts}
    database.write(lambda writing: folding._commit(writing, seqs, grown, [], {key[0]: 9 for key in grown})).result()
    with pytest.raises(folding.FoldedTwice):
        database.write(lambda writing: folding._commit(writing, seqs, grown, [], {key[0]: 9 for key in grown})).result()
    assert service.estimate(id)["n"] == 10


def test_one_at_a_time_changes_aggregates(database: Database, service: Service) -> None:
    id = opened_one(service)
    send(service, database, id, PARTS[0])
    with alone(database):
        assert folding.step(database, service.directory.numbered).batches == 0
        with trying(database) as mine:
            assert not mine
    assert fold(database, service) == 1


def test_whoever_waits_comes_before_whoever_folds(database: Database, service: Service) -> None:
    """Folding tries again at once under load, and would always find the turn free before anybody else does."""
    id = opened_one(service)
    send(service, database, id, PARTS[0])
    has, end = threading.Event(), threading.Event()

    def wait() -> None:
        with alone(database):
            has.set()
            end.wait()

    other = threading.Thread(target=wait)
    with alone(database):
        other.start()
        while not database.folding.waiting:
            assert other.is_alive()
    assert folding.step(database, service.directory.numbered).batches == 0
    has.wait()
    assert folding.step(database, service.directory.numbered).batches == 0
    end.set()
    other.join()
    assert fold(database, service) == 1


def test_builds_beyond_the_limit_are_counted_together(
    database: Database, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "MOST_BUILDS", 2)
    id = opened_one(service)
    for i, part in enumerate(PARTS):
        send(service, database, id, part, build=f"app/{i}")
        fold(database, service)
    send(service, database, id, PARTS[0], build="app/1")  # known, and stays so
    send(service, database, id, PARTS[1], build="app/9", period=0)
    fold(database, service)
    builds = service.show(id, whole=True)["builds"]
    assert builds == {"app/0": 10, "app/1": 11 + 10, folding.OTHERS: 12 + 13 + 14 + 15 + 11}
    assert service.verify(id, who="tests")["equal"]
    assert service.exclude(id, folding.OTHERS, who="tests")["n"] == 31
    assert service.verify(id, who="tests")["equal"]


def test_an_excluded_build_makes_room_for_another(
    database: Database, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "MOST_BUILDS", 1)
    id = opened_one(service)
    send(service, database, id, PARTS[0], build="bad/1")
    send(service, database, id, PARTS[1], build="good/1")
    fold(database, service)
    service.exclude(id, "bad/1", who="tests")
    send(service, database, id, PARTS[2], build="good/1")
    send(service, database, id, PARTS[3], build="bad/1")
    fold(database, service)
    assert service.show(id, whole=True)["builds"] == {folding.OTHERS: 11, "good/1": 12}
    assert service.verify(id, who="tests")["equal"]


def test_excluding_what_is_no_build_is_refused(service: Service) -> None:
    id = opened_one(service)
    with pytest.raises(Refused, match="build must be the name of a client build"):
        service.exclude(id, "x" * 65, who="tests")
    assert service.exclude(id, "never-seen/1", who="tests")["excluded"] == ["never-seen/1"]
    assert service.exclude(id, "never-seen/1", who="tests")["excluded"] == ["never-seen/1"]


def changed(database: Database, change: sa.Update | sa.Delete) -> None:
    database.write(lambda connection: connection.execute(change)).result()


def test_verify_finds_what_is_wrong(database: Database, service: Service) -> None:
    id = opened_one(service)
    for i, part in enumerate(PARTS[:3]):
        send(service, database, id, part, build=f"app/{i}")
    fold(database, service)
    send(service, database, id, PARTS[3], build="app/3")  # is pending, which is no difference
    assert service.verify(id, who="ada") == {"id": id, "equal": True, "n": 33, "forgotten": 0, "differences": []}
    a, b = tables.aggregate.c, tables.batch.c
    with database.reading() as connection:
        content = bytes(connection.execute(sa.select(a.content).where(a.build == "app/0")).scalar_one())
    flipped = content[:60] + bytes([content[60] ^ 1]) + content[61:]
    other = SPEC.aggregate(reports_of([3] * 12, seed=99)).to_bytes()
    changed(database, sa.update(tables.aggregate).where(a.build == "app/0").values(content=flipped))
    changed(database, sa.update(tables.aggregate).where(a.build == "app/2").values(content=other))
    changed(database, sa.delete(tables.batch).where(b.build == "app/1"))
    told = service.verify(id, who="ada")
    assert not told["equal"]
    assert {each["build"]: each["what"] for each in told["differences"]} == {
        "app/0": "the aggregate is damaged",
        "app/1": "the aggregate has 11 reports, and 0 are kept",
        "app/2": "the aggregate is another one than that of the kept reports",
    }
    with pytest.raises(Refused, match="must be intact in the store") as refused:
        service.estimate(id)
    assert refused.value.reason.code == "internal"
    assert [each["detail"] for each in service.deeds(1)] == [{"equal": False}]


def test_verify_finds_a_lost_aggregate_and_a_wrong_number(database: Database, service: Service) -> None:
    id = opened_one(service)
    for i, part in enumerate(PARTS[:2]):
        send(service, database, id, part, build=f"app/{i}")
    fold(database, service)
    a = tables.aggregate.c
    changed(database, sa.delete(tables.aggregate).where(a.build == "app/0"))
    changed(database, sa.update(tables.aggregate).where(a.build == "app/1").values(number=5))
    assert [each["what"] for each in service.verify(id, who="ada")["differences"]] == [
        "10 reports are kept, and no aggregate has them",
        "the aggregate has 11 reports, and is said to have 5",
    ]


def test_a_batch_of_a_collection_that_another_collector_made_is_folded(database: Database, service: Service) -> None:
    other = Service(database, service.directory.clock)
    id = opened_one(service)
    send(service, database, id, PARTS[0])
    assert fold(database, other) == 1
    assert other.estimate(id)["n"] == 10
