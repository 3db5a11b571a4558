"""Adaptive mechanisms: strategies, weights at their ends, exact optima against brute force, bad input."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hush
from hush.analysis import choice, pareto, tradeoff
from hush.errors import ParameterError
from hush.mechanisms.adaptive import STRATEGIES

pytestmark = pytest.mark.processor

CLASSES = [hush.ASS, hush.AUE, hush.ALH, hush.ATHE]


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (10, 0.5), (100, 4.0), (300, 8.0)])
def test_the_exact_weighted_choice_beats_every_point_of_a_fine_grid(cls: type, k: int, epsilon: float) -> None:
    m = cls(k=k, epsilon=epsilon)
    best = 0.5 * m.asr() + 0.5 * m.variance()
    if cls is hush.ASS:
        rivals = tradeoff.subset(k, epsilon, np.arange(1, k))
    elif cls is hush.ALH:
        rivals = tradeoff.hashing(k, epsilon, np.arange(2, max(k, int(np.exp(epsilon) + 1)) + 1))
    elif cls is hush.AUE:
        rivals = tradeoff.unary(k, epsilon, np.linspace(0.5, 0.9999, 20_001))
    else:
        rivals = tradeoff.threshold(k, epsilon, np.linspace(0.51, 1.0, 20_001))
    assert best <= 0.5 * rivals.sum(axis=1).min() * (1 + 1e-9)


@pytest.mark.parametrize("cls", CLASSES)
def test_more_weight_on_attacks_never_raises_their_success(cls: type) -> None:
    chosen = [cls(k=50, epsilon=3.0, w_asr=w) for w in (0.0, 0.25, 0.5, 0.75, 1.0)]
    for a, b in itertools.pairwise(chosen):
        assert b.asr() <= a.asr() + 1e-9
        assert b.variance() >= a.variance() - 1e-9


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_every_strategy_keeps_the_guarantee(cls: type, strategy: str) -> None:
    for search in ("exact", "grid"):
        m = cls(k=60, epsilon=3.0, strategy=strategy, search=search)
        assert m.exact_epsilon() <= 3.0
        assert hush.from_dict(m.to_dict()) == m


def test_the_constraint_strategy_holds_its_limit() -> None:
    for cls in CLASSES:
        assert cls(k=100, epsilon=4.0, strategy="constraint").asr() <= 0.1 + 1e-9


def test_all_weight_on_variance_gives_the_least_variance() -> None:
    assert hush.ASS(k=100, epsilon=4.0, w_asr=0.0).omega == 1  # not 2, as the paper says
    assert hush.ALH(k=100, epsilon=4.0, w_asr=0.0).g == hush.OLH(k=100, epsilon=4.0).g
    assert hush.AUE(k=100, epsilon=4.0, w_asr=0.0).p == pytest.approx(0.5)
    assert hush.ATHE(k=100, epsilon=4.0, w_asr=0.0).theta == pytest.approx(hush.THE(k=100, epsilon=4.0).theta)


def test_large_domains_are_searched_closely() -> None:
    k, epsilon = 200_000, 2.0
    m = hush.ASS(k=k, epsilon=epsilon)
    everything = tradeoff.subset(k, epsilon, np.arange(1, k)).sum(axis=1)
    assert everything[m.omega - 1] <= everything.min() * (1 + 1e-9)
    assert hush.ASS(k=k, epsilon=epsilon, search="grid").omega == m.omega


def test_an_elbow_is_that_of_the_whole_grid() -> None:
    grid = tradeoff.paper_grid("p", 60, 3.0)
    due = choice.shortened(float(grid[pareto.elbow(tradeoff.unary(60, 3.0, grid))]))
    for search in ("exact", "grid"):
        assert hush.AUE(k=60, epsilon=3.0, strategy="elbow", search=search).p == due


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    ("wrong", "name"),
    [({"w_asr": -0.1}, "w_asr"), ({"w_asr": 2}, "w_asr"), ({"w_asr": float("nan")}, "w_asr"),
     ({"strategy": "magic"}, "strategy"), ({"search": "wild"}, "search")],
)  # fmt: skip
def test_bad_input(cls: type, wrong: dict[str, object], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must"):
        cls(k=10, epsilon=1.0, **wrong)
