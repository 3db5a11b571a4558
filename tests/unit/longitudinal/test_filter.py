"""The privacy filter against every adversary: exact dynamic programs over what was spent and how likely answers are."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import mpmath
import pytest

from hush.errors import ParameterError, SpecError
from hush.longitudinal import Ledger, PrivacyFilter
from hush.longitudinal.filter import renyi_cost


def worst_delta(limit: float, budgets: tuple[float, ...], allows: Callable[[tuple[int, ...], int], bool]) -> float:
    """The largest delta of any adversary who chooses each budget by all earlier answers, and may stop at any time.

    Answers are randomized responses, which tell the most that their budgets allow. What matters of the past is how
    often each budget was spent, and the logarithm of the likelihood ratio, in steps of the first budget. The best way
    to go on maximizes the mean of (r - e^limit)+ under the second value: that is the hockey-stick divergence.
    """
    unit = budgets[0]
    steps = [round(budget / unit) for budget in budgets]

    @cache
    def best(counts: tuple[int, ...], place: int) -> float:
        found = max(math.exp(place * unit) - math.exp(limit), 0.0)
        for i, step in enumerate(steps):
            if allows(counts, i):
                more = (*counts[:i], counts[i] + 1, *counts[i + 1 :])
                up = 1 / (1 + math.exp(step * unit))
                found = max(found, up * best(more, place + step) + (1 - up) * best(more, place - step))
        return found

    return best((0,) * len(budgets), 0)


@pytest.mark.parametrize(
    ("limit", "delta", "expected", "budgets"),
    [
        (1.0, 0.05, None, (0.1, 0.2, 0.5)),
        (1.0, 0.05, 0.5, (0.1, 0.3)),
        (0.5, 0.01, None, (0.05, 0.1, 0.25)),
        (2.0, 0.001, None, (0.25, 0.5, 1.0)),
        (0.3, 0.2, None, (0.1, 0.2)),
        (3.0, 0.2, 1.0, (0.5, 1.0, 2.0)),
    ],
)
def test_no_adversary_exceeds_what_is_declared(
    limit: float, delta: float, expected: float | None, budgets: tuple[float, ...]
) -> None:
    """All trees of adaptive choices, and it gives more than the plain sum where there is room."""
    filter_ = PrivacyFilter(limit=limit, delta=delta, expected=expected)
    amounts = [Fraction(str(budget)) for budget in budgets]
    costs = [renyi_cost(amount, filter_.order) for amount in amounts]

    def allows(counts: tuple[int, ...], i: int) -> bool:
        after = [count + (at == i) for at, count in enumerate(counts)]
        plain = sum(count * amount for count, amount in zip(after, amounts, strict=True))
        whole = sum(count * cost for count, cost in zip(after, costs, strict=True))
        return plain <= filter_.limit or whole <= filter_._room

    found = worst_delta(limit, budgets, allows)
    assert found <= delta * (1 + 1e-9)
    if filter_._room > sum(costs[:1]) * (filter_.limit / amounts[0]):
        assert found > 0  # more than the plain sum allows: somebody exceeds the limit, rarely


def test_a_rule_that_is_too_generous_is_found_out() -> None:
    """The same adversaries beat a filter with twice the room."""
    filter_ = PrivacyFilter(limit=1.0, delta=0.05)
    cost = renyi_cost(Fraction(1, 5), filter_.order)
    fair, generous = (
        worst_delta(1.0, (0.2,), lambda counts, i, room=room: (counts[0] + 1) * cost <= room)  # type: ignore[misc]
        for room in (filter_._room, 8 * filter_._room)
    )
    assert fair <= 0.05 < generous


def test_it_decides_as_it_says() -> None:
    """What `left` names is allowed, and a little more is not; a refusal costs nothing."""
    account = PrivacyFilter(limit=1.0, delta=1e-6)
    assert account.left == 1
    for day in range(200):
        account.spend("0.01", what=f"day {day}")
    assert account.spent == 2
    before, left = account.entries, account.left
    with pytest.raises(ParameterError, match=r"^epsilon must be at most 0\.355[0-9]*, which is left of 1"):
        account.spend(left * Fraction(1001, 1000), what="too much")
    assert (account.entries, account.left) == (before, left)
    after = account.spend(left, what="the rest")
    assert after < Fraction(1, 10**3)
    with pytest.raises(ParameterError, match=r"^epsilon must be at most"):
        account.spend(0.01, what="more")


@pytest.mark.parametrize("delta", [1e-12, 1e-3, 0.5])
def test_it_allows_all_that_a_ledger_does(delta: float) -> None:
    for amounts in ((0.5, 0.5), (1.0,), (0.1,) * 10, (0.9, 0.1), (0.01,) * 100):
        account = PrivacyFilter(limit=1.0, delta=delta)
        for amount in amounts:
            account.spend(amount, what="x")
        assert account.spent == 1


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-6", "0.001", "0.1", "1", "7", "99", "101"])
@pytest.mark.parametrize("order", ["1.01", "2", "23", "9801"])
def test_costs_are_rounded_up_and_hardly(epsilon: str, order: str) -> None:
    """Against three hundred digits; and never more than the two simple bounds."""
    mpmath.mp.dps = 300
    loss, a = mpmath.mpf(epsilon), mpmath.mpf(order)
    exact = mpmath.log((mpmath.exp(a * loss) + mpmath.exp((1 - a) * loss)) / (1 + mpmath.exp(loss))) / (a - 1)
    cost = renyi_cost(Fraction(epsilon), Fraction(order))
    stated = mpmath.mpf(cost.numerator) / cost.denominator
    assert exact <= stated <= exact * (1 + mpmath.mpf("0.04")) + mpmath.mpf(2) ** -75


def test_the_room_is_what_delta_asks_for() -> None:
    mpmath.mp.dps = 60
    for limit, delta in product((0.2, 1.0, 8.0), (1e-9, 0.01)):
        account = PrivacyFilter(limit=limit, delta=delta)
        a, room = (mpmath.mpf(x.numerator) / x.denominator for x in (account.order, account._room))
        limit_ = mpmath.mpf(account.limit.numerator) / account.limit.denominator
        made = mpmath.exp((a - 1) * (room - limit_)) / a * (1 - 1 / a) ** (a - 1)
        assert mpmath.mpf(delta) * (1 - mpmath.mpf(10) ** -15) < made <= mpmath.mpf(delta)


def test_a_file_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "filter.jsonl"
    account = PrivacyFilter(limit=1.0, delta=1e-6, path=path)
    for _ in range(150):
        account.spend(0.01, what="report")
    again = PrivacyFilter(limit=1.0, delta=1e-6, path=path)
    assert (again.spent, again.left, again.order) == (account.spent, account.left, account.order)
    head = json.loads(path.read_bytes().split(b"\n")[0])
    assert head == {"filter": 1, "limit": "1", "delta": "1e-06", "order": str(account.order)}
    kept = path.read_bytes()
    path.write_bytes(kept + b'{"epsilon": "1/10')  # cut short by a crash
    assert PrivacyFilter(limit=1.0, delta=1e-6, path=path).spent == account.spent
    assert path.read_bytes() == kept
    for other, said in (
        (lambda: PrivacyFilter(limit=2.0, delta=1e-6, path=path), "the limit 2, delta 1e-06 and order"),
        (lambda: PrivacyFilter(limit=1.0, delta=1e-5, path=path), "the limit 1, delta 1e-05 and order"),
        (lambda: PrivacyFilter(limit=1.0, delta=1e-6, expected=0.5, path=path), "which `expected` sets"),
        (lambda: Ledger(limit=1.0, path=path), "the limit 1 whose lines add up"),
    ):
        with pytest.raises(SpecError, match=said):
            other()
    Ledger(limit=1.0, path=tmp_path / "ledger.jsonl").spend(0.5, what="x")
    with pytest.raises(SpecError):
        PrivacyFilter(limit=1.0, delta=1e-6, path=tmp_path / "ledger.jsonl")


@pytest.mark.parametrize(
    ("act", "parameter"),
    [
        (lambda: PrivacyFilter(limit=0.0, delta=1e-6), "limit"),
        (lambda: PrivacyFilter(limit=math.nan, delta=1e-6), "limit"),
        (lambda: PrivacyFilter(limit=1.0, delta=0.0), "delta"),
        (lambda: PrivacyFilter(limit=1.0, delta=1.0), "delta"),
        (lambda: PrivacyFilter(limit=1.0, delta=math.nan), "delta"),
        (lambda: PrivacyFilter(limit=1.0, delta=1e-6, expected=-1), "expected"),
        (lambda: PrivacyFilter(limit=1.0, delta=1e-6).spend(-0.1, what="x"), "epsilon"),
        (lambda: PrivacyFilter(limit=1.0, delta=1e-6).spend(math.inf, what="x"), "epsilon"),
        (lambda: PrivacyFilter(limit=1.0, delta=1e-6).spend(5.0, what="x"), "epsilon"),
        (lambda: PrivacyFilter(limit=1.0, delta=1e-6).spend(0.1, what=""), "what"),
    ],
)
def test_refusals(act: Callable[[], object], parameter: str) -> None:
    with pytest.raises(ParameterError, match=f"^{parameter} must"):
        act()
