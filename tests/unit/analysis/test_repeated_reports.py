"""The total variation of many reports: against binomial laws, and against every sequence of outputs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

import hush
from hush.analysis.hypergeometric import log_hypergeometric
from hush.analysis.repeated_reports import repeated_variation


@pytest.mark.parametrize("tau", [1, 2, 7, 100, 10_000])
@pytest.mark.parametrize("p", [0.5001, 0.6, 0.999])
def test_coins_by_the_binomial_law(tau: int, p: float) -> None:
    heads = np.arange(tau + 1)
    due = np.maximum(binom.pmf(heads, tau, p) - binom.pmf(heads, tau, 1 - p), 0.0).sum()
    assert repeated_variation(np.array([p, 1 - p]), np.array([1 - p, p]), tau) == pytest.approx(due, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("tau", [2, 4])
@pytest.mark.parametrize("seed", range(6))
def test_any_laws_by_every_sequence(tau: int, seed: int) -> None:
    """Some outputs come under one law alone."""
    rng = hush.seeded(seed)
    first, second = (rng.dirichlet(np.full(6, 0.6)) for _ in range(2))
    first[0], second[1] = (0.0, 0.0) if seed % 2 else (first[0], second[1])
    first, second = first / first.sum(), second / second.sum()
    due = 0.0
    for sequence in itertools.product(range(6), repeat=tau):
        due += max(np.prod(first[list(sequence)]) - np.prod(second[list(sequence)]), 0.0)
    assert repeated_variation(first, second, tau) == pytest.approx(due, rel=3e-4)


def test_equal_laws_are_never_told_apart_and_disjoint_ones_always() -> None:
    even = np.full(4, 0.25)
    assert repeated_variation(even, even, 50) == pytest.approx(0.0, abs=1e-12)
    assert repeated_variation(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 3) == 1.0


def test_the_hypergeometric_law_in_logarithms() -> None:
    inside = np.arange(0, 31)
    assert np.allclose(np.exp(log_hypergeometric(inside, 40, 60, 30)), hypergeom.pmf(inside, 100, 40, 30), rtol=1e-10)
    near = log_hypergeometric(250_000, 500_000, 500_000, 500_000)
    assert math.exp(near) == pytest.approx(1 / math.sqrt(math.pi * 125_000), rel=1e-5)


def test_near_laws_are_off_by_the_rounding_of_the_grid_alone() -> None:
    """Two laws whose difference is nearly as fine as the grid, against binomial laws."""
    p, q, tau = 0.95599, 0.95704, 23
    due = np.maximum(np.subtract(*(binom.pmf(np.arange(tau + 1), tau, each) for each in (p, q))), 0.0).sum()
    assert repeated_variation(np.array([p, 1 - p]), np.array([q, 1 - q]), tau) == pytest.approx(due, rel=3e-3)
