"""Unary encoding with a budget for every value keeps MinID-LDP pair by pair, exactly, and spends what it can."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

import hush
from hush.collect.loss import loss
from hush.errors import ParameterError, SpecError
from hush.estimation import laws
from hush.exact.loss import enumerated_loss
from hush.exact.thresholds import SCALE, exp_below, log_ratio
from hush.guarantee import LDP, of_all_values, together
from hush.reports import statement
from hush.testing import check_mechanism
from hush.utility import IDUE, MinIDLDP
from hush.utility.by_budget.optimal import MOST_LEVELS, one_losses
from hush.utility.by_budget.split import left_over

CASES = [
    (1.0, 1.0),
    (1.0, 2.0),
    (0.5, 2.0, 2.0, 2.0),
    (0.3, 1.0, 0.3, 4.0, 1.0),
    (0.01, 5.0, 0.02),
    (20.0, 15.0, 20.0),
    (0.7, 0.1, 0.4, 0.9, 0.2),
    (1e-5, 40.0, 40.0),
]


def made(budgets: tuple[float, ...], **how: tuple[float, ...]) -> IDUE:
    return IDUE(k=len(budgets), budgets=budgets, **how)


@pytest.mark.parametrize("budgets", CASES, ids=str)
def test_the_loss_of_every_pair_is_enumerated_and_within_the_smaller_budget(budgets: tuple[float, ...]) -> None:
    m = made(budgets)
    stated, bound = m.pair_loss(), m.pair_bound()
    weights = [[m.weight(y, v) for y in m.outputs()] for v in range(m.k)]
    for u, v in itertools.permutations(range(m.k), 2):
        worst = max(Fraction(a, b) for a, b in zip(weights[u], weights[v], strict=True))
        assert stated[u, v] == log_ratio(worst.numerator, worst.denominator)
        assert worst <= exp_below(min(budgets[u], budgets[v]))
        assert stated[u, v] <= bound[u, v] == min(budgets[u], budgets[v]) == m.guarantee.between(u, v)
    assert not stated.diagonal().any()
    assert not bound.diagonal().any()
    assert m.exact_epsilon() == stated.max() == enumerated_loss(m) <= m.guarantee.epsilon


@pytest.mark.parametrize("budgets", CASES, ids=str)
def test_no_zero_could_tell_more(budgets: tuple[float, ...]) -> None:
    """Of every value, some pair spends its whole budget: nothing is lost but by rounding."""
    m = made(budgets)
    room = m.pair_bound() - m.pair_loss()
    np.fill_diagonal(room, math.inf)
    assert (room.min(axis=0) < (1e-8 if max(budgets) <= 20 else 1e-2)).all()


@pytest.mark.parametrize("budgets", [case for case in CASES if max(case) <= 20], ids=str)
def test_conforms(budgets: tuple[float, ...]) -> None:
    check_mechanism(made(budgets))


def test_conforms_with_given_parameters() -> None:
    check_mechanism(made((0.5, 1.0, 2.0), one_loss=(0.1, 0.3, 0.2)))


def test_estimates_are_unbiased_with_the_stated_variance_by_exact_rationals() -> None:
    m = made((0.5, 2.0, 1.0))
    own, other = ([Fraction(one, SCALE) for one in ones] for ones in m._ones)
    for held, v in itertools.product(range(m.k), range(m.k)):
        chances = [Fraction(m.weight(y, held), m.denominator) for y in m.outputs()]
        bits = m.bit_matrix(m.outputs())[:, v].tolist()
        decoded = [(bit - other[v]) / (own[v] - other[v]) for bit in bits]
        mean = sum((c * x for c, x in zip(chances, decoded, strict=True)), Fraction(0))
        square = sum((c * x * x for c, x in zip(chances, decoded, strict=True)), Fraction(0))
        assert mean == (held == v)
        assert math.isclose(m.variances(np.eye(m.k)[held])[v], square - mean**2, rel_tol=1e-12)


def test_equal_budgets_are_optimized_unary_encoding() -> None:
    for epsilon in (0.01, 1.0, 5.0):
        m, oue = made((epsilon,) * 6), hush.OUE(k=6, epsilon=epsilon)
        assert np.allclose(m.p, 0.5, atol=1e-5)
        assert math.isclose(m.variance(), oue.variance(), rel_tol=1e-9)
        assert math.isclose(m.exact_epsilon(), epsilon, rel_tol=1e-9)


@pytest.mark.parametrize(("few", "many"), [(1, 9), (2, 48), (3, 5)])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_two_budgets_have_a_closed_form(few: int, many: int, epsilon: float) -> None:
    """Where the larger budget does not bind, the sum of variances is E/(E-1)² (few^(1/3) + many^(1/3))³."""
    ones = one_losses((epsilon,) * few + (2 * epsilon,) * many)
    e, share = math.exp(epsilon), few ** (1 / 3) / (few ** (1 / 3) + many ** (1 / 3))
    assert math.isclose(ones[0], math.log(1 + (e - 1) * share), rel_tol=1e-4)
    assert math.isclose(ones[-1], math.log(1 + (e - 1) * (1 - share)), rel_tol=1e-4)
    m = made((epsilon,) * few + (2 * epsilon,) * many)
    due = e / (e - 1) ** 2 * (few ** (1 / 3) + many ** (1 / 3)) ** 3
    assert math.isclose(m.variance() * m.k, due, rel_tol=1e-9)


def test_nothing_is_gained_where_most_values_have_the_smaller_budget() -> None:
    m, oue = made((0.5,) * 6 + (4.0,) * 5), hush.OUE(k=11, epsilon=0.5)
    assert np.allclose(m.variances(np.zeros(11)), oue.variance(), rtol=1e-4)


@pytest.mark.parametrize(
    "budgets", [(0.5, 0.6, 2.0, 2.0, 2.0, 4.0), (0.1,) * 5 + (1.0,) * 5 + (1.2,) * 20, (2.0, 2.2, 2.4, 2.6)], ids=str
)
def test_no_other_parameters_do_better(budgets: tuple[float, ...]) -> None:
    """Against another solver, with parameters of every value on its own."""
    k, m = len(budgets), made(budgets)

    def score(x: np.ndarray) -> float:
        return math.log(float((1 / (np.expm1(x[:k]) * -np.expm1(-x[k:]))).sum()))

    pairs = list(itertools.permutations(range(k), 2))
    rows = np.zeros((len(pairs), 2 * k))
    for row, (u, v) in zip(rows, pairs, strict=True):
        row[[u, k + v]] = 1
    most = np.array([min(budgets[u], budgets[v]) for u, v in pairs])
    within = {"type": "ineq", "fun": lambda x: most - rows @ x, "jac": lambda x: -rows}
    start, ends = np.full(2 * k, min(budgets) / 3), [(1e-9, None)] * (2 * k)
    found = minimize(score, start, constraints=[within], bounds=ends, options={"ftol": 1e-12, "maxiter": 500})
    assert math.isclose(math.exp(found.fun), m.variance() * k, rel_tol=1e-6)


def test_values_beside_the_bounds_of_a_word_are_sampled_by_their_own_law() -> None:
    """70 values, two words; each bit's ones are binomial. False alarms: 140 numbers, seven deviations, 4e-10."""
    k, n = 70, 200_000
    m = made(tuple(0.5 if v % 3 == 0 else 3.0 for v in range(k)), one_loss=tuple(0.1 + v / 500 for v in range(k)))
    for value in (0, 69):
        tally = m.aggregate(m.privatize(np.full(n, value), rng=hush.seeded(7))).tally
        chance = np.where(np.arange(k) == value, m.p, m.q)
        assert (np.abs(tally - n * chance) < 7 * np.sqrt(n * chance * (1 - chance))).all(), "seed 7"


