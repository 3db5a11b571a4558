"""What is kept, for how long, and what can be done without it."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from hush.collect.refusals import Refused
from hush.collect.service import Service
from hush.collect.store import retention, tables
from hush.collect.store.database import Database
from tests.collecting import DAY, SPEC, HandClock, fold, opened_one, reports_of, send

FIRST, SECOND = reports_of([0] * 40, seed=1), reports_of([1] * 30, seed=2)


def records(database: Database) -> list[bytes | None]:
    with database.reading() as connection:
        return list(connection.execute(sa.select(tables.batch.c.records)).scalars())


def test_reports_go_after_so_many_days_and_aggregates_stay(
    database: Database, service: Service, hand: HandClock, tmp_path: Path
) -> None:
    id = opened_one(service, horizon=0, keep_days=2)
    send(service, database, id, FIRST)
    hand.forward(DAY)
    send(service, database, id, SECOND, period=1)
    fold(database, service)
    hand.forward(DAY)
    service.maintain()
    assert len(records(database)) == 2
    hand.forward(DAY)
    service.maintain()
    assert len(records(database)) == 1  # the first period ended two days ago
    told = service.verify(id, who="tests")
    assert (told["equal"], told["n"], told["forgotten"]) == (True, 30, 40)
    assert service.export(id, tmp_path)["n"] == 30
    hand.forward(DAY)
    service.maintain()
    assert records(database) == []
    for what in (lambda: service.verify(id, who="tests"), lambda: service.export(id, tmp_path)):
        with pytest.raises(Refused, match="must still have its reports") as refused:
            what()
        assert refused.value.reason.code == "status"
    assert service.estimate(id)["n"] == 70
    assert service.aggregate(id, period=0) == SPEC.aggregate(FIRST).to_bytes()


def test_where_aggregates_are_kept_reports_go_once_they_are_folded(
    database: Database, service: Service, tmp_path: Path
) -> None:
    id = opened_one(service, keep="aggregates")
    send(service, database, id, FIRST)
    assert records(database) == [FIRST.tobytes()]
    fold(database, service)
    assert records(database) == [None]
    assert service.aggregate(id) == SPEC.aggregate(FIRST).to_bytes()
    with pytest.raises(Refused, match="keeps aggregates only"):
        service.verify(id, who="tests")
    with pytest.raises(Refused, match="keeps aggregates only"):
        service.export(id, tmp_path)


def test_aggregates_that_are_kept_for_days_go_then(database: Database, service: Service, hand: HandClock) -> None:
    id = opened_one(service, horizon=0, keep="aggregates", keep_days=1)
    send(service, database, id, FIRST)
    fold(database, service)
    hand.forward(DAY)
    service.maintain()
    assert service.estimate(id)["n"] == 40
    hand.forward(DAY)
    service.maintain()
    assert service.estimate(id)["n"] == 0


@pytest.mark.parametrize(
    ("days", "seconds", "horizon", "periods"), [(1, DAY, 0, 1), (1, 7 * DAY, 0, 1), (2, 3600, 5, 48), (1, DAY, 9, 9)]
)
def test_days_are_whole_periods_and_at_least_the_horizon(
    service: Service, days: int, seconds: int, horizon: int, periods: int
) -> None:
    id = opened_one(service, keep_days=days, period_seconds=seconds, horizon=horizon)
    assert retention.kept_periods(service.directory.named(id)) == periods


def test_many_batches_go_a_thousand_at_a_time(
    database: Database, service: Service, hand: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MOST_ROWS", 3)
    id = opened_one(service, horizon=0, keep_days=1)
    for _ in range(10):
        send(service, database, id, FIRST)
    fold(database, service)
    hand.forward(2 * DAY)
    service.maintain()
    assert records(database) == []
    assert service.estimate(id)["n"] == 400


def test_a_collection_closes_at_its_end(database: Database, service: Service, hand: HandClock) -> None:
    id = opened_one(service, ends=int(hand.second) + DAY)
    service.maintain()
    assert service.directory.named(id).status == "open"
    hand.forward(DAY)
    assert service.show(id, whole=False)["status"] == "closed"
    service.maintain()
    assert service.directory.named(id).status == "closed"
    assert service.deeds(1) == [
        {"day": "2027-01-16", "who": "its end", "what": "close", "collection": id, "detail": {}}
    ]


def test_a_period_is_in_the_store_before_anybody_hears_of_it(
    database: Database, service: Service, hand: HandClock
) -> None:
    id = opened_one(service)
    hand.forward(2 * DAY)
    assert service.show(id, whole=False)["period"] == 2
    with database.reading() as connection:
        assert connection.execute(sa.select(tables.collection.c.period)).scalar_one() == 2


def test_a_period_that_cannot_be_stored_is_not_handed_out(
    sqlite_database: Database, hand: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(sqlite_database, hand)
    id = opened_one(service)
    hand.forward(2 * DAY)

    def full(*_: object) -> int:
        raise sa.exc.OperationalError("", {}, Exception("disk full"))

    with monkeypatch.context() as patched:
        patched.setattr(retention, "handed_out", full)
        assert service.show(id, whole=False)["period"] == 0
    assert service.show(id, whole=False)["period"] == 2


def test_the_clock_may_jump_back_and_periods_do_not(database: Database, service: Service, hand: HandClock) -> None:
    id = opened_one(service, horizon=1)
    hand.forward(9 * DAY)
    service.maintain()
    hand.forward(-8 * DAY)
    again = Service(database, hand)
    again.maintain()
    view = again.show(id, whole=False)
    assert (view["period"], view["oldest_period"]) == (9, 8)
