"""Shuffled reports: the bound against the exact law of the multiset, and against other ways to compute it.

Where everything can be listed, the truth is the hockey-stick divergence between the multisets of reports of two data
sets that differ in one person, worst over all other people's values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, product
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

import hush
from hush.analysis import shuffle
from hush.errors import ParameterError
from hush.mechanisms.hashing.hashed import RING
from hush.planning.shuffling import Shuffled, shuffled_epsilon, total_variation
from tests.conftest import APPROXIMATE, NAMES, PURE_NAMES, example

pytestmark = pytest.mark.slow

Rows = np.ndarray
"""A channel: probabilities of outputs, one row for each value."""


def channel(m: hush.FrequencyOracle, public: Any = None) -> Rows:
    """Outputs with the same likelihoods may be counted together: nobody can tell them apart."""
    listed = m.outputs(public)
    law = [[m.copies(y) * m.weight(y, v) / m.denominator for y in listed] for v in range(m.k)]
    return np.array(law)


def multiset(rows: list[np.ndarray]) -> np.ndarray:
    """Probability of every histogram of reports, by the counts of all outputs but the last."""
    law = np.zeros((len(rows) + 1,) * (len(rows[0]) - 1))
    law.flat[0] = 1.0
    for row in rows:
        law = row[-1] * law + sum(row[j] * np.roll(law, 1, axis=j) for j in range(len(row) - 1))
    return law


def neighbours(rows: Rows, n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Laws of the multisets of all pairs of data sets that differ in one person."""
    for others in combinations_with_replacement(range(len(rows)), n - 1):
        laws = [multiset([rows[first], *rows[list(others)]]) for first in range(len(rows))]
        for u, v in combinations(range(len(rows)), 2):
            yield laws[u], laws[v]
            yield laws[v], laws[u]


def truth(rows: Rows, n: int, epsilons: np.ndarray) -> np.ndarray:
    """The delta of shuffled reports at every epsilon."""
    factors = np.exp(epsilons)
    worst = np.zeros(epsilons.size)
    for one, other in neighbours(rows, n):
        worst = np.maximum(worst, [np.maximum(one - e * other, 0.0).sum() for e in factors])
    return worst


def bounds(m: hush.FrequencyOracle, n: int, epsilons: np.ndarray) -> np.ndarray:
    """The worst of the mechanism's kinds of pairs."""
    local, found = m.exact_epsilon(), []
    for variation, both in m.forms.pair_kinds():
        numbers = float(variation), None if both is None else float(both)
        found.append([shuffle.delta_after(e, n, local, *numbers) for e in epsilons])
    return np.max(found, axis=0)


def grid(local: float, count: int = 7) -> np.ndarray:
    return np.linspace(0.0, 0.999 * local, count)


# The truth.


@pytest.mark.parametrize(
    ("m", "sizes"),
    [
        (hush.GRR(k=2, epsilon=1.0), range(1, 9)),
        (hush.GRR(k=2, epsilon=4.0), (2, 5, 8)),
        (hush.GRR(k=3, epsilon=1.0), range(2, 9)),
        (hush.GRR(k=3, epsilon=3.0), (3, 6)),
        (hush.GRR(k=5, epsilon=2.0), (2, 3)),
        (hush.SS(k=4, epsilon=1.0, omega=2), (2, 3)),
        (hush.SUE(k=2, epsilon=1.0), (2, 4, 6)),
        (hush.OUE(k=2, epsilon=3.0), (2, 4, 6)),
        (hush.THE(k=2, epsilon=3.0), (3, 5)),
        (hush.OUE(k=3, epsilon=2.0), (2, 3)),
        (hush.HR(k=3, epsilon=2.0, blocks=1), (2, 4)),
        (hush.HR(k=3, epsilon=2.0, blocks=2), (2, 3)),
        (hush.HR(k=2, epsilon=1.0, blocks=2), (2, 4)),
    ],
    ids=lambda part: repr(part).replace(" ", ""),
)
def test_the_bound_covers_every_pair_of_data_sets(m: hush.FrequencyOracle, sizes: range) -> None:
    epsilons = grid(m.exact_epsilon())
    for n in sizes:
        exact, claimed = truth(channel(m), n, epsilons), bounds(m, n, epsilons)
        assert (claimed >= exact * (1 - 1e-12)).all(), n
        assert claimed[0] <= 1.2 * exact[0], n  # and no idle one: this is the total variation of the multisets


