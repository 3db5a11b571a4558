"""What was kept a moment ago is folded out of memory, and the store decides what there is."""

from __future__ import annotations

import dataclasses

import sqlalchemy as sa

from hush.collect.service import Service
from hush.collect.store import folding, tables
from hush.collect.store.database import Database
from hush.collect.store.intake import Arrival, Fate, keep
from hush.collect.store.recent import Recent
from tests.collecting import arrival, kept, opened_one, reports_of

PARTS = [reports_of([i % 4] * (10 + i), seed=i) for i in range(6)]


def keeping(database: Database, recent: Recent, *arrivals: Arrival) -> list[Fate]:
    """Keep batches as a server does: by one statement, and those that are new are held."""
    return database.at_once(lambda connection: keep(connection, arrivals, recent.add)).result()


def read_from_the_store(database: Database) -> dict[int, tuple[int, int, str, bytes, bytes, int, bytes]]:
    b = tables.batch.c
    asked = sa.select(b.seq, b.collection, b.period, b.build, b.id, b.digest, b.accepted, b.records)
    with database.reading() as connection:
        return {
            row[0]: (*row[1:4], bytes(row[4]), bytes(row[5]), row[6], bytes(row[7]))
            for row in connection.execute(asked)
        }


def test_what_is_held_is_what_the_store_has_under_the_same_numbers(database: Database, service: Service) -> None:
    recent, one, other = Recent(), opened_one(service), opened_one(service)
    first, second = (service.directory.named(id).number for id in (one, other))
    batches = [arrival(first if i % 2 else second, part, seed=i, build=f"app/{i}") for i, part in enumerate(PARTS)]
    twice = dataclasses.replace(batches[4])
    lies = dataclasses.replace(batches[5], digest=b"x" * 32, records=PARTS[0].tobytes(), accepted=10)
    closed = arrival(10**6, PARTS[0], seed=99)
    assert keeping(database, recent, *batches[:3]) == [Fate.KEPT] * 3
    fates = keeping(database, recent, batches[1], batches[3], closed, batches[4], twice, batches[5], lies)
    kept_, known, conflict = Fate.KEPT, Fate.KNOWN, Fate.CONFLICT
    assert fates == [known, kept_, Fate.CLOSED, kept_, known, kept_, conflict]
    stored = read_from_the_store(database)
    held: dict[int, Arrival] = {}
    for seq in stored:  # one by one, since numbers of what was there already may be left out
        held |= recent.between(seq, seq) or {}
    assert {seq: dataclasses.astuple(each) for seq, each in held.items()} == stored
    assert len(stored) == 6


def test_a_batch_is_pending_as_soon_as_it_is_there_and_only_then(database: Database, service: Service) -> None:
    number = service.directory.named(opened_one(service)).number
    batch = arrival(number, PARTS[0])
    keeping(database, Recent(), batch, dataclasses.replace(batch))
    kept(database, batch, arrival(number, PARTS[1], seed=1))
    with database.reading() as connection:
        pending = set(connection.execute(sa.select(tables.pending.c.seq)).scalars())
    assert pending == set(read_from_the_store(database))
    assert len(pending) == 2


def test_one_statement_keeps_all_of_a_group_or_nothing(database: Database, service: Service) -> None:
    """Where one batch cannot be written, no other of its group is."""
    number = service.directory.named(opened_one(service)).number
    broken = dataclasses.replace(arrival(number, PARTS[1], seed=1), accepted=None)  # type: ignore[arg-type]
    try:
        keeping(database, Recent(), arrival(number, PARTS[0]), broken)
    except (sa.exc.DBAPIError, TypeError):
        pass
    else:
        raise AssertionError("a batch without a number of records was kept")
    assert read_from_the_store(database) == {}


def test_builds_of_any_allowed_length_are_kept_as_they_are(database: Database, service: Service) -> None:
    number = service.directory.named(opened_one(service)).number
    builds = ["", "a", "ends with a space ", "x" * 64, "y" * 63 + " "]
    batches = [arrival(number, PARTS[0], seed=i, build=build) for i, build in enumerate(builds)]
    assert keeping(database, Recent(), *batches) == [Fate.KEPT] * 5
    assert sorted(row[2] for row in read_from_the_store(database).values()) == sorted(builds)


def folded(database: Database, service: Service, recent: Recent | None) -> dict[tuple[int, int, str], bytes]:
    while folding.step(database, service.directory.numbered, recent=recent).batches:
        pass
    a = tables.aggregate.c
    with database.reading() as connection:
        rows = connection.execute(sa.select(a.collection, a.period, a.build, a.content))
        return {(row[0], row[1], row[2]): bytes(row[3]) for row in rows}


def test_aggregates_are_the_same_out_of_memory_and_out_of_the_store(database: Database, service: Service) -> None:
    """Once with all in memory, once with none, once with some: what is missing there is read."""
    found = []
    for most in (1 << 25, 0, 1200):
        recent = Recent(most_bytes=most)
        number = service.directory.named(opened_one(service)).number
        for i, part in enumerate(PARTS):
            keeping(database, recent, arrival(number, part, seed=i, build=f"app/{i % 2}"))
        assert recent.bytes_held <= most
        rows = folded(database, service, recent)
        found.append({key[1:]: content for key, content in rows.items() if key[0] == number})
        assert len(found[-1]) == 2
    assert found[0] == found[1] == found[2]


def test_what_was_folded_is_not_held(database: Database, service: Service) -> None:
    recent, number = Recent(), service.directory.named(opened_one(service)).number
    keeping(database, recent, *(arrival(number, part, seed=i) for i, part in enumerate(PARTS)))
    assert recent.bytes_held > 0
    folded(database, service, recent)
    assert recent.bytes_held == 0


def test_folding_reads_no_records_that_are_held(database: Database, service: Service) -> None:
    """The records in the store are made others, which only whoever reads them would notice."""
    recent, number = Recent(), service.directory.named(opened_one(service)).number
    keeping(database, recent, arrival(number, PARTS[0]))
    change = sa.update(tables.batch).values(records=PARTS[1].tobytes()[: len(PARTS[0].tobytes())])
    database.write(lambda connection: connection.execute(change)).result()
    (content,) = folded(database, service, recent).values()
    collection = service.directory.numbered(number)
    assert content == folding.tallied(collection, [PARTS[0].tobytes()]).to_bytes()


def test_what_others_folded_makes_room(database: Database, service: Service) -> None:
    """A second collector folds what this one kept: its copies go when others come."""
    recent, number = Recent(most_bytes=3000), service.directory.named(opened_one(service)).number
    for i in range(20):
        keeping(database, recent, arrival(number, PARTS[0], seed=i))
        folded(database, service, None)
    assert recent.bytes_held <= 3000
    keeping(database, recent, arrival(number, PARTS[1], seed=77))
    last = max(read_from_the_store(database))
    assert recent.between(last, last) is not None
