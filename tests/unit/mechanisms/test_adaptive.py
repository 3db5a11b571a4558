"""Adaptive mechanisms: strategies, weights at their ends, exact optima against brute force, bad input."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hush
from hush.analysis import choice, pareto, tradeoff
from hush.errors import ParameterError
from hush.mechanisms.adaptive import STRATEGIES
from hush.mechanisms.chosen import freed
from hush_studies.refined.protocols import DOMAINS, HIGH, LOW

pytestmark = pytest.mark.processor

CLASSES = [hush.ASS, hush.AUE, hush.ALH, hush.ATHE]


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (10, 0.5), (100, 4.0), (300, 8.0)])
def test_the_exact_weighted_choice_beats_every_point_of_a_fine_grid(cls: type, k: int, epsilon: float) -> None:
    for design in tradeoff.DESIGNS:
        m = cls(k=k, epsilon=epsilon, design=design)
        best = 0.5 * m.asr() + 0.5 * m.variance(1, 1 / k if design == "exact" else 0.0)
        if cls is hush.ASS:
            rivals = tradeoff.subset(k, epsilon, np.arange(1, k), design=design)
        elif cls is hush.ALH:
            buckets = np.arange(2, max(k, int(np.exp(epsilon) + 1)) + 1)
            rivals = tradeoff.hashing(k, epsilon, buckets, design=design)
        elif cls is hush.AUE:
            rivals = tradeoff.unary(k, epsilon, np.linspace(0.5, 0.9999, 20_001), design=design)
        else:
            rivals = tradeoff.threshold(k, epsilon, np.linspace(0.51, 1.0, 20_001), design=design)
        assert best <= 0.5 * rivals.sum(axis=1).min() * (1 + 1e-9)


@pytest.mark.parametrize("cls", CLASSES)
def test_more_weight_on_attacks_never_raises_their_success(cls: type) -> None:
    chosen = [cls(k=50, epsilon=3.0, w_asr=w) for w in (0.0, 0.25, 0.5, 0.75, 1.0)]
    for a, b in itertools.pairwise(chosen):
        assert b.asr() <= a.asr() + 1e-9
        assert b.variance(1, 1 / 50) >= a.variance(1, 1 / 50) - 1e-9


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


def test_all_weight_on_the_error_gives_the_least_error_over_all_values() -> None:
    assert hush.ASS(k=100, epsilon=4.0, w_asr=0.0).omega == hush.SS(k=100, epsilon=4.0).omega == 2
    plain = {hush.ASS: hush.SS, hush.AUE: hush.OUE, hush.ALH: hush.OLH, hush.ATHE: hush.THE}
    rng = np.random.default_rng(7)
    for cls, usual in plain.items():
        m, other = cls(k=100, epsilon=4.0, w_asr=0.0), usual(k=100, epsilon=4.0)
        for people in (np.eye(100)[3], rng.dirichlet(np.ones(100))):  # of any population
            assert m.variances(people).mean() == pytest.approx(m.variance(1, 1 / 100), rel=1e-12)
            assert m.variances(people).mean() <= other.variances(people).mean() * (1 + 1e-12)


def test_the_papers_design_weighs_equation_4() -> None:
    paper = {"k": 100, "epsilon": 4.0, "w_asr": 0.0, "design": "paper"}
    assert hush.ASS(**paper).omega == 1  # not 2, as the paper says
    assert hush.ALH(**paper).g == hush.OLH(k=100, epsilon=4.0).g
    assert hush.AUE(**paper).p == pytest.approx(0.5)
    assert hush.ATHE(**paper).theta == pytest.approx(hush.THE(k=100, epsilon=4.0).theta)


def test_the_exact_error_gives_back_subset_selection_at_380_of_384_points() -> None:
    sizes = [k for domain in DOMAINS.values() for k in domain]
    points = list(itertools.product(sizes, sorted({*HIGH, *LOW})))
    lost = []
    for k, epsilon in points:
        best, usual = hush.ASS(k=k, epsilon=epsilon, w_asr=0.0), hush.SS(k=k, epsilon=epsilon)
        lost.append(usual.variance(1, 1 / k) / best.variance(1, 1 / k) - 1)
    assert (np.sum(np.array(lost) < 1e-8), len(points)) == (380, 384)
    assert max(lost) < 0.015


@pytest.mark.parametrize("m", [hush.ASS(k=5, epsilon=1.3), hush.AUE(k=4, epsilon=2.0), hush.ATHE(k=4, epsilon=2.0)])
def test_the_mean_error_by_enumeration_is_that_of_the_curve_in_every_population(m: hush.FrequencyOracle) -> None:
    outputs = m.outputs()
    adds = np.array([m.decode(m.tally(outputs[i : i + 1]), 1) for i in range(outputs.size)])
    chances = np.array([[m.weight(y, v) * m.copies(y) / m.denominator for y in outputs] for v in range(m.k)], float)
    spread = chances @ adds**2 - (chances @ adds) ** 2  # row v: of a person who holds v
    curve = {"ASS": tradeoff.subset, "AUE": tradeoff.unary, "ATHE": tradeoff.threshold}[m.name()]
    due = float(curve(m.k, m.epsilon, getattr(m, m.choice))[1])
    for people in (np.eye(m.k)[1], np.random.default_rng(7).dirichlet(np.ones(m.k))):
        assert float((people @ spread).mean()) == pytest.approx(due, rel=1e-9)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_spec_tells_what_was_chosen_and_not_by_which_design(cls: type) -> None:
    ours, paper = (cls(k=100, epsilon=4.0, w_asr=0.1, design=design) for design in tradeoff.DESIGNS)
    assert getattr(ours, ours.choice) != getattr(paper, paper.choice)
    for m in (ours, paper):
        assert "design" not in m.to_dict()
        assert hush.from_dict(m.to_dict()) == m == cls(**m.parameters)
        assert hush.Spec(hush.from_dict(m.to_dict())).hash == hush.Spec(m).hash
    again = hush.from_dict(paper.to_dict())  # at another budget it chooses as it did
    assert freed(again) == freed(paper)
    assert freed(paper)["design"] == "paper"
    assert freed(ours)["design"] == "exact"


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
     ({"strategy": "magic"}, "strategy"), ({"search": "wild"}, "search"), ({"design": "printed"}, "design")],
)  # fmt: skip
def test_bad_input(cls: type, wrong: dict[str, object], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must"):
        cls(k=10, epsilon=1.0, **wrong)
