"""How often searches simulate: counted, beside what the thesis prints, and the printed numbers by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

import hush
from hush.errors import ParameterError
from hush.planning import budget, optimus

PEOPLE = [5000, 3000, 1500, 400, 100]
WAYS = [
    optimus.BS(),
    optimus.BS(precision=0.001),
    optimus.RBS(),
    optimus.RBS(g=10, precision=0.05),
    optimus.DBS(least=50),
    optimus.MPass(passes=3),
    optimus.MPass(passes=4, g=5),
]


def searched(method: Any, epsilon: tuple[float, float], runs: int = 200) -> optimus.BudgetAnswer:
    asked: dict[str, Any] = {"loss": "l1", "threshold": 0.01, "epsilon": epsilon, "runs": runs}
    return budget("GRR", PEOPLE, method=method, rng=hush.seeded(7), **asked)


@pytest.mark.parametrize("epsilon", [(0.001, 20.0), (0.5, 8.0)])
@pytest.mark.parametrize("method", WAYS, ids=repr)
def test_a_search_costs_about_what_is_printed(method: Any, epsilon: tuple[float, float]) -> None:
    """Beyond the budgets printed: the last end, the answer once it is rounded, and where that fails, a few above it."""
    found, said = searched(method, epsilon), optimus.complexity(method, epsilon=epsilon, runs=200)
    tried = len(found.evidence)
    # A walk's window has 2g + 1 places, of which one or more were tried before.
    least = said.budgets - 1 if not isinstance(method, optimus.MPass) else said.budgets - 4 * method.passes - 1
    assert least <= tried <= said.budgets + 10
    assert found.runs <= said.most + 10 * 200
    if isinstance(method, optimus.DBS):
        assert said.least <= found.runs < tried * 200
    else:
        assert found.runs == tried * 200


def test_bayes_tries_what_it_says_and_closes_in() -> None:
    pytest.importorskip("sklearn")
    method = optimus.Bayes(initial=6, iterations=4)
    found = searched(method, (0.001, 20.0))
    assert optimus.complexity(method, runs=200) == optimus.Complexity(10.0, 2000.0, 2000.0)
    assert 10 <= len(found.evidence) <= 20


def test_the_printed_numbers_by_hand() -> None:
    """From 1 to 9 by halves to 1/4 is five halvings; keeping a quarter beyond the middle, three quarters stay."""
    asked: dict[str, Any] = {"epsilon": (1.0, 9.0), "runs": 100}
    assert optimus.complexity(optimus.BS(precision=0.25), **asked).budgets == pytest.approx(5.0)
    relaxed = optimus.complexity(optimus.RBS(precision=0.25, g=4), **asked)
    assert 8.0 * 0.75**relaxed.budgets == pytest.approx(0.25)
    assert optimus.complexity(optimus.DBS(precision=0.25, least=20), **asked).least == pytest.approx(100.0)
    assert optimus.complexity(optimus.DBS(precision=0.25, least=500), **asked).least == pytest.approx(500.0)
    assert optimus.complexity(optimus.MPass(passes=3, g=10), **asked).most == pytest.approx((8 + 40) * 100)
    assert optimus.complexity(optimus.BS(precision=10.0), epsilon=(0.1, 1.0)).budgets == 0.0


@pytest.mark.parametrize("method", ["BS", optimus.Direct(), None, 7])
def test_only_what_is_printed_has_a_printed_cost(method: Any) -> None:
    with pytest.raises(ParameterError, match="method must be BS, RBS, DBS, MPass or Bayes"):
        optimus.complexity(method)


def test_bad_ranges_and_runs_are_refused() -> None:
    for epsilon in ((2.0, 1.0), (0.0, 1.0), (math.nan, 1.0), 3):
        with pytest.raises(ParameterError, match="epsilon"):
            optimus.complexity(optimus.BS(), epsilon=epsilon)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="runs"):
        optimus.complexity(optimus.BS(), runs=0)
