"""Choosing moduli: always valid, well conditioned, the same for a seed; bad ones are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hush.analysis.modular_system import System, rank
from hush.analysis.primes import primes
from hush.errors import ParameterError
from hush.mechanisms.modular import MSS
from hush.mechanisms.modular import moduli as search
from hush.mechanisms.modular.moduli import choose_moduli, usual_moduli


def prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))


@settings(max_examples=40)
@given(st.integers(2, 250), st.sampled_from([0.5, 1.0, 3.0, 8.0]), st.integers(0, 5), st.sampled_from([2, 4, 9]))
def test_chosen_moduli_are_valid(k: int, epsilon: float, seed: int, most: int) -> None:
    moduli = choose_moduli(k, epsilon, most_blocks=most, seed=seed)
    assert moduli == choose_moduli(k, epsilon, most_blocks=most, seed=seed)
    assert len(set(moduli)) == len(moduli) <= most
    assert moduli == (k,) or all(prime(m) for m in moduli)
    assert max(moduli) <= k
    assert math.prod(moduli) >= k
    assert rank(k, moduli) == k
    assert search.blocks(k, moduli, epsilon).system.condition() <= 10.0 * 1.001
    assert MSS(k=k, epsilon=epsilon, moduli=moduli).moduli == moduli


@pytest.mark.parametrize("count", range(2, 21))
def test_roots_of_whole_powers_are_exact(count: int) -> None:
    """In doubles 3125^(1/5) is above 5, so that its ceiling is 6, here; elsewhere it may not be."""
    for k in {*range(2, 200), 3125, 16_807, 161_051, *(p**count for p in (2, 3, 5, 7))}:
        root = search._root(k, count)
        assert (root - 1) ** count < k <= root**count


@given(st.integers(10, 3_000), st.integers(2, 12), st.integers(0, 10**6))
def test_repairs_never_repeat_a_prime(k: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    known = primes(k)
    assume(known.size >= count)
    for generator in (rng, None):
        repaired = search.repaired_moduli(k, rng.choice(known, count, replace=False).tolist(), known, generator)
        if repaired is None:
            most = known[-count:].tolist()
            assert 1 + sum(most) - count < k or math.prod(most) < k
        else:
            assert len(set(repaired)) == count
            assert all(prime(m) for m in repaired)
            assert rank(k, repaired) == k


def test_objectives_find_what_they_ask_for() -> None:
    k, epsilon = 512, 1.0
    found = {
        name: search.blocks(k, choose_moduli(k, epsilon, objective=name), epsilon) for name in ("mse", "bits", "asr")
    }
    mse = {name: float(law.flat_variances().mean()) for name, law in found.items()}
    bits = {name: search.average_bits(law.moduli, law.omegas.tolist()) for name, law in found.items()}
    success = {
        name: search.reconstruction(k, law.moduli, law.omegas.tolist(), law.p.tolist()) for name, law in found.items()
    }
    assert mse["mse"] == min(mse.values())
    assert bits["bits"] == min(bits.values()) < bits["mse"]
    assert success["asr"] == min(success.values())
    both = search.blocks(k, choose_moduli(k, epsilon, objective={"mse": 1.0, "bits": 1.0}), epsilon)
    product = both.flat_variances().mean() * search.average_bits(both.moduli, both.omegas.tolist())
    assert product <= min(mse[name] * bits[name] for name in found) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 10.0])
def test_scaled_moduli_are_as_good_as_those_of_the_model(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_WHOLE", 1_000)
    monkeypatch.setattr(search, "_MODEL", 500)
    k = 4_001
    several = list(search._found(k, epsilon, range(2, 12), 10.0, 20.0, 0))
    for found in several:
        moduli = found.law.moduli
        assert all(prime(m) for m in moduli)
        assert rank(k, moduli) == k
        assert moduli == tuple(sorted(set(moduli)))
        assert np.allclose(np.array(moduli) / k, np.array(found.model.moduli) / 500, atol=0.01)
        assert found.law.system.condition() == pytest.approx(found.model.system.condition(), rel=0.3)
    errors = np.array([[each.law.flat_variances().mean(), each.model.flat_variances().mean()] for each in several])
    ratio = errors[:, 0] / errors[:, 1]
    assert ratio.max() < 1.15 * ratio.min()
    chosen = search.blocks(k, choose_moduli(k, epsilon, most_blocks=11), epsilon)
    assert chosen.system.condition() <= 10.01
    assert chosen.flat_variances().mean() < 1.1 * errors[:, 0].min()


def test_a_search_is_made_once_for_each_anchor(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(search, "choose_moduli", lambda k, epsilon: asked.append((k, epsilon)) or (k,))
    search._anchored.cache_clear()
    for epsilon in (2.6, 2.8, 3.0, 3.1, 3.4, 3.6):
        usual_moduli(77, epsilon)
    assert asked == [(77, 3.0), (77, 4.0)]
    search._anchored.cache_clear()


def test_too_many_values_to_search_for() -> None:
    with pytest.raises(ParameterError, match=r"k must be at most 4194304 .*, got 100000000; give moduli, or use PGR"):
        MSS(k=10**8, epsilon=1.0)


def test_table_holds_what_the_search_finds() -> None:
    for k in (100, 512):
        assert usual_moduli(k, 2.2) == choose_moduli(k, 2.0)
    table = search._table()
    assert {"1024", "22000", "1000000"} <= set(table)
    for k, cells in table.items():
        assert set(cells) == {f"{anchor:g}" for anchor in search.ANCHORS}
        for epsilon, moduli in cells.items():
            assert search.checked(int(k), moduli) == tuple(moduli)
            if int(k) <= 2_048:
                assert search.blocks(int(k), moduli, float(epsilon)).system.condition() <= 10.01


@settings(max_examples=15)
@given(st.integers(70, 130), st.integers(3, 6), st.integers(0, 10**6))
def test_condition_number_by_lanczos_equals_singular_values(k: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    known = primes(k)
    moduli = tuple(rng.choice(known[known > k // 3], count, replace=False).tolist())
    system = System(k, moduli, rng.random(count) + 0.5)
    values = np.linalg.svd(system.dense(), compute_uv=False)
    if rank(k, moduli) < k:
        assert system.condition() == math.inf
    elif values[0] < 1e4 * values[-1]:
        assert system.condition() == pytest.approx(values[0] / values[-1], rel=1e-4)


@pytest.mark.parametrize(
    ("moduli", "said"),
    [
        ((6, 9), "moduli must have no common factors, got 6 and 9, both multiples of 3"),
        ((7, 7, 11), "moduli must have no common factors, got 7 twice"),
        ((7, 2), "moduli must have a product of at least k=20, .* got a product of 14"),
        ((7, 5), "moduli must be so large that .* is at least k=20: .* got a sum of 11"),
        ((0, 7, 19), "every modulus must be an integer in 2..20, got 0"),
        ((1, 7, 19), "every modulus must be an integer in 2..20, got 1"),
        ((-7, 19), "every modulus must be an integer in 2..20, got -7"),
        ((7, 23), "every modulus must be an integer in 2..20, got 23"),
        ((7.0, 19), "every modulus must be an integer in 2..20, got 7.0"),
        ((math.nan, 19), "every modulus must be an integer"),
        ((True, 19), "every modulus must be an integer"),
        (("7", 19), "every modulus must be an integer"),
        ((), "moduli must be a list of integers"),
        ("7,19", "moduli must be a list of integers"),
        (19, "moduli must be a list of integers"),
        ({7: 19}, "moduli must be a list of integers"),
    ],
)
def test_bad_moduli(moduli: object, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        MSS(k=20, epsilon=1.0, moduli=moduli)  # type: ignore[arg-type]


def test_bad_parameters() -> None:
    for k in (1, 0, -3, 2.5, 10**9):
        with pytest.raises(ParameterError, match=r"k must be an integer in 2"):
            MSS(k=k, epsilon=1.0)  # type: ignore[arg-type]
    for epsilon in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ParameterError, match="epsilon must be a number"):
            MSS(k=10, epsilon=epsilon)
    with pytest.raises(ParameterError, match="code must be one of"):
        MSS(k=10, epsilon=1.0, code="gzip")
    for bad in ({"objective": "speed"}, {"objective": {}}, {"objective": {"mse": -1.0}}, {"condition": 1.0},
                {"condition": math.nan}, {"most_blocks": 1}, {"width": 0.5}):  # fmt: skip
        with pytest.raises(ParameterError, match="must"):
            choose_moduli(50, 1.0, **bad)  # type: ignore[arg-type]
