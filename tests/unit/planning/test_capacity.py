"""The search for a budget: what is found holds, what is smaller does not, and what cannot be is said."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import DomainError, HushError, ParameterError
from hush.estimation.consistency import simplex
from hush.planning.capri import (
    METHODS,
    CapacityAnswer,
    Evidence,
    capacity,
    estimated,
    exceeds,
    first_round,
    first_rounds,
    law,
    over_time,
    population,
)
from hush.statistics import count_alarm

pytestmark = pytest.mark.slow

SHAPE = np.exp(-0.5 * ((np.arange(21) - 8) / 5) ** 2)
WATER = np.floor(20_000 * SHAPE / SHAPE.sum()).astype(np.int64)
TOTAL = float(np.arange(21) @ WATER)
BELOW, ABOVE = 0.93 * TOTAL, 1.07 * TOTAL
ROUNDING = float(np.arange(21).sum())
"""What a total may change where counts become whole numbers: each by less than one."""


def wrong(mechanism: str, epsilon: float, cap: float) -> float:
    """The exact probability of a wrong decision."""
    from hush.planning.capri.build import builder

    people = population(WATER)
    at_most = law(builder(mechanism, people, None)(epsilon), people).at_most(cap)
    return at_most if cap < TOTAL else 1 - at_most


def follow(mechanism: str, found: CapacityAnswer, cap: float) -> None:
    """Every budget that was simulated was wrong as often as the law says, with a false alarm of 1e-9 in all; and the
    law allows the budget that was answered.
    """
    drawn = [each for each in found.evidence if each.runs]
    assert drawn
    for each in drawn:
        due = wrong(mechanism, each.epsilon, cap)
        assert count_alarm(each.hits, each.runs, due, comparisons=len(drawn)) == ""
    assert found.epsilon is not None
    assert wrong(mechanism, found.epsilon, cap) < found.threshold


def close_in(found: CapacityAnswer, step: float) -> None:
    """A budget at most so much smaller failed, in its runs or by the law that had the last word: however chance fell,
    a bisection ends there.
    """
    below = [each.epsilon for each in found.evidence if not each.satisfied and each.epsilon < (found.epsilon or 0.0)]
    assert (found.epsilon or math.inf) - max(below) <= step


@pytest.mark.parametrize("mechanism", ["GRR", "OUE", "OLH", "SS", "HR", "Duchi", "Piecewise", "Hybrid"])
def test_the_budget_holds_and_a_smaller_one_does_not(mechanism: str) -> None:
    found = capacity(mechanism, WATER, cap=BELOW, metric="fn", threshold=0.02, confirm=0)
    assert found.feasible
    assert found.epsilon is not None
    assert wrong(mechanism, found.epsilon, BELOW) < 0.02 <= wrong(mechanism, 0.95 * found.epsilon, BELOW)
    assert found.probability == pytest.approx(wrong(mechanism, found.epsilon, BELOW), rel=1e-6)
    assert found.best is not None
    assert found.best.epsilon == found.epsilon
    assert found.reading == ("mean" if mechanism in ("Duchi", "Piecewise", "Hybrid") else "frequencies")


def test_the_four_metrics_are_two_questions() -> None:
    budget = {m: capacity("GRR", WATER, cap=BELOW, metric=m, threshold=t, confirm=0).epsilon
              for m, t in (("fn", 0.05), ("tp", 0.95), ("error", 0.05), ("FN", 0.05))}  # fmt: skip
    assert len({round(e or 0, 3) for e in budget.values()}) == 1
    others = {m: capacity("GRR", WATER, cap=ABOVE, metric=m, threshold=t, confirm=0).epsilon
              for m, t in (("fp", 0.05), ("tn", 0.95), ("error", 0.05))}  # fmt: skip
    assert len({round(e or 0, 3) for e in others.values()}) == 1


@pytest.mark.parametrize("mechanism", ["GRR", "OUE", "OLH", "SS", "Duchi"])
def test_tightening_never_lowers_the_budget(mechanism: str) -> None:
    found = [
        capacity(mechanism, WATER, cap=BELOW, threshold=t, confirm=0).epsilon
        for t in (0.4, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001, 1e-6)
    ]
    assert all(e is not None for e in found)
    assert found == sorted(found, key=lambda e: e or 0.0)


@pytest.mark.parametrize("method", ["capri", "chebyshev", "cantelli", "normal"])
def test_tightening_never_lowers_the_budget_of_other_methods(method: str) -> None:
    budgets = [
        capacity("GRR", WATER, cap=BELOW, threshold=t, method=method, confirm=0, rng=hush.seeded(7)).epsilon or 10.0
        for t in (0.4, 0.1, 0.01)
    ]
    assert budgets == sorted(budgets)


def test_methods_agree_and_bounds_cost_budget() -> None:
    found = {
        method: capacity("GRR", WATER, cap=BELOW, threshold=0.02, method=method, confirm=0, rng=hush.seeded(7))
        for method in METHODS
    }
    budget = {method: answer.epsilon or math.inf for method, answer in found.items()}
    for method in ("capri", "capri-r", "BS", "RBS", "DBS", "MPass", "bayes"):
        follow("GRR", found[method], BELOW)
    for method in ("capri", "capri-r", "BS", "RBS", "DBS"):
        close_in(found[method], 0.02)  # the precision, and what a relaxed search keeps
    assert budget["normal"] == pytest.approx(budget["exact"], rel=0.03)  # both are computed: no chance is in it
    assert budget["exact"] < budget["cantelli"] < budget["chebyshev"]
    searched = {method: [e for e in found[method].evidence if e.runs] for method in ("capri", "bayes")}
    assert 10 <= len(searched["capri"]) <= 11  # from 0.001 to 10 by halves of four digits, to 0.01
    assert all(e.runs == 50_000 for e in searched["capri"])
    assert len(searched["bayes"]) == 41


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
@pytest.mark.parametrize("method", ["capri", "capri-r", "RBS", "DBS", "MPass"])
def test_simulated_searches_are_held_against_the_law(method: str, seed: int) -> None:
    """By the exact law, and in 20,000 fresh collections, with a false alarm of 1e-9."""
    from hush.planning.capri.build import builder

    found = capacity("GRR", WATER, cap=BELOW, threshold=0.05, method=method, runs=2000, rng=hush.seeded(seed))
    assert found.epsilon is not None
    assert found.probability == pytest.approx(wrong("GRR", found.epsilon, BELOW), abs=1e-12)
    assert found.probability < 0.05 <= wrong("GRR", 0.9 * found.epsilon, BELOW)
    if found.raised is not None:
        assert found.raised < found.epsilon
        assert wrong("GRR", found.raised, BELOW) >= 0.05
        assert wrong("GRR", 0.999 * found.epsilon, BELOW) >= 0.05
    people = population(WATER)
    drawn = law(builder("GRR", people, None)(found.epsilon), people).draw(20_000, hush.seeded(99))
    assert count_alarm(int((drawn <= BELOW).sum()), drawn.size, found.probability) == ""


def test_some_searches_are_ended_by_chance_and_raised() -> None:
    ended = [
        capacity("GRR", WATER, cap=BELOW, threshold=0.05, method="capri", runs=2000, confirm=0, rng=hush.seeded(i))
        for i in range(12)
    ]
    assert any(found.raised is not None for found in ended)
    assert any(found.raised is None for found in ended)
    assert all(found.probability < 0.05 for found in ended)


def test_a_gaussian_process_is_held_against_the_law() -> None:
    pytest.importorskip("sklearn")
    found = capacity("Duchi", WATER, cap=BELOW, threshold=0.02, method="bayes", confirm=0, rng=hush.seeded(7))
    assert found.epsilon is not None
    assert wrong("Duchi", found.epsilon, BELOW) < 0.02 <= wrong("Duchi", 0.95 * found.epsilon, BELOW)


@pytest.mark.parametrize("mechanism", ["uRR", "uRAP", "uSS", "uUE", "uLH", "uWheel", "uHR"])
def test_utility_optimized_budgets_hold_and_smaller_ones_do_not(mechanism: str) -> None:
    sensitive = {"sensitive": range(6)}
    found = capacity(mechanism, WATER, cap=BELOW, threshold=0.02, confirm=0, parameters=sensitive)
    assert found.epsilon is not None
    assert found.best is not None
    assert found.best.high < 0.02
    if mechanism in ("uRR", "uHR"):
        assert found.law == "exact"
        assert found.best.exact == found.probability == pytest.approx(found.best.high, abs=1e-10)
    else:  # what a report adds has no common step
        assert found.law == "near"
        assert 0 < found.best.high - found.probability < 1e-5
    cls = hush.registry()[mechanism]
    less = law(cls(k=21, epsilon=0.95 * found.epsilon, **sensitive), population(WATER))
    assert less.at_most(BELOW) >= 0.02
    everybody = capacity(mechanism, WATER, cap=BELOW, threshold=0.02, confirm=0).epsilon
    assert everybody is not None
    assert found.epsilon < everybody


def test_what_is_not_exact_is_not_called_so() -> None:
    found = capacity("MSS", WATER, cap=BELOW, threshold=0.02, confirm=0)
    assert found.law == "near"
    assert all(e.exact is None for e in found.evidence)
    assert found.to_dict()["law"] == "near"
    for seed in range(6):
        drawn = capacity("MSS", WATER, cap=BELOW, threshold=0.02, method="capri", confirm=0, rng=hush.seeded(seed))
        assert drawn.best is not None
        assert drawn.best.exact is None
        follow("MSS", drawn, BELOW)
        close_in(drawn, 0.02)
        assert (drawn.interval is None) == (drawn.raised is not None)  # then the law had the last word
        if drawn.interval is not None:
            assert drawn.interval[0] < drawn.probability < drawn.interval[1]


def test_a_relaxed_search_ends_and_must_be_asked_to() -> None:
    with pytest.raises(ParameterError, match="relaxation"):
        capacity("GRR", WATER, cap=BELOW, threshold=0.02, method="capri-r", precision=0.01, relaxation=0.005)
    found = capacity("GRR", WATER, cap=BELOW, threshold=0.02, method="capri-r", relaxation=0.004, confirm=0)
    assert found.feasible


def test_evidence_and_watch() -> None:
    seen: list[Evidence] = []
    found = capacity("OUE", WATER, cap=BELOW, threshold=0.02, confirm=500, watch=seen.append, rng=hush.seeded(7))
    assert tuple(seen) == found.evidence
    assert found.confirmation is not None
    assert found.confirmation.runs == 500
    assert found.interval == (found.confirmation.low, found.confirmation.high)
    for e in found.evidence:
        assert e.satisfied == (e.probability < 0.02)
        assert e.probability <= e.cantelli <= e.chebyshev
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["epsilon"] == found.epsilon
    assert len(plain["evidence"]) == len(found.evidence)
    assert "a wrong decision" in str(found)
    assert "total of 167,961 exceeds" in str(found)
    again = capacity("OUE", WATER, cap=BELOW, threshold=0.02, confirm=500, rng=hush.seeded(7))
    assert again.confirmation is not None
    assert again.confirmation.hits == found.confirmation.hits


def test_a_cap_that_equals_the_total_is_bad_input() -> None:
    for method, metric in itertools.product(METHODS, ("fn", "fp", "tp", "tn", "error")):
        with pytest.raises(
            ParameterError, match=r"^cap must differ from the true total, since an estimate .* one unit"
        ):
            capacity("GRR", WATER, cap=TOTAL * (1 + 1e-13), metric=metric, threshold=0.3, method=method)
    with pytest.raises(ParameterError, match=r"^cap must differ"):
        first_round("GRR", WATER, first=1.0, cap=TOTAL, threshold=0.3)
    for cap in (TOTAL - 1, TOTAL + 1):
        capacity("GRR", WATER, cap=cap, metric="error", threshold=0.3)


def test_clipping_onto_the_cap_is_searched() -> None:
    """An estimate that is right on average about the cap itself exceeds it ever more rarely."""
    people = population([60, 20, 10], most=1)
    assert (people.total, people.expected) == (40, 30)
    easy = capacity("GRR", people, cap=30, metric="tp", threshold=0.3)
    assert (easy.epsilon, easy.reason) == (0.001, "")
    hard = capacity("GRR", people, cap=30, threshold=0.1)
    assert not hard.feasible
    assert "clipping" in hard.reason
    assert hard.probability == pytest.approx(law(hush.GRR(k=2, epsilon=0.001), people).at_most(30))


def test_an_estimated_total_at_the_cap_finds_no_budget() -> None:
    seen = replace(population([60, 40]), estimated=True)
    for metric in ("fn", "fp", "tp", "tn", "error"):
        found = capacity("GRR", seen, cap=40, metric=metric, threshold=0.3)
        assert (found.feasible, found.epsilon, found.estimated) == (False, None, True)
        assert "equals the cap" in found.reason


def test_a_budget_has_at_most_four_digits_and_holds_as_it_stands() -> None:
    methods = [method for method in METHODS if method != "bayes"]
    for mechanism, method in [("GRR", "bayes"), *itertools.product(("GRR", "OUE", "Duchi"), methods)]:
        found = capacity(mechanism, WATER, cap=BELOW, threshold=0.02, method=method, confirm=0, rng=hush.seeded(7))
        assert found.epsilon is not None
        assert found.epsilon == float(f"{found.epsilon:.4g}")
        assert wrong(mechanism, found.epsilon, BELOW) < 0.02
        assert {e.epsilon for e in found.evidence} == {float(f"{e.epsilon:.4g}") for e in found.evidence}
    ends = capacity("GRR", WATER, cap=BELOW, threshold=0.02, lowest=2.34567, confirm=0)
    assert ends.epsilon == 2.34567


def test_four_digit_numbers_follow_each_other() -> None:
    from hush.planning.capri.search import before
    from hush.planning.relax import up

    at = 1.003
    for expected in (1.002, 1.001, 1.0, 0.9999, 0.9998):
        at = before(at)
        assert at == expected == up(at)
    assert before(0.00123456) == 0.001234


@pytest.mark.parametrize(
    ("mechanism", "counts", "cap", "threshold", "most"),
    [
        ("Duchi", [1, 1, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 4, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1,
                   0, 0, 0, 0, 0, 0, 0, 0], 900, 0.01, 1.4235),
        ("OUE", [20, 40, 20, 10], 60, 0.05, 2.131),
        ("GRR", [20, 40, 20, 10], 60, 0.05, 9.0),
        ("Duchi", [30, 20, 10], 25, 0.05, 9.0),
    ],
)  # fmt: skip
def test_the_smallest_is_smallest_though_more_can_be_worse(
    mechanism: str, counts: list[int], cap: float, threshold: float, most: float
) -> None:
    """Against every budget of four digits in the half below the answer, and the jumps are really there."""
    from hush.planning.capri.build import builder

    people = population(counts)
    build = builder(mechanism, people, None)
    found = capacity(mechanism, people, cap=cap, threshold=threshold, confirm=0).epsilon
    assert found is not None
    assert found <= most

    def miss(epsilon: float) -> float:
        return law(build(epsilon), people).at_most(cap)

    assert miss(found) < threshold
    digits = 3 - math.floor(math.log10(found))
    smaller = np.arange(math.ceil(found * 0.8 * 10**digits), round(found * 10**digits)) / 10**digits
    assert min(map(miss, smaller)) >= threshold
    larger = [miss(e) for e in found * np.linspace(1.0, 1.3, 200)]
    assert max(np.diff(larger)) > 0
    again = capacity(mechanism, people, cap=cap, threshold=threshold, lowest=0.97 * found, confirm=0).epsilon
    assert again == found


def test_the_normal_value_knows_on_which_side_it_is() -> None:
    """Clipping moves the total from 610 to 120, below the cap of 300, so a true alarm becomes ever rarer."""
    counts, domain = [60, 30, 30, 1], hush.Domain(size=4, values=[0.0, 1.0, 2.0, 520.0])
    people = population(counts, domain=domain, most=2)
    assert (people.total, people.expected) == (610, 92)
    for method in ("normal", "exact", "cantelli"):
        found = capacity("GRR", people, cap=300, metric="tp", threshold=0.6, method=method)
        assert not found.feasible
    last = max(capacity("GRR", people, cap=300, threshold=0.01).evidence, key=lambda e: e.epsilon)
    assert last.normal > 0.99
    assert last.cantelli == last.chebyshev == 1.0


def test_a_total_at_the_cap_does_not_exceed_it() -> None:
    """Decoded in doubles, 500 ones of 1000 come out a hair above 500 at many budgets; the law says at most."""
    above = 0
    for epsilon in np.linspace(0.05, 5, 200):
        m = hush.GRR(k=2, epsilon=float(epsilon))
        zeros = 1000 * m.q_star + (m.p_star - m.q_star) * 500
        total = float(1000 * (m.decode(np.array([zeros, 1000 - zeros]), 1000) @ [0.0, 1.0]))
        above += total > 500
        assert not exceeds(total, 500)
        assert not exceeds(500, total)
    assert above > 0
    assert exceeds([499.0, 500.0, 500.5], 500).tolist() == [False, False, True]
    assert exceeds(1e-9, 0)
    assert not exceeds(0.0, 0.0)
    for total, cap in ((math.nan, 5.0), (math.inf, 5.0), (5.0, math.nan), ([1.0, math.nan], 5.0)):
        with pytest.raises(ParameterError, match="finite"):
            exceeds(total, cap)


@pytest.mark.parametrize("name", ["GRR", "OUE", "SS", "HR", "OLH", "Duchi"])
def test_totals_that_cancel_are_told_from_the_cap_as_the_law_does(name: str, thorough: bool) -> None:
    """What is taken and what is given back: one estimate in thirty is the cap itself, but for the last digit.

    False alarm: 1e-9. One in thirty is eight deviations of the smaller number of collections.
    """
    runs = 40_000 if thorough else 15_000
    domain = hush.Domain(size=4, values=[-0.3, -0.1, 0.1, 0.3])
    found = capacity(
        name, [20, 25, 25, 30], domain=domain, cap=0, threshold=0.45, lowest=1.0, confirm=runs, rng=hush.seeded(3)
    )
    assert found.epsilon == 1.0
    assert found.confirmation is not None
    assert count_alarm(found.confirmation.hits, runs, found.probability) == ""
    with pytest.raises(ParameterError, match="cap must differ from the true total"):
        capacity(name, [10, 10, 10, 10], domain=domain, cap=0, threshold=0.3)
    thirds = hush.Domain(size=3, values=[-0.3, 0.1, 0.2])  # which add up to 6e-17
    with pytest.raises(ParameterError, match="cap must differ from the true total"):
        capacity(name, [10, 10, 10], domain=thirds, cap=0, threshold=0.3)


@pytest.mark.parametrize("method", ["exact", "capri", "capri-r", "RBS", "DBS", "MPass", "bayes", "chebyshev"])
def test_a_cap_too_near_is_infeasible(method: str) -> None:
    found = capacity("OUE", [50] * 21, cap=10_499.5, threshold=0.001, method=method, rng=hush.seeded(7))
    assert not found.feasible
    assert found.best is not None
    assert not found.best.satisfied
    assert found.probability >= 0.001
    assert "10" in found.reason


def test_questions_that_no_budget_matters_to() -> None:
    for metric, cap in (("fn", ABOVE), ("fp", BELOW)):
        found = capacity("GRR", WATER, cap=cap, metric=metric, threshold=0.01)
        assert (found.epsilon, found.probability) == (0.001, 0.0)
        assert "can be no false" in found.reason
    for metric, cap in (("tp", ABOVE), ("tn", BELOW)):
        found = capacity("GRR", WATER, cap=cap, metric=metric, threshold=0.9)
        assert not found.feasible
        assert "can be no true" in found.reason


def test_clipping_outliers_saves_budget_until_it_takes_too_much() -> None:
    counts = np.concatenate([WATER, np.zeros(279, np.int64)])
    counts[299] = 5
    whole = capacity("GRR", counts, cap=BELOW, threshold=0.02, confirm=0)
    clipped = capacity("GRR", counts, cap=BELOW, threshold=0.02, most=20, confirm=0)
    assert clipped.clipped == 5
    assert clipped.total == whole.total == TOTAL + 5 * 299
    assert clipped.expected == TOTAL + 5 * 20
    assert (clipped.epsilon or 9) < 0.7 * (whole.epsilon or 0)
    cruel = capacity("GRR", WATER, cap=BELOW, threshold=0.02, most=8)
    assert not cruel.feasible
    assert "clipping" in cruel.reason


def test_populations() -> None:
    listed = population(values=[3, 0, 3, 7])
    assert listed.counts.tolist() == [1, 0, 0, 2, 0, 0, 0, 1]
    domain = hush.Domain(size=3, values=[5.5, 0.0, 2.0])
    assert population(values=[2.0, 5.5, 2.0], domain=domain).counts.tolist() == [1, 0, 2]
    assert population([1, 2, 3], domain=hush.Domain(labels=[10, 20, 30])).total == 140
    data = hush.datasets.zipf(5, 100)
    assert population(data).n == data.n
    m = hush.GRR(k=21, epsilon=1.0)
    seen = population(m.estimate(m.simulate(WATER, rng=hush.seeded(7))))
    assert (seen.n, seen.k) == (WATER.sum(), 21)
    assert (seen.counts >= 0).all()


def test_mechanisms_may_be_given_in_four_ways() -> None:
    budgets = [
        capacity(given, WATER, cap=BELOW, threshold=0.02, confirm=0, parameters=more).epsilon
        for given, more in (
            ("LH", {"g": 4}), (hush.LH, {"g": 4}), (hush.LH(k=21, epsilon=9.0, g=4), None),
            (lambda epsilon: hush.LH(k=21, epsilon=epsilon, g=4), None),
        )
    ]  # fmt: skip
    assert len(set(budgets)) == 1


@pytest.mark.parametrize(("changes", "name"), [
    ({"cap": math.nan}, "cap"), ({"cap": math.inf}, "cap"), ({"cap": "much"}, "cap"), ({"cap": True}, "cap"),
    ({"metric": "fnr"}, "metric"), ({"metric": 3}, "metric"),
    ({"threshold": 0.0}, "threshold"), ({"threshold": 1.0}, "threshold"), ({"threshold": -0.1}, "threshold"),
    ({"threshold": math.nan}, "threshold"), ({"threshold": 2}, "threshold"),
    ({"counts": [5, -1, 3]}, "counts"), ({"counts": []}, "counts"), ({"counts": [0, 0]}, "counts"),
    ({"counts": [3]}, "counts"), ({"counts": [1.5, 2.0]}, "counts"), ({"counts": [[1, 2]]}, "counts"),
    ({"counts": None}, "counts"), ({"counts": [10**12, 10**12]}, "counts"), ({"values": [1, 2]}, "counts"),
    ({"counts": None, "values": []}, "values"), ({"counts": None, "values": [math.nan]}, "values"),
    ({"counts": None, "values": [0.5]}, "values"), ({"counts": None, "values": ["a"]}, "values"),
    ({"domain": hush.Domain(size=3)}, "domain"), ({"domain": "water"}, "domain"),
    ({"domain": hush.Domain(labels=[f"{i} m" for i in range(21)])}, "domain"),
    ({"most": 0}, "most"), ({"most": math.nan}, "most"),
    ({"method": "guess"}, "method"), ({"mechanism": "XYZ"}, "mechanism"), ({"mechanism": 7}, "mechanism"),
    ({"mechanism": "LH"}, "mechanism"), ({"mechanism": hush.GRR(k=3, epsilon=1.0)}, "mechanism"),
    ({"mechanism": lambda epsilon: epsilon}, "mechanism"),
    ({"runs": 0}, "runs"), ({"runs": 2.5}, "runs"), ({"confirm": -1}, "confirm"), ({"spent": -1.0}, "spent"),
    ({"lowest": 0.0}, "epsilon"), ({"lowest": 2.0, "highest": 1.0}, "lowest"), ({"highest": math.inf}, "epsilon"),
    ({"precision": 0.0}, "precision"), ({"precision": math.nan}, "precision"), ({"cap": -1}, "cap"),
    ({"cap": TOTAL}, "cap"),
])  # fmt: skip
def test_bad_input_is_named(changes: dict[str, Any], name: str) -> None:
    given: dict[str, Any] = {"mechanism": "GRR", "counts": WATER, "cap": BELOW, "threshold": 0.01, **changes}
    with pytest.raises(ParameterError, match=f"^{name}"):
        capacity(given.pop("mechanism"), given.pop("counts"), **given)


def test_values_outside_the_domain_are_not_repeated() -> None:
    with pytest.raises(DomainError) as caught:
        population(values=[1.0, 4321.5], domain=hush.Domain(size=2, values=[0.0, 1.0]))
    assert "4321" not in str(caught.value)
    assert isinstance(caught.value, HushError)


def test_a_first_round_is_counted() -> None:
    found = first_round("OUE", WATER, first=0.5, cap=BELOW, threshold=0.02, metric="error", rng=hush.seeded(7))
    assert found.spent == 0.5
    assert found.epsilon is not None
    assert found.total_epsilon == found.epsilon + 0.5
    seen = estimated("OUE", population(WATER), 0.5, rng=hush.seeded(7))
    assert found.epsilon == capacity("OUE", seen, cap=BELOW, threshold=0.02, metric="error", confirm=0).epsilon
    assert found.estimated
    assert found.truth is not None
    assert found.truth.total == TOTAL
    assert found.truth.probability == pytest.approx(wrong("OUE", found.epsilon, BELOW), rel=1e-9)
    assert found.truth.satisfied == (found.truth.probability < 0.02)
    assert found.confirmation is not None  # of the people as they are
    assert found.confirmation.low < found.truth.probability < found.confirmation.high
    assert "the wish is" in str(found)
    assert found.to_dict()["truth"]["total"] == TOTAL


def test_first_rounds_differ_and_most_do_not_keep_the_wish() -> None:
    wish = {"first": 0.5, "cap": BELOW, "threshold": 0.02}
    plans = first_rounds("OUE", WATER, rounds=12, rng=hush.seeded(7), **wish)
    one = first_round("OUE", WATER, rng=hush.seeded(7), **wish)
    assert len(plans) == 12
    assert (plans[0].epsilon, plans[0].truth) == (one.epsilon, one.truth)
    assert len({plan.epsilon for plan in plans}) > 6
    kept = [plan.truth.satisfied for plan in plans if plan.truth is not None]
    assert 0 < sum(kept) < len(kept)
    for plan in plans:
        assert (plan.truth is None) == (plan.epsilon is None)
        assert plan.confirmation is None or plan is plans[0]
    with pytest.raises(ParameterError, match=r"^rounds"):
        first_rounds("OUE", WATER, rounds=0, **wish)


def rebuilt(mechanism: str, counts: np.ndarray, epsilon: float, rng: np.random.Generator) -> tuple[float, float]:
    """What a collection of these people estimates, drawn again by hand: its total, raw, and that of the nearest
    frequencies that are possible.
    """
    m = hush.registry()[mechanism](k=len(counts), epsilon=epsilon)
    raw = m.estimate(m.simulate(counts, rng=rng)).frequencies
    amounts = counts.sum() * np.arange(len(counts))
    return float(amounts @ raw), float(amounts @ simplex(raw))


def test_over_time_each_estimate_plans_the_next() -> None:
    history = [WATER, np.roll(WATER, 1), np.roll(WATER, 2)]
    steps = over_time("GRR", history, cap=ABOVE, threshold=0.05, first=1.0, rng=hush.seeded(7))
    assert [s.time for s in steps] == [0, 1, 2]
    assert steps[0].planned is None
    assert steps[0].epsilon == 1.0
    rng = hush.seeded(7)
    seen = [rebuilt("GRR", counts, step.epsilon, rng) for counts, step in zip(history, steps, strict=True)]
    assert [step.estimated for step in steps] == [pytest.approx(each) for each, _ in seen]
    for (before, after), (_, possible) in zip(itertools.pairwise(steps), seen, strict=False):
        assert after.planned is not None
        assert after.epsilon == (after.planned.epsilon or 10.0)
        assert after.planned.total == pytest.approx(possible, abs=ROUNDING)
        assert after.spent == before.spent + after.epsilon
    assert {s.outcome for s in steps} <= {"tp", "fp", "tn", "fn"}
    json.dumps([s.to_dict() for s in steps], allow_nan=False)
    for bad in ([1.0, 2.0], math.nan, "much", True, [1.0, math.inf, 2.0]):
        with pytest.raises(ParameterError, match=r"^cap"):
            over_time("GRR", history, cap=bad, threshold=0.05, first=1.0)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"^history"):
        over_time("GRR", [], cap=1.0, threshold=0.05, first=1.0)
    with pytest.raises(ParameterError, match=r"^threshold"):
        over_time("GRR", history[:1], cap=1.0, threshold=0.0, first=1.0)


def test_over_time_a_total_may_equal_the_cap() -> None:
    """Nothing is refused: the truth does not exceed it, and an estimate that equals it plans the largest budget."""
    same = np.array([60, 40])
    steps = over_time("GRR", [same] * 3, cap=40, threshold=0.1, first=40.0, highest=3.0, rng=hush.seeded(7))
    assert steps[0].estimated == pytest.approx(40)
    assert steps[0].outcome == "tn"
    assert steps[1].planned is not None
    assert not steps[1].planned.feasible
    assert "equals the cap" in steps[1].planned.reason
    assert steps[1].epsilon == 3.0
    assert all(step.outcome in ("tn", "fp") for step in steps)


def test_over_time_outliers_are_clipped_on_the_device() -> None:
    told: list[int] = []
    steps = over_time(
        "GRR", [WATER, WATER], cap=BELOW, threshold=0.05, first=3.0, most=15, rng=hush.seeded(7),
        told=lambda step: told.append(step.time),
    )  # fmt: skip
    assert told == [0, 1]
    assert steps[0].total == TOTAL
    assert steps[1].planned is not None
    _, possible = rebuilt("GRR", population(WATER, most=15).counts, 3.0, hush.seeded(7))
    assert steps[1].planned.total == pytest.approx(possible, abs=ROUNDING)


def test_people_as_a_first_round_sees_them() -> None:
    seen = estimated("OUE", population(WATER), 4.0, rng=hush.seeded(7))
    assert (seen.n, seen.k) == (WATER.sum(), 21)
    assert seen.total == pytest.approx(rebuilt("OUE", WATER, 4.0, hush.seeded(7))[1], abs=ROUNDING)
    with pytest.raises(ParameterError, match=r"^epsilon"):
        estimated("OUE", population(WATER), 0.0)
