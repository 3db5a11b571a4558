"""Mean absolute errors and information by simulation.

False-alarm rate: 1e-9 a test, by the normal law of a mean of thousands; seeds are fixed. Errors of a few percent
would be found.
"""

from __future__ import annotations

import numpy as np
import pytest

import hush
from hush.planning import accuracy
from hush.statistics import sigmas
from tests.conftest import example

SLOW = {"SHE", "ServerTHE", "GM", "AGM"}


def nearly_equal(k: int) -> np.ndarray:
    """Frequencies so near to equal that the information is the same, yet other than equal, so that it is simulated."""
    return (1 + 1e-9 * (-1.0) ** np.arange(k)) / k


@pytest.mark.parametrize("k", [3, 100])
def test_information_at_equal_frequencies(name: str, k: int) -> None:
    if name == "RAPPOR" and k == 100:
        pytest.skip("has no formula: with so many outputs, its information is simulated")
    m = example(name, k, 2.0 if name != "GM" else 1.0)
    closed = accuracy.information_loss(m)
    assert closed.stderr == 0.0
    reports = 6_000 if name in SLOW else 20_000
    found = accuracy.information_loss(m, nearly_equal(k), reports=reports, rng=hush.seeded(7))
    assert abs(found.loss - closed.loss) <= sigmas() * found.stderr + 1e-7


@pytest.mark.parametrize("listed", ["GRR", "SS", "OUE", "HR"])
def test_information_at_other_frequencies(listed: str) -> None:
    """Simulation against enumeration of the outputs."""
    m, shares = example(listed, 5, 1.0), np.array([0.5, 0.0, 0.25, 0.15, 0.1])
    exact = accuracy.information_loss(m, shares)
    assert exact.stderr == 0.0
    found = accuracy._simulated(m, shares, 40_000, hush.seeded(7))
    assert 0 < found.stderr < 0.02
    assert abs(found.loss - exact.loss) <= sigmas() * found.stderr


def test_batches_do_not_change_the_law() -> None:
    """So many reports that they come in several batches."""
    m = hush.OLH(k=2_000, epsilon=6.0)
    closed = accuracy.information_loss(m)
    found = accuracy.information_loss(m, nearly_equal(2_000), reports=8_000, rng=hush.seeded(7))
    assert abs(found.loss - closed.loss) <= sigmas() * found.stderr


def test_mean_absolute_error(name: str) -> None:
    """Of whole collections, simulated again and again, for every value."""
    counts = np.array([20, 12, 8, 0])
    m = example(name, 4, 1.0)
    runs = 600 if name in SLOW else 3_000
    rng = hush.seeded(7)
    truth = counts / counts.sum()
    off = np.array([np.abs(m.decode(m.simulate(counts, rng=rng).tally, 40) - truth) for _ in range(runs)])
    averages = off.mean(axis=1)
    expected = accuracy.mean_absolute_error(m, 40, truth)
    assert abs(averages.mean() - expected) <= sigmas() * averages.std(ddof=1) / np.sqrt(runs)
