"""The public family behaves as an ideal hash does: supports, estimates, simulation, attack, the conformance suite.

False-alarm rate: 1e-9 a test.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hush
from hush.mechanisms.hashing.family import MEMBERS
from hush.statistics import counts_alarm
from hush.statistics import sigmas as z_limit
from hush.testing import check_mechanism


@pytest.mark.parametrize(
    "m",
    [
        hush.BLH(k=2, epsilon=1.0, hash="family"),
        hush.OLH(k=6, epsilon=1.0, hash="family"),
        hush.LH(k=3, epsilon=4.0, g=16, hash="family"),
        hush.OLH(k=4, epsilon=12.0, hash="family"),
        hush.AOLH(k=4, epsilon=1.0, delta=1e-5, hash="family"),
        hush.ALH(k=4, epsilon=4.0, hash="family"),
        hush.LHO(k=5, g=4, hash="family"),
    ],
    ids=str,
)
def test_conforms(m: hush.LH) -> None:
    check_mechanism(m)


@pytest.mark.parametrize(("k", "g"), [(100, 64), (17, 4), (100, 2), (257, 16)])
def test_support_sizes_follow_the_ideal_law(k: int, g: int) -> None:
    from scipy.stats import binom

    n = 100_000
    m = hush.LH(k=k, epsilon=1.0, g=g, hash="family")
    values = np.arange(n) % k
    matrix = m.support_matrix(m.privatize(values, rng=hush.seeded([3, k, g])))
    own = matrix[np.arange(n), values]
    expected = n * binom.pmf(np.arange(k), k - 1, m.q_star)
    assert counts_alarm(expected, np.bincount(matrix.sum(axis=1) - own, minlength=k)) == ""
    assert abs(own.sum() - n * m.p_star) < z_limit() * np.sqrt(n * m.p_star * (1 - m.p_star))


@pytest.mark.parametrize("g", [2, 4, 8])
def test_three_values_are_supported_independently(g: int) -> None:
    n, k = 400_000, 9
    m = hush.LH(k=k, epsilon=1.0, g=g, hash="family")
    matrix = m.support_matrix(m.privatize(np.full(n, k - 1), rng=hush.seeded([4, g]))).astype(np.float64)
    centred = matrix[:, :-1] - m.q_star
    triples = list(itertools.combinations(range(k - 1), 3))
    spread = (m.q_star * (1 - m.q_star)) ** 1.5 * np.sqrt(n)
    z = [(centred[:, a] * centred[:, b] * centred[:, c]).sum() / spread for a, b, c in triples]
    assert np.abs(z).max() < z_limit(len(triples))


def test_members_are_drawn_uniformly() -> None:
    n, m = 2_000_000, hush.BLH(k=2, epsilon=1.0, hash="family")
    member = m.privatize(np.zeros(n, np.int64), rng=hush.seeded(5))["member"]
    assert counts_alarm(np.full(MEMBERS, n / MEMBERS), np.bincount(member, minlength=MEMBERS)) == ""


@pytest.mark.parametrize("how", ["reports", "simulate"])
@pytest.mark.parametrize(("k", "epsilon"), [(1024, 1.0), (100, 4.0)])
def test_estimates_are_right(k: int, epsilon: float, how: str) -> None:
    """Half of all people hold one value: a pair that collided too often would show."""
    n, m = 1_000_000, hush.OLH(k=k, epsilon=epsilon, hash="family")
    counts = np.full(k, (n // 2) // k)
    counts[3] += n - counts.sum()
    rng = hush.seeded([6, k])
    if how == "reports":
        aggregate = m.aggregate(m.privatize(np.repeat(np.arange(k), counts), rng=rng))
    else:
        aggregate = m.simulate(counts, rng=rng)
    truth = counts / n
    z = (m.estimate(aggregate).frequencies - truth) / np.sqrt(m.variances(truth, n))
    assert np.abs(z).max() < z_limit(k)
    assert 0.75 < np.mean(z**2) < 1.25 or k < 1000


def test_attack_succeeds_as_often_as_asr_says() -> None:
    n, m = 400_000, hush.LH(k=100, epsilon=4.0, g=64, hash="family")
    values = np.arange(n) % 100
    hits = (m.attack(m.privatize(values, rng=hush.seeded(6)), rng=hush.seeded(7)) == values).mean()
    assert abs(hits - m.asr()) < z_limit() * np.sqrt(m.asr() / n)