def test_success_of_the_best_guess_with_a_prior() -> None:
    m = made((0.5, 2.0, 1.0, 3.0))
    for prior in ([0.7, 0.1, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4], [1.0, 0.0, 0.0, 0.0]):
        law = [[m.weight(y, v) / m.denominator * prior[v] for v in range(m.k)] for y in m.outputs()]
        assert math.isclose(m.asr(prior), sum(max(row) for row in law), rel_tol=1e-12)


def test_intervals_are_those_of_each_value() -> None:
    m = made((0.5, 2.0, 2.0))
    estimate = m.estimate(m.aggregate(m.privatize([0, 1, 2, 2] * 50, rng=hush.seeded(3))))
    low, high = estimate.interval()
    assert estimate.interval().method == "exact"
    assert (low < estimate.frequencies).all()
    assert (estimate.frequencies < high).all()
    assert high[0] - low[0] > high[1] - low[1]
    apart = laws.Supports(np.array([90]), 200, float(m.p[0]), float(m.q[0]))
    whole = m.law(np.array([90, 80, 70]), 200)
    assert [end[0] for end in whole.ends(0.025, np.ones(3, bool))] == [
        end[0] for end in apart.ends(0.025, np.ones(1, bool))
    ]


def test_a_spec_tells_all_and_is_read_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = hush.Domain(labels=["HIV", "flu", "cold"])
    spec = hush.Spec(made((0.5, 2.0, 2.0)), domain)
    monkeypatch.setattr("hush.utility.by_budget.mechanism.one_losses", None)
    again = hush.Spec.from_json(spec.to_json())
    assert again == spec
    assert again.hash == spec.hash
    for change in ({"budgets": [0.6, 2.0, 2.0]}, {"one_loss": [0.2, 0.2, 0.2]}):
        with pytest.raises(SpecError, match="thresholds must be"):
            hush.Spec.from_dict({**spec.to_dict(), "mechanism": {**spec.to_dict()["mechanism"], **change}})


