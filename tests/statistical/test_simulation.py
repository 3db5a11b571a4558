"""`simulate` draws the aggregate from its exact law: chi-square against enumeration, and moments at large sizes.

False-alarm rate: 1e-9 a test.
"""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

import hush
from hush.statistics import counts_alarm
from hush.statistics import sigmas as z_limit
from tests.conftest import example

Law = dict[tuple[int, ...], float]


def law_of_one(m: hush.FrequencyOracle, value: int) -> Law:
    """The exact law of one report's tally."""
    law: Counter[tuple[int, ...]] = Counter()
    if len(m.publics()) > 1 or m.name() == "ServerTHE":  # support is independent bits, under an ideal hash
        for bits in itertools.product((0, 1), repeat=m.k):
            chances = [m.p_star if v == value else m.q_star for v in range(m.k)]
            law[bits] = float(np.prod([c if b else 1 - c for b, c in zip(bits, chances, strict=True)]))
        return dict(law)
    for y in m.outputs():
        tally = tuple(int(t) for t in m.tally(np.asarray(y, m.report_dtype)[None]))
        law[tally] += m.weight(y, value) / m.denominator
    return dict(law)


def law_of_population(m: hush.FrequencyOracle, counts: list[int]) -> Law:
    """The exact law of the tally of everybody, by convolution."""
    whole: Law = {tuple([0] * len(m.simulate([0] * m.k).tally)): 1.0}
    for value in np.repeat(np.arange(m.k), counts):
        one = law_of_one(m, int(value))
        joined: Counter[tuple[int, ...]] = Counter()
        for (a, pa), (b, pb) in itertools.product(whole.items(), one.items()):
            joined[tuple(x + y for x, y in zip(a, b, strict=True))] += pa * pb
        whole = dict(joined)
    return whole


@pytest.mark.parametrize(
    ("mechanism", "counts"),
    [
        (hush.GRR(k=3, epsilon=1.0), [2, 1, 1]),
        (hush.AGRR(k=3, epsilon=1.0, delta=0.05), [1, 0, 2]),
        (hush.OUE(k=3, epsilon=1.0), [2, 1, 0]),
        (hush.THE(k=2, epsilon=2.0), [2, 1]),
        (hush.SS(k=4, epsilon=1.0, omega=1), [1, 1, 0, 1]),
        (hush.SS(k=4, epsilon=1.0, omega=2), [1, 0, 2, 0]),
        (hush.SS(k=4, epsilon=0.5, omega=3), [0, 1, 1, 1]),
        (hush.SS(k=5, epsilon=1.5, omega=2), [1, 1, 0, 0, 1]),
        (hush.LH(k=3, epsilon=1.0, g=3), [2, 1, 0]),
        (hush.Wheel(k=3, epsilon=1.0), [1, 1, 1]),
        (hush.LHO(k=3, g=2), [1, 0, 2]),
        (hush.ServerTHE(k=3, epsilon=1.0), [1, 2, 0]),
        (hush.HR(k=3, epsilon=1.0), [1, 1, 1]),
    ],
    ids=lambda x: x.name() if isinstance(x, hush.FrequencyOracle) else "-".join(map(str, x)),
)
def test_joint_law_of_the_tally(mechanism: hush.FrequencyOracle, counts: list[int], thorough: bool) -> None:
    law = law_of_population(mechanism, counts)
    assert sum(law.values()) == pytest.approx(1.0)
    runs, rng = 10_000 if thorough else 4_000, hush.seeded(11)
    seen = Counter(tuple(int(t) for t in mechanism.simulate(counts, rng=rng).tally) for _ in range(runs))
    assert set(seen) <= set(law)
    keys = list(law)
    due = np.array([runs * law[key] for key in keys])
    assert counts_alarm(due, np.array([seen[key] for key in keys])) == ""


def test_moments_of_a_large_population(name: str) -> None:
    m = example(name, 30, 1.0)
    counts = (20_000 / np.arange(1, 31)).astype(np.int64)
    n = int(counts.sum())
    rng = hush.seeded(12)
    runs = np.array([m.estimate(m.simulate(counts, rng=rng)).frequencies for _ in range(100)])
    truth = counts / n
    z = (runs.mean(axis=0) - truth) / np.sqrt(m.variances(truth, n) / len(runs))
    assert np.abs(z).max() < z_limit(30)
    squares = ((runs - truth) ** 2 / m.variances(truth, n)).mean(axis=1)  # of a run, whose values may depend
    assert abs(squares.mean() - 1) < z_limit() * squares.std(ddof=1) / np.sqrt(len(runs))


def test_subset_tallies_have_the_covariance_of_real_reports(thorough: bool) -> None:
    m = hush.SS(k=6, epsilon=1.0, omega=3)
    counts, runs = np.array([500, 300, 100, 50, 50, 0]), 3_000 if thorough else 1_000
    values = np.repeat(np.arange(6), counts)
    fast = np.array([m.simulate(counts, rng=hush.seeded([1, i])).tally for i in range(runs)])
    slow = np.array([m.aggregate(m.privatize(values, rng=hush.seeded([2, i]))).tally for i in range(runs)])
    assert (fast.sum(axis=1) == 3 * counts.sum()).all()
    difference = np.cov(fast.T) - np.cov(slow.T)
    scale = np.sqrt(np.outer(np.diag(np.cov(slow.T)), np.diag(np.cov(slow.T))) * 4 / runs)
    assert np.abs(difference / scale).max() < z_limit(36)


def test_populations_beyond_a_thousand_million_people() -> None:
    counts = np.array([3_000_000_000, 1_000_000_000, 500_000_000])
    for m in (hush.SS(k=3, epsilon=1.0), hush.OUE(k=3, epsilon=1.0), hush.GRR(k=3, epsilon=1.0)):
        estimate = m.estimate(m.simulate(counts, rng=hush.seeded(5)))
        z = (estimate.frequencies - counts / counts.sum()) / estimate.stderr
        assert np.abs(z).max() < z_limit(3)
