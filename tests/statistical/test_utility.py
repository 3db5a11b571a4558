"""Utility-optimized samplers, simulations and estimates follow their exact law, also at sizes nobody can enumerate.

False-alarm rate: about 1e-9 a test.
"""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import t

import hush
from hush import utility
from hush.simulation.subsets import sets_with_own
from hush.statistics import FALSE_ALARM, count_alarm, counts_alarm, sigmas
from hush.utility.simulating import uniform_sets

Law = dict[tuple[int, ...], float]
D, S = 60, 24
COUNTS = np.arange(1, D + 1) * 25


def short(u: object) -> str:
    """A name for a test."""
    assert isinstance(u, utility.UtilityOracle)
    return f"{u.name()}-{u.base.name()}-{u.z}-{u.reveal}-{u.s}"


def squares_alarm(z: np.ndarray) -> str:
    """The mean square of z over all values is one. Values are correlated, so its spread is taken from the rounds: by
    Student's law, since each round is a mean over many values.
    """
    squares = (z**2).mean(axis=1)
    off = abs(squares.mean() - 1) / (squares.std(ddof=1) / np.sqrt(len(z)))
    return f"the mean square is {squares.mean():.3f}" if 2 * t.sf(off, len(z) - 1) < FALSE_ALARM else ""


LARGE: list[utility.UtilityOracle] = [
    utility.uRR(k=D, epsilon=1.0, sensitive=range(0, D, 5)),
    utility.uSS(k=D, epsilon=1.0, sensitive=range(S), reveal="pair"),
    utility.uSS(k=D, epsilon=1.0, sensitive=range(S), reveal="alone"),
    utility.uUE(k=D, epsilon=1.0, sensitive=range(S), reveal="pair"),
    utility.uUE(k=D, epsilon=1.0, sensitive=range(S), reveal="alone"),
    utility.uUE(k=D, epsilon=1.0, sensitive=range(S), z="constant", reveal="pair"),
    utility.uRAP(k=D, epsilon=1.0, sensitive=range(S), z="paper", reveal="pair"),
    utility.uRAP(k=D, epsilon=1.0, sensitive=range(S), z="paper", reveal="alone"),
    utility.uHR(k=D, epsilon=1.0, sensitive=range(S)),
    utility.uHR(k=D, epsilon=3.0, sensitive=range(2), reveal="pair"),
    utility.uLH(k=D, epsilon=1.0, sensitive=range(S), reveal="pair"),
    utility.uLH(k=D, epsilon=1.0, sensitive=range(S), hash="family"),
    utility.uLH(k=D, epsilon=1.0, sensitive=range(S), z="balanced", reveal="pair"),
    utility.uLH(k=D, epsilon=1.0, sensitive=range(S), z="balanced", reveal="alone"),
    utility.uLH(k=D, epsilon=1.0, sensitive=range(S), reveal="alone"),
    utility.uWheel(k=D, epsilon=1.0, sensitive=range(S), reveal="alone"),
    utility.uWheel(k=D, epsilon=1.0, sensitive=range(S), reveal="pair"),
    utility.transform(hush.SHE(k=S, epsilon=1.0), hush.Domain(size=D, sensitive=range(S))),
    utility.transform(hush.ServerTHE(k=S, epsilon=1.0), hush.Domain(size=D, sensitive=range(S))),
]


@pytest.mark.parametrize("u", LARGE, ids=short)
@pytest.mark.parametrize("way", ["reports", "simulate"])
def test_estimates_are_unbiased_with_the_stated_variance(u: utility.UtilityOracle, way: str) -> None:
    """Many collections: means within their error, and the mean square of z about one."""
    rounds, n = 25, int(COUNTS.sum())
    values = np.repeat(np.arange(D), COUNTS)
    rows = []
    for i in range(rounds):
        rng = hush.seeded([7, i])
        drawn = u.simulate(COUNTS, rng=rng) if way == "simulate" else u.aggregate(u.privatize(values, rng=rng))
        rows.append(u.estimate(drawn).frequencies)
    z = (np.array(rows) - COUNTS / n) / np.sqrt(u.variances(COUNTS / n, n))
    assert np.abs(z.mean(axis=0)).max() * np.sqrt(rounds) < sigmas(D)
    assert not squares_alarm(z)