def test_a_spec_that_leaves_a_choice_open_is_refused() -> None:
    plain = hush.Spec(made((0.5, 2.0, 2.0))).to_dict()
    del plain["mechanism"]["one_loss"]
    with pytest.raises(SpecError, match="one_loss must be written out"):
        hush.Spec.from_dict(plain)


def test_it_is_known_to_specs_and_not_listed() -> None:
    assert "IDUE" not in hush.registry(kind=None)
    assert IDUE.name() == "IDUE"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"k": 3, "budgets": (1.0, 2.0)}, "budgets must be k=3 numbers, got 2"),
        ({"k": 2, "budgets": 1.0}, "budgets must be k=2 numbers"),
        ({"k": 2, "budgets": "12"}, "budgets must be k=2 numbers"),
        ({"k": 2, "budgets": (1.0, math.nan)}, r"budgets\[1\] must be a number"),
        ({"k": 2, "budgets": (1.0, math.inf)}, r"budgets\[1\] must be a number above 1e-06 and at most 40"),
        ({"k": 2, "budgets": (0.0, 1.0)}, r"budgets\[0\] must be"),
        ({"k": 2, "budgets": (True, 1.0)}, r"budgets\[0\] must be"),
        ({"k": 1, "budgets": (1.0,)}, "k must be an integer"),
        ({"k": 2, "budgets": (1.0, 1.0), "one_loss": (0.5,)}, "one_loss must be k=2 numbers, got 1"),
        ({"k": 2, "budgets": (1.0, 1.0), "one_loss": (0.5, 1.0)}, "one_loss must leave zeros of value 0"),
        ({"k": 2, "budgets": (1.0, 1.0), "one_loss": (0.5, -1.0)}, r"one_loss\[1\] must be"),
        ({"k": 30, "budgets": [1 + v / 10 for v in range(30)]}, f"at most {MOST_LEVELS} different numbers, got 30"),
    ],
)
def test_bad_parameters_are_refused_by_name(how: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        IDUE(**how)  # type: ignore[arg-type]


def test_a_table_of_too_many_pairs_is_refused() -> None:
    m = made((0.5,) * 10 + (2.0,) * 4990)
    assert m.exact_epsilon() <= m.epsilon
    for table in (m.pair_loss, m.pair_bound):
        with pytest.raises(ParameterError, match=r"pairs of values must be .*, got 25000000; ask exact_epsilon"):
            table()


def test_the_promise_is_ldp_as_well() -> None:
    assert MinIDLDP.of((3.0, 0.5, 2.0)).epsilon == 1.0
    assert MinIDLDP.of((3.0, 1.5, 2.0)).epsilon == 2.0
    m = made((0.5, 2.0, 2.0))
    assert isinstance(m.guarantee, LDP)
    assert of_all_values(m.guarantee, 3) == m.guarantee
    assert together([m.guarantee, LDP(0.25)]) == LDP(1.25)
    assert str(m.guarantee) == "MinID-LDP with budgets from 0.5 to 2; 1-LDP"


def test_other_parts_take_it_as_any_mechanism() -> None:
    m = made((0.5, 2.0, 2.0, 2.0))
    assert loss(hush.Spec(m)) is not None
    assert "privacy loss" in str(statement(hush.Spec(m)))
    assert hush.audit.run(m, "exact").verdict == "consistent"
    claim = hush.audit.Claim(1.0, metric=m.pair_bound())
    assert hush.audit.run(m, "exact", claim=claim).verdict == "consistent"
    assert hush.audit.run(hush.OUE(k=4, epsilon=1.0), "exact", claim=claim).verdict == "violation"


def test_what_zeros_may_tell_is_the_least_over_all_other_values() -> None:
    budgets, ones = (0.5, 2.0, 0.75, 2.0), (0.125, 0.375, 0.25, 0.25)
    due = [min(min(budgets[u], budgets[v]) - ones[u] for u in range(4) if u != v) for v in range(4)]
    assert [float(x) for x in left_over(budgets, ones)] == due
