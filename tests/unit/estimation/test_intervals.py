"""Intervals of frequencies cover at every n: by the exact law of every tally, and by enumeration of all reports."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.special import betainc

import hush
from hush.errors import ParameterError, SpecError
from hush.estimation import Aggregate, Estimate
from hush.estimation.intervals import deviations, tail
from hush.estimation.laws import Interval, Supports, plain
from hush.kernels.binomials import at_least, supported
from hush.mechanisms.pure import PureOracle
from tests.conftest import NAMES, example
from tests.docs.pages import load_script

tally_law = load_script("covered").binomials
PURE = [name for name in NAMES if issubclass(hush.registry()[name], PureOracle)]


def missed(m: PureOracle, n: int, held: int, *, items: int = 1, method: str | None = None) -> float:
    """The chance that the interval of a value that so many hold misses it, exactly."""
    tallies, law = tally_law(n, held, m.p_star, m.q_star)
    wrong = 0.0
    for at in range(0, tallies.size, m.k):  # as many tallies at a time as there are values
        part = np.resize(tallies[at : at + m.k], m.k)
        raw = (part / n - m.q_star) / (m.p_star - m.q_star)
        errors = np.full(m.k, np.sqrt(m.variance(n, held / n)))  # even with the true error, the normal law is bad
        supports = Supports(part, n, m.p_star, m.q_star)
        found = Estimate(raw, n, hush.Domain(size=m.k), errors, law=supports)
        low, high = found.interval(1 - 0.05 / items, method=method)
        some = law[at : at + m.k]
        wrong += float(some[((held / n < low) | (held / n > high))[: some.size]].sum())
    return wrong


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_every_pure_oracle_covers_from_one_report_on(name: str, epsilon: float) -> None:
    m = example(name, 7, epsilon)
    assert isinstance(m, PureOracle)
    for n in (1, 2, 3, 11):
        assert max(missed(m, n, held) for held in range(n + 1)) <= 0.05 + 1e-12
    assert max(missed(m, 400, held) for held in (0, 1, 3, 100, 399, 400)) <= 0.05 + 1e-12


@pytest.mark.parametrize(("name", "epsilon", "before"), [("GRR", 10.0, 0.3), ("OUE", 8.0, 0.1)])
def test_a_thousand_values_are_covered_together_where_three_are_held(name: str, epsilon: float, before: float) -> None:
    """What may be missed adds up over the values, whatever the law of all of them together."""
    m, n = example(name, 1000, epsilon), 10_000
    held = {0: 997, 3000: 1, 5000: 1, 2000: 1}
    assert isinstance(m, PureOracle)
    assert sum(often * missed(m, n, x, items=1000) for x, often in held.items()) <= 0.05
    assert sum(often * missed(m, n, x, items=1000, method="normal") for x, often in held.items()) > before


@pytest.mark.parametrize(("name", "before"), [("GRR", 0.15), ("PGR", 0.15)])
def test_three_people_of_one_value_are_covered(name: str, before: float) -> None:
    m = example(name, 100, 3.0)
    assert isinstance(m, PureOracle)
    assert max(missed(m, 3, held) for held in range(4)) <= 0.05
    assert max(missed(m, 3, held, method="normal") for held in range(4)) > before


@pytest.mark.parametrize("level", [0.5, 0.8, 0.99, 0.999])
def test_it_holds_at_every_level(level: float) -> None:
    m = hush.GRR(k=4, epsilon=1.0)
    for held in range(8):
        assert missed(m, 7, held, items=0.05 / (1 - level)) <= 1 - level + 1e-12  # type: ignore[arg-type]


@pytest.mark.parametrize("items", [1, 1000])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.01), (0.5, 0.27), (0.999, 0.5)])
def test_the_normal_law_misses_a_tenth_of_a_point_too_often_at_most(items: int, p: float, q: float) -> None:
    """At the smallest variance for which it is taken, at several frequencies and places on the lattice."""
    limit = max(4e5, 25 * deviations(tail(0.95, items)) ** 6)
    assert plain(limit, tail(0.95, items))
    assert not plain(limit * 0.999, tail(0.95, items))
    n = int(limit / (q * (1 - q))) + 1
    for held in (0, 1, n // 1000):
        tallies, law = tally_law(n, held, p, q)
        raw = (tallies / n - q) / (p - q)
        each = np.clip(raw, 0, 1) * (p * (1 - p) - q * (1 - q)) + q * (1 - q)
        reach = deviations(tail(0.95, items)) * np.sqrt(each / n) / (p - q)
        wrong = float(law[np.abs(raw - held / n) > reach].sum())
        assert 1 - (1 - wrong) ** items <= 0.05 + 0.001


def test_a_projection_does_not_show_where_the_normal_law_is_taken() -> None:
    """Error bars are those of the simplex, which takes a few deviations off what is held where many values are not."""
    p, q, level, share = 0.05, 0.01, tail(0.95), 0.02

    def taken(n: int) -> bool:
        return bool(Supports(np.array([int(n * (q + share * (p - q)))]), n, p, q).normal(level)[0])

    n = next(n for n in range(10**6, 10**9, 10**6) if taken(n))
    held = round(share * n)
    tallies, law = tally_law(n, held, p, q)
    raw = (tallies / n - q) / (p - q)
    nearest = np.clip(raw - 4.5 * np.sqrt(q * (1 - q) / n) / (p - q), 0, 1)  # as of a million values
    reach = deviations(level) * np.sqrt((nearest * (p * (1 - p) - q * (1 - q)) + q * (1 - q)) / n) / (p - q)
    assert float(law[np.abs(raw - held / n) > reach].sum()) <= 0.05 + 0.001


def test_which_method_is_named() -> None:
    m = hush.OUE(k=5, epsilon=1.0)
    few, many = (m.estimate(m.simulate([n, 2, 0, 1, n], rng=hush.seeded(1))) for n in (10, 10**7))
    assert few.interval().method == "exact"
    assert many.interval().method == "normal"
    assert many.interval(method="exact").method == "exact"
    assert few.interval(method="normal").method == "normal"
    assert few.interval().methods == ["exact"] * 5
    assert [row["method"] for row in few.rows()] == ["exact"] * 5
    for either in (few, many):  # both say nearly the same where the normal law is good
        exact, normal = either.interval(method="exact"), either.interval(method="normal")
        assert (exact.upper - exact.lower < 1.2 * (normal.upper - normal.lower)).all()
    assert np.allclose(many.interval(method="exact"), np.maximum(many.interval(method="normal"), 0), atol=1e-6)


def test_one_estimate_may_need_both() -> None:
    """p of a value that all hold leaves little noise; q of the others much."""
    m = hush.UE(k=3, epsilon=14.0, p=0.999_999)
    found = m.estimate(Aggregate(10**8, np.array([10**8 - 90, 50_000_000, 45_000_000]), m.spec_hash)).interval()
    assert found.method == " and ".join(sorted(set(found.methods)))


def test_refusals() -> None:
    m = hush.OUE(k=5, epsilon=1.0)
    estimate = m.estimate(m.simulate([3, 2, 0, 1, 0], rng=hush.seeded(1)))
    with pytest.raises(ParameterError, match="method must be exact or normal"):
        estimate.interval(method="wald")
    unknown = Estimate(estimate.frequencies, estimate.n, estimate.domain, estimate.stderr)
    assert unknown.interval().method == "normal"
    with pytest.raises(ParameterError, match="no other law of this estimate is known"):
        unknown.interval(method="exact")


def test_an_interval_is_a_pair_that_travels() -> None:
    pair = Interval(np.zeros(2), np.ones(2), ["exact", "normal"])
    low, high = pair
    assert (low.sum(), high.sum(), pair.method) == (0.0, 2.0, "exact and normal")
    for other in (copy.deepcopy(pair), pickle.loads(pickle.dumps(pair))):
        assert (other.method, other.upper.sum()) == (pair.method, 2.0)


@pytest.mark.parametrize("p", [1e-9, 0.003, 0.4, 0.999, 1.0])
@pytest.mark.parametrize("q", [0.0, 1e-12, 0.002, 0.6])
def test_tails_are_relatively_precise(p: float, q: float) -> None:
    for n, held in ((1, 0), (1, 1), (5, 2), (60, 7), (900, 850)):
        laws = [stats.binom.pmf(np.arange(x + 1), x, c) for x, c in ((held, p), (n - held, q))]
        tails = np.convolve(*laws)[::-1].cumsum()[::-1]
        for t in range(n + 1):
            found = at_least(t, held, p, n - held, q)
            assert found == pytest.approx(tails[t], rel=1e-10, abs=1e-250), (n, held, t)
        assert at_least(n + 1, held, p, n - held, q) == 0.0


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.27), (0.999, 0.01), (1.0, 0.2), (0.3, 0.0), (0.02, 0.001)])
@pytest.mark.parametrize("share", [0.001, 0.4, 0.999])
def test_tails_of_many_are_relatively_precise(p: float, q: float, share: float) -> None:
    """On both sides of where frequencies take the place of people, against the convolution of two laws."""
    for n in (400_000, 5_000_000):
        held = round(share * n)
        tallies, law = tally_law(n, held, p, q)
        above = law[::-1].cumsum()[::-1]
        for least in (1e-9, 1e-5, 0.02, 0.4, 0.9):
            at = int(np.searchsorted(-above, -least))
            found = at_least(int(tallies[at]), held, p, n - held, q)
            assert found == pytest.approx(above[at], rel=1e-9, abs=1e-15), (n, least)


@pytest.mark.parametrize("n", [2 * 10**8, 4 * 10**12, 10**15])
@pytest.mark.parametrize("p", [0.5, 0.27, 1e-3])
def test_tails_of_very_many_are_those_of_the_incomplete_beta_function(n: int, p: float) -> None:
    """Two binomials of one probability are one; rounding leaves fewer digits the more there are."""
    middle, digits = 0.5 + math.sqrt(2 / (math.pi * n)) * (1 - 1 / (4 * n)) / 2, 2e-14 * n**0.5  # by Stirling
    assert at_least(n // 2, n // 3, 0.5, n - n // 3, 0.5) == pytest.approx(middle, rel=digits)
    if abs(betainc(n // 2, n // 2 + 1, 0.5) / middle - 1) > digits:
        pytest.skip("the incomplete beta function of scipy before 1.17 errs for so many")
    for far in (-11.0, -3.0, 0.0, 1.96, 5.5, 12.0):
        t = int(n * p + far * (n * p * (1 - p)) ** 0.5)
        assert at_least(t, n // 3, p, n - n // 3, p) == pytest.approx(betainc(t, n - t + 1, p), rel=digits)
    assert at_least(n // 1000 * 900, n // 3, p, n - n // 3, p) == 0.0
    assert at_least(n, n, p, 0, p) == 0.0
    assert at_least(1, n, p, 0, p) == 1.0


def test_a_sum_that_is_nearly_sure_is_sure() -> None:
    """Where the first of its terms was too small for a double, its chance was said to be nothing."""
    assert at_least(35, 0, 0.5, 60, 1 - 2e-14) == 1.0
    assert at_least(15, 40, 1 - 1.2e-14, 1, 1e-17) == 1.0


def test_the_inversion_finds_what_no_test_rejects() -> None:
    rng = np.random.default_rng(3)
    for n in (1, 2, 7, 40):
        for _ in range(8):
            q = 10 ** rng.uniform(-5, -0.2)
            p, chance = q + (1 - q) * 10 ** rng.uniform(-2, 0), 10 ** rng.uniform(-6, -0.4)
            tallies = np.arange(n + 1)
            low, high = supported(tallies, n, p, q, chance, deviations(chance))
            for t in tallies.tolist():
                kept = [x for x in range(n + 1) if at_least(t, x, p, n - x, q) > chance * (1 - 1e-9)]
                assert low[t] == (kept[0] if kept else n)
                kept = [x for x in range(n + 1) if at_least(n - t, n - x, 1 - q, x, 1 - p) > chance * (1 - 1e-9)]
                assert high[t] == (kept[-1] if kept else 0)


def test_a_tally_beyond_the_reports_is_read_as_the_most_there_can_be() -> None:
    """By the law; an estimate refuses it."""
    m = hush.OUE(k=2, epsilon=1.0)
    tally = np.array([1 << 40, 0])
    low, high = m.law(tally, 3).ends(0.025, np.ones(2, np.bool_))
    assert high[0] == 1.0
    assert low[0] <= 1.0
    with pytest.raises(SpecError, match="aggregate must have supports from 0 to 3"):
        m.estimate(Aggregate(3, tally, m.spec_hash))
