"""Least squares of very many values, by steps in single precision: against dense ones, and against double precision."""

from __future__ import annotations

import numpy as np
import pytest

import hush
from hush.analysis import modular_many, modular_system
from hush.analysis.modular_many import ManyValues
from hush.analysis.modular_system import System
from hush.kernels.modular import conjugate_gradients
from hush.mechanisms.modular import MSS
from hush.mechanisms.modular.moduli import choose_moduli

Moduli = tuple[int, ...]
CASES: list[tuple[int, Moduli, float]] = [
    (500, (307, 389, 401), 0.0),
    (500, (499, 491, 251), 0.0),
    (500, (500,), 0.0),
    (700, (41, 233, 307, 353, 401, 509), 0.0),  # residues with up to eighteen values
    (4_500, choose_moduli(4_500, 2.0, ell=6), 0.0),  # several tiles
    (300, (7, 11, 13), 3.0),  # a ridge where residues alone do not tell
]


@pytest.fixture(params=[64, 1 << 16], ids=["chunks", "whole"])
def chunked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modular_many, "_CHUNK", request.param)


def system(k: int, moduli: Moduli, ridge: float) -> System:
    weights = np.random.default_rng(k).random(len(moduli)) + 0.5
    return System(k, moduli, weights, ridge)


@pytest.mark.usefixtures("chunked")
@pytest.mark.parametrize(("k", "moduli", "ridge"), CASES)
def test_solutions_are_those_of_the_matrix(k: int, moduli: Moduli, ridge: float) -> None:
    whole = system(k, moduli, ridge)
    many = ManyValues(k, moduli, whole.weights, ridge)
    rng = np.random.default_rng(7)
    for right in (rng.standard_normal(k), np.eye(1, k)[0], np.ones(k)):
        due = np.linalg.solve(whole.normal(), right)
        for start in (np.zeros(k), due + 1e-3):
            found = many.solve(right, start, 1e-11)
            assert found is not None
            assert np.abs(found - due).max() < 1e-8 * np.abs(due).max()
            left = right - whole.normal() @ found
            assert np.linalg.norm(left) <= 1.01e-11 * np.linalg.norm(right)


@pytest.mark.usefixtures("chunked")
@pytest.mark.parametrize(("k", "moduli", "ridge"), CASES)
def test_values_get_what_belongs_to_their_residues(k: int, moduli: Moduli, ridge: float) -> None:
    whole = system(k, moduli, ridge)
    many = ManyValues(k, moduli, whole.weights, ridge)
    counts = np.random.default_rng(7).integers(0, 1_000, sum(moduli))
    parts = np.split(counts, np.cumsum(moduli)[:-1])
    due = sum(w * part[np.arange(k) % m] for w, part, m in zip(whole.weights, parts, moduli, strict=True))
    for sums in (counts, counts.astype(np.float64)):
        assert np.allclose(many.gathered(sums, whole.weights), due, rtol=1e-14)
        assert np.allclose(whole.gathered(sums, whole.weights), due, rtol=1e-14)
    assert np.allclose(whole.unfolded(parts), due, rtol=1e-14)


@pytest.mark.parametrize("k", [300, 5_000])
def test_the_decoder_of_many_values_equals_dense_least_squares(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To 10⁻⁹ of the largest frequency, with blocks of different sizes and one that is empty."""
    m = MSS(k=k, epsilon=2.0, ell=7)
    tally = m.simulate(np.bincount([1, k // 2, k - 1, k - 1] * 600, minlength=k), rng=hush.seeded(7)).tally
    tally[m._starts[3] : m._starts[4]] = 0
    tally[m._starts[-1] + 3] = 0
    parts, people = m._residues(tally)
    design = System(k, m.moduli, m.blocks.weights * people)
    if k <= 300:
        seen = np.concatenate([np.sqrt(w) * part for w, part in zip(design.weights, parts, strict=True)])
        due = np.linalg.lstsq(design.dense(), seen, rcond=None)[0]
    else:
        due = np.linalg.solve(design.normal(), design.unfolded(parts))
    double = m.decode(tally, 2_400)
    monkeypatch.setattr(modular_system, "_MANY", 0)
    single = m.decode(tally, 2_400)
    for found in (double, single):
        assert np.abs(found - due).max() < 1e-9 * np.abs(due).max()


def test_a_quarter_of_a_million_values_as_in_double_precision() -> None:
    m = MSS(k=1 << 18, epsilon=4.0)
    assert m.k >= modular_system._MANY
    rng = np.random.default_rng(7)
    people = rng.integers(50, 90, len(m.moduli))
    counts = [
        rng.multinomial(n * w, np.full(size, 1 / size)) for n, w, size in zip(people, m.omegas, m.moduli, strict=True)
    ]
    tally = np.concatenate([*counts, people])
    parts, _ = m._residues(tally)
    double = System(m.k, m.moduli, m.blocks.weights * people)
    right = double.unfolded(parts)
    due = np.zeros(m.k)
    assert conjugate_gradients(double._sizes, double.weights, 0.0, right, due, 1e-13, 500) > 0
    assert np.abs(m.decode(tally, int(people.sum())) - due).max() < 1e-9 * np.abs(due).max()


def test_the_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modular_many, "_CHUNK", 128)
    k, moduli = 1_000, (317, 373, 709, 859)
    right = np.random.default_rng(7).standard_normal(k)
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("HUSH_THREADS", threads)
        found.append(ManyValues(k, moduli, np.ones(4)).solve(right, np.zeros(k), 1e-11))
    assert found[0] is not None
    assert all(np.array_equal(found[0], each) for each in found[1:])  # type: ignore[arg-type]


def test_where_single_precision_has_no_digits_double_steps_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The normal matrix squares a condition of thousands: single precision has seven digits."""
    k, moduli = 100, (5, 7, 11, 13, 17, 19, 23, 29)
    hard = System(k, moduli, np.ones(len(moduli)))
    assert hard.condition() > 1e3
    truth = np.arange(k) / 4_950
    right = hard.product(truth)
    rough = ManyValues(k, moduli, np.ones(len(moduli))).solve(right, np.zeros(k), 1e-11)
    assert rough is None or np.abs(right - hard.product(rough)).max() < 1e-9 * np.abs(right).max()
    monkeypatch.setattr(modular_system, "_MANY", 0)
    monkeypatch.setattr(modular_many, "_ROUNDS", 1)  # gives up before it gets anywhere
    assert np.abs(hard._iterated(right, None, 1e-13) - truth).max() < 1e-4
    blind = ManyValues(k, moduli, -np.ones(len(moduli)), 0.0)
    assert blind.solve(right, np.zeros(k), 1e-11) is None  # no matrix that a solution can be found for
