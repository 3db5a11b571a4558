"""Intervals of mechanisms whose law depends on the other people cover too: by enumeration of all reports."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import hush
from hush.estimation import Aggregate
from hush.estimation.bounds import Bounded, Summed, Term, Terms
from hush.estimation.laws import EstimateLaw, Parts, Supports
from hush.estimation.noise import quantile
from hush.utility import collaborate, transform, uSS, uUE
from hush.utility.collaborative import combined
from hush.utility.oracle import UtilityOracle
from tests.conftest import example
from tests.docs.pages import load_script

tallies = load_script("covered").tallies

PEOPLE = [(0,), (2,), (0, 2), (0, 0, 0), (2, 2, 2), (0, 1, 2)]
MECHANISMS = {
    "GRR": hush.GRR(k=3, epsilon=3.0),
    "SS": hush.SS(k=3, epsilon=0.5),
    "SUE": hush.SUE(k=3, epsilon=2.0),
    "PGR": hush.PGR(k=3, epsilon=2.0),
    "HR, one block": hush.HR(k=3, epsilon=1.0, blocks=1),
    "HR, two blocks": hush.HR(k=3, epsilon=2.0, blocks=2),
    "HR, four blocks": hush.HR(k=3, epsilon=4.0, blocks=4),
    "uHR, four blocks": hush.utility.uHR(k=3, epsilon=4.0, sensitive=[0, 1], blocks=4),
    **{f"{name}, {e:g}": example(name, 3, e) for name in ("uRR", "uRAP", "uHR", "uSS", "uUE") for e in (1.0, 4.0)},
    "uUE, alone": hush.utility.uUE(k=3, epsilon=4.0, sensitive=[0, 1], reveal="alone"),
    "uSS, one sensitive": uSS(k=3, epsilon=2.0, sensitive=[1]),
    "all sensitive": uSS(k=3, epsilon=2.0),
    "dBitFlipPM": hush.longitudinal.FirstBitFlip(k=3, epsilon=2.0, d=2),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_value_is_covered_whatever_few_people_hold(name: str) -> None:
    m = MECHANISMS[name]
    for people in PEOPLE:
        truth = np.bincount(people, minlength=3) / len(people)
        covered, together, total = np.zeros(3), 0.0, 0.0
        for tally, chance in tallies(m, people):
            estimate = m.estimate(Aggregate(len(people), tally, m.spec_hash))
            low, high = estimate.interval(0.95)
            covered += chance * ((low <= truth) & (truth <= high))
            low, high = estimate.interval(0.9, simultaneous=True)
            together += chance * bool(((low <= truth) & (truth <= high)).all())
            total += chance
        assert total == pytest.approx(1.0)
        assert covered.min() >= 0.95 - 1e-9, people
        assert together >= 0.9 - 1e-9, people


def test_the_word_says_what_an_interval_rests_on() -> None:
    def word(m: hush.FrequencyOracle, n: int = 20) -> str:
        return m.estimate(m.simulate([n] * m.k, rng=hush.seeded(1))).interval().method

    assert word(MECHANISMS["HR, one block"]) == "exact"
    assert word(MECHANISMS["HR, four blocks"]) == "bound"
    assert word(MECHANISMS["uSS, 1"]) == "bound and exact"
    assert word(MECHANISMS["all sensitive"]) == "exact"
    assert word(hush.HR(k=3, epsilon=2.0, blocks=2), 4_000_000) == "normal"
    over_noise = transform(hush.SHE(k=2, epsilon=1.0), hush.Domain(size=3, sensitive=[0, 1]))
    assert word(over_noise) == "bound and exact"
    assert word(over_noise, 4_000_000) == "normal"


@pytest.mark.parametrize("holders", [1, 2, 3])
def test_values_that_few_hold_are_covered_in_a_collaboration(holders: int) -> None:
    """Their normal intervals had no width where nobody of them was revealed, in 25 to 58 of a hundred collections."""
    first, second = (uSS(k=4, epsilon=1.0, sensitive=[0, 1], theta=theta) for theta in (0.0, 0.9))
    sizes = (40, 760)
    assert 0.05 < first.z_star < 0.95
    for early in range(holders + 1):
        law = [stats.binom.pmf(np.arange(x + 1), x, u.z_star) for x, u in ((early, first), (holders - early, second))]
        missed = 0.0
        for seen in np.ndindex(early + 1, holders - early + 1):
            parts = []
            for u, n, r in zip((first, second), sizes, seen, strict=True):
                tally = u._empty()
                tally[0], tally[-3:] = 5, (n - 5 - r, r, n - 5)
                parts.append((u, Aggregate(n, tally, u.spec_hash)))
            estimate = combined(parts)
            assert (estimate.stderr[2:] > 0).all()
            low, high = estimate.interval(0.95)
            if not low[3] <= holders / 800 <= high[3]:
                missed += law[0][seen[0]] * law[1][seen[1]]
        assert missed <= 0.05


def test_a_collaboration_names_its_bound() -> None:
    counts = [40, 30, 20, 10, 400, 500]
    seen = collaborate(uUE, k=6, epsilon=1.0, sensitive=range(4), counts=counts, rng=hush.seeded(7))
    assert seen.estimate.interval().method == "bound"
    low, high = seen.estimate.interval(0.999999)
    assert ((low <= np.array(counts) / 1000) & (np.array(counts) / 1000 <= high)).all()


@pytest.mark.parametrize("name", [name for name, m in MECHANISMS.items() if isinstance(m, UtilityOracle)])
def test_the_least_variance_is_no_more_than_anybodys(name: str) -> None:
    """The choice of the normal law rests on it; for uHR it was that of somebody in the value's block."""
    m = MECHANISMS[name]
    law = m.law(m._empty(), 1)
    assert law is not None
    for at, part in law.parts if isinstance(law, Parts) else []:
        if isinstance(part, Bounded):
            spread = np.stack([m.variances(each, 1) for each in np.eye(m.k)])
            others = [spread[u, v] for v in at for u in range(m.k) if u != v]
            assert part.terms.least <= min(others) * (1 + 1e-9)