def test_it_is_close_for_randomized_response() -> None:
    """Over two or three values, delta is exact for two people, and at most 1.26 times the truth for up to eight."""
    for k in (2, 3):
        m = hush.GRR(k=k, epsilon=1.0)
        epsilons = grid(1.0)[:-1]
        ratios = {n: bounds(m, n, epsilons) / truth(channel(m), n, epsilons) for n in (2, 4, 8)}
        assert ratios[2] == pytest.approx(1.0, abs=1e-6)
        assert max(ratio.max() for ratio in ratios.values()) < 1.26


@pytest.mark.parametrize(("k", "g", "n"), [(2, 2, 4), (3, 2, 3), (2, 3, 3)])
def test_an_ideal_hash_function_is_part_of_the_report(k: int, g: int, n: int) -> None:
    """All g^k functions, equally likely; the report is (function, bucket)."""
    local = 2.0
    p = math.exp(local) / (math.exp(local) + g - 1)
    functions = list(product(range(g), repeat=k))
    rows = np.array([[p if h[v] == y else (1 - p) / (g - 1) for h in functions for y in range(g)] for v in range(k)])
    merged, where = np.unique(np.round(rows / rows[0], 9).T, axis=0, return_inverse=True)  # alike
    small = np.array([[row[where.ravel() == i].sum() for i in range(len(merged))] for row in rows]) / len(functions)
    epsilons = grid(local)
    claimed = [shuffle.delta_after(e, n, local, p - 1 / g, p / g) for e in epsilons]
    assert (np.array(claimed) >= truth(small, n, epsilons) * (1 - 1e-12)).all()


def test_any_channel_is_covered_by_its_loss_and_variation() -> None:
    """Random channels, half of them with probabilities of two levels, which are the extremes."""
    rng = np.random.default_rng(7)
    for trial in range(40):
        local = float(rng.choice([0.3, 1.0, 3.0]))
        levels = rng.choice([1.0, math.exp(local)], (3, 4)) if trial % 2 else np.exp(local * rng.random((3, 4)))
        rows = levels * rng.dirichlet(np.ones(4))
        rows /= rows.sum(axis=1, keepdims=True)
        exact = max(np.log(rows[u] / rows[v]).max() for u, v in product(range(3), repeat=2))
        if exact < 1e-6:
            continue
        apart = max(np.abs(rows[u] - rows[v]).sum() / 2 for u, v in combinations(range(3), 2))
        epsilons = grid(exact, 5)
        for n in (2, 3):
            real = truth(rows, n, epsilons)
            assert (real <= [shuffle.delta_after(e, n, exact, apart) * (1 + 1e-9) + 1e-15 for e in epsilons]).all()


def test_the_printed_variation_ratio_is_not_a_bound() -> None:
    """Randomized response over three values with ratio 3, three people, e^epsilon = 2: truth 2/25, printed 9/125."""
    p, e, n = Fraction(3), Fraction(2), 3
    alpha = 1 / (p + 2)
    common = 1 - alpha * (p + 1)
    printed = expected(n, [(alpha, p - e), (alpha, 1 - e * p), (1 - 2 * alpha, common / (1 - 2 * alpha) * (1 - e))])
    rows = float(alpha) * (np.ones((3, 3)) + 2 * np.eye(3))
    real = truth(rows, n, np.array([math.log(2)]))[0]
    assert printed == Fraction(9, 125)
    assert real == pytest.approx(2 / 25, abs=1e-12)
    assert shuffle.delta_after(math.log(2), n, math.log(3), 0.4, 0.0) == pytest.approx(2 / 25, rel=1e-6)


