"""`hush.plan` with groups: the error in each is that of its own people, and can be what the budget is chosen for."""

from __future__ import annotations

import math

import pytest

import hush
from hush.errors import ParameterError
from hush.planning.objectives import Z95, Setting, objective

DISTRICTS = {"north": 5200, "east": 8000, "south": 4200, "west": 2600}


def test_the_error_in_a_group_is_that_of_its_people() -> None:
    plan = hush.plan(k=12, error=0.01, groups=DISTRICTS)
    assert plan.wishes.n == 20_000
    for choice in (plan.first, *plan.worth_a_thought):
        assert [each.name for each in choice.group_errors] == ["west", "south", "north", "east"]
        for each in choice.group_errors:
            assert each.n == DISTRICTS[str(each.name)]
            assert each.error == objective("margin").measure(choice.mechanism, Setting(n=each.n))
            assert each.reaches is (each.error <= 0.01)
        assert choice.smallest_group == choice.group_errors[0]
        assert choice.overall_error == choice.numbers["error"] <= 0.01


def test_a_margin_follows_from_the_exact_formula_of_a_fixed_population() -> None:
    plan = hush.plan(k=12, n=20_000, max_epsilon=1.0, smallest_group=2600)
    grr = next(choice for choice in plan.choices if choice.name == "GRR")
    p, q = grr.mechanism.p_star, grr.mechanism.q_star  # type: ignore[attr-defined]
    mean = (p * (1 - p) / 12 + q * (1 - q) * 11 / 12) / (p - q) ** 2
    for n, error in ((20_000, grr.overall_error), (2600, grr.smallest_group.error)):  # type: ignore[union-attr]
        assert error == pytest.approx(Z95 * math.sqrt(mean / n), rel=1e-9)
    assert grr.group_errors == ()
    assert grr.people_needed is None
    assert plan.least_for_groups is None


@pytest.mark.parametrize(("metric", "error"), [("margin", 0.03), ("mse", 2e-4), ("mae", 0.012)])
@pytest.mark.parametrize("worst", [False, True])
def test_the_wish_can_hold_in_every_group(metric: str, error: float, worst: bool) -> None:
    wish = {"k": 6, "groups": DISTRICTS, "error": error, "metric": metric, "worst": worst}
    plan = hush.plan(**wish, in_every_group=True)  # type: ignore[arg-type]
    assert plan.feasible
    for choice in plan.choices:
        assert choice.smallest_group is not None
        assert choice.numbers["error"] == choice.smallest_group.error <= error * (1 + 1e-9)
        assert choice.overall_error < choice.smallest_group.error
    assert all(each.reaches for each in plan.first.group_errors)
    alone = hush.plan(k=6, n=2600, error=error, metric=metric, worst=worst)
    assert {c.name: c.mechanism for c in plan.choices} == {c.name: c.mechanism for c in alone.choices}


def test_what_every_group_would_need_is_said_where_it_is_not_asked_for() -> None:
    plan = hush.plan(k=12, error=0.03, groups=DISTRICTS, max_epsilon=1.5)
    assert plan.least_for_groups is not None
    name, epsilon = plan.least_for_groups
    every = hush.plan(k=12, error=0.03, groups=DISTRICTS, matters="privacy", in_every_group=True)
    assert (name, epsilon) == (every.first.name, every.first.numbers["epsilon"])
    assert epsilon > plan.first.numbers["epsilon"]


@pytest.mark.parametrize("metric", ["margin", "mse", "mae"])
def test_a_group_needs_so_many_people_and_no_fewer(metric: str) -> None:
    error = {"margin": 0.02, "mse": 1e-4, "mae": 0.008}[metric]
    plan = hush.plan(k=9, n=30_000, error=error, metric=metric, smallest_group=900)
    for choice in (plan.first, *plan.worth_a_thought):
        needed = choice.people_needed
        assert needed is not None
        measured = [objective(metric).measure(choice.mechanism, Setting(n=n)) for n in (needed - 1, needed)]
        assert measured[1] <= error * (1 + 1e-12) < measured[0]


def test_impossible_in_every_group_says_how_many_each_would_need() -> None:
    plan = hush.plan(k=12, error=0.01, groups=DISTRICTS, in_every_group=True, max_epsilon=1.0)
    assert not plan.feasible
    assert "people in every group instead of 2,600" in " ".join(each.words for each in plan.relaxations)


def test_groups_travel_in_plain_data() -> None:
    told = hush.plan(k=5, error=0.05, groups=DISTRICTS).to_dict()
    assert told["wishes"]["smallest_group"] == 2600
    assert told["groups"] == DISTRICTS
    assert told["choices"][0]["smallest_group"]["group"] == "west"
    assert "smallest_group" not in hush.plan(k=5, n=20_000, error=0.05).to_dict()["choices"][0]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({}, "n or groups must be given"),
        ({"groups": {}}, "groups must be names with numbers of people"),
        ({"groups": [3, 4]}, "groups must be names with numbers of people"),
        ({"groups": {"a": 0}}, "must be an integer in 1"),
        ({"groups": {"a": -3}}, "must be an integer in 1"),
        ({"groups": {"a": 2.5}}, "must be an integer in 1"),
        ({"groups": {"a": math.nan}}, "must be an integer in 1"),
        ({"groups": {7: 5}}, "groups must have texts as names"),
        ({"groups": {"a": 5, "b": 6}, "n": 12}, "n must be 11, the sum of the groups"),
        ({"groups": {"a": 5}, "smallest_group": 5}, "smallest_group must be left out"),
        ({"n": 10, "smallest_group": 11}, "smallest_group must be an integer in 1..10"),
        ({"n": 10, "smallest_group": 0}, "smallest_group must be an integer in 1..10"),
        ({"n": 10, "in_every_group": True, "error": 0.1}, "in_every_group must stand beside groups"),
        ({"n": 10, "in_every_group": True, "smallest_group": 2}, "in_every_group must stand beside an error"),
    ],
)
def test_bad_groups_are_named(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words.replace("(", r"\(")):
        hush.plan(k=4, **wrong)  # type: ignore[arg-type]