@pytest.mark.parametrize("u", LARGE, ids=short)
def test_values_are_revealed_as_often_as_z_star_says(u: utility.UtilityOracle) -> None:
    """For hashing, whose z* is that of an ideal hash, this holds the real hash against it."""
    reports = u.privatize(np.full(100_000, D - 1), rng=hush.seeded(8))
    seen = int((~u.protected(reports)).sum())
    assert not count_alarm(seen, reports.size, u.z_star)
    alone = int((reports["kind"] == 1).sum())
    assert not count_alarm(alone, reports.size, 1 - u.f if u.reveal == "pair" else u.z_star)


def law_of_one(u: utility.UtilityOracle, value: int) -> Law:
    law: Counter[tuple[int, ...]] = Counter()
    for y in u.outputs():
        law[tuple(u.tally(np.asarray(y)[None]).tolist())] += u.weight(y, value) / u.denominator
    return dict(law)


@pytest.mark.parametrize(
    "u",
    [
        utility.uUE(k=4, epsilon=1.0, sensitive=(0, 2, 3), reveal="pair"),
        utility.uUE(k=4, epsilon=1.0, sensitive=(0, 2, 3), reveal="alone"),
        utility.uRAP(k=4, epsilon=1.0, sensitive=(0, 2), z="paper", reveal="pair"),
        utility.uRAP(k=4, epsilon=1.0, sensitive=(0, 2), z="paper", reveal="alone"),
        utility.uSS(k=4, epsilon=1.0, sensitive=(0, 2, 3), omega=2, reveal="pair"),
        utility.uRR(k=5, epsilon=1.0, sensitive=(0, 2, 3)),
        utility.uHR(k=4, epsilon=1.0, sensitive=(0, 2), reveal="pair"),
        utility.uHR(k=4, epsilon=1.0, sensitive=(2,)),
    ],
    ids=short,
)
def test_simulated_tallies_follow_the_exact_law(u: utility.UtilityOracle) -> None:
    """The whole joint law of the tally of four people, by convolution."""
    counts = np.ones(u.k, np.int64)
    whole: Law = {tuple(u._empty().tolist()): 1.0}
    for value in range(u.k):
        joined: Counter[tuple[int, ...]] = Counter()
        for (a, pa), (b, pb) in itertools.product(whole.items(), law_of_one(u, value).items()):
            joined[tuple(x + y for x, y in zip(a, b, strict=True))] += pa * pb
        whole = dict(joined)
    rng, draws = hush.seeded(9), 6_000
    seen = Counter(tuple(u.simulate(counts, rng=rng).tally.tolist()) for _ in range(draws))
    assert set(seen) <= {key for key, chance in whole.items() if chance > 0}
    keys = list(whole)
    expected = np.array([whole[key] * draws for key in keys])
    assert not counts_alarm(expected, np.array([seen[key] for key in keys]))


def test_uniform_sets_follow_the_exact_law() -> None:
    """Two sets of one value and one of three, among four."""
    law: Counter[tuple[int, ...]] = Counter()
    kinds = [list(itertools.combinations(range(4), size)) for size in (1, 1, 3)]
    for sets in itertools.product(*kinds):
        law[tuple(sum(v in each for each in sets) for v in range(4))] += 1 / 64
    rng, draws = hush.seeded(10), 20_000
    seen = Counter(tuple(uniform_sets(np.array([0, 2, 0, 1, 0]), rng).tolist()) for _ in range(draws))
    assert set(seen) <= set(law)
    keys = list(law)
    assert not counts_alarm(np.array([law[k] * draws for k in keys]), np.array([seen[k] for k in keys]))