def test_reports_beyond_a_cut_cost_their_probability() -> None:
    """Two outputs that give values away, at the same rate for every value; the others obey the loss."""
    missing, local = 0.03, 1.0
    obey = channel(hush.GRR(k=3, epsilon=local)) * (1 - missing)
    rows = np.hstack([obey, missing * np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])])
    epsilons = grid(local)
    apart = float(np.abs(obey[0] - obey[1]).sum() / 2)
    for n in (1, 2, 3):
        claimed = np.array([shuffle.delta_after(e, n, local, apart, None, missing) for e in epsilons])
        real = truth(rows, n, epsilons)
        assert (real <= claimed * (1 + 1e-9)).all()
        assert (real > missing / 2).all()
    assert shuffle.epsilon_after(0.02, 10, local, apart, None, missing) == math.inf
    assert shuffle.epsilon_after(missing, 10, local, apart, None, missing) == local


# The arithmetic.


def expected(n: int, slots: list[tuple[Fraction, Fraction]]) -> Fraction:
    """E[(L_1 + ... + L_n)+] / n, exactly; slots are (probability, value), the rest is 0."""
    spare = 1 - sum(chance for chance, _ in slots)
    law = {Fraction(0): Fraction(1)}
    for _ in range(n):
        following: dict[Fraction, Fraction] = {}
        for total, chance in law.items():
            for share, value in [*slots, (spare, Fraction(0))]:
                following[total + value] = following.get(total + value, Fraction(0)) + chance * share
        law = following
    return sum((chance * total for total, chance in law.items() if total > 0), Fraction(0)) / n


@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize(("p", "alpha"), [(3, Fraction(1, 5)), (3, Fraction(1, 4)), (20, Fraction(1, 60))])
def test_delta_equals_exact_rational_arithmetic(n: int, p: int, alpha: Fraction) -> None:
    common = 1 - alpha * (p + 1)
    for e, part in product([Fraction(1), Fraction(11, 10), Fraction(2)], [0, Fraction(1, 3), 1]):
        both = common * part
        slots = [(alpha, p - e), (alpha, 1 - e * p), (both / p, p * (1 - e)), (common - both, 1 - e)]
        exact = float(expected(n, slots))
        claimed = shuffle.delta_after(math.log(e), n, math.log(p), float(alpha * (p - 1)), float(both))
        assert exact <= claimed <= exact * (1 + 3e-7) + 1e-15


@pytest.mark.parametrize(("n", "local", "epsilon"), [(200, 2.0, 1.1), (60, 20.0, 17.0), (60, 38.0, 37.0)])
def test_delta_equals_high_precision_arithmetic(n: int, local: float, epsilon: float) -> None:
    """Fifty digits, term by term: a delta of about 1e-9, and losses at which doubles have none to spare."""
    mpmath.mp.dps = 50
    p, e = mpmath.exp(local), mpmath.exp(epsilon)
    share = 2 / (p + 1)
    total = mpmath.mpf(0)
    for c in range(1, n + 1):
        least = ((e * p - 1) * c) / ((p - 1) * (1 + e))
        start = int(mpmath.floor(least)) + 1
        tail = sum(((k - least) * mpmath.binomial(c, k) for k in range(start, c + 1)), mpmath.mpf(0))
        total += mpmath.binomial(n, c) * share**c * (1 - share) ** (n - c) * tail / mpmath.mpf(2) ** c
    exact = float(total * (p - 1) * (1 + e) / n)
    assert exact <= shuffle.delta_after(epsilon, n, local) <= exact * (1 + 3e-7)


