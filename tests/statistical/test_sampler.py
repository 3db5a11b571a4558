"""Samplers against their law at sizes that enumeration does not reach. False-alarm rate: 1e-9 a test."""

from __future__ import annotations

import numpy as np
import pytest

import hush
from hush.statistics import counts_alarm
from hush.statistics import sigmas as z_limit

N = 200_000


@pytest.mark.parametrize("k", [63, 64, 65, 130, 1000])
@pytest.mark.parametrize("cls", [hush.OUE, hush.SUE, hush.THE])
def test_unary_bits_at_every_position(cls: type[hush.OUE], k: int) -> None:
    m = cls(k=k, epsilon=1.0)
    value = k - 2
    n = N // 4
    tally = m.aggregate(m.privatize(np.full(n, value), rng=hush.seeded([1, k]))).tally
    chance = np.full(k, m.q_star)
    chance[value] = m.p_star
    z = (tally - n * chance) / np.sqrt(n * chance * (1 - chance))
    assert np.abs(z).max() < z_limit(k)
    assert 0.5 < (z**2).mean() < 1.5 or k < 200  # the bits spread as binomials do


def test_unary_bits_are_independent_within_a_word() -> None:
    m = hush.OUE(k=64, epsilon=2.0)
    bits = m.support_matrix(m.privatize(np.zeros(N, np.int64), rng=hush.seeded(2))).astype(np.float64)
    correlation = np.corrcoef(bits.T)
    off = correlation[np.triu_indices(64, 1)] * np.sqrt(N)
    assert np.abs(off).max() < z_limit(off.size)


@pytest.mark.parametrize(("k", "omega"), [(200, 54), (200, 150), (1000, 3), (65, 64), (5000, 1000), (64, 32)])
def test_subsets_hold_each_value_as_often_as_they_should(k: int, omega: int) -> None:
    m = hush.SS(k=k, epsilon=1.0, omega=omega)
    n, value = 20_000, k // 3
    reports = m.privatize(np.full(n, value), rng=hush.seeded([3, k, omega]))
    subsets = reports["subset"].astype(np.int64)
    assert (np.diff(subsets, axis=1) > 0).all()
    tally = m.aggregate(reports).tally
    assert tally.sum() == n * omega
    assert abs(tally[value] - n * m.p_star) < z_limit() * np.sqrt(n * m.p_star * (1 - m.p_star))
    q = m.q_star
    others = np.delete(tally, value)
    assert np.abs(others - n * q).max() < z_limit(k) * np.sqrt(n * q * (1 - q))


@pytest.mark.parametrize(("k", "epsilon"), [(100, 0.5), (100, 3.0), (17, 2.0), (7, 1.0)])
def test_hadamard_outputs(k: int, epsilon: float) -> None:
    m = hush.HR(k=k, epsilon=epsilon)
    for value in (0, k - 1):
        tally = m.aggregate(m.privatize(np.full(N, value), rng=hush.seeded([4, k, value]))).tally
        expected = np.exp(m.log_prob(m.outputs(), value)) * N
        assert expected.sum() == pytest.approx(N)
        assert counts_alarm(expected, tally) == ""


@pytest.mark.parametrize(
    "mechanism",
    [hush.SHE(k=3, epsilon=1.0), hush.SHE(k=3, epsilon=8.0), hush.AGM(k=3, epsilon=1.0, delta=1e-5)],
    ids=["SHE-1", "SHE-8", "AGM"],
)
def test_grid_noise_has_the_weights_of_its_table(mechanism: hush.SHE) -> None:
    grid = mechanism.grid
    steps = mechanism.privatize(np.full(N, 1), rng=hush.seeded(5))["steps"]
    for coordinate, law in ((0, grid.probabilities), (1, grid.probabilities[::-1]), (2, grid.probabilities)):
        observed = np.bincount(steps[:, coordinate] - grid.lowest, minlength=law.size)
        assert counts_alarm(N * law, observed) == ""


def test_wheel_points_on_and_off_the_arc_are_uniform() -> None:
    m = hush.Wheel(k=10, epsilon=1.0, coverage=0.3)
    reports = m.privatize(np.full(N, 4), rng=hush.seeded(6))
    key = m._keys[4]
    offset = (reports["point"] - (reports["a"] * key + reports["b"])).astype(np.float64) / 2**32
    cells = np.histogram(offset, bins=np.concatenate([np.linspace(0, 0.3, 31), np.linspace(0.3, 1, 71)[1:]]))[0]
    expected = np.concatenate([np.full(30, m.p_star / 30), np.full(70, (1 - m.p_star) / 70)]) * N
    assert counts_alarm(expected, cells) == ""


def test_hash_functions_are_uniform() -> None:
    reports = hush.OLH(k=10, epsilon=1.0).privatize(np.zeros(N, np.int64), rng=hush.seeded(7))
    for field in ("a", "b"):
        for shift in (0, 8, 16, 24):
            cells = np.bincount((reports[field] >> np.uint32(shift)) & np.uint32(255), minlength=256)
            assert counts_alarm(np.full(256, N / 256), cells) == ""


def test_other_values_of_randomized_response_are_uniform() -> None:
    m = hush.GRR(k=1000, epsilon=1.0)
    tally = m.aggregate(m.privatize(np.full(N, 500), rng=hush.seeded(8))).tally
    expected = np.full(1000, m.q_star * N)
    expected[500] = m.p_star * N
    assert counts_alarm(expected, tally) == ""
