"""Projective geometry response at work: samplers and simulation against the exact law.

False-alarm rate: 1e-9 a test.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import hush
from hush.mechanisms.projective import PGR
from hush.statistics import count_alarm, counts_alarm
from hush.statistics import sigmas as z_limit
from tests.statistical.test_simulation import law_of_population


@pytest.mark.parametrize(
    ("q", "k", "counts"),
    [
        (2, 5, [1, 0, 1, 0, 1]),
        (2, 4, [0, 0, 0, 4]),
        (2, 9, [0, 1, 0, 0, 1, 0, 0, 0, 1]),
        (3, 6, [0, 1, 0, 0, 0, 2]),
        (4, 6, [1, 0, 0, 1, 0, 1]),
        (5, 6, [4, 0, 0, 0, 1, 0]),
    ],
)
def test_joint_law_of_simulated_counts(q: int, k: int, counts: list[int], thorough: bool) -> None:
    m = PGR(k=k, epsilon=2.0, q=q)
    law = law_of_population(m, counts)
    assert sum(law.values()) == pytest.approx(1.0)
    runs, rng = 10_000 if thorough else 3_000, hush.seeded(11)
    seen = Counter(tuple(int(x) for x in m._spread(np.array(counts), rng)) for _ in range(runs))
    assert set(seen) <= set(law)
    due = np.array([runs * chance for chance in law.values()])
    assert counts_alarm(due, np.array([seen[key] for key in law])) == ""


@pytest.mark.parametrize(("q", "k"), [(2, 40), (3, 13), (4, 60), (5, 100), (7, 58), (9, 300), (25, 200), (101, 120)])
def test_simulated_counts_of_people_who_agree(q: int, k: int) -> None:
    """Large counts are split by binomials, small ones one by one: both must follow the law of one report."""
    m = PGR(k=k, epsilon=2.0, q=q)
    for value in {0, 1, k // 2, k - 1}:
        for n, seed in ((10**7, 3), (40 * m.size, 4)):
            counts = np.zeros(k, np.int64)
            counts[value] = n
            tally = m._spread(counts, hush.seeded([seed, value]))
            law = np.exp(m.log_prob(m.outputs(), value))
            assert tally.sum() == n
            assert counts_alarm(n * law, tally, comparisons=8) == ""


@pytest.mark.parametrize(("q", "k"), [(2, 20), (4, 15), (5, 30)])
def test_simulated_counts_have_the_covariance_of_real_reports(q: int, k: int, thorough: bool) -> None:
    m = PGR(k=k, epsilon=3.0, q=q)
    counts, runs = (600 / np.arange(1, k + 1)).astype(np.int64), 3_000 if thorough else 1_000
    values = np.repeat(np.arange(k), counts)
    fast = np.array([m._spread(counts, hush.seeded([1, i])) for i in range(runs)])
    slow = np.array([m.aggregate(m.privatize(values, rng=hush.seeded([2, i]))).tally for i in range(runs)])
    assert (fast.sum(axis=1) == counts.sum()).all()
    spread = np.diag(np.cov(slow.T))
    difference = (np.cov(fast.T) - np.cov(slow.T)) / np.sqrt(np.outer(spread, spread) * 4 / runs)
    assert np.abs(difference).max() < z_limit(m.size**2)


@pytest.mark.parametrize("q", [2, 3, 8, 13, 29, 89, 149, 2503])
def test_reports_fall_on_hyperplanes_as_often_as_they_should(q: int) -> None:
    m = PGR(k=22_000, epsilon=2.0, q=q)
    n = 100_000
    for value in (0, 1, 2, 3000, 21_999):
        reports = m.privatize(np.full(n, value), rng=hush.seeded([q, value]))
        for other in (0, 1, 17, 3000, 21_998, 21_999):
            chance = m.p_star if other == value else m.q_star
            seen = int(m.supports(reports, np.full(n, other)).sum())
            assert count_alarm(seen, n, chance, comparisons=30) == ""


@pytest.mark.parametrize(("q", "k"), [(13, 3_000), (16, 5_000), (53, 3_000), (64, 9_000)])
def test_reports_are_uniform_on_and_off_the_hyperplane(q: int, k: int, thorough: bool) -> None:
    m = PGR(k=k, epsilon=3.0, q=q)
    n = 1_000_000 if thorough else 300_000
    for value in (0, 2, k // 2, k - 1):
        reports = m.privatize(np.full(n, value), rng=hush.seeded([q, value]))
        favoured = m.supports(m.outputs(), np.full(m.size, value))
        law = np.where(favoured, m.p_star / favoured.sum(), (1 - m.p_star) / (~favoured).sum())
        bins = np.arange(m.size) * 257 % 499 * 2 + favoured
        seen = np.bincount(bins[reports], minlength=998)
        assert counts_alarm(n * np.bincount(bins, law, 998), seen, comparisons=4) == ""


@pytest.mark.parametrize("people", [5_000, 100_000_000])
def test_simulation_is_unbiased_with_few_people_and_with_many(people: int) -> None:
    m = PGR(k=300, epsilon=1.0)
    weights = 1 / np.arange(1, 301)
    counts = (people * weights / weights.sum()).astype(np.int64)
    truth = counts / counts.sum()
    few = counts.sum() <= 2 * m.k * m.q * (m.t - 1)
    assert few == (people == 5_000)
    aggregate = m.simulate(counts, rng=hush.seeded(7))
    z = (m.estimate(aggregate).frequencies - truth) / np.sqrt(m.variances(truth, aggregate.n))
    assert np.abs(z).max() < z_limit(300)


def test_the_whole_way_at_22000_values() -> None:
    counts = np.zeros(22_000, np.int64)
    counts[[0, 1, 500, 21_999]] = 400_000, 300_000, 200_000, 100_000
    truth = counts / counts.sum()
    for epsilon in (0.5, 2.0, 4.5):
        m = PGR(k=22_000, epsilon=epsilon)
        values = np.repeat(np.arange(m.k), counts)
        for tally in (m._spread(counts, hush.seeded(7)), m.aggregate(m.privatize(values, rng=hush.seeded(7))).tally):
            z = (m.decode(tally, values.size) - truth) / np.sqrt(m.variances(truth, values.size))
            assert np.abs(z).max() < z_limit(22_000)
            assert z.var() == pytest.approx(1.0, abs=0.15)  # below 1e-9 even if six values each moved as one
