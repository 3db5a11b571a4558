"""The searches of Optimus for a capacity: the same words, where they end, and how often they run."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import ParameterError
from hush.planning import capacity, optimus
from hush.planning.capri import search
from hush.planning.capri.answer import Evidence

AMOUNTS = np.arange(21)
PEOPLE = np.rint(10_000 * np.exp(-0.5 * ((AMOUNTS - 8) / 4) ** 2) / 9.9).astype(int)
CAP = int(0.95 * (AMOUNTS @ PEOPLE))


def found(method: Any, **more: Any) -> Any:
    asked = {"cap": CAP, "threshold": 0.02, "confirm": 0, "rng": hush.seeded(7), **more}
    return capacity("GRR", PEOPLE, method=method, **asked)


def stepping(at: float, tried: list[float]) -> search.Trial:
    """A budget holds from a certain one on."""

    def trial(epsilon: float) -> Evidence:
        tried.append(epsilon)
        return Evidence(epsilon, epsilon >= at, 0.0, None, 1, 0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0)

    return trial


@pytest.mark.parametrize("at", [0.002, 0.37, 1.0, 3.14159, 9.9995])
def test_searches_end_where_a_step_is(at: float) -> None:
    """By the definition of each: no budget below the step is answered, and none farther above than its last width."""
    tried: list[float] = []
    trial = stepping(at, tried)
    ends = {
        "BS": (search.bisected(trial, 0.001, 10.0, 0.01), 0.011),
        "RBS": (search.bisected(trial, 0.001, 10.0, 0.01, part=0.25), 0.011),
        "MPass": (search.walked(trial, 0.001, 10.0, 4, 10.0), 0.0021),
    }
    for name, (best, width) in ends.items():
        assert best is not None, name
        assert at <= best.epsilon <= at + width, name
    assert all(0.001 <= epsilon <= 10.0 for epsilon in tried)


@pytest.mark.parametrize(
    ("top", "precision", "kept"),
    [
        (40.0, 0.01, {"relaxation": 0.0025}),
        (10.0, 0.001, {"relaxation": 0.00025}),
        (10.0, 0.01, {"relaxation": 0.0049}),
        (40.0, 0.01, {"part": 0.25}),
        (10.0, 0.001, {"part": 0.25}),
        (10.0, 0.01, {"part": 1 / 2.1}),
    ],
)
def test_a_relaxed_search_ends_where_four_digits_are_coarse(top: float, precision: float, kept: Any) -> None:
    """The next number of four digits is farther than what each step shrinks by."""
    for at in np.random.default_rng(5).uniform(1.0, top, 40):
        tried: list[float] = []
        trial = stepping(float(at), tried)

        def counted(epsilon: float, trial: search.Trial = trial, tried: list[float] = tried) -> Evidence:
            assert len(tried) < 1000
            return trial(epsilon)

        best = search.bisected(counted, 0.001, top, precision, **kept)
        assert best is not None
        assert at <= best.epsilon <= at + precision + 0.01 * (1 if at > 10 else 0.1)


def test_chance_alone_never_leaves_a_relaxed_search_with_nothing() -> None:
    """Near the step every other verdict is wrong; far above it all budgets hold, and one of those tried is answered."""
    for seed in range(200):
        rng, tried = np.random.default_rng(seed), dict[float, bool]()

        def trial(epsilon: float, rng: Any = rng, tried: dict[float, bool] = tried) -> Evidence:
            near = abs(epsilon - 1.32) < 0.02
            tried[epsilon] = bool(rng.random() < 0.5) if near else epsilon > 1.32
            return Evidence(epsilon, tried[epsilon], 0.0, None, 1, 0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0)

        best = search.bisected(trial, 0.001, 10.0, 0.01, part=0.25)
        assert best is not None
        assert tried[best.epsilon]
        assert 1.3 <= best.epsilon < 1.4


def test_no_budget_holds_and_all_do() -> None:
    for search_in in (
        lambda trial: search.bisected(trial, 0.001, 10.0, 0.01, part=0.25),
        lambda trial: search.walked(trial, 0.001, 10.0, 4, 10.0),
    ):
        tried: list[float] = []
        assert search_in(stepping(11.0, tried)) is None
        assert max(tried) == 10.0
        least = search_in(stepping(0.0, []))
        assert least is not None
        assert least.epsilon <= 0.012


def test_a_walk_tries_no_budget_twice() -> None:
    tried: list[float] = []
    search.walked(stepping(1.2345, tried), 0.001, 10.0, 5, 10.0)
    assert max(Counter(tried).values()) == 1
    assert len(tried) <= 11 + 4 * 21


def test_the_names_are_those_of_budget_in_any_case() -> None:
    for name in ("BS", "RBS", "DBS", "MPass"):
        plain, lower, made = found(name), found(name.lower()), found(optimus.METHODS[name]())
        assert plain.method == lower.method == made.method == name
        assert plain.epsilon == lower.epsilon == made.epsilon
    assert [e.epsilon for e in found("BS").evidence] == [e.epsilon for e in found("capri").evidence]


def test_parameters_of_a_search_count() -> None:
    wide, narrow = found(optimus.BS(precision=0.5)), found(optimus.BS(precision=0.001))
    assert len(wide.evidence) < len(narrow.evidence)
    assert len(found(optimus.RBS(g=3)).evidence) > len(found(optimus.RBS(g=20)).evidence)
    assert found("RBS", precision=0.5).epsilon == found(optimus.RBS(precision=0.5)).epsilon
    few = found(optimus.Bayes(initial=5, iterations=2))
    assert sum(e.runs > 0 for e in few.evidence) == 8


@pytest.mark.parametrize("metric", ["fn", "tp"])
def test_a_dynamic_search_runs_more_where_it_is_close(metric: str) -> None:
    threshold = 0.02 if metric == "fn" else 0.98
    answer = found(optimus.DBS(least=50), metric=metric, threshold=threshold, runs=100_000)
    runs = [(abs(e.probability - threshold), e.runs) for e in answer.evidence if e.runs]
    assert min(many for _, many in runs) == 2500  # fifty outcomes at the threshold
    assert max(many for _, many in runs) > 10 * 2500
    assert min(runs)[1] >= max(runs)[1]
    assert sum(many for _, many in runs) < 100_000 * len(runs) / 2


@pytest.mark.parametrize("method", ["best", "direct", 7, None, hush.GRR])
def test_other_methods_are_refused(method: object) -> None:
    with pytest.raises(ParameterError, match="method must be one of exact, capri, capri-r, BS, RBS, DBS, MPass"):
        found(method)


def test_a_precision_stands_in_one_place() -> None:
    with pytest.raises(ParameterError, match="precision must be left out beside a method"):
        found(optimus.BS(), precision=0.1)
    with pytest.raises(ParameterError, match="precision must be left out for MPass"):
        found("MPass", precision=0.1)
    with pytest.raises(ParameterError, match="precision"):
        found("BS", precision=-1.0)
