"""Answers hold on fresh simulations: the budget satisfies, and a little less of it does not.

A direct answer is wrong with probability 0.05 at most, as it says; over twenty seeds, more than eight wrong ones have
probability below 1e-6 (in truth the tests err far less often). Single answers are compared with margins that cover
both the method's own uncertainty and that of the fresh runs, at 1e-9.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hush
from hush._statistics import sigmas
from hush.planning.optimus import METHODS, Answer, budget
from hush.planning.optimus.drawing import estimates
from hush.planning.optimus.sequential import Test as Sequential

FRESH = 20_000


def satisfied(answer: Answer, epsilon: float, runs: int = FRESH) -> tuple[float, float]:
    """The share of fresh runs that keep the threshold at a budget, and how far chance may move it."""
    q = answer.question
    rows = estimates(q.mechanism(epsilon), q.people, runs, hush.seeded([99, runs]))
    share = float((q.measure(rows) <= q.threshold).mean())
    return share, sigmas() * np.sqrt(max(share * (1 - share), 1 / runs) / runs)


CASES = [
    ("OUE", "l1", 0.002, hush.datasets.msnbc(), {}),
    ("GRR", "kendall", 0.3, hush.datasets.msnbc(), {}),
    ("OLH", "kl", 0.01, hush.datasets.zipf(40, 20_000), {}),
    ("SS", "max", 0.02, hush.datasets.normal(20, 20_000), {}),
    ("HR", "emd", 0.5, hush.datasets.geometric(24, 20_000), {}),
    ("Wheel", "ndcg", 0.02, hush.datasets.zipf(60, 30_000), {"top": 5}),
    ("SHE", "max", 0.02, hush.datasets.normal(20, 20_000), {}),
    ("MSS", "emd", 0.5, hush.datasets.geometric(24, 20_000), {}),
    ("PGR", "l2", 0.001, hush.datasets.zipf(20, 30_000), {"n": 30_000}),
    ("uUE", "l1", 0.003, hush.datasets.normal(20, 20_000), {"parameters": {"sensitive": tuple(range(8))}}),
    ("SUE", "f1", 0.2, hush.datasets.zipf(60, 30_000), {"top": 5}),
]


@pytest.mark.parametrize(("name", "loss", "threshold", "data", "more"), CASES, ids=lambda x: str(x)[:12])
def test_the_budget_satisfies_and_a_twentieth_less_does_not(
    name: str, loss: str, threshold: float, data: hush.datasets.Dataset, more: dict[str, Any]
) -> None:
    answer = budget(name, data, loss=loss, threshold=threshold, runs=40_000, rng=hush.seeded(7), **more)
    assert answer.epsilon is not None
    assert answer.interval is not None
    share, chance = satisfied(answer, answer.epsilon)
    assert share + chance >= 0.9
    low, high = answer.interval
    assert low < high == answer.epsilon
    below, chance = satisfied(answer, low)
    assert below - chance < 0.9
    if low >= 0.95 * high:  # otherwise so many runs do not tell them apart
        below, chance = satisfied(answer, 0.95 * answer.epsilon)
        assert below - chance < 0.9
    else:
        assert loss == "f1" or name == "MSS"  # whose moduli and subsets change with the budget


def test_answers_are_wrong_as_rarely_as_they_say() -> None:
    counts = hush.datasets.zipf(12, 5000).counts
    truth = budget("GRR", counts, loss="l1", threshold=0.01, runs=200_000, rng=hush.seeded(1))
    assert truth.interval is not None
    wrong = 0
    for seed in range(20):
        answer = budget("GRR", counts, loss="l1", threshold=0.01, runs=4000, rng=hush.seeded([2, seed]))
        assert answer.interval is not None
        low, high = answer.interval
        wrong += not (low <= truth.interval[1] and high >= truth.interval[0])
    assert wrong <= 8


def test_methods_agree_on_msnbc() -> None:
    """1000 runs tell the share to within 0.03 (3 sigma); there, that is 4 % of the budget. Precision adds 0.01."""
    found = {
        name: budget(
            "SUE", hush.datasets.msnbc(), loss="kendall", threshold=0.2, method=name, rng=hush.seeded(7), runs=4000
        ).epsilon
        for name in METHODS
    }
    assert max(found.values()) - min(found.values()) < 0.06 * max(found.values()) + 0.02, found  # type: ignore[type-var,operator]


def test_a_sequential_test_errs_no_more_than_stated() -> None:
    """Looked at after every ten runs, at the very value, where each verdict is wrong: at most 0.05 for either."""
    test, rng = Sequential(0.9, 0.03), hush.seeded(4)
    tests, wrong = 2000, 0
    hits = np.cumsum(rng.random((tests, 600)) < 0.9, axis=1)
    for row in hits:
        wrong += any(test.verdict(int(row[i]), i + 1, 0.05, 0.05) is not None for i in range(9, 600, 10))
    assert wrong / tests < 0.1 + sigmas() * np.sqrt(0.1 * 0.9 / tests)
