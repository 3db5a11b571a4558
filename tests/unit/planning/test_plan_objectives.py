"""Plans over objectives that a person names: any number of them, attacks among them that no closed form knows."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

import hush
from hush.attacks import inference
from hush.errors import ParameterError
from hush.planning.objectives import OBJECTIVES
from hush.planning.plan import Plan
from hush.planning.wishes import NUMBERS, WEIGHTS, Wishes

SEVEN = ("asr", "error", "attribute", "pools", "changes", "reidentification", "gain")


@pytest.fixture(scope="module")
def planned() -> Plan:
    return hush.plan(k=12, n=20_000, error=0.02, objectives=SEVEN, observed=4, collections=3)


def test_every_choice_has_the_numbers_that_were_named(planned: Plan) -> None:
    for choice in planned.choices:
        assert set(choice.numbers) == {*NUMBERS, *SEVEN}
        m = choice.mechanism
        assert choice.numbers["changes"] == inference.changes(m, reports=4).advantage
        assert choice.numbers["attribute"] == inference.attribute(m).advantage
        assert choice.details["pools"] == choice.numbers["pools"]


def test_the_front_is_over_these_seven(planned: Plan) -> None:
    """By brute force, with an error below the wish counting as that."""
    rows = np.array([[max(c.numbers[n], 0.02 if n == "error" else 0.0) for n in SEVEN] for c in planned.choices])
    logs = np.log(rows).round(6)
    for choice, row in zip(planned.choices, logs, strict=True):
        beaten = any((other <= row).all() and (other < row).any() for other in logs)
        assert choice.on_front == (not beaten)


def test_the_first_has_the_least_product_of_the_seven(planned: Plan) -> None:
    def balance(numbers: dict[str, float]) -> float:
        return sum(math.log(max(numbers[name], 0.02 if name == "error" else 0.0)) for name in SEVEN)

    products = [balance(choice.numbers) for choice in planned.choices]
    assert products[0] == pytest.approx(min(products), abs=1e-9)
    assert "pool inference" in planned.why
    assert "re-identification" in planned.why


def test_one_of_them_may_matter_most() -> None:
    plan = hush.plan(k=12, n=20_000, error=0.02, objectives=("changes", "error", "bits"), matters="changes")
    sound = [each for each in plan.choices if each.protection == "well" and each.numbers["gain"] <= 0.2]
    least = min(each.numbers["changes"] for each in sound)
    assert plan.first in sound
    assert plan.first.numbers["changes"] <= 1.0501 * least
    assert "lower detection of changes protect less" in plan.why


def test_parameters_are_tuned_for_what_was_named() -> None:
    """A subset that is tuned for pools shows no more to pool inference than the one that is tuned for the balance.

    Where it has one member, its row is that of GRR.
    """
    wishes = {"k": 12, "n": 20_000, "error": 0.02, "max_epsilon": 4.0}
    usual, named = hush.plan(**wishes), hush.plan(**wishes, objectives=("error", "pools", "epsilon"), matters="pools")

    def shown(plan: Plan, *names: str) -> float:
        return min(inference.pools(each.mechanism).advantage for each in plan.choices if each.name in names)

    assert shown(named, "tuned SS", "GRR") <= shown(usual, "tuned SS") + 1e-12


def test_attacks_on_a_hundred_thousand_values_are_planned_in_seconds() -> None:
    """It took 51 s for 1,000 values, and did not end for 10,000."""
    names = ("error", "asr", "attribute", "pools", "changes")
    hush.plan(k=20, n=10_000, max_epsilon=2.0, objectives=names)  # which compiles kernels
    started = time.process_time()
    plan = hush.plan(k=100_000, n=10**6, max_epsilon=2.0, objectives=names)
    assert time.process_time() - started < 10.0
    assert {choice.name for choice in plan.choices} >= {"PGR", "tuned PGR", "HR", "SS", "SHE"}


def test_no_field_is_tuned_to_cut_the_values_evenly() -> None:
    """PGR with half as many lines as values hid in which half, by number, a value is; not in which half of any kind."""
    plan = hush.plan(k=100, n=100_000, max_epsilon=4.0, objectives=("error", "attribute"))
    choice = next(choice for choice in plan.choices if choice.name == "tuned PGR")
    halves = np.array([hush.seeded(i).permutation(100) % 2 for i in range(5)])
    found = [inference.cut_rate(choice.mechanism, each).advantage for each in halves]
    assert choice.numbers["attribute"] == pytest.approx(np.mean(found), rel=0.05)


def test_objectives_of_which_closed_forms_know_none() -> None:
    plan = hush.plan(k=12, n=20_000, objectives=("mse", "mae"))
    assert any(choice.name.startswith("tuned") for choice in plan.choices)
    products = [choice.numbers["mse"] * choice.numbers["mae"] for choice in plan.choices]
    assert products[0] == pytest.approx(min(products))


def test_without_names_a_plan_is_as_it_was() -> None:
    plain = hush.plan(k=12, n=20_000, error=0.02)
    assert plain.wishes.compared == NUMBERS
    assert plain.wishes.weights == WEIGHTS
    assert not plain.wishes.more
    assert set(plain.first.numbers) == set(NUMBERS)
    assert set(plain.first.details) == {name for name, each in OBJECTIVES.items() if each.quick}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"objectives": ("asr",)}, "objectives"),
        ({"objectives": ("asr", "asr")}, "objectives"),
        ({"objectives": ("asr", "nonsense")}, "objectives"),
        ({"objectives": ("asr", 3)}, "objectives"),
        ({"objectives": ("asr", "bits"), "error": None}, "objectives"),
        ({"matters": "pools"}, "matters"),
        ({"observed": 1}, "observed"),
        ({"parts": 13}, "parts"),
        ({"collections": 0}, "collections"),
    ],
)
def test_bad_names_and_numbers_are_refused(given: dict[str, object], named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        Wishes(**{"k": 12, "n": 1000, "error": 0.1, **given})  # type: ignore[arg-type]


def test_a_plan_tells_how_far_it_has_come() -> None:
    told: list[float] = []
    hush.plan(k=6, n=5000, error=0.05, progress=told.append)
    assert told == sorted(told)
    assert told[0] == 0.0
    assert 0.9 < told[-1] < 1.0
