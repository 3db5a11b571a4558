"""Batches come in, each once: the same again, another with its id, too late, too early, pruned."""

from __future__ import annotations

import dataclasses

import pytest
import sqlalchemy as sa

from hush.collect import checking
from hush.collect.refusals import Refused
from hush.collect.service import Service
from hush.collect.store import tables
from hush.collect.store.database import Database
from hush.collect.store.intake import Arrival, Fate
from tests.collecting import DAY, SPEC, HandClock, arrival, fold, kept, opened_one, reports_of

REPORTS = reports_of([0] * 20, seed=1)


def number_of(database: Database, table: sa.Table) -> int:
    with database.reading() as connection:
        return int(connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


@pytest.fixture
def batch(service: Service) -> Arrival:
    """A batch of an open collection."""
    return arrival(service.directory.named(opened_one(service)).number, REPORTS)


def test_a_batch_is_kept_once_however_often_it_comes(database: Database, batch: Arrival) -> None:
    assert kept(database, batch, dataclasses.replace(batch)) == [Fate.KEPT, Fate.KNOWN]
    assert kept(database, batch) == [Fate.KNOWN]
    assert number_of(database, tables.batch) == number_of(database, tables.pending) == 1


def test_other_content_under_the_same_id_is_a_conflict(database: Database, batch: Arrival) -> None:
    other = dataclasses.replace(batch, digest=b"x" * 32)
    assert kept(database, batch, other) == [Fate.KEPT, Fate.CONFLICT]
    assert kept(database, other, batch) == [Fate.CONFLICT, Fate.KNOWN]
    assert number_of(database, tables.batch) == 1


def test_one_id_may_be_used_in_two_collections(database: Database, service: Service, batch: Arrival) -> None:
    other = dataclasses.replace(batch, collection=service.directory.named(opened_one(service)).number)
    assert kept(database, batch, other) == [Fate.KEPT, Fate.KEPT]


def test_a_known_batch_is_known_after_the_end_and_a_new_one_is_not_taken(database: Database, service: Service) -> None:
    id = opened_one(service)
    batch = arrival(service.directory.named(id).number, REPORTS)
    kept(database, batch)
    service.close(id, who="tests")
    late = dataclasses.replace(batch, id=b"n" * 16)
    assert kept(database, batch, late) == [Fate.KNOWN, Fate.CLOSED]
    with pytest.raises(Refused, match="must be open") as refused:
        checking.timely(service.directory, service.directory.named(id), 0)
    assert refused.value.reason.code == "status"


def test_a_draft_takes_nothing(database: Database, service: Service) -> None:
    made = service.create(spec=SPEC.to_dict(), name="draft", who="tests")
    assert kept(database, arrival(service.directory.named(made["id"]).number, REPORTS)) == [Fate.CLOSED]


def test_late_periods_are_taken_until_the_horizon(service: Service, hand: HandClock) -> None:
    id = opened_one(service, horizon=2)
    hand.forward(5.5 * DAY)
    service.maintain()
    found = service.directory.named(id)
    view = service.show(id, whole=False)
    assert (view["period"], view["oldest_period"]) == (5, 3)
    for period, code in ((2, "period-past"), (6, "period-ahead")):
        with pytest.raises(Refused) as refused:
            checking.timely(service.directory, found, period)
        assert refused.value.reason.code == code
    for period in (3, 4, 5):
        checking.timely(service.directory, found, period)


@pytest.mark.parametrize("keep", ["reports", "aggregates"])
def test_nothing_that_was_pruned_can_be_replayed(
    database: Database, service: Service, hand: HandClock, keep: str
) -> None:
    id = opened_one(service, horizon=1, keep=keep, keep_days=1)
    batch = arrival(service.directory.named(id).number, REPORTS)
    kept(database, batch)
    fold(database, service)
    hand.forward(DAY)
    service.maintain()
    assert kept(database, batch) == [Fate.KNOWN]  # late, and still known
    hand.forward(DAY)
    service.maintain()
    assert number_of(database, tables.batch) == 0
    assert kept(database, batch) == [Fate.PAST]
    with pytest.raises(Refused) as refused:
        checking.timely(service.directory, service.directory.named(id), 0)
    assert refused.value.reason.code == "period-past"
    hand.forward(-30 * DAY)  # whatever the clock says then
    again = Service(database, hand)
    again.maintain()
    assert kept(database, batch) == [Fate.PAST]


def test_what_is_pending_is_not_pruned_before_it_is_folded(
    database: Database, service: Service, hand: HandClock
) -> None:
    id = opened_one(service, horizon=0, keep="aggregates")
    batch = arrival(service.directory.named(id).number, REPORTS)
    kept(database, batch)
    hand.forward(3 * DAY)
    service.maintain()
    assert number_of(database, tables.batch) == 1
    assert kept(database, batch) == [Fate.KNOWN]
    assert fold(database, service) == 1
    service.maintain()
    assert number_of(database, tables.batch) == 0
    assert service.show(id, whole=True)["n"] == 20
