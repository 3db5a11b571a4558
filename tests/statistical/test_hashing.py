"""The hash family behaves as an ideal one: exact pair collisions, support sizes, three values at a time.

False-alarm rate: 1e-9 a test.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hush
from hush.kernels.hashing import keys
from hush.mechanisms.hashing import most_buckets
from hush.statistics import counts_alarm
from hush.statistics import sigmas as z_limit


def pair_collision(low_bits_shared: int, g: int) -> float:
    """Exact probability that two keys whose difference is an odd multiple of 2^t share a bucket.

    The first hash is uniform; the second differs from it by a uniform multiple of 2^t. So count, for each bucket and
    residue modulo 2^t, the hashes in it.
    """
    ring, step = 1 << 32, 1 << low_bits_shared
    total = 0
    for bucket in range(g):
        start, end = -(-bucket * ring // g), -(-(bucket + 1) * ring // g)
        size, extra = divmod(end - start, step)
        total += extra * (size + 1) ** 2 + (step - extra) * size**2
    return total * step / ring**2


def test_keys_share_low_bits_exactly_as_values_do() -> None:
    found = keys(4096).astype(np.int64)
    for distance in (1, 2, 3, 4, 12, 64, 1000):
        gap = found[distance:] - found[:-distance]
        assert (gap & -gap == distance & -distance).all()
    assert np.unique(keys(1 << 16)).size == 1 << 16


@pytest.mark.parametrize("g", [2, 3, 4, 7, 56, 100, 1000])
def test_pairs_collide_at_the_ideal_rate(g: int) -> None:
    for shared in range(11):  # all that values below 2048 can share
        assert pair_collision(shared, g) == pytest.approx(1 / g, rel=g * 2.0 ** (shared - 30))
    for k in (2, 16, 1024):  # at the most buckets allowed, the worst pair is still within a few percent
        shared = k.bit_length() - 1
        most = most_buckets(k) if k > 100 else 2**16
        assert pair_collision(shared, most) == pytest.approx(1 / most, rel=0.05)
    assert hush.LH(k=10, epsilon=1.0, g=g).collision == pytest.approx(pair_collision(0, g), rel=1e-14)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("k", "g"), [(100, 56), (17, 4), (100, 2), (300, 3), (64, 8), (257, 21)])
def test_support_sizes_follow_the_ideal_law(k: int, g: int, seed: int) -> None:
    from scipy.stats import binom

    n = 100_000
    m = hush.LH(k=k, epsilon=1.0, g=g)
    values = np.arange(n) % k
    matrix = m.support_matrix(m.privatize(values, rng=hush.seeded([3, seed, k, g])))
    own = matrix[np.arange(n), values]
    others = matrix.sum(axis=1) - own
    expected = n * binom.pmf(np.arange(k), k - 1, m.q_star)
    assert counts_alarm(expected, np.bincount(others, minlength=k)) == ""
    assert abs(own.sum() - n * m.p_star) < z_limit() * np.sqrt(n * m.p_star * (1 - m.p_star))


@pytest.mark.parametrize("g", [3, 4, 7])
def test_three_values_are_supported_independently(g: int) -> None:
    n, k = 400_000, 9
    m = hush.LH(k=k, epsilon=1.0, g=g)
    matrix = m.support_matrix(m.privatize(np.full(n, k - 1), rng=hush.seeded([4, g]))).astype(np.float64)
    centred = matrix[:, :-1] - m.q_star
    triples = list(itertools.combinations(range(k - 1), 3))
    spread = (m.q_star * (1 - m.q_star)) ** 1.5 * np.sqrt(n)
    z = [(centred[:, a] * centred[:, b] * centred[:, c]).sum() / spread for a, b, c in triples]
    assert np.abs(z).max() < z_limit(len(triples))


def test_raw_values_as_keys_would_not_do() -> None:
    """Neighbouring raw values form arithmetic progressions, whose hashes are linearly related."""
    rng = np.random.default_rng(5)
    a, b = (rng.integers(0, 2**32, 100_000, dtype=np.uint32)[:, None] for _ in range(2))
    sizes, error = {}, {}
    for name, x in (("raw", np.arange(100, dtype=np.uint32)), ("scrambled", keys(100))):
        bucket = (a * x + b).astype(np.uint64) * np.uint64(56) >> np.uint64(32)
        found = (bucket == bucket[:, :1]).sum(axis=1)  # of the bucket that value 0 falls into
        squares = (found - found.mean()) ** 2
        sizes[name], error[name] = squares.mean(), squares.std() / np.sqrt(squares.size)
    ideal = 99 / 56 * (1 - 1 / 56)
    assert abs(sizes["scrambled"] - ideal) < z_limit() * error["scrambled"]
    assert sizes["raw"] - z_limit() * error["raw"] > 1.5 * ideal


def test_attack_success_of_the_real_family_is_the_ideal_one() -> None:
    n, m = 400_000, hush.LH(k=100, epsilon=4.0, g=56)
    values = np.arange(n) % 100
    hits = (m.attack(m.privatize(values, rng=hush.seeded(6)), rng=hush.seeded(7)) == values).mean()
    assert abs(hits - m.asr()) < z_limit() * np.sqrt(m.asr() / n)
    assert m.asr() == pytest.approx(0.233787675548475, rel=1e-9)
