"""Intervals cover as often as they say, by simulation.

False-alarm rate: 1e-9 a test for a coverage within half a percentage point of the level, which is the allowance for
the normal approximation at n = 20,000. Standard errors that are six percent off would be found.
"""

from __future__ import annotations

import numpy as np
import pytest

import hush
from hush.statistics import sigmas as z_limit
from tests.conftest import example

pytestmark = pytest.mark.nightly

RUNS = 4_000
NAMES = ["GRR", "SS", "OUE", "OLH", "SHE", "THE", "HR", "Wheel", "AGM"]
LEVELS = (0.8, 0.95, 0.99)


@pytest.mark.parametrize("name", NAMES)
def test_coverage(name: str) -> None:
    data = hush.datasets.zipf(10, 20_000, exponent=1.2)
    m = example(name, 10, 1.0)
    rng = hush.seeded(21)
    runs = RUNS // 8 if name in {"SS", "SHE", "AGM", "HR"} else RUNS  # whose simulation is slower
    estimates = [m.estimate(m.simulate(data.counts, rng=rng)) for _ in range(runs)]
    for level in LEVELS:
        slack = z_limit(10 * len(LEVELS)) * np.sqrt(level * (1 - level) / runs) + 0.005
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
    estimate = m.estimate(m.aggregate(m.privatize(data.values(), rng=hush.seeded(22))))
    z = (estimate.frequencies - data.frequencies) / estimate.stderr
    assert np.abs(z).max() < z_limit(17)
