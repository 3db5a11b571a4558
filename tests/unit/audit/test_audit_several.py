"""Several methods share a pair and an error rate."""

from __future__ import annotations

import hush
from hush.audit.several import reports_in_all, run_all, usual
from hush.audit.targets import as_target
from hush.testing.museum import ShiftByOne


def test_methods_that_fit_look_at_reports_of_others_too() -> None:
    assert usual(as_target(hush.GRR(k=4, epsilon=1.0))) == ["likelihood", "exact"]
    assert usual(as_target(ShiftByOne(k=4, epsilon=1.0))) == ["likelihood", "classifier", "exact"]
    assert usual(hush.audit.CallableTarget(lambda value: value, k=4, claim=1.0)) == ["classifier"]


def test_alpha_is_divided_among_methods_that_count() -> None:
    target = as_target(hush.GRR(k=4, epsilon=1.0))
    found = run_all(target, ["likelihood", "attack", "exact"], trials=1000, alpha=0.02, seed=7)
    assert [each.alpha for each in found] == [0.01, 0.01, 0.0]
    pairs = [(each.screening.pair if each.screening else None) for each in found[:2]]
    assert pairs[0] is not None
    assert pairs[0] == pairs[1]


def test_progress_ends_where_it_was_said_to() -> None:
    target, seen = as_target(hush.GRR(k=4, epsilon=1.0)), []
    run_all(target, ["likelihood", "exact"], trials=2000, progress=seen.append)
    assert 0.8 < sum(seen) / reports_in_all(target, ["likelihood", "exact"], 2000) <= 1.0
    assert reports_in_all(target, ["exact"], 2000) == 0
