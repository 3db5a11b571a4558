"""Batches draw tallies from the exact law. False-alarm rate: 1e-9 a test."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from numba import njit
from scipy.stats import binom

import hush
from hush.kernels.draws import binomial
from hush.planning.optimus.drawing import estimates
from hush.planning.optimus.normal import Normal
from hush.planning.optimus.population import population
from hush.simulation import batches
from hush.simulation.noise import NoiseSums
from hush.statistics import counts_alarm, sigmas
from tests.conftest import NAMES, UTILITY, example
from tests.statistical.test_simulation import law_of_population

pytestmark = pytest.mark.nightly

RUNS = 60_000


@njit(nogil=True)
def many(rng, n, p, out):  # type: ignore[no-untyped-def]
    for i in range(out.size):
        out[i] = binomial(rng.bit_generator, n, p)


def drawn(n: int, p: float) -> np.ndarray:
    out = np.empty(RUNS, np.int64)
    many(hush.seeded([n, int(p * 1000)]), n, float(p), out)
    return out


def alarm(seen: np.ndarray, law: object, low: int, high: int) -> str:
    """Chi-square over every outcome; a range of more than a thousand is cut into that many."""
    edges = np.unique(np.linspace(low - 1, high, 1001).astype(np.int64))
    due = np.diff(law.cdf(edges)) * RUNS  # type: ignore[attr-defined]
    counts = np.histogram(seen, np.concatenate([edges + 0.5]))[0]
    outside = RUNS - counts.sum()
    return counts_alarm(np.append(due, max(RUNS - due.sum(), 0.0)), np.append(counts, outside))


@pytest.mark.parametrize(
    ("n", "p"),
    [
        (1, 0.5), (64, 0.5), (65, 0.5), (1000, 0.5), (3, 0.2), (20, 0.5001), (25, 0.4), (30, 0.9), (200, 0.05),
        (1000, 0.0101), (1000, 0.999), (10**4, 0.3), (10**7, 1e-7), (10**7, 2e-6), (10**7, 0.27), (10**9, 0.5),
    ],
)  # fmt: skip
def test_binomial(n: int, p: float) -> None:
    law = binom(n, p)
    reach = 12 * law.std() + 12
    low, high = max(0, int(law.mean() - reach)), min(n, int(law.mean() + reach))
    seen = drawn(n, p)
    assert low <= seen.min()
    assert seen.max() <= high
    assert alarm(seen, law, low, high) == ""


def test_impossible_and_certain_successes() -> None:
    assert (drawn(10, 0.0) == 0).all()
    assert (drawn(10, 1.0) == 10).all()
    assert (drawn(0, 0.5) == 0).all()


@pytest.mark.parametrize(
    ("mechanism", "counts"),
    [
        (hush.GRR(k=3, epsilon=1.0), [2, 1, 1]),
        (hush.OUE(k=3, epsilon=1.0), [2, 1, 0]),
        (hush.LH(k=3, epsilon=1.0, g=3), [2, 1, 0]),
        (hush.SS(k=4, epsilon=1.0, omega=1), [1, 1, 0, 1]),
        (hush.SS(k=4, epsilon=1.0, omega=2), [1, 0, 2, 0]),
        (hush.SS(k=4, epsilon=0.5, omega=3), [0, 1, 1, 1]),
        (hush.SS(k=5, epsilon=1.5, omega=2), [1, 1, 0, 0, 1]),
        (hush.HR(k=3, epsilon=1.0, blocks=1), [1, 1, 1]),
        (hush.HR(k=3, epsilon=1.0, blocks=2), [2, 1, 0]),
        (hush.HR(k=7, epsilon=2.0, blocks=1), [1, 0, 0, 0, 1, 0, 1]),
        (hush.HR(k=5, epsilon=2.0, blocks=4), [1, 0, 1, 0, 0]),
        (hush.SS(k=6, epsilon=1.0, omega=3), [1, 0, 0, 1, 0, 1]),
        (hush.MSS(k=4, epsilon=1.0, moduli=(3, 4)), [1, 1, 0, 1]),
        (hush.MSS(k=5, epsilon=0.3, moduli=(4, 5)), [0, 1, 0, 1, 0]),
        (hush.uRR(k=4, epsilon=1.0, sensitive=(0, 2)), [1, 1, 1, 0]),
        (hush.uRAP(k=3, epsilon=1.0, sensitive=(0, 2)), [1, 1, 1]),
        (hush.uRAP(k=3, epsilon=1.0, sensitive=(0, 2), z="paper"), [1, 1, 1]),
        (hush.uUE(k=4, epsilon=1.0, sensitive=(0, 1, 3)), [1, 0, 1, 0]),
        (hush.uUE(k=4, epsilon=1.0, sensitive=(0, 1, 3), reveal="alone"), [1, 0, 1, 0]),
        (hush.uSS(k=5, epsilon=1.0, sensitive=(0, 1, 3, 4), omega=2), [1, 0, 2, 0, 0]),
        (hush.uHR(k=5, epsilon=1.0, sensitive=(0, 1, 3)), [1, 0, 1, 0, 1]),
        (hush.uSS(k=4, epsilon=1.0, sensitive=(2,)), [1, 0, 1, 0]),
        (hush.uSS(k=4, epsilon=1.0, omega=2), [1, 0, 1, 0]),
    ],
    ids=lambda x: x.name() if isinstance(x, hush.FrequencyOracle) else "-".join(map(str, x)),
)
@pytest.mark.parametrize("shared", [True, False], ids=["one row for all", "a row each"])
def test_joint_law_of_the_tally(mechanism: hush.FrequencyOracle, counts: list[int], shared: bool) -> None:
    law = law_of_blocks(mechanism, counts) if isinstance(mechanism, hush.MSS) else law_of_population(mechanism, counts)
    assert sum(law.values()) == pytest.approx(1.0)
    people = np.array([counts]) if shared else np.tile(counts, (30_000, 1))
    rows = mechanism.forms.tallies(people.astype(np.int64), 30_000, hush.seeded(11))
    seen = Counter(map(tuple, rows.tolist()))
    assert set(seen) <= set(law)
    keys = list(law)
    assert counts_alarm(np.array([30_000 * law[key] for key in keys]), np.array([seen[key] for key in keys])) == ""


def law_of_blocks(m: hush.MSS, counts: list[int]) -> dict[tuple[int, ...], float]:
    """The exact law of the tally of everybody, each in a block at random."""
    whole: Counter[tuple[int, ...]] = Counter({tuple([0] * (sum(m.moduli) + len(m.moduli))): 1.0})
    for value in np.repeat(np.arange(m.k), counts).tolist():
        joined: Counter[tuple[int, ...]] = Counter()
        for public in m.publics():
            for y in m.outputs(public):
                one = m.tally(y[None]).tolist()
                chance = m.weight(y, value) / m.denominator / len(m.moduli)
                for before, share in whole.items():
                    joined[tuple(a + b for a, b in zip(before, one, strict=True))] += share * chance
        whole = joined
    return dict(whole)


@pytest.mark.parametrize("own", [0, 37, 200])
def test_sums_of_lopsided_noise(own: int) -> None:
    """Noise that leans to one side, so that many are not of the symmetric part, against its convolution."""
    steps = np.arange(-80, 121)
    weights = np.exp(-np.abs(steps) / 20.0) * (1 + 0.1 * (steps > 0))
    weights /= weights.sum()
    noise, n, unit = NoiseSums(steps, weights, 40), 200, 40
    people = np.array([[own, n - own]])
    assert noise.odd > 0.01
    assert noise.takes(people)
    seen = noise.drawn(people, RUNS, hush.seeded(own))[:, 0]
    whole, size, zero = np.zeros(201), 1 << 18, 1 << 17
    whole[:] = weights
    plain = np.fft.fft(np.roll(np.concatenate([whole, np.zeros(size - 201)]), -80))
    mirrored = np.fft.fft(np.roll(np.concatenate([whole[::-1], np.zeros(size - 201)]), -120))
    law = np.roll(np.fft.ifft(plain ** (n - own) * mirrored**own).real, zero).clip(0)
    edges = np.quantile(seen, np.linspace(0, 1, 60)).astype(np.int64)[1:-1]
    cells = np.searchsorted(edges, np.arange(size) - zero + unit * own, side="right")
    due = np.bincount(cells, law, 59) * RUNS
    assert counts_alarm(due, np.bincount(np.searchsorted(edges, seen, side="right"), minlength=59)) == ""


def test_drawn_populations_are_multinomial() -> None:
    shares = np.array([0.5, 0.0, 0.3, 0.2])
    rows = batches.populations(shares, 4, RUNS, hush.seeded(5))
    assert (rows.sum(axis=1) == 4).all()
    seen = Counter(map(tuple, rows.tolist()))
    law: Counter[tuple[int, ...]] = Counter()
    for people in itertools.product(range(4), repeat=4):
        law[tuple(np.bincount(people, minlength=4).tolist())] += float(np.prod(shares[list(people)]))
    keys = list(law)
    assert counts_alarm(np.array([RUNS * law[key] for key in keys]), np.array([seen[key] for key in keys])) == ""


@pytest.mark.parametrize("name", sorted({*NAMES, *UTILITY}))
def test_means_and_variances_of_a_large_population(name: str) -> None:
    m = example(name, 30, 1.0)
    assert m.forms.one_by_one == (name == "PGR")
    counts = (2_000_000 / np.arange(1, 31)).astype(np.int64)
    people = population(counts, None)
    runs = 1000 if name == "PGR" else 4000
    rows = estimates(m, people, runs, hush.seeded(3))
    due = m.variances(people.frequencies, people.n)
    z = (rows.mean(axis=0) - people.frequencies) / np.sqrt(due / runs)
    assert np.abs(z).max() < sigmas(30)
    spread = (rows.var(axis=0, ddof=1) / due - 1) * np.sqrt((runs - 1) / 2)
    assert np.abs(spread).max() < sigmas(30) * 1.1


@pytest.mark.parametrize("drawn_anew", [False, True])
@pytest.mark.parametrize(
    "m",
    [
        hush.GRR(k=7, epsilon=1.0), hush.SS(k=7, epsilon=0.7), hush.SS(k=7, epsilon=2.0), hush.OUE(k=7, epsilon=1.0),
        hush.HR(k=7, epsilon=1.0, blocks=1), hush.HR(k=7, epsilon=3.0, blocks=4), hush.PGR(k=7, epsilon=2.0, q=2),
        hush.MSS(k=7, epsilon=1.0, moduli=(4, 5)), hush.SHE(k=7, epsilon=1.0), hush.AGM(k=7, epsilon=1.0, delta=1e-5),
    ],
    ids=repr,
)  # fmt: skip
def test_the_normal_law_has_the_exact_covariance(m: hush.FrequencyOracle, drawn_anew: bool) -> None:
    """Each entry of two covariance matrices, in standard errors of their difference."""
    if not drawn_anew and isinstance(m, (hush.PGR, hush.MSS)):
        pytest.skip("has the exact variances, and nearly the covariances")
    counts, runs = np.array([5000, 3000, 1000, 600, 300, 100, 0]), 20_000
    people = population(counts, int(counts.sum()) if drawn_anew else None)
    exact = np.cov(estimates(m, people, runs, hush.seeded(1)).T)
    rows = Normal(people, runs, hush.seeded(2)).estimates(m)
    assert rows is not None
    near = np.cov(rows.T)
    sizes = np.diag(exact)
    error = np.sqrt(2 * (np.outer(sizes, sizes) + exact**2) / runs)
    assert np.abs((exact - near) / error).max() < sigmas(28) * 1.1
