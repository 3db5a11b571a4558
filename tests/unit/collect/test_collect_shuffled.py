"""A shuffled guarantee is stated of what came through relays alone, for the smallest batch, and of nothing else."""

from __future__ import annotations

from typing import Any

import pytest

import hush
import hush.longitudinal
import hush.multidim
from hush.collect.service import Service
from hush.collect.shuffled import ASSUMES, delta_for
from hush.collect.store.database import Database
from hush.planning.shuffling import shuffled_epsilon
from tests.collecting import DAY, SPEC, HandClock, fold, opened_one, reports_of, send


def view(service: Service, id: str) -> dict[str, Any]:
    return service.show(id, whole=True)


def test_where_reports_may_come_without_a_relay_nothing_is_said_of_shuffling(
    service: Service, database: Database
) -> None:
    id = opened_one(service)
    send(service, database, id, reports_of([0, 1] * 500, seed=1))
    assert view(service, id)["shuffled"] is None
    assert "shuffled" not in service.show(id, whole=False)
    assert all(each["shuffled"] is None for each in service.list())


def test_the_smallest_batch_counts_and_not_the_collection(service: Service, database: Database) -> None:
    id = opened_one(service, relayed_only=True)
    for size in (1500, 1000, 4000):
        send(service, database, id, reports_of([0] * size, seed=size))
    fold(database, service)
    told = view(service, id)["shuffled"]
    due = shuffled_epsilon(SPEC.mechanism, 1000, 1e-6)
    assert (told["batch"], told["delta"], told["epsilon"]) == (1000, 1e-6, due.epsilon)
    assert due.epsilon < SPEC.mechanism.epsilon / 2
    assert all(each in told["words"] for each in (*ASSUMES, "1,000", "2-LDP", "1e-06"))


def test_before_any_report_none_is_stated(service: Service) -> None:
    told = view(service, opened_one(service, relayed_only=True))["shuffled"]
    assert told["epsilon"] is None
    assert "no report" in told["words"]


@pytest.mark.parametrize("keep", ["reports", "aggregates"])
def test_a_batch_that_is_forgotten_still_counts(
    service: Service, database: Database, hand: HandClock, keep: str
) -> None:
    id = opened_one(service, relayed_only=True, horizon=1, keep=keep, keep_days=2)
    send(service, database, id, reports_of([0] * 20, seed=1))
    fold(database, service)
    hand.forward(3 * DAY)
    service.maintain()
    send(service, database, id, reports_of([0] * 1000, seed=2), period=3)
    fold(database, service)
    assert view(service, id)["shuffled"]["batch"] == 20


@pytest.mark.parametrize(
    "spec",
    [
        hush.Spec(hush.multidim.SPL(mechanism="GRR", sizes=(2, 3), epsilon=1.0)),
        hush.Spec(hush.longitudinal.LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0)),
    ],
    ids=["several attributes", "over time"],
)
def test_where_nothing_is_proved_nothing_is_stated(service: Service, database: Database, spec: hush.Spec) -> None:
    id = opened_one(service, spec, relayed_only=True)
    values = [[0, 0]] * 10 if hasattr(spec.mechanism, "sizes") else [0] * 10
    send(service, database, id, spec.one_round.privatize(values, rng=hush.seeded(1)))
    told = view(service, id)["shuffled"]
    assert told["epsilon"] is None
    assert "keeps its own guarantee" in told["words"]


@pytest.mark.parametrize("n", [1, 9, 10, 999_999, 1_000_000, 10**9 - 1, 10**9])
def test_the_delta_is_at_most_a_tenth_of_a_person(n: int) -> None:
    assert 0 < delta_for(n) <= min(1e-6, 0.1 / n)
