"""Modular subset selection against its law at larger sizes. False-alarm rate: about 1e-9 a test, seeds are fixed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, t

import hush
from hush.analysis.modular_system import folded_rows
from hush.mechanisms.modular import MSS, moduli
from hush.statistics import FALSE_ALARM, counts_alarm
from hush.statistics import sigmas as z_limit


def variances_agree(draws: np.ndarray, due: np.ndarray) -> bool:
    """Chi-square tails of each column's sample variance, for nearly normal columns."""
    freedom = len(draws) - 1
    ratio = freedom * draws.var(axis=0, ddof=1) / due
    tail = FALSE_ALARM / (2 * due.size)
    return bool((chi2.isf(1 - tail, freedom) < ratio).all() and (ratio < chi2.isf(tail, freedom)).all())


def correlations(m: MSS, f: np.ndarray) -> np.ndarray:
    """Of the estimates of all values, in a fixed population, from dense matrices."""
    law, inverse = m.blocks, np.linalg.inv(m.blocks.system.normal())
    whole = np.outer(f, f) - np.diag(f)
    for j, rows in enumerate(folded_rows(inverse, m.moduli)):
        whole += law.scales[j] * rows @ law.covariance(j, law.system.folded(f)[j]) @ rows.T
    spread = np.sqrt(np.diag(whole))
    assert np.allclose(spread, np.sqrt(m.variances(f)), rtol=1e-6)
    return np.asarray(whole / spread / spread[:, None])


def mean_square_range(correlation: np.ndarray, runs: int) -> tuple[float, float]:
    """Where the mean of squares of normal numbers with these correlations lies (Laurent and Massart 2000, lemma 1)."""
    eigenvalues, nats = np.linalg.eigvalsh(correlation) / len(correlation), np.log(2 / FALSE_ALARM)
    reach = 2 * np.sqrt(nats * (eigenvalues**2).sum() / runs)
    return 1 - reach, 1 + reach + 2 * nats * eigenvalues.max() / runs


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
    # Everybody is counted at a residue, independently, with a third of p or of q.
    own = [np.bincount(np.arange(k) % size, counts, size) for size in m.moduli]
    near, far = law.p / 3, law.q / 3
    counted = [g * near[j] * (1 - near[j]) + (n - g) * far[j] * (1 - far[j]) for j, g in enumerate(own)]
    spread = np.sqrt(np.concatenate([*counted, np.full(3, n * 2 / 9)]))
    z = (draws.mean(axis=0) - mean) / (spread / np.sqrt(runs))
    assert np.abs(z).max() < z_limit(mean.size)
    assert variances_agree(draws, spread**2)


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
    assert abs(np.mean(found) - due) < z_limit() * error + 0.01 * due  # blocks of unequal sizes add a relative l/n


@pytest.mark.parametrize(("epsilon", "moduli"), [(4.0, (97, 89, 83)), (1.0, (53, 61, 47))])
def test_variances_in_a_fixed_population(epsilon: float, moduli: tuple[int, ...], thorough: bool) -> None:
    """At a large budget most of the variance is that of drawing blocks, so the population's share shows."""
    k, n, runs = 100, 20_000, 1_500 if thorough else 500
    m = MSS(k=k, epsilon=epsilon, moduli=moduli)
    counts = np.zeros(k, np.int64)
    counts[[0, 1, 50, 98]] = (8_000, 6_000, 4_000, 2_000)
    raw = np.array([m.decode(m.simulate(counts, rng=hush.seeded([4, i])).tally, n) for i in range(runs)])
    due = m.variances(counts / n, n)
    z = (raw.mean(axis=0) - counts / n) / np.sqrt(due / runs)
    assert np.abs(z).max() < z_limit(k)
    assert variances_agree(raw, due)


def test_error_bars_cover() -> None:
    k, n = 300, 50_000
    m = MSS(k=k, epsilon=2.0, moduli=moduli.choose_moduli(300, 2.0, most_blocks=6))
    counts = np.zeros(k, np.int64)
    counts[:50] = n // 50
    inside = []
    for i in range(40):
        estimate = m.estimate(m.simulate(counts, rng=hush.seeded([5, i])))
        low, high = estimate.interval(0.9)
        inside.append(((low <= counts / n) & (counts / n <= high)).mean())
    reach = t.isf(FALSE_ALARM / 2, len(inside) - 1) * np.std(inside, ddof=1) / np.sqrt(len(inside))
    assert reach < 0.05
    assert abs(np.mean(inside) - 0.9) < reach


