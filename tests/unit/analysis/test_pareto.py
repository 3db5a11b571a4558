"""Pareto fronts with known answers, degenerate ones, ties, and one point."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import hush
from hush.analysis import optimal, pareto, tradeoff, variance
from hush.errors import ParameterError

SELECTORS = [
    pareto.utopia,
    pareto.weighted_sum,
    pareto.elbow,
    pareto.constraint,
    pareto.hypervolume,
    pareto.tchebycheff,
]
clouds = arrays(np.float64, st.tuples(st.integers(1, 25), st.integers(2, 4)), elements=st.integers(0, 6))


@given(clouds)
def test_the_front_is_what_nothing_dominates(points: np.ndarray) -> None:
    kept = pareto.front(points)
    for i, row in enumerate(points):
        dominated = any((other <= row).all() and (other < row).any() for other in points)
        assert kept[i] == (not dominated)


@given(clouds.filter(lambda p: p.shape[1] == 2))
def test_every_selector_chooses_from_the_front(points: np.ndarray) -> None:
    kept = pareto.front(points / 6)
    for select in SELECTORS:
        assert kept[select(points / 6)]


@pytest.mark.parametrize("select", SELECTORS, ids=lambda s: s.__name__)
def test_one_point_and_ties(select: object) -> None:
    assert select([[0.3, 0.4]]) == 0  # type: ignore[operator]
    assert select([[0.3, 0.4], [0.3, 0.4]]) == 0  # type: ignore[operator]
    assert select([[0.9, 0.9], [0.3, 0.4]]) == 1  # type: ignore[operator]


def test_selectors_on_a_known_front() -> None:
    points = [[0.05, 0.90], [0.10, 0.50], [0.20, 0.22], [0.50, 0.15], [0.90, 0.05]]
    assert pareto.utopia(points) == 2
    assert pareto.weighted_sum(points) == 2
    assert pareto.weighted_sum(points, [1, 0]) == 0
    assert pareto.weighted_sum(points, [0, 1]) == 4
    assert pareto.weighted_sum(points, [3, 1]) == 1
    assert pareto.elbow(points) == 2
    assert pareto.constraint(points) == 1
    assert pareto.constraint(points, 0.6) == 3
    assert pareto.constraint(points, 0.01) == pareto.utopia(points)
    assert pareto.hypervolume(points) == 2
    assert pareto.hypervolume(points, [0.3, 1.0]) == 1
    assert pareto.hypervolume([[0.5, 2.0], [0.6, 1.5]]) == pareto.utopia([[0.5, 2.0], [0.6, 1.5]])
    assert pareto.tchebycheff(points) == 2
    assert pareto.tchebycheff(points, [10, 1]) == 0


def test_more_weight_on_an_objective_never_makes_it_worse() -> None:
    rng = np.random.default_rng(1)
    points = rng.random((60, 2))
    chosen = [points[pareto.weighted_sum(points, [w, 1 - w])] for w in np.linspace(0, 1, 21)]
    assert all(a[0] >= b[0] and a[1] <= b[1] for a, b in itertools.pairwise(chosen))


def test_the_papers_choices_at_k_100_and_epsilon_4() -> None:
    """Figure 7: p = 0.818, g = 13, omega = 7, theta = 0.783 on its grids, against 56, 2 and 0.816."""
    curves = {
        "omega": (tradeoff.subset, 7),
        "g": (tradeoff.hashing, 13),
        "p": (tradeoff.unary, 0.818),
        "theta": (tradeoff.threshold, 0.783),
    }
    for name, (curve, printed) in curves.items():
        grid = tradeoff.paper_grid(name, 100, 4.0)
        found = curve(100, 4.0, grid, design="paper")
        assert grid[pareto.weighted_sum(found)] == pytest.approx(printed, abs=5e-4)
    assert (optimal.hash_range(4.0), optimal.subset_size(100, 4.0)) == (56, 2)
    assert optimal.threshold(4.0) == pytest.approx(0.816, abs=5e-4)


@pytest.mark.parametrize(("k", "epsilon"), [(5, 0.5), (100, 1.0), (1000, 3.0)])
def test_curves_are_those_of_the_mechanisms(k: int, epsilon: float) -> None:
    cases = [
        (tradeoff.subset, 2, hush.SS(k=k, epsilon=epsilon, omega=2)),
        (tradeoff.unary, 0.8, hush.UE(k=k, epsilon=epsilon, p=0.8)),
        (tradeoff.hashing, 7, hush.LH(k=k, epsilon=epsilon, g=7)),
        (tradeoff.threshold, 0.7, hush.THE(k=k, epsilon=epsilon, theta=0.7)),
    ]
    for curve, parameter, m in cases:
        assert curve(k, epsilon, [parameter])[0] == pytest.approx([m.asr(), m.variance(1, 1 / k)], rel=1e-8)
        printed = curve(k, epsilon, [parameter], design="paper")[0]
        assert printed == pytest.approx([m.asr(), m.variance()], rel=1e-8)
    subset = tradeoff.subset(k, epsilon, 2, design="paper")
    assert subset[1] == pytest.approx(variance.subset_selection(k, epsilon, 2))


@pytest.mark.parametrize(
    ("act", "parameter"),
    [
        (lambda: pareto.front([]), "points"),
        (lambda: pareto.front([[1.0]]), "points"),
        (lambda: pareto.front([[np.nan, 1.0]]), "points"),
        (lambda: pareto.elbow([[1.0, 1.0, 1.0]]), "points"),
        (lambda: pareto.weighted_sum([[1, 2]], [1]), "weights"),
        (lambda: pareto.weighted_sum([[1, 2]], [0, 0]), "weights"),
        (lambda: pareto.weighted_sum([[1, 2]], [-1, 2]), "weights"),
        (lambda: pareto.tchebycheff([[1, 2]], [np.nan, 2]), "weights"),
    ],
)
def test_bad_input(act: object, parameter: str) -> None:
    with pytest.raises(ParameterError, match=f"^{parameter} must"):
        act()  # type: ignore[operator]


def test_fronts_of_seven_objectives() -> None:
    """By brute force over all pairs of rows."""
    rows = np.random.default_rng(4).integers(0, 4, (120, 7)).astype(float)
    kept = pareto.front(rows)
    for row, on in zip(rows, kept, strict=True):
        assert on == (not any((other <= row).all() and (other < row).any() for other in rows))
    assert 0 < kept.sum() < 120
    for choose in (pareto.utopia, pareto.weighted_sum, pareto.tchebycheff):
        assert kept[choose(rows)]
