"""Sums of grid noise have the law of the convolution; messages of a drawn population have the law of one report."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

import hush
from hush.mechanisms.histogram import grid
from hush.simulation.noise import NoiseSums

pytestmark = pytest.mark.slow

GRIDS = {
    "Laplace, ε = 0.3": grid.laplace(0.3),
    "Laplace, ε = 5": grid.laplace(5.0),
    "Gaussian": grid.classical_gaussian(1.0, 1e-5),
}


def sums(grid: grid.Grid) -> NoiseSums:
    return NoiseSums(grid.steps, grid.probabilities, grid.unit)


@pytest.mark.parametrize("m", [64, 500])
@pytest.mark.parametrize("name", GRIDS)
def test_the_distribution_function_is_that_of_the_convolution(name: str, m: int) -> None:
    noise = sums(GRIDS[name])
    reach, root = noise._half.size - 1, noise.spread * math.sqrt(m)
    wide = int(13 * root)
    size = 1 << (2 * (wide + reach)).bit_length()
    one = np.zeros(size)
    one[: reach + 1] = noise._half / 2
    one[0] = noise._half[0]
    one[-reach:] = noise._half[:0:-1] / 2
    law = np.fft.irfft(np.fft.rfft(one).real ** m, size)
    due = np.cumsum(np.concatenate([law[-wide:], law[:wide]]))
    at = np.arange(-wide, wide)[:: max(wide // 500, 1)]
    got = 0.5 + np.sign(at + 0.5) * noise.central(m, np.abs(at + 0.5) / root)
    np.testing.assert_allclose(got, due[at + wide], atol=2e-12)


@pytest.mark.parametrize("m", [64, 1000, 10**7, 10**12])
@pytest.mark.parametrize("name", GRIDS)
def test_quantiles_invert_it(name: str, m: int) -> None:
    noise, z = sums(GRIDS[name]), np.linspace(0.02, 6.4, 200)
    np.testing.assert_allclose(noise.central(m, noise.bent(m, z)), ndtr(z) - 0.5, atol=1e-13)
    np.testing.assert_array_equal(noise.bent(m, -z), -noise.bent(m, z))


def test_only_smooth_sums_of_many_people_are_drawn_so() -> None:
    noise = sums(GRIDS["Gaussian"])
    assert noise.odd == 0.0
    assert noise.takes(np.array([[100, 100]]))
    assert not noise.takes(np.array([[50, 50]]))  # few
    assert not noise.takes(np.array([[100, 100], [100, 101]]))  # not equally many in every run
    coarse = NoiseSums(np.array([-1, 0, 1]), np.array([0.25, 0.5, 0.25]), 1)
    assert not coarse.takes(np.array([[1000, 1000]]))
    comb = NoiseSums(np.arange(-60, 61), np.where(np.arange(-60, 61) % 2, 0.0, 1 / 61), 1)  # even steps only
    assert comb.spread > 16
    assert not comb.takes(np.array([[1000, 1000]]))


@pytest.mark.parametrize(
    "m",
    [
        hush.HR(k=5, epsilon=1.0),
        hush.HR(k=7, epsilon=3.0, blocks=4),
        hush.PGR(k=9, epsilon=1.0, q=3),
        hush.PGR(k=5, epsilon=2.0),
    ],
    ids=repr,
)
def test_chances_of_messages_are_those_of_the_law(m: hush.FrequencyOracle) -> None:
    f = np.arange(1.0, m.k + 1) / np.arange(1.0, m.k + 1).sum()
    due = [sum(m.weight(y, v) / m.denominator * share for v, share in enumerate(f)) for y in m.outputs()]
    np.testing.assert_allclose(m.forms.message_chances(f), due, rtol=1e-12)
