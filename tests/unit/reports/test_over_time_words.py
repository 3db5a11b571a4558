"""What reports again and again cost and show, in sentences."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import hush
from hush.files.clients import StoreRun
from hush.files.clients.ledgers import Totals
from hush.longitudinal import LGRR, OLOLOHA, dBitFlipPM
from hush.multidim import LSMP
from hush.reports import over_time_in_words as words


def run(**more: Any) -> StoreRun:
    usual: dict[str, Any] = {
        "reports": 24, "left_over": 0, "people": 2, "passed_over": 0, "refused": 0, "refused_people": 0, "again": 0,
        "periods": ("1",), "totals": Totals(6, 12, Fraction(3), Fraction(6)),
    }  # fmt: skip
    return StoreRun(**{**usual, **more})


def test_what_links_reports_is_said_of_each_protocol() -> None:
    budgets: dict[str, Any] = {"epsilon_permanent": 2.0, "epsilon_report": 1.0}
    assert "hash function" in words.of_protocol(hush.Spec(OLOLOHA(k=5, **budgets)))[0]
    assert "list of 2 buckets" in words.of_protocol(hush.Spec(dBitFlipPM(k=5, epsilon_permanent=1.0, d=2)))[0]
    assert "which of 2 attributes" in words.of_protocol(hush.Spec(LSMP(sizes=(2, 3), **budgets)))[0]
    assert words.of_protocol(hush.Spec(hush.GRR(k=3, epsilon=1.0))) == []


def test_rounds_are_said_to_be_independent_or_not() -> None:
    kept = hush.Spec(LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0))
    assert "not independent" in words.of_rounds(kept)[0]
    assert "errors are independent" in words.of_rounds(hush.Spec(hush.GRR(k=3, epsilon=1.0)))[0]


def test_accounts_are_told_with_least_most_and_limit() -> None:
    fresh = hush.Spec(hush.GRR(k=3, epsilon=0.5))
    (told,) = words.of_account(fresh, run(), Fraction(8), stored=True)
    assert told == "Reports of one person so far: 6 to 12. ε of one person in all: 3 to 6; the limit is 8."
    kept = hush.Spec(LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0))
    endless = run(totals=Totals(2, 2, None, None))
    told, forgot = words.of_account(kept, endless, None, stored=False)
    assert "without bound for values that change at known times" in told
    assert "there is no limit" in told
    assert "Nothing is kept" in forgot
    assert words.of_account(fresh, run(people=0), None, stored=True) == []


def test_refusals_and_several_rows_are_told_with_what_they_cost() -> None:
    fresh = hush.Spec(hush.GRR(k=3, epsilon=0.5))
    made = run(refused=3, refused_people=1, periods=tuple("abcdefgh"), totals=Totals(2, 2, Fraction(1), Fraction(1)))
    told = words.of_refused(fresh, made, Fraction(5, 4))
    assert told.startswith("3 rows of 1 person would exceed the limit")
    assert told.endswith("A limit of 1.25 is enough for 2 reports of one person here; 8 ask for 4.")
    kept = hush.Spec(LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0))
    asks = f"{kept.mechanism.history_bound(8):.6g}"
    told = words.of_refused(kept, made, Fraction(1, 2))  # less than one report loses
    assert told.endswith(f"enough for 0 reports of one person here; 8 ask for {asks}, since values may change.")
    told = words.of_several(hush.Spec(hush.GRR(k=3, epsilon=0.5)), run(again=5), periods=True)
    assert "5 beyond the first of each" in told
    assert "0.5 for one, 6 for 12 reports" in told
