"""Adding a wish that a row meets never removes that row."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from hush.planning.measures import meets
from hush.planning.search import Found, distinct, served, useful
from hush.planning.shortlist import alike
from hush.planning.wishes import LIMITS, MATTERS, METRICS, Wishes

pytestmark = pytest.mark.slow

SIZES = (2, 3, 5, 13, 40, 100)

Rows = dict[str, Found]


def rows_of(wishes: Wishes) -> Rows:
    """The rows of a plan, by name."""
    return {row.name: row for row in distinct(useful(list(served(wishes)), wishes))}


def held(before: Rows, earlier: Wishes, wishes: Wishes) -> int:
    """What met the added wish is still there. How many did.

    Where the least budget is sought before and after, it is the same mechanism, to the last digit. What was tuned is
    left out only where a row with the very same numbers is there.
    """
    after = {row.name: row for row in useful(list(served(wishes)), wishes)}
    shown = distinct(after.values())
    top = wishes.largest_epsilon
    kept = [row for row in before.values() if row.mechanism.epsilon <= top and meets(row.mechanism, wishes)]
    for row in kept:
        assert row.name in after, (row, wishes)
        own = after[row.name]
        assert own in shown or (own.tuned and any(alike(own.numbers, each.numbers, 1e-9) for each in shown))
        if not (earlier.spends or wishes.spends or wishes.metric == "mae"):
            assert after[row.name].mechanism == row.mechanism, (row, wishes)
    return len(kept)


@st.composite
def wished(draw: st.DrawFn) -> tuple[Wishes, dict[str, Any]]:
    """Some wishes, and others to add, around what can be met."""
    k, n = draw(st.sampled_from(SIZES)), 10 ** draw(st.floats(1.5, 6.5))
    needed = draw(st.floats(0.05, 5.0))  # the budget that the error about needs
    metric = draw(st.sampled_from(sorted(METRICS)))
    squared = 4 * math.exp(needed) / (math.exp(needed) - 1) ** 2 / n
    error = {"mse": squared, "mae": math.sqrt(squared * 2 / math.pi), "margin": 1.96 * math.sqrt(squared)}[metric]
    limits = {
        "error": min(1.0, error),
        "max_asr": draw(st.floats(math.log(1.02 / k), 0.0).map(math.exp)),
        "max_epsilon": needed * draw(st.floats(0.9, 3.0)),
        "max_bits": draw(st.integers(1, 150)),
    }
    when = {name: draw(st.sampled_from(("first", "then", "never"))) for name in limits}
    first, more = ({name: limits[name] for name in limits if when[name] == turn} for turn in ("first", "then"))
    matters = draw(st.sampled_from(sorted(MATTERS)))
    if matters in {"accuracy", "manipulation"} and not first.keys() & {"max_asr", "max_epsilon"}:
        matters = "balance"
    worst, targets = draw(st.booleans()), draw(st.integers(1, k - 1))
    delta = draw(st.sampled_from((None,) * 7 + (0.01 / n,)))
    return Wishes(
        k=k, n=int(n), metric=metric, matters=matters, worst=worst, targets=targets, delta=delta, **first
    ), more


@given(wished())
@settings(max_examples=24, deadline=None, derandomize=True, phases=[Phase.generate])
def test_a_wish_that_a_row_meets_does_not_remove_it(case: tuple[Wishes, dict[str, Any]]) -> None:
    """The wishes that are drawn; and the hardest, what one of the rows meets just so."""
    wishes, more = case
    before = rows_of(wishes)
    held(before, wishes, replace(wishes, **more))
    for row in list(before.values())[len(before) // 2 :][:1]:
        just = {name: row.numbers[LIMITS[name]] for name in more}
        just |= {name: int(bits) for name, bits in just.items() if name == "max_bits"}
        just |= {name: min(max(x, 1 / wishes.k), 1.0) for name, x in just.items() if name in {"max_asr", "error"}}
        held(before, wishes, replace(wishes, **just))


@pytest.mark.parametrize("limit", [0.3, 0.24, 0.17])
def test_narrow_windows_of_the_budget_are_seen(limit: float) -> None:
    wishes = Wishes(k=13, n=60_000, error=0.01)
    free = rows_of(wishes)
    assert {"PGR", "HR", "MSS"} <= free.keys()
    assert held(free, wishes, replace(wishes, max_asr=limit)) >= 4