def test_bennett_holds_for_what_it_bounds() -> None:
    rng = np.random.default_rng(5)
    theta = np.geomspace(1e-3, 40, 50)
    for _ in range(200):
        says, law = rng.normal(size=4), rng.dirichlet(np.ones(4))
        says -= says @ law
        term = Term(float(law @ says**2), float(says.max()), float(-says.min()))
        for sign, bound in ((1, term), (-1, term.flipped())):
            exact = np.log(np.exp(sign * theta[:, None] * says) @ law)
            assert (exact <= bound.cumulants(theta) + 1e-9 * theta).all()


def test_bounds_are_not_much_wider_than_the_normal_law() -> None:
    """Chernoff's price at 95 % is less than a half."""
    m = hush.HR(k=64, epsilon=4.0, blocks=16)
    estimate = m.estimate(m.simulate([300] * 64, rng=hush.seeded(3)))
    bound, normal = estimate.interval(method="exact"), estimate.interval(method="normal")
    assert bound.method == "bound"
    assert np.mean(bound.upper - bound.lower) < 1.7 * np.mean(normal.upper - normal.lower)
    assert (bound.lower <= estimate.frequencies).all()
    assert (estimate.frequencies <= bound.upper).all()


def test_parts_and_sums_keep_to_their_values() -> None:
    some = Supports(np.array([3, 9]), 10, 0.9, 0.1)
    rest = Bounded(np.array([0.2]), 10, Terms(Term(0.1, 1.0, 1.0), Term(0.1, 1.0, 1.0), 0.1))
    whole = Parts(3, [(np.array([2, 0]), some), (np.array([1]), rest)])
    wanted = np.array([True, True, False])
    assert whole.words(wanted) == ["exact", "bound"]
    low, high = whole.ends(0.025, wanted)
    alone: list[tuple[EstimateLaw, np.ndarray]] = [(some, np.array([False, True])), (rest, np.array([True]))]
    for i, (law, mask) in enumerate(alone):
        ends = law.ends(0.025, mask)
        assert (low[i], high[i]) == (ends[0][0], ends[1][0])
    twice = Summed([(10, some), (10, some)])
    assert twice.ends(0.025, np.ones(2, bool))[0].tolist() == some.ends(0.0125, np.ones(2, bool))[0].tolist()
    assert not twice.normal(0.025).any()


MODULAR = [(3, 2.0, None), (4, 3.0, (3, 2)), (6, 1.0, (2, 5))]


