"""Every registered mechanism passes the conformance suite, and keeps its promise exactly over the whole range."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import hush
from hush.exact.loss import smallest_epsilon
from hush.exact.thresholds import SCALE, log_ratio
from hush.mechanisms.histogram.grid import Grid, laplace
from hush.testing import ConformanceError, check_law, check_loss, check_mechanism
from tests.conftest import APPROXIMATE, example


@pytest.mark.parametrize("k", [2, 3, 6])
def test_conforms(name: str, k: int) -> None:
    check_mechanism(example(name, k, 1.0))


@pytest.mark.parametrize("epsilon", [0.01, 4.0, 12.0, 20.0])
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


def test_a_mechanism_that_cannot_be_checked_says_so() -> None:
    with pytest.raises(ConformanceError, match="check it at a smaller k"):
        check_mechanism(hush.SS(k=60, epsilon=0.5))


def test_the_loss_of_grid_noise_equals_that_of_its_whole_channel() -> None:
    """A hand-made table of a dozen steps, small enough to enumerate all pairs of coordinates."""
    shape = [1, 3, 9, 30, 70, 100, 70, 30, 9, 3, 1]
    weights = [w * SCALE // sum(shape) for w in shape]
    weights[5] += SCALE - sum(weights)
    grid = Grid(tuple(weights), -5, 2)
    steps = range(len(grid.null))
    law = [[grid.own[a] * grid.null[b], grid.null[a] * grid.own[b]] for a in steps for b in steps]
    for epsilon in (0.5, 1.0, 2.0, 3.0):
        e = Fraction(math.exp(epsilon))
        due = max(sum(max(row[u] - e * row[1 - u], 0) for row in law) / SCALE**2 for u in (0, 1))
        assert float(grid.excess(epsilon)) == pytest.approx(float(due), rel=1e-9)
    for delta in (0.01, 0.1, 0.3):
        due = smallest_epsilon(law, [1] * len(law), SCALE**2, Fraction(delta))
        assert grid.smallest_epsilon(delta, 1.0) == pytest.approx(due, rel=1e-11)
    assert grid.pure_loss() == math.inf
    full = Grid(tuple(weights[:1] * 2 + weights[2:-2] + weights[-1:] * 2), -5, 0)
    assert full.pure_loss() == 0.0


def test_the_pure_loss_of_laplace_noise_equals_enumeration() -> None:
    grid = laplace(3.0)
    ratios = [Fraction(a, b) for a, b in zip(grid.own, grid.null, strict=True)]
    worst = max(ratios) / min(ratios)
    assert grid.pure_loss() == log_ratio(worst.numerator, worst.denominator)
    assert grid.pure_loss() <= 3.0
    assert sum(grid.null) == SCALE
