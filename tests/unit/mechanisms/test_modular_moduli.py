"""Choosing moduli: always valid, well conditioned, the same for a seed; bad ones are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hush
from hush import multidim
from hush.analysis.modular_system import System, rank
from hush.analysis.primes import primes
from hush.errors import ParameterError, SpecError
from hush.mechanisms.modular import MSS, weighing
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


def test_weights_find_what_they_ask_for() -> None:
    """Each measure is computed here anew, by matrices where there are some."""
    k, epsilon = 512, 1.0
    chosen = {name: choose_moduli(k, epsilon, weights=name) for name in weighing.OBJECTIVES}
    mechanisms = {name: MSS(k=k, epsilon=epsilon, moduli=moduli) for name, moduli in chosen.items()}
    singular = {
        name: np.linalg.svd(m.blocks.system.dense(), compute_uv=False)[[0, -1]] for name, m in mechanisms.items()
    }
    computed = {
        "error": {name: float(m.blocks.flat_variances().mean()) for name, m in mechanisms.items()},
        "attack": {name: m.asr() for name, m in mechanisms.items()},
        "bits": {name: m.average_bits for name, m in mechanisms.items()},
        "condition": {name: float(most / least) for name, (most, least) in singular.items()},
    }
    computed["decoding"] = {
        name: 0.5 * found * math.log(2e11) * k * (2 * len(chosen[name]) + 5)
        for name, found in computed["condition"].items()
    }
    for objective, found in computed.items():
        assert found[objective] <= min(found.values()) * 1.001
        for name in chosen:
            measured = search.measures(k, epsilon, chosen[name])
            assert measured[objective] == pytest.approx(found[name], rel=1e-3)
    assert computed["bits"]["bits"] < computed["bits"]["error"]
    assert len({*chosen.values()}) >= 4


@pytest.mark.parametrize(
    "weights", [{"error": 1.0, "bits": 1.0}, {"attack": 2, "decoding": 1}, {"error": 1, "bits": 0.5, "condition": 3}]
)
def test_weights_are_those_of_a_geometric_mean(weights: dict[str, float]) -> None:
    """The score of what is chosen is the least of all candidates; only ratios of weights matter, and never units."""
    k, epsilon = 300, 2.0
    candidates = [found.law.moduli for found in search._found(k, epsilon, range(2, 21), 10.0, 20.0, 0)]
    total = sum(weights.values())

    def mean(moduli: tuple[int, ...]) -> float:
        found = search.measures(k, epsilon, moduli)
        return math.prod(found[name] ** (weight / total) for name, weight in weights.items())

    chosen = choose_moduli(k, epsilon, weights=weights)
    assert mean(chosen) <= min(map(mean, candidates)) * (1 + 1e-9)
    assert chosen == choose_moduli(k, epsilon, weights={name: 1e9 * w for name, w in weights.items()})
    assert sum(weighing.normalized(weights).values()) == pytest.approx(1.0)
    scalars = {name: np.int64(2) if w == 1 else np.float32(2 * w) for name, w in weights.items()}
    assert weighing.normalized(scalars) == pytest.approx(weighing.normalized(weights))  # type: ignore[arg-type]
    assert weighing.normalized({"error": 1e308, "bits": 1e308}) == {"error": 0.5, "bits": 0.5}


@settings(max_examples=30)
@given(st.integers(2, 300), st.integers(1, 9), st.sampled_from([0.5, 2.0, 6.0]))
def test_a_number_of_moduli_is_kept_or_refused(k: int, ell: int, epsilon: float) -> None:
    try:
        m = MSS(k=k, epsilon=epsilon, ell=ell)
    except ParameterError as error:
        assert "use another, or give moduli" in str(error)  # noqa: PT017
        assert k < 60
        return
    assert len(m.moduli) == m.ell == ell
    assert m.moduli == ((k,) if ell == 1 else choose_moduli(k, search.nearest_anchor(epsilon), ell=ell))
    assert m.blocks.system.condition() <= 10.01
    again = MSS(k=k, epsilon=epsilon, moduli=m.moduli)
    assert (m, hash(m), m.to_dict(), m.spec_hash) == (again, hash(again), again.to_dict(), again.spec_hash)
    assert again.ell == ell


def test_a_spec_tells_the_moduli_and_reading_never_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    m = MSS(k=77, epsilon=1.3, ell=4)
    written = m.to_dict()
    assert "ell" not in written
    tuples = multidim.SMP(sizes=(30, 77), epsilon=1.0, mechanism="MSS", options={"ell": 2})
    assert [c.ell for c in tuples.components] == [2, 2]  # type: ignore[attr-defined]
    assert tuples.parameters["chosen"] == [{"moduli": list(c.moduli)} for c in tuples.components]  # type: ignore[attr-defined]
    told = hush.Spec(tuples).to_json()

    def never(*_: object, **__: object) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr(search, "choose_moduli", never)
    search._anchored.cache_clear()
    assert hush.from_dict(written) == m
    assert hush.from_dict(written).ell == 4  # type: ignore[attr-defined]
    assert hush.Spec.from_json(told).mechanism == tuples
    monkeypatch.setattr(search, "choose_moduli", lambda k, *_, **__: (k,))
    without = {name: value for name, value in written.items() if name != "moduli"}
    with pytest.raises(SpecError, match="moduli must be written out"):
        hush.from_dict({**without, "ell": 1})


@pytest.mark.parametrize("ell", [0, -1, 2.0, "3", True, math.nan, 1_001, [2]])
def test_bad_numbers_of_moduli(ell: object) -> None:
    with pytest.raises(ParameterError, match=r"ell must be an integer in 1\.\.1000"):
        MSS(k=100, epsilon=1.0, ell=ell)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"ell must be an integer in 1\.\.1000"):
        choose_moduli(100, 1.0, ell=ell)  # type: ignore[arg-type]


def test_numbers_of_moduli_that_cannot_be() -> None:
    with pytest.raises(ParameterError, match="ell must be the number of moduli, 2, where they are given, got 3"):
        MSS(k=10, epsilon=1.0, moduli=(7, 9), ell=3)
    with pytest.raises(ParameterError, match=r"ell must be a number of primes up to k=10 .*, got 5; use another"):
        MSS(k=10, epsilon=1.0, ell=5)
    assert MSS(k=10, epsilon=1.0, moduli=(7, 9), ell=2).moduli == (7, 9)
    assert MSS(k=10**8, epsilon=10.0, ell=1).moduli == (10**8,)


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
    monkeypatch.setattr(search, "choose_moduli", lambda k, epsilon, ell: asked.append((k, epsilon)) or (k,))
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
    for bad in ({"weights": "speed"}, {"weights": {}}, {"weights": {"error": -1.0}}, {"weights": {"error": 0}},
                {"weights": {"error": math.nan}}, {"weights": {"bits": math.inf}}, {"weights": {"bits": "1"}},
                {"weights": ["error"]}, {"weights": {3: 1.0}}, {"weights": None}, {"condition": 1.0},
                {"condition": math.nan}, {"most_blocks": 1}, {"width": 0.5}, {"seed": -1}, {"seed": 1.5}):  # fmt: skip
        (name,) = bad
        with pytest.raises(ParameterError, match=f"{name} must"):
            choose_moduli(50, 1.0, **bad)  # type: ignore[arg-type]
