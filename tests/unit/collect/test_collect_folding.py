"""Aggregates grow with what is committed, per period and build; and can be had again from what is kept."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa

import hush
from hush.collect.refusals import Refused
from hush.collect.service import Service
from hush.collect.store import builds, folding, rebuilding, retention, tables
from hush.collect.store.alone import alone, trying
from hush.collect.store.collections import StoredCollection
from hush.collect.store.database import Database
from hush.collect.store.folder import ASIDE_SECONDS, Folder
from hush.collect.store.recent import Recent
from hush.estimation import Aggregate
from tests.collecting import DAY, SPEC, HandClock, fold, opened_one, reports_of, send

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
    monkeypatch.setattr(folding, "MOST_GROWTH", 2 * size)
    monkeypatch.setattr(builds, "MOST_TALLIES", 2 * size)
    for i, part in enumerate(PARTS):
        send(service, database, id, part, build=f"app/{i // 2}.{i % 4}")
    steps = [folding.step(database, service.directory.numbered) for _ in range(4)]
    assert [(each.batches, each.more) for each in steps] == [(2, True), (2, True), (2, False), (0, False)]
    assert service.verify(id, who="tests")["equal"]
    assert len(service.show(id, whole=True)["builds"]) == builds.FEWEST_BUILDS + 1


def test_builds_with_large_aggregates_are_fewer(service: Service) -> None:
    few, many = opened_one(service), opened_one(service, hush.Spec(hush.OLH(k=1_000_000, epsilon=2.0)))
    assert [builds.most_builds(service.directory.named(id)) for id in (few, many)] == [256, 16]


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
    specs = service.directory.numbered
    with database.reading() as connection:
        parts, renamed, _ = folding._read(connection, specs, (), Recent())
    seqs = {key: [seq for seq, _ in part] for key, part in parts.items()}
    grown = {key: SPEC.aggregate(PARTS[0]) for key in parts}
    database.write(lambda writing: folding._commit(writing, specs, seqs, grown, renamed)).result()
    with pytest.raises(folding.FoldedTwice):
        database.write(lambda writing: folding._commit(writing, specs, seqs, grown, renamed)).result()
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
    monkeypatch.setattr(builds, "MOST_BUILDS", 2)
    id = opened_one(service)
    for i, part in enumerate(PARTS):
        send(service, database, id, part, build=f"app/{i}")
        fold(database, service)
    send(service, database, id, PARTS[0], build="app/1")  # known, and stays so
    send(service, database, id, PARTS[1], build="app/9", period=0)
    fold(database, service)
    assert service.show(id, whole=True)["builds"] == {
        "app/0": 10,
        "app/1": 11 + 10,
        builds.OTHERS: 12 + 13 + 14 + 15 + 11,
    }
    assert service.verify(id, who="tests")["equal"]
    assert service.exclude(id, builds.OTHERS, who="tests")["n"] == 31
    assert service.verify(id, who="tests")["equal"]


def test_builds_beyond_the_limit_are_tallied_together(
    database: Database, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever says to be another build in each batch makes no step long."""
    monkeypatch.setattr(builds, "MOST_BUILDS", 2)
    tallies = []

    def counted(collection: StoredCollection, records: list[bytes]) -> Aggregate:
        tallies.append(len(records))
        return tallied(collection, records)

    tallied = folding.tallied
    monkeypatch.setattr(folding, "tallied", counted)
    id = opened_one(service)
    for i in range(20):
        send(service, database, id, PARTS[0], build=f"app/{i}")
    assert folding.step(database, service.directory.numbered).batches == 20
    assert sorted(tallies) == [1, 1, 18]
    assert service.verify(id, who="tests")["equal"]


def test_a_step_lets_so_many_aggregates_grow(
    database: Database, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "MOST_KEYS", 2)
    id = opened_one(service)
    for i in range(5):
        send(service, database, id, PARTS[0], build=f"app/{i}")
    steps = [folding.step(database, service.directory.numbered) for _ in range(3)]
    assert [(each.batches, each.more) for each in steps] == [(2, True), (2, True), (1, False)]


