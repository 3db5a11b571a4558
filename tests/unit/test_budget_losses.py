"""Losses against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import entropy, kendalltau, wasserstein_distance

import hush
from hush.estimation.consistency import simplex
from hush.planning.optimus import LOSSES
from hush.planning.optimus.losses import measure, projected
from hush.planning.optimus.population import population

COUNTS = np.array([40, 25, 12, 12, 6, 3, 1, 1, 0, 0])
TRUTH = COUNTS / COUNTS.sum()


def losses(name: str, rows: np.ndarray, top: int = 3, counts: np.ndarray = COUNTS) -> np.ndarray:
    return measure(name, population(counts, None), top)[1](rows)


@pytest.fixture
def rows() -> np.ndarray:
    return TRUTH + hush.seeded(7).normal(0.0, 0.05, (40, TRUTH.size))


@pytest.mark.parametrize("name", LOSSES)
def test_a_perfect_estimate_loses_nothing(name: str) -> None:
    untied = np.array([5, 9, 3, 1, 7])
    assert losses(name, (untied / 25)[None], counts=untied) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_non_negative_and_take_each_row_alone(name: str, rows: np.ndarray) -> None:
    together = losses(name, rows)
    assert together.shape == (40,)
    assert (together >= 0).all()
    assert together == pytest.approx([losses(name, row[None])[0] for row in rows])


def test_norms_are_those_of_the_thesis(rows: np.ndarray) -> None:
    gaps = np.abs(rows - TRUTH)
    assert losses("l1", rows) == pytest.approx(gaps.sum(axis=1) / 10)
    assert losses("l2", rows) == pytest.approx(np.linalg.norm(gaps, axis=1) / 10)
    assert losses("max", rows) == pytest.approx(gaps.max(axis=1))


def ordered_pairs(f: np.ndarray, g: np.ndarray) -> float:
    """1 - tau, pair by pair, as the thesis defines concordance."""
    score = 0
    for a, b in itertools.permutations(range(f.size), 2):
        same = (f[a] > f[b] and g[a] > g[b]) or (f[a] <= f[b] and g[a] <= g[b])
        score += 1 if same else -1
    return 1 - score / (f.size * (f.size - 1))


@pytest.mark.parametrize("k", [2, 3, 7, 8, 9, 16, 17, 33, 100])
def test_kendall_counts_ordered_pairs_ties_included(k: int) -> None:
    rng = hush.seeded([7, k])
    for levels in (2, 4, 50):
        counts = rng.integers(0, levels, k) + (np.arange(k) == 0)
        rows = rng.integers(0, levels, (6, k)).astype(np.float64)
        due = [ordered_pairs(counts / counts.sum(), row) for row in rows]
        assert losses("kendall", rows, counts=counts) == pytest.approx(due, abs=1e-12)


def test_kendall_without_ties_is_scipys() -> None:
    rng = hush.seeded(3)
    counts = rng.permutation(500) + 1
    rows = rng.normal(size=(5, 500)) + counts / 200
    due = [1 - kendalltau(counts, row).statistic for row in rows]
    assert losses("kendall", rows, counts=counts) == pytest.approx(due, abs=1e-12)
    assert losses("kendall", -counts[None].astype(float), counts=counts) == pytest.approx(2.0)


def test_top_values(rows: np.ndarray) -> None:
    # Third place is shared by two values: naming either is right.
    right = {0, 1, 2, 3}
    for row, loss in zip(rows, losses("f1", rows), strict=True):
        named = sorted(range(10), key=lambda v: -row[v])[:3]
        assert loss == pytest.approx(1 - len(right & set(named)) / 3)
    for row, loss in zip(rows, losses("ndcg", rows), strict=True):
        named = sorted(range(10), key=lambda v: -row[v])[:3]
        gain = sum(TRUTH[v] / np.log2(i + 2) for i, v in enumerate(named))
        best = sum(x / np.log2(i + 2) for i, x in enumerate([0.4, 0.25, 0.12]))
        assert loss == pytest.approx(1 - gain / best, abs=1e-12)


def test_distributions_are_projected_first(rows: np.ndarray) -> None:
    assert projected(rows) == pytest.approx(np.stack([simplex(row) for row in rows]))
    steps = np.arange(10)
    due = [wasserstein_distance(steps, steps, TRUTH, simplex(row)) for row in rows]
    assert losses("emd", rows) == pytest.approx(due)
    smooth = (COUNTS + 0.5) / 105
    due = [entropy(smooth, (simplex(row) * 100 + 0.5) / 105) for row in rows]
    assert losses("kl", rows) == pytest.approx(due)


def test_a_loss_of_ones_own_sees_the_truth_and_one_estimate(rows: np.ndarray) -> None:
    def first(truth: np.ndarray, estimate: np.ndarray) -> float:
        assert truth == pytest.approx(TRUTH)
        assert estimate.shape == (10,)
        return abs(estimate[0] - truth[0])

    name, own = measure(first, population(COUNTS, None), 1)
    assert name == "first"
    assert own(rows) == pytest.approx(np.abs(rows[:, 0] - 0.4))


@pytest.mark.parametrize("wrong", [float("nan"), "much", None])
def test_a_loss_that_returns_no_number_is_refused(wrong: object, rows: np.ndarray) -> None:
    own = measure(lambda truth, estimate: wrong, population(COUNTS, None), 1)[1]  # type: ignore[arg-type,return-value]
    with pytest.raises(hush.HushError, match="loss must return a number"):
        own(rows)


@pytest.mark.parametrize("top", [0, 10, -1, 2.5])
def test_the_top_must_leave_something_out(top: object) -> None:
    with pytest.raises(hush.HushError, match="top must be an integer in"):
        measure("f1", population(COUNTS, None), top)  # type: ignore[arg-type]