@pytest.mark.parametrize(("epsilon", "dear"), [(3.0, False), (3.0, True), (7.0, False), (7.0, True)])
def test_estimates_of_many_values_have_error_bars(epsilon: float, dear: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact bars, and those of more values than can be looked at one by one."""
    k, n, runs = 500, 20_000, 20
    m = MSS(k=k, epsilon=epsilon, moduli=(107, 181, 239, 257, 283, 293, 389, 397, 419))
    values = np.random.default_rng(6).integers(0, 10, n)
    if dear:
        monkeypatch.setattr("hush.analysis.modular.EXACT_TERMS", 0)
    counts = np.bincount(values, minlength=k)
    estimates = [m.estimate(m.simulate(counts, rng=hush.seeded([6, i]))) for i in range(runs)]
    z = np.array([(each.frequencies - counts / n) / each.stderr for each in estimates])
    assert np.abs(z).max() < z_limit(z.size)
    low, high = mean_square_range(correlations(m, counts / n), runs)
    slack = 0.04 if dear else 0.01  # for what bars at an estimate are off
    assert high - low < 0.3
    assert low - slack < (z**2).mean() < high + slack


def test_a_mixture_can_be_worse_than_one_value_for_all(thorough: bool) -> None:
    m, n, runs = MSS(k=6, epsilon=20.0, moduli=(2, 3, 5)), 1_000, 2_000 if thorough else 800
    counts = np.array([0, 0, 0, n // 2, 0, n // 2])
    draws = np.array([m.decode(m.simulate(counts, rng=hush.seeded([10, i])).tally, n) for i in range(runs)])
    due = m.variances(counts / n, n)
    moving = due > due.max() / 2
    assert variances_agree(draws[:, moving], due[moving] * (1 + 3 / n))
    assert 0.8 * m.blocks.worst_variance(n) < due.max() < m.blocks.worst_variance(n)


def test_error_bars_of_few_reports(thorough: bool) -> None:
    """Blocks of unequal sizes: 1.16 before they were told to the bars."""
    k, n, runs = 100, 20, 600 if thorough else 300
    m = MSS(k=k, epsilon=4.0, moduli=(37, 41, 47, 61, 73, 97))
    counts = np.bincount(np.arange(n) % 10, minlength=k)
    squares = []
    for i in range(runs):
        tally = m.simulate(counts, rng=hush.seeded([9, i])).tally
        people = tally[m._starts[-1] :].astype(float)
        due = m.blocks.variances(counts / n, n, people=people) if people.min() > 0 else np.full(k, np.inf)
        squares.append(((m.decode(tally, n) - counts / n) ** 2 / due).mean())
    seen = np.array(squares)[np.array(squares) > 0]
    assert seen.size > runs / 2
    assert abs(seen.mean() - n / (n - 1)) < z_limit() * seen.std(ddof=1) / np.sqrt(seen.size) + 0.05  # a relative 1/n


def test_best_guess_succeeds_as_often_as_it_says() -> None:
    m = MSS(k=60, epsilon=3.0)
    values = np.arange(30_000) % 60
    guesses = m.attack(m.privatize(values, rng=hush.seeded(7)), rng=hush.seeded(8))
    chance = m.asr()
    assert abs((guesses == values).mean() - chance) < z_limit() * np.sqrt(chance * (1 - chance) / values.size)


def test_errors_of_moduli_that_are_chosen_badly_are_as_large_as_stated() -> None:
    """1 + sum (m - 1) is 33 for 30 values. The mean over the values: the first one's error is a twentieth of it."""
    m, n, runs = MSS(k=30, epsilon=1.0, moduli=(7, 11, 13, 5)), 990, 600
    counts = np.full(30, 33)
    f, rng = counts / n, hush.seeded(13)
    draws = [m.decode(m.simulate(counts, rng=rng).tally, n) - f for _ in range(runs)]
    stated = m.variance(n, 1 / 30)
    deviation = np.sqrt(m.variances(f, n))
    covariance = correlations(m, f) * np.outer(deviation, deviation)
    low, high = mean_square_range(covariance / stated, runs)
    assert low < np.mean(np.square(draws)) / stated < high * (1 + len(m.moduli) / n)
    assert 1 / 3 < low < high < 3