def test_a_damaged_aggregate_stops_no_other_collection(
    database: Database, service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(folding, "_MOST_BATCHES", 2)  # those that cannot be folded come first, and fill a step
    damaged, well = opened_one(service), opened_one(service)
    send(service, database, damaged, PARTS[0])
    fold(database, service)
    changed(database, sa.update(tables.aggregate).values(content=b"rotten"))
    for _ in range(3):
        send(service, database, damaged, PARTS[1])
    for _ in range(3):
        send(service, database, well, PARTS[2])
    failed, now = [], [0.0]
    folder = Folder(database, service.directory.numbered, failed=lambda: failed.append(1), steady=lambda: now[0])
    folder.all()
    assert service.estimate(well)["n"] == 36
    assert len(failed) == 1
    assert "verify --repair" in caplog.text
    assert service.show(damaged, whole=True)["pending"] == 33
    assert service.verify(damaged, repair=True, who="ada")["repaired"]
    now[0] += ASIDE_SECONDS
    folder.all()
    assert service.verify(damaged, who="ada") == {
        "id": damaged, "equal": True, "n": 43, "forgotten": 0, "differences": [],
    }  # fmt: skip
    assert len(failed) == 1


def test_an_excluded_build_makes_room_for_another(
    database: Database, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builds, "MOST_BUILDS", 1)
    id = opened_one(service)
    send(service, database, id, PARTS[0], build="bad/1")
    send(service, database, id, PARTS[1], build="good/1")
    fold(database, service)
    service.exclude(id, "bad/1", who="tests")
    send(service, database, id, PARTS[2], build="good/1")
    send(service, database, id, PARTS[3], build="bad/1")
    fold(database, service)
    assert service.show(id, whole=True)["builds"] == {builds.OTHERS: 11, "good/1": 12}
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


def test_what_verify_finds_can_be_repaired(database: Database, service: Service) -> None:
    id = opened_one(service)
    for i, part in enumerate(PARTS[:4]):
        send(service, database, id, part, build=f"app/{i}")
    fold(database, service)
    a = tables.aggregate.c
    due = service.aggregate(id)
    changed(database, sa.update(tables.aggregate).where(a.build == "app/0").values(content=b"rotten"))
    changed(database, sa.delete(tables.aggregate).where(a.build == "app/1"))
    changed(database, sa.update(tables.aggregate).where(a.build == "app/2").values(number=5))
    extra = {"collection": service.directory.named(id).number, "period": 0, "build": "app/9", "number": 10}
    content = SPEC.aggregate(PARTS[0]).to_bytes()
    database.write(lambda c: c.execute(sa.insert(tables.aggregate).values(**extra, content=content))).result()
    told = service.verify(id, repair=True, who="ada")
    assert (told["equal"], told["repaired"], len(told["differences"])) == (False, True, 4)
    assert service.deeds(1)[0]["detail"] == {"equal": False, "repaired": True}
    assert service.aggregate(id) == due
    again = service.verify(id, repair=True, who="ada")
    assert (again["equal"], again["repaired"]) == (True, False)


def test_a_repair_begins_anew_where_something_was_folded_meanwhile(
    database: Database, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another collector may, where the connection that holds the turn was lost."""
    id = opened_one(service)
    send(service, database, id, PARTS[0])
    fold(database, service)
    changed(database, sa.update(tables.aggregate).values(content=SPEC.aggregate(PARTS[1]).to_bytes()))
    rebuilt, times = rebuilding.rebuilt, []

    def between(connection: sa.Connection, collection: StoredCollection, period: int) -> dict[str, Aggregate]:
        found = rebuilt(connection, collection, period)
        times.append(period)
        if len(times) == 2:  # the first one is that of the comparison
            send(service, database, id, PARTS[2])
            fold(database, service)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(rebuilding, "rebuilt", between)
        patched.setattr("hush.collect.store.folding.trying", lambda _: nullcontext(True))
        service.verify(id, repair=True, who="ada")
    assert len(times) == 3
    assert service.aggregate(id) == (SPEC.aggregate(PARTS[0]) + SPEC.aggregate(PARTS[2])).to_bytes()


def test_verify_and_export_see_one_moment(
    database: Database, service: Service, hand: HandClock, tmp_path: Path
) -> None:
    """What is forgotten while another process, or this one, has not read the collection again."""
    id = opened_one(service, horizon=1, keep_days=1)
    send(service, database, id, PARTS[0])
    fold(database, service)
    hand.forward(2 * DAY)
    database.write(partial(retention.advanced, id=id, now=hand.now())).result()
    send(service, database, id, PARTS[1], period=2)
    fold(database, service)
    changed(database, sa.delete(tables.batch).where(tables.batch.c.period == 0))
    assert service.directory.named(id).forgotten_below == 0
    told = service.verify(id, who="tests")
    assert (told["equal"], told["n"], told["forgotten"]) == (True, 11, 10)
    assert service.export(id, tmp_path)["forgotten"] == 10


def test_a_batch_of_a_collection_that_another_collector_made_is_folded(database: Database, service: Service) -> None:
    other = Service(database, service.directory.clock)
    id = opened_one(service)
    send(service, database, id, PARTS[0])
    assert fold(database, other) == 1
    assert other.estimate(id)["n"] == 10