def test_sets_with_ones_own_value_follow_the_exact_law() -> None:
    """One person of value 0 with it and one other; one of value 2 without it and two others; three values in all."""
    law: Counter[tuple[int, ...]] = Counter()
    for other in (1, 2):
        law[tuple(int(v in {0, other}) + int(v in {0, 1}) for v in range(3))] += 0.5
    counts, included = np.array([1, 0, 1]), np.array([1, 0, 0])
    rng, draws = hush.seeded(11), 5_000
    seen = Counter(
        tuple(sets_with_own(counts, included, np.array([0, 1, 0, 0]), np.array([0, 0, 1, 0]), rng).tolist())
        for _ in range(draws)
    )
    keys = list(law)
    assert set(seen) == set(keys)
    assert not counts_alarm(np.array([law[k] * draws for k in keys]), np.array([seen[k] for k in keys]))


@pytest.mark.parametrize("u", [u for u in LARGE if not isinstance(u, utility.Transformed)], ids=short)
def test_the_best_guess_succeeds_as_often_as_stated(u: utility.UtilityOracle) -> None:
    prior = np.where(np.arange(D) == D - 1, 30.0, 1.0)
    rng = np.random.default_rng(12)
    for belief in (None, prior):
        shares = None if belief is None else belief / belief.sum()
        values = rng.choice(D, 40_000, p=shares)
        guesses = u.attack(u.privatize(values, rng=hush.seeded(13)), belief, rng=hush.seeded(14))
        assert not count_alarm(int((guesses == values).sum()), values.size, u.asr(belief), comparisons=2)


def test_the_theorem_for_noisy_vectors() -> None:
    """SHE has too many outputs to enumerate: the mean of z(y) over disguises, against 1 - s·ASR/E."""
    for s, epsilon in ((3, 1.0), (8, 2.0)):
        base = hush.SHE(k=s, epsilon=epsilon)
        u = utility.transform(base, hush.Domain(size=s + 1, sensitive=range(s)))
        reports = base.privatize(np.arange(200_000) % s, rng=hush.seeded(15))
        z = u._revelation.thresholds(reports) / 2.0**64
        told = 1 - u.f + u.f * z.mean()
        assert abs(told - utility.z_star_by_attack(base)) < sigmas() * u.f * z.std() / np.sqrt(z.size)


@pytest.mark.parametrize("cls", [utility.uSS, utility.uUE, utility.uLH])
def test_collaborative_sampling(cls: type) -> None:
    """Unbiased, with honest errors, and theta told to within a few of its own.

    Errors are estimated, so that z has slightly heavier tails than a normal number: a tenth more is let pass.
    """
    counts = np.where(np.arange(D) < S, 100, 400)
    n, theta = int(counts.sum()), float(counts[S:].sum() / counts.sum())
    rows, told = [], []
    for i in range(60):
        seen = utility.collaborate(cls, k=D, epsilon=1.0, sensitive=range(S), counts=counts, rng=hush.seeded([16, i]))
        rows.append((seen.estimate.frequencies - counts / n) / seen.estimate.stderr)
        told.append(seen.theta)
        assert seen.first.theta == 0.0
        assert seen.second.theta == seen.theta
    z = np.array(rows)
    assert np.abs(z.mean(axis=0)).max() * np.sqrt(60) < 1.1 * sigmas(D)
    assert not squares_alarm(z)
    spread = np.sqrt(
        (1 - seen.first.z_star) / seen.first.z_star * theta / (0.05 * n) + theta * (1 - theta) / (0.05 * n)
    )
    assert abs(np.mean(told) - theta) < sigmas() * spread / np.sqrt(60)
    values = np.repeat(np.arange(D), counts)
    one = utility.collaborate(cls, k=D, epsilon=1.0, sensitive=range(S), values=values, rng=hush.seeded(17))
    again = utility.collaborate(cls, k=D, epsilon=1.0, sensitive=range(S), values=values, rng=hush.seeded(17))
    assert (one.estimate.frequencies == again.estimate.frequencies).all()
    assert one.estimate.n == n
