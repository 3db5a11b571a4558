"""Simulated collections gain what the closed form says.

False-alarm rate: 1e-9 a test, where a mean of many runs is taken as normal and its spread as Student's.
"""

from __future__ import annotations

import numpy as np
import pytest

import hush
from hush.analysis import manipulation
from hush.attacks.poisoning import ATTACKS, craft, simulate_gain
from hush.kernels.hashing import keys
from hush.mechanisms.hashing.fakes import arcs
from hush.statistics import FALSE_ALARM, count_alarm
from tests.conftest import example

pytestmark = pytest.mark.nightly

RUNS = 60


def t_limit(comparisons: int = 1) -> float:
    from scipy.stats import t

    return float(t.isf(FALSE_ALARM / (2 * comparisons), RUNS - 1))


@pytest.mark.parametrize("attack", ATTACKS)
def test_simulated_gains(name: str, attack: str) -> None:
    m = example(name, 11, 0.9)
    counts = (4000 / np.arange(1, 12)).astype(np.int64)
    seen = simulate_gain(m, counts, [1, 4, 10], fraction=0.1, attack=attack, runs=RUNS, rng=hush.seeded(7))
    assert seen.stderr > 0
    assert abs(seen.mean - seen.expected) < t_limit() * seen.stderr


def test_the_check_would_see_a_gain_that_is_off_by_a_twentieth() -> None:
    m = hush.OLH(k=11, epsilon=0.9)
    seen = simulate_gain(m, [1000] * 11, [1, 4, 10], fraction=0.1, runs=RUNS, rng=hush.seeded(7))
    assert abs(seen.mean - 1.05 * seen.expected) > t_limit() * seen.stderr


@pytest.mark.parametrize("name", ["GRR", "SS", "OUE", "OLH", "Wheel", "HR", "ServerTHE", "SHE"])
@pytest.mark.parametrize("attack", ["item", "random"])
def test_estimates_of_fakes_alone(name: str, attack: str) -> None:
    """Every value's estimate from many fakes, not only the targets' sum."""
    m = example(name, 6, 1.0)
    targets = [0, 4]
    batches = [craft(m, attack, targets, 2000, rng=hush.seeded([5, i])) for i in range(RUNS)]
    runs = np.array([m.decode(m.tally(b), b.size) for b in batches])
    due = np.zeros(6)
    if attack == "item":
        due[targets] = 0.5
    else:
        due[:] = m.forms.random_sum(1)
    z = (runs.mean(axis=0) - due) / (runs.std(axis=0, ddof=1) / np.sqrt(RUNS))
    assert np.abs(z).max() < t_limit(6)


@pytest.mark.parametrize(("g", "r"), [(2, 2), (2, 5), (3, 3), (4, 4), (9, 3)])
def test_chance_that_a_hash_function_gathers_the_targets(g: int, r: int) -> None:
    """r/g^(r-1) under an ideal family; the real one, on values far apart and close together, agrees."""
    n, rng = 200_000, hush.seeded(11)
    chance = manipulation.gathering(1 / g, r)
    ideal = rng.integers(0, 2**32, (n, r), dtype=np.uint32)
    near = rng.integers(0, 2**32, (n, 1), dtype=np.uint32) * keys(r)
    far = rng.integers(0, 2**32, (n, 1), dtype=np.uint32) * keys(1000)[:: 1000 // r][:r]
    for hashes in (ideal, near, far):
        gathered = int((arcs(hashes)[1] < 2**32 / g).sum())
        assert count_alarm(gathered, n, chance, comparisons=3) == ""
