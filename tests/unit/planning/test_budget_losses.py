"""Losses against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import entropy, kendalltau, wasserstein_distance

import hush
from hush.estimation.consistency import simplex
from hush.planning.optimus import LOSSES
from hush.planning.optimus.losses import asked, measure, projected
from hush.planning.optimus.population import population

pytestmark = pytest.mark.slow

COUNTS = np.array([40, 25, 12, 12, 6, 3, 1, 1, 0, 0])
TRUTH = COUNTS / COUNTS.sum()


def losses(name: str, rows: np.ndarray, top: int = 3, counts: np.ndarray = COUNTS) -> np.ndarray:
    return measure(name, population(counts, None), top)[1](rows)


@pytest.fixture
def rows() -> np.ndarray:
    return TRUTH + hush.seeded(7).normal(0.0, 0.05, (40, TRUTH.size))


@pytest.mark.parametrize("name", LOSSES)
def test_a_perfect_estimate_loses_exactly_nothing(name: str) -> None:
    """A threshold of zero asks for no less; with ties, with values that nobody holds, alone and beside other rows."""
    rng = hush.seeded(7)
    for k in (4, 5, 17, 30, 100):
        for most in (2, 5, 1000, 10**6):
            counts = rng.integers(0, most, k) + (np.arange(k) == 0)
            truth = counts / counts.sum()
            rows = np.stack([truth, rng.normal(size=k), truth])
            assert losses(name, rows, counts=counts)[[0, 2]].tolist() == [0.0, 0.0]
            assert losses(name, truth[None], counts=counts).tolist() == [0.0]


@pytest.mark.parametrize("top", [3, 5, 10, 20, 25, 50])
def test_a_share_of_the_top_values_equals_the_threshold_that_says_so(top: int) -> None:
    """1 - 7/10 is a little more than 0.3 in doubles, so that three misses of ten must not be found like that."""
    counts = np.arange(2 * top, 0, -1)
    for hits in range(top + 1):
        row = np.zeros(2 * top)
        row[:hits], row[top : 2 * top - hits] = 2.0, 1.0
        assert losses("f1", row[None], top, counts)[0] == (top - hits) / top
    assert (10 - 7) / 10 == 0.3


@pytest.mark.parametrize("k", [4, 5, 10, 16, 17])
def test_a_share_of_pairs_equals_the_threshold_that_says_so(k: int) -> None:
    pairs, counts = k * (k - 1) // 2, np.arange(k)
    row, due = np.arange(k, dtype=np.float64), 0
    for stop in range(k - 1, 0, -1):  # every exchange of neighbours turns one pair around
        for i in range(stop):
            row[[i, i + 1]] = row[[i + 1, i]]
            due += 2
            assert losses("kendall", row[None], counts=counts)[0] == due / pairs
    assert due == 2 * pairs


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


def orders(row: np.ndarray) -> list[tuple[int, ...]]:
    """Every order in which the values may stand, largest first, ties broken in any way."""
    groups = [np.flatnonzero(row == level).tolist() for level in np.unique(row)[::-1]]
    return [sum(each, ()) for each in itertools.product(*(itertools.permutations(group) for group in groups))]


def test_ties_by_brute_force() -> None:
    """Of equally frequent values the best choice counts; of equal estimates the worst."""
    rng = hush.seeded(7)
    for _ in range(60):
        counts = rng.integers(0, 4, 6) + (np.arange(6) == 0)
        row, top = rng.integers(0, 3, 6).astype(np.float64), int(rng.integers(1, 6))
        truth, named = counts / counts.sum(), orders(row)
        wanted = {frozenset(order[:top]) for order in orders(counts)}
        hits = min(max(len(each & set(order[:top])) for each in wanted) for order in named)
        assert losses("f1", row[None], top, counts)[0] == (top - hits) / top
        discounts = 1 / np.log2(np.arange(2, top + 2))
        gains = [float(truth[list(order[:top])] @ discounts) for order in named]
        best = float(np.sort(truth)[::-1][:top] @ discounts)
        assert losses("ndcg", row[None], top, counts)[0] == pytest.approx(1 - min(gains) / best, abs=1e-12)


def test_values_that_nobody_holds_are_no_finds() -> None:
    """Five of a hundred are held, ten are named: any five others may fill the places, but none of the five."""
    counts = np.r_[np.full(5, 20), np.zeros(95, int)]
    rows = np.stack([np.r_[np.zeros(50), np.ones(50)], np.r_[np.ones(5), np.zeros(95)]])
    assert losses("f1", rows, 10, counts).tolist() == [0.5, 0.0]
    tied = np.array([4, 1, 1, 1, 1, 1, 1])
    assert losses("f1", np.array([[0, 5, 5, 0, 0, 0, 0.0]]), 2, tied).tolist() == [0.5]


@pytest.mark.parametrize("name", ["f1", "ndcg", "kendall"])
def test_the_order_of_the_values_does_not_matter(name: str) -> None:
    rng = hush.seeded(3)
    counts, rows = np.sort(rng.integers(0, 9, 30))[::-1], rng.integers(0, 4, (20, 30)).astype(np.float64)
    due = losses(name, rows, 5, counts)
    for order in (np.arange(30)[::-1], rng.permutation(30)):
        assert losses(name, rows[:, order], 5, counts[order]) == pytest.approx(due, abs=1e-12)


def test_top_values(rows: np.ndarray) -> None:
    for row, loss in zip(rows, losses("f1", rows), strict=True):
        named = {*sorted(range(10), key=lambda v: -row[v])[:3]}
        # Third place is shared by two values: naming either is right, naming both in place of another is not.
        assert loss == pytest.approx(1 - (len({0, 1} & named) + min(len({2, 3} & named), 1)) / 3)
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


@pytest.mark.parametrize("wrong", [lambda: 0.0, lambda truth: 0.0, lambda a, b, c: 0.0])
def test_a_loss_of_the_wrong_arity_is_refused(wrong: object) -> None:
    with pytest.raises(hush.errors.ParameterError, match="loss must be a function of two: the true frequencies"):
        measure(wrong, population(COUNTS, None), 1)  # type: ignore[arg-type]


def test_what_fails_inside_a_loss_of_ones_own_is_not_hidden(rows: np.ndarray) -> None:
    def broken(truth: np.ndarray, estimate: np.ndarray) -> float:
        return len(3)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len"):
        measure(broken, population(COUNTS, None), 1)[1](rows)


@pytest.mark.parametrize(("name", "most"), [("kendall", 2.0), ("f1", 1.0), ("ndcg", 1.0), ("emd", 9.0), ("kl", 5.35)])
def test_a_threshold_that_a_loss_cannot_exceed_is_refused(name: str, most: float, rows: np.ndarray) -> None:
    people, top = population(COUNTS, None), 3 if LOSSES[name].tops else None
    assert asked(name, people, 0.99 * most, top)[2] == 0.99 * most
    with pytest.raises(hush.errors.ParameterError, match=f"threshold must be below .*, which {name} never exceeds"):
        asked(name, people, most, top)
    wild = np.concatenate([rows, -1e3 * rows, np.eye(10)[::-1] * 1e6])
    assert losses(name, wild).max() <= most


@pytest.mark.parametrize("loss", ["l1", "kendall", lambda truth, estimate: 0.0])
def test_top_is_refused_where_it_says_nothing(loss: object) -> None:
    with pytest.raises(hush.errors.ParameterError, match="top must be left out"):
        asked(loss, population(COUNTS, None), 0.1, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("top", [0, 10, -1, 2.5])
def test_the_top_must_leave_something_out(top: object) -> None:
    with pytest.raises(hush.HushError, match="top must be an integer in"):
        measure("f1", population(COUNTS, None), top)  # type: ignore[arg-type]
