"""Modular subset selection against its law at larger sizes. False-alarm rate: about 1e-9 a test, seeds are fixed."""

from __future__ import annotations

import numpy as np
import pytest

import hush
from hush._statistics import counts_alarm
from hush._statistics import sigmas as z_limit
from hush.mechanisms import _moduli
from hush.mechanisms.modular import MSS


@pytest.mark.parametrize("code", ["sorted", "enumerative"])
@pytest.mark.parametrize(("k", "epsilon"), [(100, 1.0), (1_024, 4.0), (1_024, 0.5)])
def test_blocks_are_uniform_and_residues_as_frequent_as_they_should(k: int, epsilon: float, code: str) -> None:
    m = MSS(k=k, epsilon=epsilon, code=code)
    n, value = (40_000, k // 3) if code == "sorted" else (4_000, k - 1)
    tally = m.aggregate(m.privatize(np.full(n, value), rng=hush.seeded([1, k]))).tally
    people = tally[m._starts[-1] :]
    assert counts_alarm(np.full(len(m.moduli), n / len(m.moduli)), people) == ""
    for j, size in enumerate(m.moduli):
        members = tally[m._starts[j] : m._starts[j + 1]]
        assert members.sum() == people[j] * m.omegas[j]
        chance = np.where(np.arange(size) == value % size, m.blocks.p[j], m.blocks.q[j])
        z = (members - people[j] * chance) / np.sqrt(people[j] * chance * (1 - chance))
        assert np.abs(z[people[j] * chance * (1 - chance) > 20]).max(initial=0.0) < z_limit(m._starts[-1])


@pytest.mark.parametrize("few", [True, False])
def test_simulation_has_the_moments_of_reports(few: bool) -> None:
    """Both ways of simulating: real subsets for few people, the exact sampler for many."""
    k, n = 40, 600 if few else 200_000
    m = MSS(k=k, epsilon=1.0, moduli=(31, 37, 23))
    counts = np.zeros(k, np.int64)
    counts[[0, 5, 39]] = (n // 2, n // 3, n // 6)
    runs = 400 if few else 100
    draws = np.array([m.simulate(counts, rng=hush.seeded([2, i])).tally for i in range(runs)])
    law = m.blocks
    chances = [law.q[j] + (law.p[j] - law.q[j]) * g for j, g in enumerate(law.system.folded(counts / n))]
    mean = np.concatenate([*(n / 3 * part for part in chances), np.full(3, n / 3)])
    spread = np.sqrt(np.concatenate([*(n / 3 * part * (1 - part / 3) for part in chances), np.full(3, n * 2 / 9)]))
    z = (draws.mean(axis=0) - mean) / (spread / np.sqrt(runs))
    assert np.abs(z).max() < z_limit(mean.size)
    ratio = (draws.var(axis=0, ddof=1) / spread**2)[:-3]
    assert 0.8 < ratio.mean() < 1.2


def test_error_of_the_badly_conditioned_case() -> None:
    """The case of the list of errors: 0.4067 by formula, and what is simulated agrees (0.4059 there)."""
    k, n, runs = 30, 3_000, 400
    m = MSS(k=k, epsilon=1.0, moduli=(7, 11, 13, 5))
    rng = np.random.default_rng(3)
    found = []
    for i in range(runs):
        counts = rng.multinomial(n, np.full(k, 1 / k))
        raw = m.decode(m.simulate(counts, rng=hush.seeded([3, i])).tally, n)
        found.append(((raw - 1 / k) ** 2).mean())
    due = m.blocks.variances(np.full(k, 1 / k), n, fixed=False).mean()
    assert due == pytest.approx(0.4067, abs=1e-4)
    error = np.std(found, ddof=1) / np.sqrt(runs)
    assert abs(np.mean(found) - due) < 6 * error + 0.01 * due  # blocks of unequal sizes add a relative l/n


@pytest.mark.parametrize(("epsilon", "moduli"), [(4.0, (97, 89, 83)), (1.0, (53, 61, 47))])
def test_variances_in_a_fixed_population(epsilon: float, moduli: tuple[int, ...]) -> None:
    """At a large budget most of the variance is that of drawing blocks, so the population's share shows."""
    k, n, runs = 100, 20_000, 1_500
    m = MSS(k=k, epsilon=epsilon, moduli=moduli)
    counts = np.zeros(k, np.int64)
    counts[[0, 1, 50, 98]] = (8_000, 6_000, 4_000, 2_000)
    raw = np.array([m.decode(m.simulate(counts, rng=hush.seeded([4, i])).tally, n) for i in range(runs)])
    due = m.variances(counts / n, n)
    z = (raw.mean(axis=0) - counts / n) / np.sqrt(due / runs)
    assert np.abs(z).max() < z_limit(k)
    ratio = raw.var(axis=0, ddof=1) / due
    assert np.abs(ratio - 1).max() < z_limit(k) * np.sqrt(2 / runs)
    assert abs(ratio.mean() - 1) < 0.03


def test_error_bars_cover() -> None:
    k, n = 300, 50_000
    m = MSS(k=k, epsilon=2.0, moduli=_moduli.choose_moduli(300, 2.0, most_blocks=6))
    counts = np.zeros(k, np.int64)
    counts[:50] = n // 50
    inside = 0
    for i in range(40):
        estimate = m.estimate(m.simulate(counts, rng=hush.seeded([5, i])))
        low, high = estimate.interval(0.9)
        inside += int(((low <= counts / n) & (counts / n <= high)).sum())
    assert abs(inside / (40 * k) - 0.9) < 0.02


def test_estimates_of_many_values_have_error_bars() -> None:
    k, n = 5_000, 20_000
    m = MSS(k=k, epsilon=3.0)
    values = np.random.default_rng(6).integers(0, 10, n)
    estimate = m.estimate(m.aggregate(m.privatize(values, rng=hush.seeded(6))))
    truth = np.bincount(values, minlength=k) / n
    z = (estimate.frequencies - truth) / estimate.stderr
    assert np.abs(z).max() < z_limit(k)
    assert 0.9 < (z**2).mean() < 1.1


def test_best_guess_succeeds_as_often_as_it_says() -> None:
    m = MSS(k=60, epsilon=3.0)
    values = np.arange(30_000) % 60
    guesses = m.attack(m.privatize(values, rng=hush.seeded(7)), rng=hush.seeded(8))
    chance = m.asr()
    assert abs((guesses == values).mean() - chance) < z_limit() * np.sqrt(chance * (1 - chance) / values.size)