@pytest.mark.parametrize(("n", "local", "epsilon"), [(400, 1.0, 0.1), (400, 2.0, 0.5), (200, 4.0, 2.0)])
def test_without_variation_it_is_the_pair_of_feldman_mcmillan_and_talwar(n: int, local: float, epsilon: float) -> None:
    """C clones, A of them for u, and the person's own report, in full: A + Bernoulli(p/(p+1)) against the other way."""
    p = math.exp(local)
    clones = np.arange(n)[:, None]
    law = stats.binom.pmf(clones, n - 1, 2 / (p + 1)) * stats.binom.pmf(np.arange(n), clones, 0.5)
    up, same = np.pad(law, ((0, 0), (1, 0))), np.pad(law, ((0, 0), (0, 1)))
    one, other = (p * up + same) / (p + 1), (up + p * same) / (p + 1)
    exact = np.maximum(one - math.exp(epsilon) * other, 0.0).sum()
    assert shuffle.delta_after(epsilon, n, local) == pytest.approx(exact, rel=3e-7)


CASES = [(1.0, 0.2, 0.1), (1.0, 0.2, 0.0), (1.0, 0.2, None), (4.0, 0.5, 0.01), (8.0, 0.5, 2e-4), (0.1, 0.02, 0.2)]


@pytest.mark.parametrize(("local", "variation", "both"), [CASES[0], CASES[2], CASES[3]])
@pytest.mark.parametrize("n", [50, 20_000])
def test_coarser_sums_stay_above_finer_ones(
    n: int, local: float, variation: float, both: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bins and chords lose at most three parts in a hundred of epsilon, and always upwards."""
    coarse = shuffle.epsilon_after(1e-7, n, local, variation, both)
    monkeypatch.setattr(shuffle, "_CASES", 40_000)
    monkeypatch.setattr(shuffle, "_BINS", 600)
    fine = shuffle.epsilon_after(1e-7, n, local, variation, both)
    assert fine * (1 - 1e-4) <= coarse <= 1.03 * fine


def test_a_huge_crowd_has_the_gaussian_limit() -> None:
    """The loss is then normal with variance 2 (p-1) variation / n; one part in a hundred at a billion people."""
    for local, variation, both in CASES:
        spread = math.sqrt(2 * math.expm1(local) * variation / 10**9)
        epsilon = shuffle.epsilon_after(1e-8, 10**9, local, variation, both)
        first, second = stats.norm.cdf(-epsilon / spread + spread / 2), stats.norm.cdf(-epsilon / spread - spread / 2)
        limit = first - math.exp(epsilon) * second
        assert limit == pytest.approx(1e-8, rel=0.3)  # delta moves thirty times as fast as epsilon


# How it behaves.


@pytest.mark.parametrize(("local", "variation", "both"), CASES)
def test_never_worse_than_feldman_and_never_more_than_local(local: float, variation: float, both: float | None) -> None:
    for n, delta in product([1, 30, 10**5], [1e-3, 1e-9]):
        ours = shuffle.epsilon_after(delta, n, local, variation, both)
        clones = shuffle.clones_epsilon(delta, n, local)
        assert 0 <= ours <= clones <= local
        assert clones <= shuffle.clones_closed_form(delta, n, local) <= local


@pytest.mark.parametrize(("local", "variation", "both"), CASES)
def test_more_people_and_a_larger_delta_never_hurt(local: float, variation: float, both: float | None) -> None:
    by_people = [shuffle.epsilon_after(1e-6, 20**i, local, variation, both) for i in range(6)]
    by_delta = [shuffle.epsilon_after(10.0**-i, 500, local, variation, both) for i in (2, 5, 11)]
    assert all(a >= b for a, b in pairwise(by_people))
    assert all(a <= b for a, b in pairwise(by_delta))


def test_less_variation_and_less_of_both_never_hurt() -> None:
    for n in (3, 40):
        by_variation = [shuffle.delta_after(0.4, n, 2.0, b, 0.05) for b in np.linspace(0.0, 0.7, 8)]
        by_both = [shuffle.delta_after(0.4, n, 2.0, 0.2, b) for b in (0.0, 0.1, 0.2, None)]
        assert all(a <= b * (1 + 1e-6) for values in (by_variation, by_both) for a, b in pairwise(values))


def test_delta_and_epsilon_are_inverse() -> None:
    for local, variation, both in CASES:
        epsilon = shuffle.epsilon_after(1e-5, 20, local, variation, both)  # few enough to be exact
        assert shuffle.delta_after(epsilon, 20, local, variation, both) == pytest.approx(1e-5, rel=1e-4)


def test_limits() -> None:
    p, beta = math.exp(1.0), 0.2
    alone = shuffle.epsilon_after(1e-3, 1, 1.0, beta)  # one report: alpha (p - e^epsilon) = delta
    assert alone == pytest.approx(math.log(p - 1e-3 * (p - 1) / beta), rel=1e-5)
    assert alone >= math.log(p - 1e-3 * (p - 1) / beta)
    assert shuffle.epsilon_after(0.0, 10**6, 1.0, beta) == 1.0
    assert shuffle.epsilon_after(1e-300, 10**6, 1.0, beta) == 1.0
    assert shuffle.epsilon_after(1e-9, 10**6, 1.0, 0.0) == 0.0
    assert shuffle.epsilon_after(0.5, 1000, 1.0, beta) == 0.0
    assert shuffle.epsilon_after(1.0, 1, 1.0) == 0.0
    assert shuffle.delta_after(1.0, 100, 1.0) == 0.0
    assert shuffle.delta_after(7.0, 100, 1.0) == 0.0
    assert shuffle.delta_after(0.0, 1, 1.0, beta) == pytest.approx(beta, rel=1e-6)
    assert shuffle.epsilon_after(1e-9, 100, 40.0) == pytest.approx(40.0, rel=1e-6)
    assert shuffle.epsilon_after(1e-9, 10**12, 1e-6) < 1e-11
    assert shuffle.clones_closed_form(1e-6, 100, 3.0) == 3.0  # the theorem is silent


# From mechanisms.


NOISY = ["SHE", "ServerTHE", "GM", "AGM"]


@pytest.mark.parametrize("name", sorted(n for n in NAMES if n not in NOISY))
def test_total_variation_equals_enumeration(name: str) -> None:
    """Over all outputs; where a hash function is part of them, less than under the most telling of a few functions."""
    m = example(name, 4, 1.5, 1e-3)
    apart = []
    for public in m.publics():
        rows = channel(m, public)
        apart.append([np.abs(rows[u] - rows[v]).sum() / 2 for u, v in combinations(range(4), 2)])
    if len(apart) == 1 or name == "MSS":  # its blocks are all there is to know publicly
        assert total_variation(m) == pytest.approx(np.mean(apart, axis=0).max(), rel=1e-12)
    else:
        assert total_variation(m) < np.max(apart)


@pytest.mark.parametrize("name", NOISY)
def test_total_variation_of_grid_noise(name: str) -> None:
    """Only the two values' coordinates matter: the mean of (1 - Q/P)+ under P. Hoeffding, false alarms 1e-9."""
    m = example(name, 7, 1.0, 1e-4)
    null, own = m.coordinate_law()
    rng, draws = np.random.default_rng(7), 500_000
    u, v = (rng.choice(null.size, draws, p=law / law.sum()) for law in (own, null))
    tells = np.maximum(1 - null[u] * own[v] / (own[u] * null[v]), 0.0)
    assert abs(tells.mean() - total_variation(m)) < math.sqrt(math.log(2 / 1e-9) / (2 * draws))


@pytest.mark.parametrize("m", [hush.LH(k=40, epsilon=2.0, g=3), hush.Wheel(k=40, epsilon=2.0)], ids=lambda m: m.name())
def test_variation_of_real_hash_functions(m: Any) -> None:
    """Mean over random functions, for pairs with 0, 1 and 5 common low bits; Hoeffding, false alarms 1e-9 in all."""
    rng = np.random.default_rng(7)
    draws = 200_000
    tolerance = math.sqrt(math.log(6 / 1e-9) / (2 * draws))
    for other in (1, 2, 32):
        a, b = rng.integers(0, RING, (2, draws), dtype=np.uint32)
        one, two = ((a * m._keys[v] + b).astype(np.int64) for v in (0, other))
        if isinstance(m, hush.LH):
            share = (one * m.g >> 32 != two * m.g >> 32).astype(float)
            largest = m.p_star - (1 - m.p_star) / (m.g - 1)
        else:
            most = min(m.arc, RING - m.arc)
            offset = np.abs(one - two)
            share = np.minimum(np.minimum(offset, RING - offset), most) / most
            largest = most * (m.p_star / m.arc - (1 - m.p_star) / (RING - m.arc))
        assert abs(share.mean() * largest - total_variation(m)) < largest * tolerance
        ((_, both),) = m.forms.pair_kinds()
        assert both is not None
        reach = m.arc if isinstance(m, hush.Wheel) else 1
        overlap = 1 - share.mean() * (min(m.arc, RING - m.arc) / reach if isinstance(m, hush.Wheel) else 1)
        assert abs(m.p_star * overlap - float(both)) < 2 * tolerance


def test_every_mechanism_gains(name: str) -> None:
    m = example(name, 5, 1.0)
    found = shuffled_epsilon(m, 20_000, 1e-4)
    assert isinstance(found, Shuffled)
    if name == "LHO":
        assert (found.epsilon, found.bound) == (None, "none")
        assert "promises nothing" in found.words
        return
    assert found.epsilon is not None
    assert 0 < found.epsilon < 0.1 < found.local_epsilon <= 1.0
    assert (found.n, found.delta, found.reason) == (20_000, 1e-4, "")
    if name in PURE_NAMES:
        assert found.local_epsilon == m.exact_epsilon()
        assert found.epsilon <= shuffle.clones_epsilon(1e-4, 20_000, found.local_epsilon)


def test_the_exact_loss_counts() -> None:
    the, ue = hush.THE(k=10, epsilon=4.0), hush.UE(k=10, epsilon=4.0, p=0.9)
    assert shuffled_epsilon(the, 10_000, 1e-6).local_epsilon == pytest.approx(2.859, abs=1e-3)
    assert shuffled_epsilon(the, 10_000, 1e-6).epsilon < 0.6 * shuffled_epsilon(ue, 10_000, 1e-6).epsilon  # type: ignore[operator]


@pytest.mark.parametrize("name", sorted(APPROXIMATE - {"GM", "AGM"}))
def test_an_approximate_promise_with_a_finite_loss_counts_as_pure(name: str) -> None:
    """A little above the pure mechanism's, and never above the promise where that already holds."""
    rough = shuffled_epsilon(example(name, 6, 1.0, 1e-3), 10_000, 1e-6)
    pure = {"AGRR": "GRR", "ASUE": "SUE", "ABLH": "BLH", "AOLH": "OLH"}[name]
    fine = shuffled_epsilon(example(pure, 6, 1.0), 10_000, 1e-6)
    assert rough.epsilon is not None
    assert fine.epsilon is not None
    assert fine.epsilon < rough.epsilon < 1.05 * fine.epsilon
    alone = shuffled_epsilon(example(name, 6, 1.0, 1e-3), 1, 1e-3)
    assert alone.epsilon is not None
    assert alone.epsilon <= 1.0


def test_gaussian_noise_is_cut_where_hardly_a_report_lies() -> None:
    m = hush.GM(k=4, epsilon=1.0, delta=1e-6)
    found = shuffled_epsilon(m, 100_000, 1e-6)
    assert found.bound == "cut variation ratio"
    assert found.epsilon is not None
    assert 0 < found.epsilon < 0.1
    alone = shuffled_epsilon(m, 1, 1e-6)
    assert (alone.epsilon, alone.bound) == (1.0, "local")
    nothing = shuffled_epsilon(m, 100_000, 0.0)
    assert nothing.epsilon is None
    assert "no finite loss" in nothing.reason


@dataclass(frozen=True, kw_only=True)
class Mine(hush.GRR):
    """A mechanism from outside that says its law anew: it is looked up, not trusted."""

    def weight(self, report: Any, value: int) -> int:
        return super().weight(report, value)


def test_a_mechanism_of_your_own() -> None:
    small, large = Mine(k=4, epsilon=1.0), Mine(k=1100, epsilon=1.0)
    assert total_variation(small) == pytest.approx(total_variation(hush.GRR(k=4, epsilon=1.0)), rel=1e-12)
    assert shuffled_epsilon(small, 1000, 1e-6).bound == "crowd"
    assert shuffled_epsilon(Mine(k=9, epsilon=1.0), 1000, 1e-6).bound == "variation ratio"
    assert total_variation(large) == pytest.approx(math.tanh(0.5), rel=1e-9)
    clones = shuffle.clones_epsilon(1e-6, 1000, large.exact_epsilon())
    assert shuffled_epsilon(large, 1000, 1e-6).epsilon == pytest.approx(clones, rel=1e-6)


@pytest.mark.parametrize(
    ("act", "parameter"),
    [
        (lambda: shuffle.epsilon_after(-1e-9, 10, 1.0), "delta"),
        (lambda: shuffle.epsilon_after(math.nan, 10, 1.0), "delta"),
        (lambda: shuffle.epsilon_after(1.1, 10, 1.0), "delta"),
        (lambda: shuffle.epsilon_after("1", 10, 1.0), "delta"),  # type: ignore[arg-type]
        (lambda: shuffle.epsilon_after(1e-6, 0, 1.0), "n"),
        (lambda: shuffle.epsilon_after(1e-6, 10.0, 1.0), "n"),  # type: ignore[arg-type]
        (lambda: shuffle.epsilon_after(1e-6, True, 1.0), "n"),
        (lambda: shuffle.epsilon_after(1e-6, 10**13, 1.0), "n"),
        (lambda: shuffle.epsilon_after(1e-6, 10, 0.0), "local"),
        (lambda: shuffle.epsilon_after(1e-6, 10, math.inf), "local"),
        (lambda: shuffle.epsilon_after(1e-6, 10, math.nan), "local"),
        (lambda: shuffle.epsilon_after(1e-6, 10, 1.0, 1.5), "variation"),
        (lambda: shuffle.epsilon_after(1e-6, 10, 1.0, 0.2, -0.1), "both"),
        (lambda: shuffle.epsilon_after(1e-6, 10, 1.0, 0.2, None, 2.0), "missing"),
        (lambda: shuffle.delta_after(-0.1, 10, 1.0), "epsilon"),
        (lambda: shuffle.delta_after(math.inf, 10, 1.0), "epsilon"),
        (lambda: shuffle.delta_after(math.nan, 10, 1.0), "epsilon"),
        (lambda: shuffle.clones_closed_form(2.0, 10, 1.0), "delta"),
        (lambda: shuffle.clones_closed_form(1e-6, -5, 1.0), "n"),
        (lambda: shuffled_epsilon("GRR", 10, 1e-6), "mechanism"),  # type: ignore[arg-type]
        (lambda: shuffled_epsilon(hush.LHO(k=4, g=2), 0, 1e-6), "n"),
        (lambda: shuffled_epsilon(hush.GRR(k=4, epsilon=1.0), 10, -1.0), "delta"),
        (lambda: total_variation(None), "mechanism"),  # type: ignore[arg-type]
    ],
)
def test_bad_input(act: Callable[[], object], parameter: str) -> None:
    with pytest.raises(ParameterError, match=f"^{parameter} must"):
        act()