@pytest.mark.parametrize(("k", "epsilon", "moduli"), MODULAR)
def test_modular_subsets_cover_few_people(k: int, epsilon: float, moduli: tuple[int, ...] | None) -> None:
    m = hush.MSS(k=k, epsilon=epsilon, moduli=moduli)
    for people in ((0,), (0, 0, 0), (0, 1, 1), (0, k - 1, 1)):
        truth, covered = np.bincount(people, minlength=k) / len(people), np.zeros(k)
        for tally, chance in tallies(m, people):
            low, high = m.estimate(Aggregate(len(people), tally, m.spec_hash)).interval(0.95)
            covered += chance * ((low <= truth) & (truth <= high))
        assert covered.min() >= 0.95 - 1e-9, people


def test_even_weights_are_unbiased_and_their_terms_bound_all_reports() -> None:
    m = hush.MSS(k=6, epsilon=1.0, moduli=(2, 5))
    mean, second = np.zeros((6, 6)), np.zeros((6, 6))
    for public in m.publics():
        for y in m.outputs(public):
            law = m.law(m.tally(np.asarray(y, m.report_dtype)[None]), 1)
            assert isinstance(law, Bounded)
            assert (law.frequencies <= law.terms.other.up + 1e-9).all()
            assert (law.frequencies >= -law.terms.other.down - 1e-9).all()
            for u in range(6):
                chance = m.weight(y, u) / m.denominator / len(m.publics())
                mean[u] += chance * law.frequencies
                second[u] += chance * law.frequencies**2
    assert np.allclose(mean, np.eye(6), atol=1e-12)
    spread = second - mean**2
    assert spread.diagonal().max() == pytest.approx(law.terms.own.variance)
    assert spread[~np.eye(6, dtype=bool)].max() == pytest.approx(law.terms.other.variance)
    assert spread[~np.eye(6, dtype=bool)].min() == pytest.approx(law.terms.least)


def test_three_people_of_one_value_under_modular_subsets() -> None:
    """At k=100 and epsilon 3 the normal law covered 71 %."""
    m = hush.MSS(k=100, epsilon=3.0)
    inside = [
        (found.lower[7] <= 1.0 <= found.upper[7], (found.lower == 0.0)[np.arange(100) != 7].mean())
        for seed in range(40)
        for found in [m.estimate(m.aggregate(m.privatize([7, 7, 7], rng=hush.seeded([11, seed])))).interval()]
    ]
    assert np.mean([first for first, _ in inside]) >= 0.9  # of 40, by chance less than once in ten thousand seeds
    assert np.mean([second for _, second in inside]) > 0.99


@pytest.mark.parametrize("name", ["SHE", "GM", "AGM"])
def test_noise_is_inverted_exactly(name: str) -> None:
    m = example(name, 3, 0.9)
    assert isinstance(m, hush.mechanisms.histogram.NoisyHistogram)
    grid = m.grid
    for n, levels in ((1, (0.95, 0.9999)), (2, (0.5, 0.95))):
        for held in range(n + 1):
            law = np.ones(1)
            for i in range(n):
                law = np.convolve(law, grid.probabilities[::-1] if i < held else grid.probabilities)
            sums = n * grid.lowest + np.arange(law.size)
            for level in levels:
                ends = m.law(sums, n)
                assert ends is not None
                low, high = ends.ends((1 - level) / 2, np.ones(sums.size, bool))
                missed = law[(held / n < low) | (held / n > high)].sum()
                assert missed <= 1 - level + 1e-9
                if 0 < held < n or n == 1:
                    assert missed >= (1 - level) * 0.4  # and is not wider than it must be


def test_noise_of_very_many_is_bounded_and_named() -> None:
    m = hush.SHE(k=2, epsilon=1.0)
    many = m.law(np.zeros(2, np.int64), 10**9)
    assert many is not None
    assert many.words(np.ones(2, bool)) == ["bound", "bound"]
    assert many.normal(0.025).all()
    low, high = many.ends(0.025, np.ones(2, bool))
    assert 1.96 < high[0] / np.sqrt(m.variance(10**9)) < 2.8
    assert low[0] == 0.0


def test_quantiles_of_sums() -> None:
    for n in (1, 5, 60, 3000):
        for chance in (0.3, 0.01, 1e-6, 1e-14):
            tails = stats.binom.sf(np.arange(-1, n + 1), n, 0.1)
            wanted = int(np.argmax(tails <= chance * (1 - 1e-9)))
            assert quantile(np.array([0.9, 0.1]), 0, n, chance) == wanted
