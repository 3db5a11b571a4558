"""Every registered mechanism passes the conformance suite, and keeps its promise exactly over the whole range."""

from __future__ import annotations

import math

import pytest

import hush
from hush.testing import check_law, check_loss, check_mechanism
from tests.conftest import APPROXIMATE, example


@pytest.mark.parametrize("k", [2, 3, 6])
def test_conforms(name: str, k: int) -> None:
    check_mechanism(example(name, k, 1.0))


@pytest.mark.parametrize("epsilon", [0.1, 4.0])
def test_conforms_at_small_and_large_epsilon(name: str, epsilon: float) -> None:
    if name == "GM":
        epsilon = min(epsilon, 1.0)
    check_mechanism(example(name, 4, epsilon))


GRID = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.693147, 1.0, 1.5, 2.0, 3.0, 4.0, 5.5, 7.0, 10.0, 13.0, 16.0, 20.0]


def undefined(name: str, epsilon: float, delta: float = 1e-5) -> bool:
    """Where a mechanism's definition ends: GM at epsilon 1, AOLH at its limit of delta."""
    limit = (math.exp(epsilon) - 1) / (9 * math.exp(epsilon) - 1)
    return (name == "GM" and epsilon > 1) or (name == "AOLH" and delta > limit)


@pytest.mark.parametrize("k", range(2, 9))
def test_exact_loss_never_exceeds_epsilon_and_reaches_it_where_tight(name: str, k: int) -> None:
    if name == "LHO":
        assert example(name, k, 1.0).exact_epsilon() == math.inf
        return
    checked = 0
    for epsilon in GRID:
        if undefined(name, epsilon):
            with pytest.raises(hush.errors.ParameterError, match=r"must be .*, got .*; "):
                example(name, k, epsilon)
            continue
        mechanism = example(name, k, epsilon)
        exact = mechanism.exact_epsilon()
        assert exact <= epsilon
        if mechanism.tight:
            assert exact >= epsilon - 1e-9
        checked += 1
    assert checked >= 3


@pytest.mark.parametrize("k", range(2, 9))
@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0])
def test_closed_form_of_the_loss_equals_enumeration(name: str, k: int, epsilon: float) -> None:
    if name == "GM" and epsilon > 1:
        epsilon = 0.5
    if name == "AOLH" and epsilon < 0.01:
        epsilon = 0.01
    mechanism = example(name, k, epsilon)
    check_law(mechanism, 0)
    check_loss(mechanism, 0)


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.05])
@pytest.mark.parametrize("name", sorted(APPROXIMATE))
def test_exact_loss_at_other_deltas(name: str, delta: float) -> None:
    for epsilon in (0.5, 1.0, 3.0):
        if undefined(name, epsilon, delta):
            with pytest.raises(hush.errors.ParameterError):
                example(name, 4, epsilon, delta)
            continue
        mechanism = example(name, 4, epsilon, delta)
        assert mechanism.exact_epsilon() <= epsilon
        if mechanism.tight:
            assert mechanism.exact_epsilon() >= epsilon - 1e-8


def test_loss_at_the_largest_epsilon_is_still_within_the_promise(name: str) -> None:
    if name in {"LHO", "GM", "AOLH"}:
        pytest.skip("has no guarantee, or ends at a smaller epsilon")
    assert example(name, 5, 40.0).exact_epsilon() <= 40.0
