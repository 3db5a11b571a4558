"""What the planner recommends makes sense: for requests of every kind, and for those where it did not."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import HushError, ParameterError
from hush.mechanisms.tunable import Choices, Family
from hush.planning import balance, protection_verdicts, search
from hush.planning.budgets import LEAST_EPSILON
from hush.planning.families import tunable
from hush.planning.improvement import Maker, at_budget, find_better, lower_budget
from hush.planning.measures import meets, number_of, numbers_of
from hush.planning.named import Named
from hush.planning.objectives import OBJECTIVES
from hush.planning.plan import Choice, Plan
from hush.planning.search import tells
from hush.planning.wishes import MATTERS, METRICS, Wishes
from tests.conftest import PURE_NAMES

pytestmark = pytest.mark.slow

REQUESTS, AT_ONCE = 500, 10
"""All of them; and those of one case, of which a sample runs four."""
RIVALS = 40
QUICK = tuple(name for name, each in OBJECTIVES.items() if each.quick)


def draw_request(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a request that a person might make, or that somebody makes who wants to see what happens."""
    k = int(rng.choice((2, 3, 5, 8, 13, 20, 50, 100, 300, 1000)))
    n = int(10 ** rng.uniform(2, 7))
    metric = str(rng.choice(sorted(METRICS)))
    worst = bool(rng.random() < 0.3)
    asked: dict[str, Any] = {"k": k, "n": n, "metric": metric, "worst": worst}
    if rng.random() < 0.5:
        epsilon = rng.uniform(0.1, 5.0)
        squared = 1 / math.sinh(epsilon / 2) ** 2 / n
        error = {"mse": squared, "mae": math.sqrt(squared * 2 / math.pi), "margin": 1.96 * math.sqrt(squared)}[metric]
        asked["error"] = min(error, 1.0)
    if rng.random() < 0.4:
        asked["max_asr"] = float(np.exp(rng.uniform(math.log(min(1.3 / k, 0.7)), 0.0)))
    if rng.random() < 0.5:
        asked["max_epsilon"] = float(rng.choice((0.2, 0.5, 1.0, 2.0, 4.0, 6.0, 10.0, 20.0)))
    if rng.random() < 0.2:
        asked["max_bits"] = int(rng.integers(k.bit_length(), 200))
    matters = sorted(MATTERS)
    if rng.random() < 0.3:
        asked["fakes"] = float(rng.choice((0.001, 0.01, 0.2)))
        asked["targets"] = int(rng.integers(1, max(2, k // 4)))
    if rng.random() < 0.15:
        asked["delta"] = 0.01 / n
    slow = rng.random() < 0.1
    if slow or rng.random() < 0.35:
        names = [name for name in ("error", *QUICK) if k <= 100 or name != "information"]
        chosen = rng.choice(names, rng.integers(2, 6), replace=False).tolist()
        chosen += [] if set(chosen) & set(balance.ERRORS) or "error" in asked else ["error"]
        if slow and k <= 100:
            chosen += rng.choice(("attribute", "pools", "changes"), rng.integers(1, 3), replace=False).tolist()
        asked["objectives"] = tuple(dict.fromkeys(chosen))
    if not asked.keys() & {"max_asr", "max_epsilon"}:
        matters = [each for each in matters if each not in {"accuracy", "manipulation"}]
    if rng.random() < 0.5:
        asked["matters"] = str(rng.choice(matters))
    return asked


def draw_rival(rng: np.random.Generator, wishes: Wishes, first: Choice) -> hush.FrequencyOracle | None:
    """Draw another mechanism, parameter or smaller budget, at an ε that is no larger."""
    epsilon = first.numbers["epsilon"] * math.exp(-float(rng.exponential(0.3)))
    try:
        if rng.random() < 0.2:
            return at_budget(first.mechanism, epsilon)
        offers = [each for each in tunable(wishes.k) if isinstance(each, Family | Choices)]
        if rng.random() < 0.6:
            offer = offers[rng.integers(len(offers))]
            if isinstance(offer, Family):
                value = offer.written(float(rng.choice(offer.grid(wishes.k))))
            else:
                value = offer.values[rng.integers(len(offer.values))]
            return Named(offer.mechanism, wishes, ((offer.parameter, value),)).make(epsilon)
        return hush.registry()[str(rng.choice(PURE_NAMES))](k=wishes.k, epsilon=epsilon)
    except (HushError, TypeError):
        return None


def assert_sensible(plan: Plan, rng: np.random.Generator) -> None:
    """Assert that nothing is nearly as good and much better in something, and that weaknesses are said first."""
    w, first = plan.wishes, plan.first
    rivals = [choice.mechanism for choice in plan.choices[1:]]
    rivals += [m for m in (draw_rival(rng, w, first) for _ in range(RIVALS)) if m is not None]
    for m in rivals:
        epsilon = number_of(m, "epsilon", w)
        if not epsilon <= balance.NEAR * first.numbers["epsilon"] or not meets(m, w):
            continue
        numbers = numbers_of(m, w)
        sound = w.may_replace(numbers, first.numbers) and tells(m, w)
        assert not (sound and balance.beats(w, numbers, first.numbers)), (m, numbers, first.numbers)
    sentence = plan.why.partition(". ")[0]
    assert (first.verdict in sentence) == (first.protection != "well"), sentence
    useless = ("no choice gives", "no choice beats", "too large to tell anything")
    assert first.useful == (not any(each in sentence.lower() for each in useless)), sentence
    if first.numbers["asr"] > protection_verdicts.MAX_ASR:
        assert w.error is not None
        assert first.protection == "hardly"
        assert all(choice.numbers["asr"] > protection_verdicts.MAX_ASR for choice in plan.choices)
    if w.error is None:
        assert first.numbers["epsilon"] <= (1.0 if w.max_epsilon is None else w.max_epsilon)
        assert_spends_for_something(first, w)


def assert_spends_for_something(first: Choice, wishes: Wishes) -> None:
    """Assert that a smaller ε would make something worse by 5 %, or break a limit or what makes it useful."""
    epsilon = 0.89 * first.mechanism.epsilon
    if epsilon <= LEAST_EPSILON:
        return
    try:
        less = at_budget(first.mechanism, epsilon)
        numbers = numbers_of(less, wishes)
    except HushError:
        return
    names = ("error",) if wishes.first == "error" else ("error", *wishes.compared)
    columns = [{name: np.array(each[name]) for name in names} for each in (numbers, first.numbers)]
    after, before = (balance.comparable(wishes, each) for each in columns)
    worse = [name for name in names if after[name] > 1.0499 * before[name]]
    assert worse or not meets(less, wishes) or not tells(less, wishes), (numbers, first.numbers)


@pytest.mark.parametrize("chunk", range(REQUESTS // AT_ONCE))
def test_random_requests_get_sensible_recommendations(chunk: int, thorough: bool) -> None:
    for i in range(AT_ONCE if thorough else 4):
        rng = np.random.default_rng([33, chunk, i])
        asked = draw_request(rng)
        plan = hush.plan(**asked)
        if plan.feasible:
            try:
                assert_sensible(plan, rng)
            except AssertionError as error:
                raise AssertionError(f"hush.plan(**{asked})") from error


@pytest.mark.parametrize(
    "asked",
    [
        {"k": 100, "n": 10**5, "max_asr": 0.3},
        {"k": 50, "n": 1000, "max_asr": 0.4, "matters": "work"},
        {"k": 50_000, "n": 10**6, "max_asr": 0.3, "matters": "bits"},
        {"k": 100, "n": 10**5, "max_asr": 0.3, "matters": "accuracy"},
    ],
)
def test_only_an_error_or_a_budget_lifts_the_assumed_epsilon(asked: dict[str, Any]) -> None:
    plan = hush.plan(**asked)
    assert plan.wishes.assumes_epsilon
    assert {choice.numbers["epsilon"] <= 1.0 for choice in plan.choices} == {True}


def test_an_error_lifts_it_no_further_than_it_needs() -> None:
    plan = hush.plan(k=100, n=10**5, error=0.005, max_asr=0.3, matters="accuracy")
    for choice in plan.choices:
        less = numbers_of(at_budget(choice.mechanism, 0.97 * choice.mechanism.epsilon), plan.wishes)
        assert choice.numbers["epsilon"] > 1
        assert less["error"] > 0.005, choice


def test_a_budget_that_buys_nothing_is_not_spent() -> None:
    wishes = Wishes(k=100, n=10**5, max_epsilon=10.0)
    idle = hush.PGR(k=100, epsilon=10.0, q=2)
    lowered = lower_budget(idle, wishes)
    assert 3.0 < lowered.epsilon < 4.0
    for name in ("error", "gain"):
        assert number_of(lowered, name, wishes) <= 1.05 * number_of(idle, name, wishes)
    least = at_budget(lowered, lowered.epsilon - 0.01)
    assert any(number_of(least, x, wishes) > 1.05 * number_of(idle, x, wishes) for x in ("error", "gain"))
    busy = hush.SS(k=100, epsilon=1.0)
    assert lower_budget(busy, wishes) is busy


def test_errors_below_the_sampling_error_are_as_good() -> None:
    wishes = Wishes(k=10, n=1000, max_epsilon=20.0, objectives=("error", "asr"))
    floor = balance.sampling_errors(10, 1000, worst=False)["margin"]
    lowered = lower_budget(hush.GRR(k=10, epsilon=20.0), wishes)
    assert number_of(lowered, "error", wishes) == pytest.approx(1.05 * floor, rel=0.01)
    rng = np.random.default_rng(3)
    sampled = rng.binomial(1000, 0.1, 100_000) / 1000
    assert floor == pytest.approx(1.96 * sampled.std(), rel=0.02)


@pytest.mark.parametrize(
    ("k", "objectives"),
    [
        (100, None),
        (100, ("error", "asr", "gain")),
        (100, ("mse", "asr", "attribute", "reidentification", "changes")),
        (20, ("error", "asr", "attribute", "changes", "bits")),
    ],
)
@pytest.mark.parametrize("largest", [10.0, 20.0])
def test_a_large_budget_is_not_spent_for_nothing(k: int, objectives: tuple[str, ...] | None, largest: float) -> None:
    plan = hush.plan(k=k, n=10**5, max_epsilon=largest, objectives=objectives)
    first = plan.first
    same = [hush.SS(k=k, epsilon=first.mechanism.epsilon), hush.GRR(k=k, epsilon=first.mechanism.epsilon)]
    best = min(number_of(m, "error", plan.wishes) for m in same)
    assert first.numbers["epsilon"] <= protection_verdicts.LITTLE_EPSILON
    assert first.numbers["asr"] <= 0.5
    assert first.numbers["error"] <= 2.5 * best
    assert first.numbers["gain"] <= 0.5
    assert first.protection != "hardly"


@pytest.mark.parametrize(("k", "n"), [(2, 1000), (5, 10**5), (20, 10**4), (100, 10**5)])
def test_a_balance_takes_a_smaller_budget_where_it_ranks_higher(k: int, n: int) -> None:
    errors = []
    for largest in (1.0, 1.5, 2.0, 3.0, 4.0, 10.0, 20.0):
        plan = hush.plan(k=k, n=n, max_epsilon=largest)
        first, w = plan.first, plan.wishes
        errors.append(first.numbers["error"])
        for choice in plan.choices:
            for share in (0.3, 0.5, 0.7, 0.9):
                epsilon = share * choice.mechanism.epsilon
                if epsilon >= 1:
                    less = numbers_of(at_budget(choice.mechanism, epsilon), w)
                    assert w.order([first.numbers, less])[0] == 0, (largest, choice.name, epsilon)
    assert all(after <= 1.05 * before for before, after in itertools.pairwise(errors)), errors


def test_a_plan_says_what_the_larger_budget_would_buy() -> None:
    plan = hush.plan(k=2, n=1000, max_epsilon=2.0)
    assert plan.first.numbers["epsilon"] < 2
    assert "At ε = 2, GRR would have a margin of ±2.64 points" in plan.why
    enough = hush.plan(k=3, n=1688, error=0.012566, max_epsilon=20, matters="accuracy")
    error = number_of(at_budget(enough.first.mechanism, 20.0), "error", enough.wishes)
    assert error < 0.9 * enough.first.numbers["error"]
    assert "would improve no other number" not in enough.why
    assert "even 1,688 truthful answers have a margin of ±2.25 points" in enough.why
    assert "but its reports name the value of their sender more than 9 times in 10" in enough.why


def test_what_ranks_first_is_not_said_to_have_the_lowest_number() -> None:
    plan = hush.plan(k=100, n=10**5, max_epsilon=3, matters="accuracy")
    _, replaced, words = plan.why.partition(" ranks first, with the lower error")
    assert replaced
    assert "this is within 5 % of it in every compared number" in words


@pytest.mark.parametrize(
    "asked",
    [
        {"objectives": ("mse", "asr"), "max_epsilon": 10},
        {"objectives": ("error", "pools", "changes"), "max_epsilon": 3},
        {"objectives": ("mse", "attribute"), "max_epsilon": 10},
        {"objectives": ("mse", "asr"), "max_epsilon": 2},
        {"error": 0.01, "matters": "attack"},
        {"error": 0.01, "matters": "attack", "max_epsilon": 10},
        {"max_epsilon": 10, "matters": "attack"},
    ],
)
def test_a_yes_or_no_question_is_asked_plainly(asked: dict[str, Any]) -> None:
    first = hush.plan(k=2, n=10**4, **asked).first
    assert first.numbers["bits"] <= 2
    assert first.numbers["epsilon"] <= 2
    assert first.numbers["gain"] <= 0.2


@pytest.mark.parametrize(("asr", "first"), [(0.22, 0), (0.205, 0), (0.19, 1), (0.12, 1)])
def test_a_worse_verdict_must_halve_the_attack(asr: float, first: int) -> None:
    """Of 10 values, an attack success of 0.3 is 0.2 more than blind, and half as much more is one of 0.2."""
    wishes = Wishes(k=10, n=10**5, error=0.01, max_epsilon=10.0, matters="attack")
    same = {"error": 0.01, "gain": 0.1, "bits": 4.0, "work": 1.0}
    well, little = {"epsilon": 1.5, "asr": 0.3, **same}, {"epsilon": 3.0, "asr": asr, **same}
    assert wishes.order([well, little])[0] == first
    assert wishes.order([little, well])[0] == 1 - first


def test_fakes_weigh_little_also_where_one_objective_matters_most() -> None:
    plan = hush.plan(k=30, n=10**5, objectives=("error", "pools"), matters="pools")
    assert plan.first.numbers["gain"] <= 0.2
    assert "Fake users" not in plan.why
    heavy = hush.plan(k=1024, n=10**6, max_epsilon=4.0, matters="bits")
    assert heavy.first.numbers["gain"] > 0.2
    assert "; and fake users who send 5 % of the reports can add 100 points" in heavy.why.partition(". ")[0]


def test_accuracy_beyond_the_sampling_error_costs_no_privacy() -> None:
    plan = hush.plan(k=100, n=10**5, max_epsilon=10, matters="accuracy")
    floor = 1.05 * balance.sampling_errors(100, 10**5, worst=False)["margin"]
    enough = [choice.numbers["epsilon"] for choice in plan.choices if choice.numbers["error"] <= floor]
    assert plan.first.numbers["error"] <= floor
    assert plan.first.numbers["epsilon"] <= 1.05 * min(enough)


def test_objectives_without_a_bound_compare_epsilon() -> None:
    plan = hush.plan(k=20, n=10**5, error=0.01, objectives=("mse", "asr", "attribute", "changes"))
    assert "epsilon" in plan.wishes.compared
    assert plan.first.numbers["epsilon"] <= 1.5 * min(choice.numbers["epsilon"] for choice in plan.choices)
    bounded = Wishes(k=20, n=10**5, max_epsilon=2.0, objectives=("mse", "asr"))
    assert bounded.compared == ("mse", "asr")


def test_a_margin_above_50_points_is_no_estimate() -> None:
    plan = hush.plan(k=50, n=10**6, objectives=["information", "reidentification"], worst=True)
    assert all(choice.useful and choice.numbers["error"] <= 0.5 for choice in plan.choices)
    few = hush.plan(k=2, n=7)
    assert not few.first.useful
    assert few.why.startswith("No choice gives a useful estimate: the margin is ±")


@pytest.mark.parametrize(
    ("asked", "largest"),
    [
        ({"k": 10, "n": 100, "error": 0.9}, "±50 points"),
        ({"k": 2, "n": 10**4, "error": 0.9, "matters": "privacy"}, "±50 points"),
        ({"k": 100, "n": 50, "error": 0.4}, "±19.5 points"),
        ({"k": 100, "n": 50, "error": 0.05, "metric": "mse"}, "a mean squared error of 0.0099"),
        ({"k": 100, "n": 50, "error": 0.2, "metric": "mae"}, "a mean absolute error of 7.93 points"),
    ],
)
def test_an_error_that_tells_nothing_is_said_to_be_too_large(asked: dict[str, Any], largest: str) -> None:
    plan = hush.plan(**asked)
    assert not plan.first.useful
    assert plan.why.startswith(f"The stated error is too large to tell anything: state at most {largest}")
    assert "No choice" not in plan.why
    share = float(largest.removesuffix(" points").rpartition(" ")[2].removeprefix("±"))
    smaller = hush.plan(**asked | {"error": share / (100 if "points" in largest else 1)})
    assert smaller.first.useful
    assert "too large" not in smaller.why


def test_what_hardly_protects_is_recommended_only_for_an_error_and_says_so_first() -> None:
    plan = hush.plan(k=10, n=1000, error=0.005)
    assert plan.first.numbers["asr"] > protection_verdicts.MAX_ASR
    assert plan.why.startswith(f"{plan.first.name} hardly protects: ")
    plain = plan.to_dict()
    assert plain["verdict"] == plain["choices"][0]["verdict"] == "hardly protects"
    for matters in ("accuracy", "manipulation"):
        most = hush.plan(k=10, n=1000, max_epsilon=20.0, matters=matters)
        assert most.first.numbers["asr"] <= protection_verdicts.MAX_ASR


@pytest.mark.parametrize(
    "asked",
    [
        {"k": 8, "n": 2214, "error": 0.005437498, "max_epsilon": 20, "matters": "bits"},
        {"k": 3, "n": 1688, "error": 0.012566, "max_epsilon": 20, "matters": "accuracy"},
        {"k": 2, "n": 9153, "error": 0.0072854, "max_epsilon": 20, "matters": "accuracy"},
    ],
)
def test_reports_that_name_their_value_replace_none_that_do_not(asked: dict[str, Any]) -> None:
    plan = hush.plan(**asked)
    assert min(choice.numbers["asr"] for choice in plan.choices) <= protection_verdicts.MAX_ASR
    assert plan.first.numbers["asr"] <= protection_verdicts.MAX_ASR


def test_the_metric_does_not_change_the_balance() -> None:
    firsts = {hush.plan(k=30, n=50_000, metric=metric).first.mechanism for metric in METRICS}
    assert len(firsts) == 1


def test_scales_are_bounded() -> None:
    """Neither certainty nor a chance near nothing outweighs everything else."""
    wishes = Wishes(k=100, n=10**6, objectives=("error", "asr", "pools", "reidentification", "information"))
    columns = {name: np.array([0.0, 1.0]) for name in wishes.objectives if name != "error"}
    for name, (low, high) in balance.costs(wishes, columns).items():
        assert np.isfinite([low, high]).all(), name
        assert high - low < 15, name


def test_verdicts_are_those_of_the_page() -> None:
    assert protection_verdicts.protection(math.log(3), 0.75, 2) == "well"
    assert protection_verdicts.protection(2.0, 0.1, 100) == "well"
    assert protection_verdicts.protection(2.01, 0.1, 100) == "little"
    assert protection_verdicts.protection(1.5, 0.82, 2) == "little"
    assert protection_verdicts.protection(4.01, 0.1, 100) == "hardly"
    assert protection_verdicts.protection(3.0, 0.91, 2) == "hardly"


def test_parts_are_at_most_the_values() -> None:
    with pytest.raises(
        ParameterError, match=r"parts must be an integer in .*there are only 2 values to cut into parts"
    ):
        hush.plan(k=2, n=1000, objectives=("error", "attribute"), parts=3)


def test_a_slow_attack_does_not_hide_a_better_budget() -> None:
    names = ("work", "variance", "pools")
    plan = hush.plan(k=2, n=426, max_bits=62, fakes=0.001, objectives=names, matters="work")
    rivals = [hush.SS(k=2, epsilon=round(0.6 + 0.01 * i, 2)) for i in range(40)]
    found = [(m.epsilon, numbers_of(m, plan.wishes)) for m in rivals]
    assert [e for e, numbers in found if balance.beats(plan.wishes, numbers, plan.first.numbers)] == []


@pytest.mark.parametrize(
    ("asked", "rival"),
    [
        (  # its attack success is bounded, not compared
            {"n": 3698, "metric": "mae", "max_asr": 0.1231, "max_epsilon": 10, "matters": "manipulation"}
            | {"objectives": ("epsilon", "bits", "margin")},
            hush.PGR(k=50, epsilon=3.79, q=3),
        ),
        (  # many rivals are as good in what is compared, and worse in what matters most
            {"n": 268012, "metric": "mae", "worst": True, "max_epsilon": 0.2, "matters": "manipulation"}
            | {"objectives": ("epsilon", "error", "information", "variance")},
            hush.SS(k=50, epsilon=0.2, omega=47),
        ),
    ],
)
def test_rivals_are_found_whatever_is_not_compared(asked: dict[str, Any], rival: hush.FrequencyOracle) -> None:
    plan = hush.plan(k=50, **asked)
    assert meets(rival, plan.wishes)
    assert not balance.beats(plan.wishes, numbers_of(rival, plan.wishes), plan.first.numbers)


def test_what_replaces_the_first_takes_the_least_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {"k": 13, "n": 1210, "max_epsilon": 6.0, "matters": "manipulation"}
    lowered = hush.plan(**asked).first
    monkeypatch.setattr(search, "lower_budget", lambda m, *_: m)
    replaced = hush.plan(**asked).first
    assert lowered.name == replaced.name
    assert lowered.numbers["epsilon"] <= 0.9 * replaced.numbers["epsilon"]
    assert lowered.numbers["gain"] <= balance.NEAR**2 * replaced.numbers["gain"]


def test_budgets_at_the_limit_of_a_verdict_are_tried() -> None:
    wishes, m = Wishes(k=50, n=10**4, max_epsilon=10.0), hush.HR(k=50, epsilon=4.0, blocks=1)
    numbers = numbers_of(m, wishes)
    worse = {**numbers, "error": 2.02 * numbers["error"]}
    assert (m, True) in list(find_better(worse, [Maker(hush.HR, (("blocks", 1),), tuned=True)], wishes))


def test_objectives_without_an_error_serve_a_stated_one() -> None:
    plan = hush.plan(k=12, n=50_000, error=0.02, objectives=["asr", "bits"])
    assert plan.first.numbers["error"] <= 0.02
    assert plan.first.numbers["bits"] <= min(choice.numbers["bits"] for choice in plan.choices) + 1


@pytest.mark.parametrize(("k", "n"), [(100, 10**5), (17, 10**4)])
def test_a_larger_budget_is_not_spent_on_an_error_below_the_sampling_error(k: int, n: int) -> None:
    plans = [hush.plan(k=k, n=n, max_epsilon=most, matters="accuracy") for most in (10.0, 20.0)]
    assert plans[1].first.numbers["epsilon"] <= plans[0].first.numbers["epsilon"]
    floor = balance.NEAR * plans[1].wishes.floors["error"]
    near = [c.numbers["epsilon"] for c in plans[1].choices if c.numbers["error"] <= floor]
    assert plans[1].first.numbers["epsilon"] <= balance.NEAR * min(near)


def test_a_name_without_tuned_is_that_of_the_textbook() -> None:
    for choice in hush.plan(k=100, n=10**5, max_epsilon=20.0).choices:
        m = choice.mechanism
        if choice.name in {"PGR", "SS", "OLH", "HR", "OUE", "THE"}:
            assert m == type(m)(k=100, epsilon=m.epsilon)


def test_a_balance_avoids_heavy_fakes() -> None:
    plan = hush.plan(k=5, n=10_000, max_asr=0.21)
    heavy = protection_verdicts.MAX_WEIGHT_OF_FAKES * plan.wishes.fakes
    assert any(choice.numbers["gain"] > heavy for choice in plan.choices)
    assert plan.first.numbers["gain"] <= heavy
    assert "Fake users" not in plan.why


def test_a_plan_names_the_least_error_of_the_largest_budget() -> None:
    plan = hush.plan(k=100, n=10**5, max_epsilon=20.0)
    assert plan.first.numbers["epsilon"] < 4.0
    assert "At ε = 4, SS would have a margin of ±0.158 points" in plan.why
    error = hush.SS(k=100, epsilon=4.0)
    assert number_of(error, "error", plan.wishes) == pytest.approx(0.00158, abs=5e-6)


def test_a_plan_says_what_is_lost_in_the_noise_and_whom_an_error_is_about() -> None:
    noisy, sharp = hush.plan(k=100, n=10**5, max_epsilon=0.1), hush.plan(k=100, n=10**7, max_epsilon=1.0)
    margin = 196 * number_of(noisy.first.mechanism, "mse", noisy.wishes) ** 0.5
    assert f"held by clearly more than {margin:.3g} % stand out" in noisy.why
    assert "stand out" not in sharp.why
    assert "truthful answers have a margin of ±9.8 points" in hush.plan(k=2, n=100, error=0.01).why
    assert "truthful" not in hush.plan(k=2, n=100_000, error=0.01).why
