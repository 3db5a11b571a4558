"""Intervals cover as often as they say, by simulation.

False-alarm rate: 1e-9 a test for exact coverage within one percentage point of the level, which allows for the
normal approximation at n = 20,000.
"""

from __future__ import annotations

import numpy as np
import pytest

import hush
from tests.conftest import example
from tests.statistical.bounds import z_limit

RUNS = 400
NAMES = ["GRR", "SS", "OUE", "OLH", "SHE", "THE", "HR", "Wheel", "AGM"]


@pytest.mark.parametrize("name", NAMES)
def test_coverage(name: str) -> None:
    data = hush.datasets.zipf(20, 20_000, exponent=1.2)
    m = example(name, 20, 1.0)
    rng = hush.seeded(21)
    estimates = [m.estimate(m.simulate(data.counts, rng=rng)) for _ in range(RUNS)]
    for level in (0.8, 0.95, 0.99):
        slack = z_limit(3) * np.sqrt(level * (1 - level) / RUNS) + 0.01
        inside = np.array([covered(e, data.frequencies, level, False) for e in estimates])
        assert np.abs(inside.mean(axis=0) - level).max() < slack
        together = np.array([covered(e, data.frequencies, level, True).all() for e in estimates])
        assert together.mean() > level - slack


def covered(estimate: hush.Estimate, truth: np.ndarray, level: float, simultaneous: bool) -> np.ndarray:
    low, high = estimate.interval(level, simultaneous=simultaneous)
    return (low <= truth) & (truth <= high)


def test_real_reports_are_covered_too() -> None:
    data = hush.datasets.msnbc()
    m = hush.OUE(k=17, epsilon=1.0)
    estimate = m.estimate(m.aggregate(m.privatize(data.values())))  # secure randomness: alarms once in 1e9 runs
    z = (estimate.frequencies - data.frequencies) / estimate.stderr
    assert np.abs(z).max() < z_limit(17)
