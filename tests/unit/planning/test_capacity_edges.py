"""Budgets where they are hard to find: few people, amounts far from zero, and what doubles cannot tell."""

from __future__ import annotations

import numpy as np
import pytest

import hush
from hush.errors import ParameterError
from hush.planning.capri import capacity
from hush.planning.capri.question import CapacityQuestion


@pytest.mark.parametrize("mechanism", ["GRR", "SS"])
def test_amounts_that_are_large_beside_their_differences(mechanism: str) -> None:
    """Every report supports as many values, so amounts that are moved together move the total alone."""
    far, near = (hush.Domain(3, values=(c, c + 1, c + 2)) for c in (1999.0, 0.0))
    asked = {"threshold": 0.05, "confirm": 0}
    found = capacity(mechanism, [500, 200, 300], cap=1_999_900, domain=far, **asked)
    moved = capacity(mechanism, [500, 200, 300], cap=900, domain=near, **asked)
    assert found.epsilon == moved.epsilon
    assert found.probability == pytest.approx(moved.probability, abs=1e-10)


@pytest.mark.parametrize("mechanism", ["GRR", "SS", "HR", "SUE"])
@pytest.mark.parametrize(("counts", "cap"), [([1, 1, 0], 0.5), ([3, 4, 2], 10)])
def test_few_people_at_large_budgets(mechanism: str, counts: list[int], cap: float) -> None:
    found = capacity(mechanism, counts, cap=cap, threshold=0.01, highest=20, confirm=0)
    assert found.epsilon is not None
    assert found.best is not None
    assert found.best.high < 0.01


def test_a_budget_below_one_that_fails_is_found() -> None:
    for highest in (1.3, 1.5, 10.0):
        found = capacity("OUE", [4, 26], cap=19, threshold=0.2, highest=highest, confirm=0)
        assert found.epsilon == 1.224


def test_a_stretch_of_budgets_below_a_clear_failure_is_found() -> None:
    found = capacity("SUE", [4, 5, 0, 2, 1], cap=17, threshold=0.2, confirm=0)
    assert found.epsilon is not None
    assert found.epsilon < 7.3


@pytest.mark.parametrize("threshold", [1e-300, 1e-13, 1 - 1e-13])
def test_probabilities_that_are_not_told_apart_are_refused(threshold: float) -> None:
    with pytest.raises(ParameterError, match="threshold must be at least 1e-12"):
        capacity("GRR", [5, 5], cap=4, threshold=threshold)


@pytest.mark.parametrize(("amount", "cap"), [(1.0, 1e155), (1.0, -1e300), (1e-300, 1e-300)])
def test_numbers_beyond_what_doubles_can_square_are_refused(amount: float, cap: float) -> None:
    with pytest.raises(ParameterError, match="must"):
        capacity("GRR", [5, 5], cap=cap, threshold=0.1, domain=hush.Domain(2, values=(0.0, amount)))


def test_numbers_of_numpy_are_numbers_and_others_are_not() -> None:
    asked = {"threshold": 0.1, "confirm": 0}
    found = capacity("GRR", [100, 200], cap=np.float32(150), spent=np.int64(1), **asked)
    assert (found.cap, found.spent) == (150.0, 1.0)
    with pytest.raises(ParameterError, match="spent must be a number from 0 on"):
        capacity("GRR", [100, 200], cap=150, spent=True, **asked)
    for most in ("1", [1, 2], True, object()):
        with pytest.raises(ParameterError, match="most must leave at least two amounts"):
            capacity("GRR", [100, 200, 300], cap=150, most=most, **asked)  # type: ignore[arg-type]


def test_a_probability_at_the_threshold_is_not_below_it_and_reaches_it() -> None:
    for metric, over, at_most, met in (
        ("fn", True, 0.25, False),
        ("fp", False, 0.75, False),
        ("error", True, 0.25, False),
        ("fn", True, 0.2499, True),
        ("tp", True, 0.75, True),
        ("tn", False, 0.25, True),
        ("tp", True, 0.7501, False),
    ):
        asked = CapacityQuestion(metric, 0.25, 10.0, over)
        assert asked.satisfied(asked.probability(at_most)) is met
