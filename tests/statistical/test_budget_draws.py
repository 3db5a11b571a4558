"""Batches draw tallies from the exact law. False-alarm rate: 1e-9 a test."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from numba import njit
from scipy.stats import binom, hypergeom

import hush
from hush._statistics import counts_alarm, sigmas
from hush.kernels.draws import binomial, hypergeometric
from hush.planning.optimus.drawing import batch, estimates
from hush.planning.optimus.normal import Normal
from hush.planning.optimus.population import population
from hush.simulation import batches
from tests.conftest import example
from tests.statistical.test_simulation import law_of_population

RUNS = 60_000


@njit(nogil=True)
def many(rng, what, a, b, c, out):  # type: ignore[no-untyped-def]
    for i in range(out.size):
        if what == 0:
            out[i] = binomial(rng.bit_generator, a, c)
        else:
            out[i] = hypergeometric(rng.bit_generator, a, b, np.int64(c))


def drawn(what: int, a: int, b: int, c: float) -> np.ndarray:
    out = np.empty(RUNS, np.int64)
    many(hush.seeded([what, a, b, int(c * 1000)]), what, a, b, float(c), out)
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
    seen = drawn(0, n, 0, p)
    assert low <= seen.min()
    assert seen.max() <= high
    assert alarm(seen, law, low, high) == ""


def test_impossible_and_certain_successes() -> None:
    assert (drawn(0, 10, 0, 0.0) == 0).all()
    assert (drawn(0, 10, 0, 1.0) == 10).all()
    assert (drawn(0, 0, 0, 0.5) == 0).all()


@pytest.mark.parametrize(
    ("good", "bad", "sample"),
    [
        (5, 5, 5), (1, 9, 4), (9, 1, 4), (50, 60, 40), (60, 50, 90), (500, 30, 200), (1000, 10**6, 300),
        (10**6, 1000, 5000), (10**6, 3 * 10**6, 10**5), (3, 10**7, 10**6), (40, 2, 41), (2000, 2000, 3999),
    ],
)  # fmt: skip
def test_hypergeometric(good: int, bad: int, sample: int) -> None:
    law = hypergeom(good + bad, good, sample)
    reach = 12 * law.std() + 12
    low = max(0, sample - bad, int(law.mean() - reach))
    high = min(good, sample, int(law.mean() + reach))
    seen = drawn(1, good, bad, sample)
    assert low <= seen.min()
    assert seen.max() <= high
    assert alarm(seen, law, low, high) == ""


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
    ],
    ids=lambda x: x.name() if isinstance(x, hush.FrequencyOracle) else "-".join(map(str, x)),
)
@pytest.mark.parametrize("shared", [True, False], ids=["one row for all", "a row each"])
def test_joint_law_of_the_tally(mechanism: hush.FrequencyOracle, counts: list[int], shared: bool) -> None:
    law = law_of_population(mechanism, counts)
    assert sum(law.values()) == pytest.approx(1.0)
    people = np.array([counts]) if shared else np.tile(counts, (30_000, 1))
    rows = batch(mechanism)(mechanism, people.astype(np.int64), 30_000, hush.seeded(11))
    seen = Counter(map(tuple, rows.tolist()))
    assert set(seen) <= set(law)
    keys = list(law)
    assert counts_alarm(np.array([30_000 * law[key] for key in keys]), np.array([seen[key] for key in keys])) == ""


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


def test_means_and_variances_of_a_large_population(name: str) -> None:
    m = example(name, 30, 1.0)
    if batch(m).__name__ == "_one_by_one":
        pytest.skip("drawn by simulate, whose law is tested there")
    counts = (2_000_000 / np.arange(1, 31)).astype(np.int64)
    people = population(counts, None)
    runs = 4000
    rows = estimates(m, people, runs, hush.seeded(3))
    due = m.variances(people.truth, people.n)
    z = (rows.mean(axis=0) - people.truth) / np.sqrt(due / runs)
    assert np.abs(z).max() < sigmas(30)
    spread = (rows.var(axis=0, ddof=1) / due - 1) * np.sqrt((runs - 1) / 2)
    assert np.abs(spread).max() < sigmas(30) * 1.1


@pytest.mark.parametrize("drawn_anew", [False, True])
@pytest.mark.parametrize(
    "m",
    [
        hush.GRR(k=7, epsilon=1.0), hush.SS(k=7, epsilon=0.7), hush.SS(k=7, epsilon=2.0), hush.OUE(k=7, epsilon=1.0),
        hush.HR(k=7, epsilon=1.0, blocks=1), hush.HR(k=7, epsilon=3.0, blocks=4),
    ],
    ids=repr,
)  # fmt: skip
def test_the_normal_law_has_the_exact_covariance(m: hush.FrequencyOracle, drawn_anew: bool) -> None:
    """Each entry of two covariance matrices, in standard errors of their difference."""
    counts, runs = np.array([5000, 3000, 1000, 600, 300, 100, 0]), 50_000
    people = population(counts, int(counts.sum()) if drawn_anew else None)
    exact = np.cov(estimates(m, people, runs, hush.seeded(1)).T)
    rows = Normal(people, runs, hush.seeded(2)).estimates(m)
    assert rows is not None
    near = np.cov(rows.T)
    sizes = np.diag(exact)
    error = np.sqrt(2 * (np.outer(sizes, sizes) + exact**2) / runs)
    assert np.abs((exact - near) / error).max() < sigmas(28) * 1.1
