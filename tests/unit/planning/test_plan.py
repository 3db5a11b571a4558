"""The planner: what it chooses meets the wishes, and impossible wishes get a way out."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hush
from hush.errors import ParameterError
from hush.planning import advice
from hush.planning.budgets import LEAST_EPSILON, budget, finer, first, place, rounded
from hush.planning.families import families, reachable
from hush.planning.measures import NUMBERS, numbers_of
from hush.planning.named import Named
from hush.planning.objectives import Setting, objective
from hush.planning.protection_verdicts import protection
from hush.planning.relax import up
from hush.planning.search import Found, distinct, useful
from hush.planning.shortlist import SHOWN, on_front
from hush.planning.wishes import MATTERS, METRICS, Wishes

pytestmark = pytest.mark.slow

PLANS = [
    {"k": 100, "n": 100_000, "error": 0.01, "max_asr": 0.1},
    {"k": 16, "n": 20_000, "error": 0.02},
    {"k": 1000, "n": 10**6, "max_epsilon": 2.0, "max_bits": 80},
    {"k": 10, "n": 5000, "max_asr": 0.3, "matters": "accuracy"},
    {"k": 50, "n": 50_000, "error": 1e-4, "metric": "mse", "max_epsilon": 3.0, "matters": "attack"},
    {
        "k": 50,
        "n": 50_000,
        "error": 0.01,
        "metric": "mae",
        "worst": True,
        "max_epsilon": 4.0,
        "matters": "manipulation",
    },
    {"k": 4, "n": 10_000, "error": 0.02, "delta": 1e-6, "matters": "privacy"},
    {"k": 2, "n": 1000, "error": 0.05, "matters": "bits"},
    {"k": 10_000, "n": 10**7, "error": 0.002, "max_asr": 0.01},
    {"k": 20, "n": 10_000},
]

FORMS = hush.GRR(k=100, epsilon=1.0).forms


@pytest.mark.parametrize("given", PLANS, ids=lambda given: f"{given['k']}-{given.get('matters', 'balance')}")
def test_every_choice_meets_every_wish(given: dict[str, object]) -> None:
    plan = hush.plan(**given)  # type: ignore[arg-type]
    w = plan.wishes
    assert plan.feasible
    here = Setting(n=w.n, worst=w.worst, fakes=w.fakes, targets=w.targets)
    for choice in plan.choices:
        m = choice.mechanism
        assert m.k == w.k
        assert m.epsilon <= w.largest_epsilon
        assert choice.numbers["error"] == pytest.approx(objective(w.metric).measure(m, here), rel=1e-12)
        assert choice.numbers["asr"] == m.asr()
        assert choice.numbers["bits"] == m.bits
        assert choice.numbers["work"] == objective("work").measure(m, here)
        assert w.error is None or choice.numbers["error"] <= w.error * (1 + 1e-9)
        assert w.max_asr is None or m.asr() <= w.max_asr * (1 + 1e-9)
        assert w.max_bits is None or m.bits <= w.max_bits
        assert hush.Spec.from_json(choice.spec.to_json()).mechanism == m


@pytest.mark.parametrize(
    ("matters", "name"),
    [
        ("privacy", "epsilon"),
        ("attack", "asr"),
        ("accuracy", "error"),
        ("manipulation", "gain"),
        ("bits", "bits"),
        ("work", "work"),
    ],
)
def test_what_matters_most_decides_the_first(matters: str, name: str) -> None:
    plan = hush.plan(k=60, n=100_000, error=0.02, max_epsilon=3.0, max_asr=0.4, matters=matters)
    best = min(choice.numbers[name] for choice in plan.choices)
    assert plan.first.numbers[name] <= 1.05 * best  # and within 1 %, but for what is much better in something
    assert plan.first.name in plan.why


def test_a_limit_on_attacks_is_met_by_tuning_where_named_mechanisms_fail() -> None:
    free = hush.plan(k=100, n=100_000, error=0.005)
    held = hush.plan(k=100, n=100_000, error=0.005, max_asr=0.95 * free.first.numbers["asr"], max_epsilon=6.0)
    assert held.feasible
    assert all(choice.name.startswith("tuned") for choice in held.choices)


def test_each_row_has_the_smallest_round_budget_for_its_parameter() -> None:
    plan = hush.plan(k=40, n=20_000, error=0.03)
    for choice in plan.choices:
        m = choice.mechanism
        less = type(m)(**{**m.parameters, "epsilon": m.epsilon * 0.97})
        assert objective("margin").measure(less, Setting(n=20_000)) > 0.03, choice


def test_no_choice_of_blocks_balances_better() -> None:
    plan = hush.plan(k=100, n=100_000, error=0.01)
    mine = next(choice for choice in plan.choices if choice.name == "tuned HR")
    rows = [mine.numbers]
    for blocks in (1, 2, 4, 8, 16):
        m = Named(hush.HR, plan.wishes, (("blocks", blocks),)).search()
        assert m is not None
        rows.append(numbers_of(m, plan.wishes))
    assert rows[plan.wishes.order(rows)[0]] == mine.numbers


def test_of_rows_that_are_the_same_the_simplest_comes_first() -> None:
    """For two values a subset, a residue and a value are the same report."""
    plan = hush.plan(k=2, n=10_000, error=0.01)
    assert [choice.name for choice in plan.choices[:4]] == ["GRR", "SS", "MSS", "ASS"]
    assert "Its report has 1 bit " in advice.why_first(
        hush.MSS(k=2, epsilon=1.0).forms, ["MSS", "SS"], [plan.choices[0].numbers] * 2, None
    )


def test_what_is_like_noise_hides_no_row() -> None:
    """Rows that tell less than no report are left out before those that are like another row."""
    wishes = Wishes(k=4, n=10)
    numbers = dict.fromkeys(NUMBERS, 1.0)
    noise, close = Found(hush.GRR(k=4, epsilon=0.01), False, numbers), Found(hush.GRR(k=4, epsilon=3.0), True, numbers)
    assert distinct(useful([noise, close], wishes)) == [close]


def test_what_a_little_more_would_buy_is_said() -> None:
    why = hush.plan(k=1024, n=10**6, max_epsilon=4.0, matters="bits").why
    assert "For 1 bit more, tuned PGR has 1.15× less ε, 14× less attack success" in why
    row = {"epsilon": 1.0, "asr": 0.2, "error": 0.1, "gain": 0.1, "bits": 10.0, "work": 1.0}
    names = ["first", "second"]
    for changed, said in (
        ({"bits": 12.0, "error": 0.04}, "For 2 bits more, second has 2.5× less error."),
        ({"bits": 16.0, "error": 0.04}, ""),  # too many bits
        ({"bits": 12.0, "error": 0.06}, ""),  # not twice as good
        ({"bits": 12.0, "error": 0.04, "asr": 0.3}, ""),  # worse in something else
    ):
        why = advice.why_first(FORMS, names, [row, {**row, **changed}], "bits")
        assert why.partition("as much. ")[2] == said
    why = advice.why_first(FORMS, names, [row, {**row, "asr": 0.21, "bits": 2.0}], "asr")
    assert "For 1.05× the attack success, second has 5.0× shorter reports." in why


def test_the_first_sentence_says_what_a_larger_budget_buys() -> None:
    plan = hush.plan(k=13, n=60_000, error=0.01)
    least = min(plan.choices, key=lambda choice: choice.numbers["epsilon"])
    first = plan.why.partition(". ")[0]
    assert (plan.first.mechanism.epsilon, least.name, least.mechanism.epsilon) == (1.73, "SS", 1.35)
    assert first.startswith(
        "tuned PGR is recommended, at ε = 1.73; SS needs only 1.35 for that error, and the larger ε"
    )
    fewer = least.numbers["asr"] / plan.first.numbers["asr"]
    assert f"buys {advice.times(fewer)} less attack success" in first
    row = {"epsilon": 1.0, "asr": 0.2, "error": 0.1, "gain": 0.1, "bits": 10.0, "work": 1.0}
    for other, said in (
        ({"epsilon": 1.2}, "first is recommended, at ε = 1: no other choice has less."),
        ({"epsilon": 0.995}, "first is recommended, at ε = 1: no other choice has 1 % less."),
        ({"asr": 0.3}, "first is recommended, at ε = 1, like every other choice."),
        (
            {"epsilon": 0.5, "error": 0.3},
            "first is recommended, at ε = 1; other takes only 0.5, and the larger ε buys 3.0× less error.",
        ),
    ):
        assert advice.why_first(FORMS, ["first", "other"], [row, {**row, **other}], None).startswith(said)


def test_a_row_that_differs_in_its_budget_alone_beats_another() -> None:
    row = dict.fromkeys(NUMBERS, 1.0)
    assert on_front([row, {**row, "epsilon": 0.9}]).tolist() == [False, True]
    assert on_front([row, dict(row)]).tolist() == [True, True]


@pytest.mark.parametrize("given", PLANS[:5], ids=lambda given: str(given["k"]))
def test_what_is_worth_a_thought_is_on_the_front_and_better_in_something(given: dict[str, object]) -> None:
    plan = hush.plan(**given)  # type: ignore[arg-type]
    worth = plan.worth_a_thought
    assert len(worth) <= SHOWN
    first = plan.wishes.counted(plan.first.numbers)
    for choice in worth:
        assert choice.on_front
        assert choice is not plan.first
        assert choice.gains
    for name in NUMBERS:  # who cares for one thing most finds the best of it
        least = min(plan.wishes.counted(choice.numbers)[name] for choice in plan.choices)
        shown = min(plan.wishes.counted(choice.numbers)[name] for choice in (plan.first, *worth))
        assert shown <= least * 1.1 or len(worth) == SHOWN, (name, first)
    assert plan.first.gains == ()


def test_gains_and_losses_are_told_against_the_first() -> None:
    plan = hush.plan(k=13, n=60_000, error=0.01)
    first, subset = plan.first.numbers, next(c for c in plan.choices if c.name == "SS")
    assert subset.gains == (f"{advice.times(first['epsilon'] / subset.numbers['epsilon'])} less ε",)
    assert f"{advice.times(subset.numbers['bits'] / first['bits'])} the bits" in subset.losses
    plain = plan.to_dict()["choices"][[c.name for c in plan.choices].index("SS")]
    assert plain["gains"] == list(subset.gains)
    assert plain["gives_up"] == list(subset.losses)
    assert plain["worth_a_thought"] is True


def test_short_reports_are_set_beside_others_in_numbers() -> None:
    plan = hush.plan(k=50, n=100_000, error=0.01, matters="privacy", max_bits=60)
    rows = {choice.name: choice.mechanism for choice in plan.choices}
    assert plan.first.name == "PGR"
    assert f"has {rows['PGR'].bits} bits (a value alone, 6; SS's {rows['SS'].bits})" in plan.why
    assert "adds to 1 counter of the server (SS's to 12)" in plan.why


@pytest.mark.parametrize("k", [10, 1024])
def test_noise_is_no_choice_and_no_yardstick(k: int) -> None:
    plan = hush.plan(k=k, n=10**6, max_epsilon=4.0, matters="attack")
    for choice in plan.choices:
        assert choice.details["mse"] < (1 - 1 / k) / k
        assert choice.numbers["error"] < 0.1
    assert "no report" not in plan.why


def test_where_all_is_noise_the_plan_says_so() -> None:
    plan = hush.plan(k=500, n=50, max_epsilon=0.1)
    assert plan.feasible
    assert plan.why.startswith("No choice beats ignoring the reports")
    asked = hush.plan(k=500, n=50, error=1.0, metric="mse")
    assert asked.why.startswith("The stated error is too large to tell anything: state at most ")


def test_hashing_by_a_public_family_is_considered() -> None:
    plan = hush.plan(k=500, n=10**6, max_epsilon=2.0, max_bits=24)
    row = next(choice for choice in plan.choices if choice.name == "OLH family")
    assert (row.mechanism.bits, row.numbers["work"]) == (19, 1)
    assert plan.wishes.met(row.numbers)


def test_a_narrow_window_is_found() -> None:
    plan = hush.plan(k=3, n=237, error=0.22, max_asr=0.4314, max_epsilon=2.37, worst=True)
    assert plan.feasible


def test_no_subset_size_is_attacked_less() -> None:
    """All sizes that protect well, each with the smallest budget that reaches the error."""
    plan = hush.plan(k=100, n=100_000, error=0.01, max_epsilon=4.0, matters="attack")
    found = next(choice for choice in plan.choices if choice.name == "tuned SS")
    least = 1.0
    for omega in range(1, 100):
        m = Named(hush.SS, plan.wishes, (("omega", omega),)).search()
        if m is not None and protection(m.epsilon, m.asr(), 100) == found.protection:
            least = min(least, m.asr())
    assert found.protection == "well"
    assert found.numbers["asr"] <= 1.0501 * least


def test_an_error_below_the_wish_counts_as_the_wish() -> None:
    wishes = Wishes(k=10, n=1000, error=0.1)
    plain = {"epsilon": 1.0, "asr": 0.2, "error": 0.1, "gain": 0.1, "bits": 8.0}
    assert wishes.order([{**plain, "error": 0.01, "epsilon": 1.1}, plain]) == [1, 0]
    assert Wishes(k=10, n=1000).order([{**plain, "error": 0.01, "epsilon": 1.1}, plain]) == [0, 1]


def test_within_one_per_cent_of_what_matters_most_is_as_good() -> None:
    """Within five where that is an attack."""
    row = {"epsilon": 1.0, "asr": 0.2, "error": 0.1, "gain": 0.1, "bits": 8.0}
    wishes = Wishes(k=10, n=1000, matters="manipulation", max_epsilon=1.0)
    assert wishes.order([row, {**row, "gain": 0.10099, "bits": 1.0}]) == [1, 0]
    assert wishes.order([row, {**row, "gain": 0.10101, "bits": 1.0}]) == [0, 1]
    wishes = Wishes(k=10, n=1000, matters="attack")
    assert wishes.order([row, {**row, "asr": 0.2099, "bits": 1.0}]) == [1, 0]
    assert wishes.order([row, {**row, "asr": 0.2101, "bits": 1.0}]) == [0, 1]


def test_a_worse_verdict_must_halve_what_an_attack_gains_over_a_blind_guess() -> None:
    wishes = Wishes(k=10, n=1000, matters="attack", max_epsilon=4.0)
    row = {"epsilon": 2.0, "asr": 0.2, "error": 0.1, "gain": 0.1, "bits": 8.0}
    assert wishes.order([row, {**row, "epsilon": 2.1, "asr": 0.151}]) == [0, 1]
    assert wishes.order([row, {**row, "epsilon": 2.1, "asr": 0.139}]) == [1, 0]


@pytest.mark.parametrize("given", [{"max_epsilon": 40.0}, {"error": 1e-6, "max_epsilon": 30.0}, {"targets": 9}])
def test_extremes_are_planned(given: dict[str, object]) -> None:
    assert hush.plan(k=10, n=10_000, **given).feasible  # type: ignore[arg-type]


def test_budgets_below_all_that_are_looked_at_are_planned_where_they_are_asked_for() -> None:
    free, held = (hush.plan(k=10, n=10**12, max_epsilon=5e-4, error=error) for error in (None, 0.5))
    assert {choice.name for choice in free.choices if choice.numbers["error"] <= 0.5} >= {"GRR", "SS", "OUE", "HR"}
    for name in ("GRR", "SS", "OUE", "HR"):
        assert next(choice for choice in held.choices if choice.name == name).mechanism.epsilon == 5e-4


def test_a_hidden_bound_of_the_budget_can_be_relaxed() -> None:
    plan = hush.plan(k=100, n=1000, error=1e-4)
    assert plan.relaxations[0].changes["epsilon"][0] == 10.0
    assert hush.plan(k=100, n=1000, error=1e-4, max_epsilon=plan.relaxations[0].changes["epsilon"][1]).feasible


def test_a_plan_shows_itself_in_a_line() -> None:
    assert repr(hush.plan(domain=["a", "b"], n=1000)).startswith("Plan(")
    assert len(repr(hush.plan(k=2, n=1000))) < 100
    assert "infeasible" in repr(hush.plan(k=100, n=10, error=1e-9))


def test_the_front_marks_exactly_the_undominated() -> None:
    plan = hush.plan(k=30, n=10_000, max_epsilon=1.0)
    rows = np.array([[c.numbers[x] for x in NUMBERS] for c in plan.choices])
    for i, choice in enumerate(plan.choices):
        beaten = ((rows <= rows[i] * (1 + 2e-6)).all(axis=1) & (rows < rows[i] * (1 - 2e-6)).any(axis=1)).any()
        assert choice.on_front is not bool(beaten)


def test_without_any_wish_a_budget_of_one_is_assumed() -> None:
    plan = hush.plan(k=8, n=100)
    assert plan.wishes.assumes_epsilon
    assert {choice.mechanism.epsilon for choice in plan.choices} <= {1.0}


def test_approximate_mechanisms_only_with_a_delta() -> None:
    pure = {c.name for c in hush.plan(k=8, n=1000, max_epsilon=1.0).choices}
    more = {c.name for c in hush.plan(k=8, n=1000, max_epsilon=1.0, delta=1e-6).choices}
    assert not pure & {"AGRR", "ASUE", "ABLH", "AOLH", "GM", "AGM"}
    assert {"AGRR", "ASUE", "ABLH", "AOLH", "GM", "AGM"} <= more
    assert "LHO" not in more


def test_labels_travel_into_the_spec() -> None:
    domain = hush.Domain(labels=["yes", "no", "maybe"])
    plan = hush.plan(domain=domain, n=1000, error=0.05)
    assert plan.first.spec.domain == domain
    assert plan.first.spec.privatize(["yes", "no"]).shape == (2,)


@pytest.mark.parametrize(
    "given",
    [
        {"k": 100, "n": 1000, "error": 0.01, "max_asr": 0.05, "max_epsilon": 1.0},
        {"k": 100, "n": 1000, "error": 0.01, "max_epsilon": 1.0, "max_bits": 8},
        {"k": 100, "n": 100_000, "error": 0.005, "max_bits": 3},
        {"k": 30, "n": 50, "error": 0.001},
    ],
)
def test_impossible_wishes_get_a_way_out_that_works(given: dict[str, object]) -> None:
    plan = hush.plan(**given)  # type: ignore[arg-type]
    assert not plan.feasible
    assert plan.relaxations
    factors = [each.factor for each in plan.relaxations]
    assert factors == sorted(factors)
    option = {"error": "error", "asr": "max_asr", "epsilon": "max_epsilon", "bits": "max_bits"}
    for each in plan.relaxations:
        wider = {option[name]: math.ceil(x) if name == "bits" else up(x) for name, (_, x) in each.changes.items()}
        assert hush.plan(**{**given, **wider}).feasible  # type: ignore[arg-type]
        for name, (wished, x) in each.changes.items():
            if name != "bits" and len(each.changes) == 1 and x * 0.97 > wished:
                assert not hush.plan(**{**given, option[name]: 0.97 * x}).feasible  # type: ignore[arg-type]
        if each.people is not None and "max_epsilon" in given:
            assert hush.plan(**{**given, "n": math.ceil(each.people * 1.01)}).feasible  # type: ignore[arg-type]
            assert not hush.plan(**{**given, "n": int(each.people * 0.95)}).feasible  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="relax"):
        _ = plan.first


def test_wishes_that_fail_together_are_stretched_together() -> None:
    plan = hush.plan(k=100, n=100, error=0.001, max_epsilon=0.5, max_bits=2)
    assert not plan.feasible
    assert len(plan.relaxations) == 1
    assert set(plan.relaxations[0].changes) >= {"bits", "error"}


def test_plain_data_hold_everything() -> None:
    plain = hush.plan(k=20, n=1000, error=0.1).to_dict()
    first = plain["choices"][0]
    assert plain["feasible"] is True
    assert first["spec"]["mechanism"]["k"] == 20
    assert set(first["details"]) >= {"asr", "mse", "mae", "margin", "information", "gain", "bits", "work"}
    assert 0 < first["shuffled"]["epsilon"] <= first["epsilon"]


@pytest.mark.parametrize("family", [*families(50)], ids=lambda family: family.mechanism.__name__)
@pytest.mark.parametrize(("k", "epsilon"), [(10, 0.5), (100, 3.0)])
def test_closed_forms_of_a_family_are_those_of_its_mechanisms(family: object, k: int, epsilon: float) -> None:
    grid = family.grid(k)[::41]  # type: ignore[attr-defined]
    got = family.measured(k, np.array(epsilon), grid, 100, worst=False, targets=3)  # type: ignore[attr-defined]
    for i, parameter in enumerate(grid):
        m = family.make(k, epsilon, parameter)  # type: ignore[attr-defined]
        here = Setting(n=100, targets=3, fakes=0.5)
        assert got["mse"][i] == pytest.approx(objective("mse").measure(m, here), rel=1e-6)
        assert got["asr"][i] == pytest.approx(m.asr(), rel=1e-6)
        assert 0.5 * (got["gain"][i] - 3 / k) == pytest.approx(objective("gain").measure(m, here), rel=1e-6)


def test_no_named_mechanism_beats_the_drawn_front() -> None:
    """Up to the grid: something reachable is within 3 % of every mechanism that is pure, in both."""
    edge = reachable(40, 1000, 4.0, worst=False)
    for name in ("GRR", "SS", "OUE", "OLH", "SUE", "Wheel"):
        m = hush.registry()[name](k=40, epsilon=2.0)
        mse, asr = objective("mse").measure(m, Setting(n=1000)), m.asr()
        assert (edge[edge[:, 0] <= mse * 1.03, 1]).min() <= asr * 1.03


def test_every_budget_and_parameter_has_few_digits() -> None:
    plan = hush.plan(k=60, n=30_000, error=0.02, max_asr=0.2)
    for choice in plan.choices:
        assert float(f"{choice.mechanism.epsilon:.3g}") == choice.mechanism.epsilon
        if choice.name.startswith("tuned"):
            told = [x for x in choice.to_dict()["parameters"].values() if isinstance(x, float)]
            assert all(float(f"{x:.6g}") == x for x in told)


def test_a_round_budget_is_found_where_a_measure_falls_and_where_it_jumps() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        crossing, start, jump = 10.0 ** rng.uniform(-3.2, 1.7), 10.0 ** rng.uniform(-3, 1.6), rng.uniform(0, 2)

        def falls(epsilon: float, crossing: float = crossing) -> float:
            return math.log(crossing / epsilon)

        def jumps(epsilon: float, crossing: float = crossing, jump: float = jump) -> float:
            return math.log(crossing / epsilon) + (0.1 if epsilon > jump else 0.0)

        at = first(falls, start)
        assert at == next((i for i in range(place(40.0) + 1) if budget(i) >= crossing), None)
        if at:
            for digits in (4, 6):
                assert crossing <= finer(falls, at, digits) <= crossing * (1 + 2 * 10.0 ** (1 - digits))
        at = first(jumps, start)
        assert at is None or jumps(budget(at)) <= 0 < (jumps(budget(at - 1)) if at else 1)


def test_rounding_keeps_the_side() -> None:
    assert rounded(1.0, math.ceil) == rounded(1.0, math.floor) == 1.0
    for x in np.random.default_rng(1).uniform(-4, 2, 200):
        value = 10.0**x
        assert rounded(value, math.floor) <= value * (1 + 1e-9)
        assert rounded(value, math.ceil) >= value * (1 - 1e-9)


def test_the_search_gives_up_where_even_the_least_budget_leaks() -> None:
    wishes = Wishes(k=100, n=1000, max_asr=0.0100001, max_epsilon=1.0)
    assert Named(hush.GRR, wishes).search() is None
    assert LEAST_EPSILON < 0.01


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"k": 1, "n": 10}, "k"),
        ({"k": 2.5, "n": 10}, "k"),
        ({"n": 10}, "k"),
        ({"k": 3, "domain": hush.Domain(size=3), "n": 10}, "k"),
        ({"domain": "abc", "n": 10}, "domain"),
        ({"k": 10, "n": 0}, "n"),
        ({"k": 10, "n": -5}, "n"),
        ({"k": 10, "n": 1.5}, "n"),
        ({"k": 10, "n": 10, "error": 0}, "error"),
        ({"k": 10, "n": 10, "error": -1.0}, "error"),
        ({"k": 10, "n": 10, "error": math.nan}, "error"),
        ({"k": 10, "n": 10, "error": math.inf}, "error"),
        ({"k": 10, "n": 10, "max_asr": 0.1}, "max_asr"),
        ({"k": 10, "n": 10, "max_asr": 1.1}, "max_asr"),
        ({"k": 10, "n": 10, "max_asr": math.nan}, "max_asr"),
        ({"k": 10, "n": 10, "max_epsilon": 0}, "max_epsilon"),
        ({"k": 10, "n": 10, "max_epsilon": 100.0}, "max_epsilon"),
        ({"k": 10, "n": 10, "max_epsilon": "1"}, "max_epsilon"),
        ({"k": 10, "n": 10, "max_bits": 0}, "max_bits"),
        ({"k": 10, "n": 10, "delta": 1.0}, "delta"),
        ({"k": 10, "n": 10, "metric": "rmse"}, "metric"),
        ({"k": 10, "n": 10, "matters": "speed"}, "matters"),
        ({"k": 10, "n": 10, "error": 0.1, "matters": "accuracy"}, "max_epsilon"),
        ({"k": 10, "n": 10, "fakes": 1.0}, "fakes"),
        ({"k": 10, "n": 10, "fakes": 0.0}, "fakes"),
        ({"k": 10, "n": 10, "targets": 10}, "targets"),
        ({"k": 10, "n": 10, "delta": 0.2}, "delta"),
        ({"k": 10, "n": 10**13}, "n"),
        ({"k": 10, "n": 10, "error": 2.0}, "error"),
        ({"k": 10, "n": 10, "error": 1e-300}, "error"),
    ],
)
def test_bad_wishes_name_the_parameter(given: dict[str, object], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} "):
        hush.plan(**given)  # type: ignore[arg-type]


def test_all_metrics_and_matters_are_documented() -> None:
    text = hush.plan.__doc__ or ""
    for word in (*METRICS, *MATTERS):
        assert f'"{word}"' in text
