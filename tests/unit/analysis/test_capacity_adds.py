"""What one report adds to a total, against enumeration of all outputs; and laws that are not exact say so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import hush
from hush.analysis.waves import CLEAR
from hush.mechanisms.base import FrequencyOracle
from hush.planning.capri import law, population
from hush.utility import BalancedLH, Transformed

pytestmark = pytest.mark.slow

AMOUNTS = np.array([0.0, 1.0, 3.0, 10.0, 2.0, 5.0])
POINTS = np.array([0.01, 0.1, 0.37, 1.3])
SENSITIVE = ((0, 1, 2, 3), (1, 2, 5), (4,))
SHAPE = np.exp(-0.5 * ((np.arange(21) - 8) / 5) ** 2)
WATER = np.floor(3000 * SHAPE / SHAPE.sum()).astype(np.int64)


def enumerated(m: FrequencyOracle) -> tuple[np.ndarray, np.ndarray]:
    """What each output adds, and its probability for each value."""
    outputs = m.outputs(None)
    said = np.array([m.decode(m.tally(outputs[i : i + 1]), 1) @ AMOUNTS for i in range(outputs.size)])
    return said, np.array([[m.copies(y) * m.weight(y, v) / m.denominator for v in range(m.k)] for y in outputs])


def disguised() -> list[FrequencyOracle]:
    made: list[FrequencyOracle] = []
    for sensitive in SENSITIVE:
        for name in ("uRR", "uRAP", "uSS", "uUE", "uHR"):
            cls = hush.registry()[name]
            for z, reveal in (("exact", "pair"), ("exact", "alone"), ("constant", "pair"), ("paper", "pair")):
                made.append(cls(k=6, epsilon=1.0, sensitive=sensitive, z=z, reveal=reveal))
    return made


PLAIN: list[FrequencyOracle] = [
    hush.GRR(k=6, epsilon=1.0),
    hush.SS(k=6, epsilon=1.0, omega=2),
    hush.SS(k=6, epsilon=1.0, omega=5),
    hush.OUE(k=6, epsilon=1.0),
    hush.HR(k=6, epsilon=2.0, blocks=2),
    hush.PGR(k=6, epsilon=1.0),
]


@pytest.mark.parametrize(
    "m", PLAIN + disguised(), ids=lambda m: f"{m.name()}-{getattr(m, 'z', '')}-{m.parameters}"[:60]
)
def test_what_a_report_adds_is_the_enumerated_one(m: FrequencyOracle) -> None:
    found = m.forms.report_adds(AMOUNTS)
    said, chances = enumerated(m)
    assert found is not None
    assert np.allclose(
        1 + found.phi_less_one(POINTS), np.exp(1j * POINTS[:, None] * said) @ chances, rtol=0, atol=1e-10
    )
    assert found.mean == pytest.approx(AMOUNTS, abs=1e-9)
    assert found.square == pytest.approx(said**2 @ chances, rel=1e-9)


def test_many_messages_are_folded() -> None:
    m = hush.PGR(k=1200, epsilon=1.0)
    amounts = np.arange(1200.0)
    found = m.forms.report_adds(amounts)
    assert found is not None
    assert m.size * m.k > 1 << 20
    favours = m.support_matrix(m.outputs())
    inside, outside = m._sizes
    chances = np.where(favours, m.p_star / inside, (1 - m.p_star) / outside)
    said = (favours @ amounts - m.q_star * amounts.sum()) / (m.p_star - m.q_star)
    points = np.array([1e-7, 1e-5])
    assert np.allclose(1 + found.phi_less_one(points), np.exp(1j * points[:, None] * said) @ chances, rtol=0, atol=1e-9)
    assert found.mean == pytest.approx(amounts, abs=1e-4)
    assert found.square == pytest.approx(said**2 @ chances, rel=1e-9)


@pytest.mark.parametrize("reveal", ["pair", "alone"])
@pytest.mark.parametrize("z", ["exact", "balanced", "none"])
def test_hashed_disguises_have_the_ideal_law(z: str, reveal: str) -> None:
    """The total of 1,000 simulated collections: mean, variance and three tails, each at 1e-6 or less."""
    m = hush.uLH(k=21, epsilon=1.0, sensitive=range(6), z=z, reveal=reveal)
    people = population(WATER)
    found, runs = law(m, people), 1000
    assert found.known == ("exact" if z == "balanced" and reveal == "pair" else "near")
    drawn = found.draw(runs, hush.seeded(7))
    deviation = math.sqrt(found.variance)
    assert abs(drawn.mean() - people.total) < 5 * deviation / math.sqrt(runs)
    assert drawn.var() == pytest.approx(found.variance, rel=5 * math.sqrt(2 / runs))
    for point in (-2.0, 0.3, 1.5):
        cap = people.total + point * deviation
        chance = found.at_most(cap)
        assert abs((drawn <= cap).mean() - chance) < 5 * math.sqrt(chance * (1 - chance) / runs)


def test_balanced_hashing_is_a_mixture_of_subsets() -> None:
    """With as many buckets as values it is randomized response."""
    m, people = BalancedLH(k=4, epsilon=1.2, g=4), population([5, 2, 4, 1])
    alike = law(hush.GRR(k=4, epsilon=1.2), people)
    assert law(m, people).variance == pytest.approx(alike.variance)
    for cap in (5.0, 13.5, 20.0):
        assert law(m, people).at_most(cap) == pytest.approx(alike.at_most(cap), abs=1e-9)


def test_moduli_are_told_to_be_near() -> None:
    """Variance and tails of 1,000 simulated collections; each test fails once in a million, or less."""
    m, people, runs = hush.MSS(k=21, epsilon=1.0), population(WATER), 1000
    found = law(m, people)
    assert (found.kind, found.known, found.exact) == ("near", "near", False)
    drawn = found.draw(runs, hush.seeded(7))
    assert drawn.var() == pytest.approx(found.variance, rel=5 * math.sqrt(2 / runs))
    for point in (-2.0, 0.3, 1.5):
        cap = people.total + point * math.sqrt(found.variance)
        chance = found.at_most(cap)
        assert abs((drawn <= cap).mean() - chance) < 5 * math.sqrt(chance * (1 - chance) / runs)
    one = law(hush.MSS(k=7, epsilon=1.0, moduli=(7,)), population([3, 1, 4, 1, 5, 9, 2]))
    alike = law(hush.SS(k=7, epsilon=1.0, omega=1), population([3, 1, 4, 1, 5, 9, 2]))
    assert one.variance == pytest.approx(alike.variance, rel=1e-9)


def test_where_all_are_sensitive_the_base_mechanism_is_asked() -> None:
    u = hush.uUE(k=6, epsilon=1.0, sensitive=(0, 1, 2, 3))
    nobody_else = population([3, 2, 5, 1, 0, 0])
    whole = law(u.base, population([3, 2, 5, 1]))
    for cap in (3.0, 15.0, 21.5):
        assert law(u, nobody_else).at_most(cap) == whole.at_most(cap)


@pytest.mark.parametrize("name", ["uRR", "uHR"])
def test_disguises_on_one_lattice_are_exact_for_few_people(name: str) -> None:
    """Eight people, convolved one by one."""
    m = hush.registry()[name](k=6, epsilon=1.0, sensitive=(0, 1, 2, 3))
    people = population([2, 1, 0, 1, 3, 1], domain=hush.Domain(size=6, values=AMOUNTS.tolist()))
    said, chances = enumerated(m)
    whole = {0.0: 1.0}
    for value, many in enumerate(people.counts):
        for _ in range(many):
            more: dict[float, float] = {}
            for total, chance in whole.items():
                for add, one in zip(said, chances[:, value], strict=True):
                    if one:
                        at = round(total + add, 7)
                        more[at] = more.get(at, 0.0) + chance * one
            whole = more
    found = law(m, people)
    assert found.exact
    assert found.step > 0
    for cap in (-20.3, 5.1, 17.0, 30.7):
        exact = sum(chance for total, chance in whole.items() if total <= cap + 1e-6)
        assert found.at_most(cap) == pytest.approx(exact, abs=1e-8)


def test_a_coarse_lattice_inside_a_fine_one_is_reckoned_with() -> None:
    """Three people leave the lattice of 30,000: the whole sum of the square wave's mean, nothing left out."""
    counts = np.concatenate([np.full(6, 5000), np.zeros(15, np.int64)])
    counts[10], counts[20] = 2, 1
    people = population(counts)
    found = law(hush.uSS(k=21, epsilon=0.3, sensitive=range(6), omega=2, reveal="pair"), people)
    cap = people.total - 2.05 * math.sqrt(found.variance)
    point, window = found._point(cap), 4 * 25_000
    assert found.log is not None
    odd = np.arange(1, window // 2, 2)
    theta = 2 * np.pi * odd / (window * found.step)
    terms = (
        (np.exp(1j * theta * point) * np.exp(found.log(theta)).conj()).imag
        * 2
        / (window * np.sin(np.pi * odd / window))
    )
    assert window * found.step > 40 * math.sqrt(found.variance)
    assert found.exact
    assert found.at_most(cap) == pytest.approx(0.5 + float(terms.sum()), abs=1e-11)
    assert abs(float(terms[theta > 20 / math.sqrt(found.variance)].sum())) > 1e-7  # what comes back late


@pytest.mark.parametrize("m", [
    hush.GRR(k=6, epsilon=1.0),
    hush.OUE(k=6, epsilon=2.0),
    hush.SS(k=6, epsilon=0.5, omega=3),
    hush.SS(k=6, epsilon=1.0, omega=1),
    hush.HR(k=6, epsilon=2.0, blocks=2),
    hush.PGR(k=6, epsilon=1.0),
    BalancedLH(k=6, epsilon=1.0, g=3),
    hush.SHE(k=6, epsilon=2.0),
    hush.uSS(k=6, epsilon=1.0, sensitive=(0, 1, 2, 3)),
    *[cls(low=0.0, high=10.0, epsilon=1.2, steps=10) for cls in hush.registry("numeric").values()],
], ids=lambda m: m.name())  # fmt: skip
def test_falls_bound_the_characteristic_function(m: Any) -> None:
    """At many points: by swings, by the wave's own length, and that no length is steeper than it says."""
    people = population([30, 2, 4, 11, 0, 3], domain=hush.Domain(size=6, values=AMOUNTS.tolist()))
    found = law(m, people)
    assert found.log is not None
    assert found.swings is not None
    deviation, many = math.sqrt(found.variance), 30 if m.name() == "SHE" else 800
    theta = np.sort(np.concatenate([hush.seeded(7).uniform(0.01, 300, many), np.linspace(0.01, 9, many)])) / deviation
    fallen, sieves = found.log(theta).real, found.swings.sieves()
    assert sieves
    for length, slope, _ in [(found.log.fall, deviation, 1), *sieves]:
        seen = length(theta)
        assert (fallen <= -(np.minimum(seen, CLEAR if length is sieves[-1][0] else math.inf) ** 2) / 2 + 1e-9).all()
        assert (np.abs(np.diff(seen)) <= slope * np.diff(theta) * (1 + 1e-9) + 1e-9).all()


@pytest.mark.parametrize("k", [2, 3, 4, 5])
@pytest.mark.parametrize("name", ["GRR", "OUE", "SS", "HR", "PGR", "uRR", "uSS", "uHR", "SHE"])
def test_swings_of_few_values_bound_the_characteristic_function(name: str, k: int) -> None:
    """Skewed people, one value that nobody holds; every budget and every sieve."""
    amounts = hush.Domain(size=k, values=[0.0, 1.0, 8.0, 9.0, 30.0][:k])
    people = population([345, 1, 0, 7, 1][:k], domain=amounts)
    for epsilon in (0.5, 2.0, 5.0):
        sensitive = {"sensitive": range(k - 1)} if name.startswith("u") else {}
        found = law(hush.registry()[name](k=k, epsilon=epsilon, **sensitive), people)
        assert found.log is not None
        assert found.swings is not None
        theta = np.linspace(0.01, 40, 60 if name == "SHE" else 400) / math.sqrt(found.variance)
        fallen = found.log(theta).real
        for sieve in found.swings.sieves():
            seen = sieve[0](theta)
            seen = np.minimum(seen, CLEAR) if sieve is found.swings.far else seen
            assert (fallen <= -(seen**2) / 2 + 1e-9).all()


def test_noise_of_few_people_is_cleared_by_one_coordinate() -> None:
    """Wherever some coordinate is far from whole turns, the characteristic function is less than 4e-17."""
    few = law(hush.SHE(k=3, epsilon=2.0), population([10, 20, 10]))
    assert few.log is not None
    assert few.swings is not None
    assert few.swings.far is not None
    theta = hush.seeded(7).uniform(0, 100, 60) / math.sqrt(few.variance)
    cleared = few.swings.far[0](theta) >= CLEAR
    assert 0 < cleared.sum() < 60
    assert few.log(theta[cleared]).real.max() < -(CLEAR**2) / 2
    assert law(hush.SHE(k=3, epsilon=2.0), population([10_000, 20_000, 10_000])).swings.far is None


def test_few_people_on_no_lattice_are_not_called_exact() -> None:
    few = law(hush.uUE(k=21, epsilon=6.0, sensitive=range(6)), population(WATER // 100))
    assert few.kind == "exact"
    assert not few.exact
    assert few.known == "near"


def test_an_unknown_base_is_taken_as_normal() -> None:
    class Own(hush.MSS):
        pass

    u = Transformed(k=9, base=Own(k=6, epsilon=1.0), sensitive=range(6), z="constant")
    found = law(u, population(np.full(9, 40)))
    assert (found.kind, found.exact, found.log) == ("normal", False, None)
