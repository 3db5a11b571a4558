"""What one report adds to a total, against enumeration of all outputs; and laws that are not exact say so."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hush
from hush.mechanisms._base import FrequencyOracle
from hush.planning.capri import law, population
from hush.planning.capri.adds import adds
from hush.utility import BalancedLH, Transformed

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
    found = adds(m, AMOUNTS)
    said, chances = enumerated(m)
    assert found is not None
    assert np.allclose(found.waves(POINTS), np.exp(1j * POINTS[:, None] * said) @ chances, rtol=0, atol=1e-10)
    assert found.mean == pytest.approx(AMOUNTS, abs=1e-9)
    assert found.square == pytest.approx(said**2 @ chances, rel=1e-9)


def test_many_messages_are_folded() -> None:
    m = hush.PGR(k=1200, epsilon=1.0)
    amounts = np.arange(1200.0)
    found = adds(m, amounts)
    assert found is not None
    assert m.size * m.k > 1 << 20
    favours = m.support_matrix(m.outputs())
    inside, outside = m._sizes
    chances = np.where(favours, m.p_star / inside, (1 - m.p_star) / outside)
    said = (favours @ amounts - m.q_star * amounts.sum()) / (m.p_star - m.q_star)
    points = np.array([1e-7, 1e-5])
    assert np.allclose(found.waves(points), np.exp(1j * points[:, None] * said) @ chances, rtol=0, atol=1e-9)
    assert found.mean == pytest.approx(amounts, abs=1e-4)
    assert found.square == pytest.approx(said**2 @ chances, rel=1e-9)


@pytest.mark.parametrize("z", ["exact", "balanced", "none"])
def test_hashed_disguises_have_the_ideal_law(z: str) -> None:
    """The total of 1,000 simulated collections: mean, variance and three tails, each at 1e-6 or less."""
    m = hush.uLH(k=21, epsilon=1.0, sensitive=range(6), z=z)
    people = population(WATER)
    found, runs = law(m, people), 1000
    assert found.exact
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
    found = law(hush.uSS(k=21, epsilon=0.3, sensitive=range(6), omega=2), people)
    cap = people.total - 2.05 * math.sqrt(found.variance)
    point, window = found._point(cap), 4 * 25_000
    assert found.log is not None
    odd = np.arange(1, window // 2, 2)
    theta = 2 * np.pi * odd / (window * found.step)
    terms = (np.exp(1j * theta * point) * np.exp(found.log(theta)).conj()).imag
    whole = 0.5 + float((2 / (window * np.sin(np.pi * odd / window))) @ terms)
    assert window * found.step > 40 * math.sqrt(found.variance)
    assert found.at_most(cap) == pytest.approx(whole, abs=1e-11)
    assert abs(found._revived(found.log, point)) > 1e-7


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
