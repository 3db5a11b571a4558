"""Collections of tuples at sizes that enumeration does not reach. False-alarm rate: 1e-9 a test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

import hush
from hush.multidim import RSFD, RSRFD, SMP, SPL, Multidim
from hush.statistics import FALSE_ALARM, count_alarm, counts_alarm, mean_alarm, sigmas

N = 200_000
SIZES = (3, 7, 20)
ZIPF = [tuple(1.0 / (1 + np.arange(k))) for k in SIZES]
PEAKED = [tuple([0.97] + [0.03 / (k - 1)] * (k - 1)) for k in SIZES]

COLLECTIONS = [
    SPL(sizes=SIZES, epsilon=3.0),
    SPL(sizes=SIZES, epsilon=3.0, mechanism=("HR", "OLH", "SHE")),
    SMP(sizes=SIZES, epsilon=1.0),
    SMP(sizes=SIZES, epsilon=1.0, mechanism=("SS", "SHE", "OLH")),
    *(RSFD(sizes=SIZES, epsilon=1.0, variant=v) for v in (*RSFD.variants, "ADP")),
    *(RSRFD(sizes=SIZES, epsilon=1.0, variant=v, priors=ZIPF) for v in RSRFD.variants),
    RSRFD(sizes=SIZES, epsilon=1.0, variant=("GRR", "OUE-r", "GRR"), priors=PEAKED),
]


def identify(m: Multidim) -> str:
    return f"{m.name()}-{'+'.join(getattr(m, 'variant', getattr(m, 'mechanism', ())))}"


def people(n: int, sizes: tuple[int, ...] = SIZES) -> np.ndarray:
    """Correlated attributes, small values more frequent."""
    rng = hush.seeded(11)
    share = rng.random(n)
    return np.stack([np.minimum((k * share**2).astype(np.int64) + rng.integers(0, 2, n), k - 1) for k in sizes], axis=1)


@pytest.mark.parametrize("m", COLLECTIONS, ids=identify)
def test_repeated_estimates_spread_as_stated_around_the_truth(m: Multidim) -> None:
    n, times = 3000, 300
    population = people(n)
    truth = [np.bincount(population[:, j], minlength=k) / n for j, k in enumerate(SIZES)]
    stated = np.sqrt(np.concatenate(m.variances(truth, n)))
    rng = hush.seeded(12)
    z = np.empty((times, sum(SIZES)))
    own = np.empty_like(z)
    for i in range(times):
        estimates = m.estimate(m.aggregate(m.privatize(population, rng=rng)))
        gap = np.concatenate([e.frequencies for e in estimates]) - np.concatenate(truth)
        z[i], own[i] = gap / stated, gap / np.concatenate([e.stderr for e in estimates])
    assert np.abs(z.mean(axis=0)).max() * np.sqrt(times) < sigmas(3 * z.shape[1])
    tail = FALSE_ALARM / (6 * z.shape[1])
    for scores in (z, own):
        squares = (scores**2).sum(axis=0)
        assert chi2.ppf(tail, times) < squares.min()
        assert squares.max() < chi2.isf(tail, times)


@pytest.mark.parametrize(
    "m",
    [
        RSFD(sizes=(100, 4, 300, 9), epsilon=1.0, variant="GRR"),
        RSRFD(
            sizes=(100, 4, 300, 9),
            epsilon=1.0,
            variant="GRR",
            priors=[1.0 / (1 + np.arange(k)) for k in (100, 4, 300, 9)],
        ),
    ],
    ids=identify,
)
def test_direct_reports_mix_truth_noise_and_fakes(m: RSFD) -> None:
    values = (50, 3, 299, 0)
    tally = m.aggregate(m.privatize(np.tile(values, (N, 1)), rng=hush.seeded(13))).tally
    for j, (fake, part) in enumerate(zip(m.fakes, m._tallies(tally), strict=True)):
        real = np.where(np.arange(m.sizes[j]) == values[j], fake.real.p_star, fake.real.q_star)
        expected = N * (real / 4 + 3 / 4 * fake.support)
        assert expected.sum() == pytest.approx(N)
        assert counts_alarm(expected, part, comparisons=4) == ""


@pytest.mark.parametrize("variant", ["SUE-z", "SUE-r", "OUE-z", "OUE-r"])
def test_unary_reports_mix_truth_noise_and_fakes(variant: str) -> None:
    m = RSFD(sizes=(130, 64, 5), epsilon=2.0, variant=variant)
    values = (129, 63, 0)
    n = N // 4
    tally = m.aggregate(m.privatize(np.tile(values, (n, 1)), rng=hush.seeded(14))).tally
    for fake, part, value in zip(m.fakes, m._tallies(tally), values, strict=True):
        own, other = fake.supports(m.d)
        for v, seen in enumerate(part):
            chance = own[v] if v == value else other[v]
            assert count_alarm(int(seen), n, float(chance), comparisons=199) == ""


def test_every_attribute_is_drawn_alike_and_independently() -> None:
    m = SMP(sizes=(2,) * 7, epsilon=1.0, mechanism="GRR")
    drawn = m.privatize(np.zeros((N, 7), np.int64), rng=hush.seeded(15))["attribute"].astype(np.int64)
    assert counts_alarm(np.full(7, N / 7), np.bincount(drawn, minlength=7), comparisons=2) == ""
    pairs = np.bincount(drawn[:-1] * 7 + drawn[1:], minlength=49)
    assert counts_alarm(np.full(49, (N - 1) / 49), pairs, comparisons=2) == ""


@pytest.mark.parametrize("m", COLLECTIONS, ids=identify)
def test_attacks_succeed_as_often_as_stated(m: Multidim) -> None:
    n = 30_000
    rng = hush.seeded(16)
    everybody = np.stack([rng.integers(0, k, n) for k in SIZES], axis=1)
    reports = m.privatize(everybody, rng=hush.seeded(17))
    for j in range(3):
        hits = int((m.attack(reports, j, rng=hush.seeded(18)) == everybody[:, j]).sum())
        assert count_alarm(hits, n, m.asr(j), comparisons=3) == ""


@pytest.mark.parametrize("variant", ["GRR", "SUE-z", "OUE-z", "OUE-r"])
def test_posteriors_of_the_sampled_attribute_are_calibrated(variant: str) -> None:
    """Among reports whose posterior is about x, a share of about x was sampled there: sums agree in every bin."""
    m = RSFD(sizes=(3, 7), epsilon=2.0, variant=variant)
    priors = [np.array(ZIPF[0]) / sum(ZIPF[0]), np.array(ZIPF[1]) / sum(ZIPF[1])]
    rng = hush.seeded(19)
    everybody = np.stack([rng.choice(k, N, p=prior) for k, prior in zip((3, 7), priors, strict=True)], axis=1)
    # Reports of people whose attribute 0 was sampled, made by hand from the same parts.
    first = np.empty(N, m.report_dtype)
    first["a0"] = m.components[0].sample(everybody[:, 0].copy(), rng)
    first["a1"] = m.fakes[1].draw(N, rng)
    mixed = m.privatize(everybody, rng=hush.seeded(20))
    edges = np.linspace(0, 1, 9)[1:-1]
    said = m.sampled(mixed, priors)[:, 0]
    # Bayes: P(bin | first) = E[posterior; bin] / (1/2).
    bins = np.digitize(said, edges)
    share = np.array([said[bins == b].sum() for b in range(8)]) / N * 2
    seen = np.bincount(np.digitize(m.sampled(first, priors)[:, 0], edges), minlength=8) / N
    spread = np.sqrt((share * (1 - share) + 4 * share) / N) + 1e-5
    assert (np.abs(seen - share) < sigmas(8) * spread).all()
    assert mean_alarm(said, 0.5, 1.0) == ""
