"""The bound that knows what others' reports are like: against the exact law, and against what an attacker reaches.

Where all others hold one and the same third value, delta is E[(V_1 + ... + V_n)+] / n exactly, with
V = (P_u - e P_v)/P_w at a draw from P_w. That is what somebody may face, so no bound can be below it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest
from scipy import stats

import hush
from hush.analysis import crowd as crowds
from hush.analysis.crowd import CrowdLaw, crowd_delta, crowd_epsilon
from hush.planning.shuffling import shuffled_epsilon
from tests.unit.analysis.test_shuffle import bounds, channel, grid, truth


def binary_truth(p: float, n: int, factors: np.ndarray) -> np.ndarray:
    """Randomized response over two values: the number of ones, for every number of others that hold one."""
    worst = np.zeros(factors.size)
    for ones in range(n):
        rest = np.convolve(
            stats.binom.pmf(np.arange(ones + 1), ones, p), stats.binom.pmf(np.arange(n - ones), n - 1 - ones, 1 - p)
        )
        one, other = np.convolve(rest, [1 - p, p]), np.convolve(rest, [p, 1 - p])
        worst = np.maximum(worst, [np.maximum(one - e * other, 0.0).sum() for e in factors])
    return worst


@pytest.mark.parametrize(("local", "n"), [(1.0, 40), (1.0, 300), (2.0, 200), (0.3, 100), (3.0, 400)])
def test_it_covers_every_composition_of_the_others(local: float, n: int) -> None:
    """Over two values everything is known, up to hundreds of people; and it is near where delta is small."""
    (crowd,) = hush.GRR(k=2, epsilon=local).forms.crowds()
    p = math.exp(local) / (1 + math.exp(local))
    epsilons = local * np.array([0.02, 0.1, 0.2, 0.3, 0.5, 0.7])
    real = binary_truth(p, n, np.exp(epsilons))
    claimed = np.array([crowd_delta(e, n, crowd, max(t, 1e-12)) for e, t in zip(epsilons, real, strict=True)])
    assert (claimed >= real * (1 - 1e-9)).all()
    seen = (real > 1e-10) & (real < 1e-3)
    assert seen.any()
    assert (claimed[seen] <= 3 * real[seen]).all()


def reached(crowd: CrowdLaw, epsilon: float, n: int) -> float:
    """Delta where all others hold the first of their values, by convolution over exact sums."""
    shift = crowd.first - math.exp(epsilon) * crowd.second
    step: dict[float, float] = {}
    for value, chance in zip(shift / crowd.others[0], crowd.weights * crowd.others[0], strict=True):
        step[round(value, 9)] = step.get(round(value, 9), 0.0) + chance
    law = {0.0: 1.0}
    for _ in range(n):
        following: dict[float, float] = {}
        for (total, weight), (value, chance) in product(law.items(), step.items()):
            at = round(total + value, 7)
            following[at] = following.get(at, 0.0) + weight * chance
        law = {at: weight for at, weight in following.items() if weight > 1e-18}
    return sum(weight * at for at, weight in law.items() if at > 0) / n


@pytest.mark.parametrize(
    "m", [hush.SUE(k=10, epsilon=1.0), hush.OUE(k=5, epsilon=2.0), hush.SS(k=12, epsilon=1.0)], ids=lambda m: m.name()
)
def test_it_is_near_what_an_attacker_reaches(m: hush.FrequencyOracle) -> None:
    """Twelve people: at least the delta of one crowd that is possible, and not twice as much."""
    (crowd,) = m.forms.crowds()
    epsilon = 0.4 * m.exact_epsilon()
    real = reached(crowd, epsilon, 12)
    assert 0.999 * real <= crowd_delta(epsilon, 12, crowd, real) <= 2.5 * real


def test_it_reaches_the_limit_of_a_large_crowd() -> None:
    """The loss is then normal, with the variance of (P_u - P_v)/P_w: no more than a part in a hundred above it."""
    for m in (hush.SUE(k=10, epsilon=1.0), hush.OUE(k=100, epsilon=3.0), hush.SS(k=50, epsilon=2.0)):
        (crowd,) = m.forms.crowds()
        n = 10**8
        spread = math.sqrt(float(crowd.weights @ ((crowd.first - crowd.second) ** 2 / crowd.others[0])) / n)
        epsilon = shuffled_epsilon(m, n, 1e-9).epsilon
        assert epsilon is not None
        at = [stats.norm.cdf(-epsilon / spread + sign * spread / 2) for sign in (1, -1)]
        assert 0.7e-9 < at[0] - math.exp(epsilon) * at[1] <= 1e-9


@pytest.mark.parametrize(
    "m",
    [
        hush.SUE(k=3, epsilon=1.0),
        hush.SS(k=4, epsilon=1.0, omega=2),
        hush.OUE(k=3, epsilon=2.0),
        hush.HR(k=3, epsilon=2.0),
    ],
    ids=lambda m: m.name(),
)
def test_it_covers_every_pair_of_data_sets(m: hush.FrequencyOracle) -> None:
    epsilons = grid(m.exact_epsilon(), 5)
    for n in (1, 2, 3):
        real = truth(channel(m), n, epsilons)
        claimed = np.array([max(crowd_delta(e, n, crowd, 1e-3) for crowd in m.forms.crowds()) for e in epsilons])
        assert (claimed >= real * (1 - 1e-9)).all()
        alone = [max(crowd.alone(math.exp(e)) for crowd in m.forms.crowds()) for e in epsilons]
        assert (claimed <= np.array(alone) + 1e-12).all()


def test_it_covers_any_channel() -> None:
    rng = np.random.default_rng(11)
    for _ in range(15):
        rows = np.exp(rng.uniform(0, 1.5, (3, 4))) * rng.dirichlet(np.ones(4))
        rows /= rows.sum(axis=1, keepdims=True)
        epsilons = grid(0.8, 4)
        for n in (2, 4):
            real = truth(rows, n, epsilons)
            claimed = [max(crowd_delta(e, n, each, 1e-3) for each in CrowdLaw.of_law(rows.T)) for e in epsilons]
            assert (np.array(claimed) >= real * (1 - 1e-9)).all()


@pytest.mark.parametrize("n", [12, 40])
def test_what_everybody_else_holds_may_differ(n: int) -> None:
    """Slots of any composition: the integral over z is taken on a fine grid, and their law is exact."""
    (crowd,) = hush.SUE(k=3, epsilon=2.0).forms.crowds()
    epsilon, gamma, laws = 0.9, crowd.blanket, [crowd.first, crowd.second, crowd.others[0]]
    shift = crowd.first - math.exp(epsilon) * crowd.second
    step, claimed = 0.02, crowd_delta(epsilon, n, crowd, 1e-5)
    for some in combinations_with_replacement(range(3), 2):
        whole = 0.0
        times = (np.arange(12) + 0.5) / 12
        for time in times:
            size = 1 << 16
            spectrum = np.ones(size // 2 + 1, np.complex128)
            parts = [(gamma * shift / crowd.least, crowd.weights * crowd.least / gamma, 1)]
            for which in some:
                law = laws[which] - (1 - time) * crowd.least
                parts.append(
                    (
                        gamma * time * shift / law,
                        crowd.weights * law,
                        (n - 1) // 2 + (which == some[0] and some[0] != some[1] and (n - 1) % 2),
                    )
                )
            for values, masses, count in parts:
                cells = np.zeros(size)
                np.add.at(cells, np.round(values / step).astype(int) % size, masses)
                spectrum *= np.fft.rfft(cells) ** count
            law = np.fft.irfft(spectrum, size)
            whole += float(np.maximum(np.fft.fftfreq(size, 1 / size) * step, 0.0) @ law) / times.size
        assert claimed > 0.8 * whole  # the sum and the integral on a grid are a few per cent off


def test_sizes_are_upper_bounds() -> None:
    (crowd,) = hush.OUE(k=5, epsilon=1.5).forms.crowds()
    slots = crowds._Slots.of(crowd, 1.1, 0.97)
    points = np.linspace(0.0, 20.0, 60)
    above = slots.sizes(0.3, points)
    for i, share in product(range(59), (0.0, 0.3, 0.5, 0.9)):
        at = points[i] + share * (points[i + 1] - points[i])
        real = np.abs((slots.chances * np.exp((0.3 + 1j * at) * slots.values)).sum(axis=1)).max()
        assert real <= above[i] * (1 + 1e-12)


def test_never_weaker_than_the_blanket_alone() -> None:
    for m, n, delta in product(
        (hush.OUE(k=10, epsilon=1.0), hush.GRR(k=2, epsilon=2.0)), (1, 5, 100, 10**6), (1e-3, 1e-8, 0.0)
    ):
        found = shuffled_epsilon(m, n, delta)
        assert found.epsilon is not None
        ((variation, both),) = m.forms.pair_kinds()
        assert both is not None
        before = hush.analysis.shuffle.epsilon_after(delta, n, m.exact_epsilon(), float(variation), float(both))
        assert found.epsilon <= before * (1 + 1e-9)
        assert found.bound in ("few", "crowd", "blanket", "local")


def test_more_people_never_hurt_and_delta_and_epsilon_are_inverse() -> None:
    (crowd,) = hush.SUE(k=4, epsilon=1.0).forms.crowds()
    found = [crowd_epsilon(1e-6, n, crowd, 1.0) for n in (30, 100, 1000, 4_999, 50_000, 10**6, 10**9, 10**12)]
    assert all(a > b for a, b in pairwise(found[1:]))
    assert crowd_delta(found[2], 1000, crowd, 1e-6) == pytest.approx(1e-6, rel=1e-3)
    assert crowd_delta(found[2], 1000, crowd, 1e-6) <= 1e-6
    assert crowd_epsilon(0.0, 1000, crowd, 0.7) == 0.7
    assert crowd_epsilon(1e-300, 1000, crowd, 0.7) == 0.7
    assert crowd_epsilon(1e-6, 1, crowd, 1.0) <= 1.0


def test_closed_forms_are_those_of_the_law() -> None:
    for m in (
        hush.SUE(k=4, epsilon=1.0),
        hush.SS(k=5, epsilon=1.0, omega=2),
        hush.THE(k=3, epsilon=1.0),
        hush.SS(k=2, epsilon=1.0, omega=1),
        hush.GRR(k=2, epsilon=1.0),
        hush.GRR(k=3, epsilon=1.0),
        hush.GRR(k=7, epsilon=2.0),
    ):
        (stated,) = m.forms.crowds()
        for due in CrowdLaw.of_law(m.forms.whole.chances):
            for e in (1.0, 1.5):
                assert stated.alone(e) == pytest.approx(due.alone(e), rel=1e-9)
            assert stated.chi_square == pytest.approx(due.chi_square, rel=1e-9)


def test_a_law_with_impossible_outputs_has_no_crowd() -> None:
    assert CrowdLaw.of_law(np.array([[0.5, 0.0], [0.5, 1.0]])) == []
    assert len(CrowdLaw.of_law(channel(hush.GRR(k=4, epsilon=1.0)).T)) == 1
    assert len(bounds(hush.GRR(k=3, epsilon=1.0), 2, grid(1.0, 3))) == 3


@pytest.mark.parametrize("n", [2, 3, 100])
def test_a_blanket_of_next_to_nothing_hides_nothing(n: int) -> None:
    """Of mass 1e-17: a third value, which all others hold, is told apart for sure, and delta is what it is alone."""
    assert shuffled_epsilon(hush.GRR(k=2, epsilon=40.0), n, 1e-7).bound == "local"
    law = np.array([[0.6, 0.4, 3e-18], [0.4, 0.6, 3e-18], [3e-18, 3e-18, 1.0]])
    for crowd in CrowdLaw.of_law(law):
        for epsilon in (0.0, 0.3):
            assert crowd_delta(epsilon, n, crowd) >= crowd.alone(math.exp(epsilon)) * (1 - 1e-9)


def test_next_to_the_largest_loss_no_digit_that_is_lost_counts() -> None:
    """Delta of one report is a difference of next to equal numbers there, which rounding may leave too small."""
    rows = [[1.7416495718009548e-09, 0.9999999982583504], [1.6041347162352126e-07, 0.9999998395865285]]
    law, epsilon = np.array(rows), 1.5867167617868483e-07
    crowd = CrowdLaw(np.ones(2), law[0], law[1], law, law.min(axis=0))
    e = Fraction(math.exp(epsilon))
    real = sum(max(Fraction(a) - e * Fraction(b), Fraction(0)) for a, b in zip(*rows, strict=True))
    assert 0 < real <= Fraction(crowd_delta(epsilon, 1, crowd))
    assert Fraction(crowd.alone(math.exp(epsilon))) < real


def test_a_law_of_many_unlike_outputs_is_left_to_other_bounds() -> None:
    """Twenty pairs of values, over a thousand outputs each: no sooner known than in minutes."""
    m = hush.RAPPOR(k=5, epsilon=1.0)
    listing = m.forms.listed
    assert listing is not None
    assert sum(each.first.size for each in CrowdLaw.of_law(listing.chances)) > 10_000
    assert m.forms.crowds() == []
    assert shuffled_epsilon(m, 20_000, 1e-4).bound == "variation ratio"
    assert hush.HR(k=5, epsilon=1.0).forms.crowds() != []
