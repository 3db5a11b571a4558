"""A collector that is killed; `python -m tests.kill_server` kills it again and again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

import hush
from hush.collect.clock import Clock
from hush.collect.envelope import Envelope
from hush.collect.service import Service
from hush.collect.store import folding, tables
from hush.collect.store.database import Database
from hush.collect.store.intake import Arrival, keep
from tests import kill_server

Store = tuple[Database, Service, str]
BATCH, OTHER = "ab" * 16, "cd" * 16


def test_a_killed_collector_has_every_acknowledged_batch_once(store_url: str) -> None:
    found = kill_server.run(store_url, 1, 5)
    assert found["kills"] == 1
    assert found["kept"] == found["sent"] == found["acknowledged"] > 10


def enter(database: Database, service: Service, id: str, envelope: Envelope) -> None:
    """Keep a batch as a server does."""
    number, name = service.directory.named(id).number, bytes.fromhex(envelope.batch)
    arrival = Arrival(number, 0, envelope.build, name, envelope.digest, envelope.number, envelope.records)
    database.write(lambda writing: keep(writing, [arrival])).result()


def fold(database: Database, service: Service) -> None:
    while folding.step(database, service.directory.numbered).batches:
        pass


def nothing(database: Database, service: Service, sent: Envelope) -> None:
    pass


def lose(database: Database, service: Service, sent: Envelope) -> None:
    for table in (tables.pending, tables.batch):
        database.write(lambda writing, table=table: writing.execute(sa.delete(table))).result()


def add(database: Database, service: Service, sent: Envelope) -> None:
    other = Envelope(sent.collection, sent.spec_hash, OTHER, 0, sent.build, sent.size, sent.records)
    enter(database, service, sent.collection, other)


def change(database: Database, service: Service, sent: Envelope) -> None:
    other = bytes(7 - each for each in sent.records)
    database.write(lambda writing: writing.execute(sa.update(tables.batch).values(records=other))).result()


def fold_again(database: Database, service: Service, sent: Envelope) -> None:
    fold(database, service)
    seqs = sa.select(tables.batch.c.seq)
    once_more = sa.insert(tables.pending).from_select(["seq"], seqs)
    database.write(lambda writing: writing.execute(once_more)).result()
    fold(database, service)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (nothing, None),
        (lose, "1 acknowledged batches are lost"),
        (add, "there are batches that nobody sent"),
        (change, "a batch is not what was sent"),
        (fold_again, "the aggregate is not that of the batches"),
    ],
)
def test_the_judge_finds_what_is_wrong_with_a_store(
    tmp_path: Path, harm: Callable[[Database, Service, Envelope], None], said: str | None
) -> None:
    store = str(tmp_path / "judged.db")
    id, spec, key = kill_server.collection(store)
    reports = spec.privatize(np.arange(8), rng=hush.seeded(1))
    batch = Envelope(id, spec.hash, BATCH, 0, "killed/1", 1, reports.tobytes())
    sent = kill_server.Sent(key, "", {BATCH: batch.to_bytes()}, {BATCH})
    database = Database(store)
    try:
        service = Service(database, Clock())
        enter(database, service, id, batch)
        harm(database, service, batch)
        service.stop()
    finally:
        database.close()
    if said is None:
        assert kill_server.judged(store, id, spec, sent)["reports"] == 8
        return
    with pytest.raises(AssertionError, match=said):
        kill_server.judged(store, id, spec, sent)
