"""Solutions for Toeplitz matrices from the first column of the inverse, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

from hush.analysis import toeplitz
from hush.analysis.modular_system import System

MODULI = (29, 53, 67, 71, 97)


@pytest.mark.parametrize("k", [65, 128, 200])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_solutions_are_those_of_the_matrix(k: int, ridge: float) -> None:
    rng = np.random.default_rng(k)
    system = System(k, MODULI, rng.uniform(0.5, 2.0, len(MODULI)), ridge)
    whole, right = system.normal(), rng.standard_normal(k)
    assert np.allclose(system.product(right), whole @ right, rtol=1e-13, atol=1e-12)
    assert np.allclose(system.solve(right), np.linalg.solve(whole, right), rtol=1e-9, atol=1e-10)
    inverse = np.linalg.inv(whole)
    assert np.allclose(system.first, inverse[0], rtol=1e-9, atol=1e-11)
    for m in MODULI[:2]:
        folded = np.array([[row[r::m].sum() for r in range(m)] for row in inverse])
        assert np.allclose(system.own_entries(m), folded[np.arange(k), np.arange(k) % m], rtol=1e-8, atol=1e-10)


def test_residues_are_summed_and_copied() -> None:
    system = System(100, (7, 101), np.array([2.0, 3.0]))
    x = np.arange(100.0)
    short, long = system.folded(x)
    assert short.tolist() == [x[r::7].sum() for r in range(7)]
    assert long.tolist() == [*x.tolist(), 0.0]
    parts = [np.arange(7.0), np.arange(101.0)]
    assert system.unfolded(parts).tolist() == [2.0 * (v % 7) + 3.0 * v for v in range(100)]


def test_what_does_not_settle_is_no_solution() -> None:
    assert toeplitz.conjugate_gradients(lambda x: -x, np.ones(3), 1e-9, 10) is None
    hilbert = 1 / (1 + np.arange(12)[:, None] + np.arange(12))
    assert toeplitz.conjugate_gradients(lambda x: hilbert @ x, np.ones(12), 1e-14, 3) is None


def test_badly_conditioned_systems_are_still_solved() -> None:
    """Moduli that hardly determine the values: what the transforms lose is found out, and mended."""
    system = System(90, (31, 37, 29), np.ones(3))
    right = np.random.default_rng(1).standard_normal(90)
    found = system.solve(right)
    left = right - system.normal() @ found
    assert np.linalg.norm(left) <= 2e-11 * np.linalg.norm(right)
