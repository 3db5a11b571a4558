"""What reports add, where the law of an estimate is only bounded: every bound against what it bounds."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hush
from hush.analysis.modular_system import System
from hush.estimation import Aggregate
from hush.estimation.bounds import Bounded, Either, Listed, Mixed, MixturePart, Term
from hush.estimation.laws import Parts, Unknown
from hush.mechanisms.histogram.grid import Grid
from hush.mechanisms.modular.bounds import _bounded, _looked_through
from hush.multidim import SMP
from hush.utility import transform
from tests.docs.pages import load_script

pytestmark = pytest.mark.slow

tallies = load_script("covered").tallies
THETA = np.geomspace(1e-3, 40, 40)


def exactly(points: np.ndarray, chances: np.ndarray) -> np.ndarray:
    return np.asarray(np.log(np.exp(THETA[:, None] * points) @ chances))


def test_cumulants_of_listed_and_mixed_terms_are_exact() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        first, second = (Listed.of(rng.normal(size=3), rng.dirichlet(np.ones(3))) for _ in range(2))
        assert np.allclose(first.cumulants(THETA), exactly(first.points, first.chances))
        assert np.allclose(first.flipped().cumulants(THETA), exactly(-first.points, first.chances))
        chance, level = rng.uniform(0.1, 0.9), rng.normal()
        mixed = Mixed.of(
            MixturePart(chance, level, 2.0, first), MixturePart(1 - chance, -level * chance / (1 - chance), 0.5, second)
        )
        points = np.concatenate([level + 2 * first.points, -level * chance / (1 - chance) + second.points / 2])
        law = np.concatenate([chance * first.chances, (1 - chance) * second.chances])
        assert law @ points == pytest.approx(0.0, abs=1e-12)
        assert (mixed.up, mixed.down) == pytest.approx((points.max(), -points.min()))
        assert mixed.variance == pytest.approx(law @ points**2)
        assert np.allclose(mixed.cumulants(THETA), exactly(points, law))
        assert np.allclose(mixed.flipped().cumulants(THETA), exactly(-points, law))
        worst = Either.of(first, second)
        larger = np.maximum(first.cumulants(THETA), second.cumulants(THETA))
        assert np.array_equal(worst.cumulants(THETA), larger)
        assert worst.flipped().up == worst.down == max(first.down, second.down)


def test_what_is_never_sent_adds_nothing() -> None:
    assert Mixed.of(MixturePart(1.0, 0.0), MixturePart(0.0, 5.0, 1.0, Term(1.0, 9.0, 9.0))).up == 0.0


MODULI = [
    (3, 1.0, (2, 3)),
    (30, 1.0, (7, 11, 13, 5)),
    (64, 3.0, None),
    (100, 1.0, None),
    (100, 5.0, None),
    (300, 2.0, None),
    (700, 0.5, (359, 353)),
    (700, 8.0, None),
    (60, 2.0, (2, 3, 5, 7, 11, 13, 17, 19)),
]


@pytest.mark.parametrize(("k", "epsilon", "moduli"), MODULI)
def test_what_is_known_of_rows_bounds_what_all_rows_show(k: int, epsilon: float, moduli: tuple[int, ...]) -> None:
    law = hush.MSS(k=k, epsilon=epsilon, moduli=moduli).blocks
    exact, bound = _looked_through(law), _bounded(law)
    assert bound is not None
    assert bound.own.variance == pytest.approx(exact.own.variance, rel=1e-6)
    for term, known in ((exact.own, bound.own), (exact.other, bound.other)):
        assert term.up <= known.up * (1 + 1e-6)
        assert term.down <= known.down * (1 + 1e-6)
        assert term.variance <= known.variance * (1 + 1e-6)
    assert bound.least <= exact.least * (1 + 1e-6)
    assert bound.other.variance <= 3 * exact.other.variance


@pytest.mark.parametrize(("k", "n", "runs"), [(1_500, 3, 10), (40_000, 60, 3)])
def test_modular_subsets_of_many_values_have_bounds(k: int, n: int, runs: int) -> None:
    """The normal law of three people who hold one value covered it in seven of ten collections."""
    m = hush.MSS(k=k, epsilon=3.0)
    for seed in range(runs):
        found = m.estimate(m.aggregate(m.privatize([7] * n, rng=hush.seeded([5, seed])))).interval(1 - 1e-10)
        assert found.method == "bound"
        assert (found.lower <= np.eye(1, k, 7)[0]).all()  # of so many ends one misses once in ten thousand runs
        assert found.upper[7] == 1.0


def test_reports_of_few_blocks_ask_for_more() -> None:
    """Three people in two blocks that barely determine all values: the moduli are good, there are too few reports."""
    m = hush.MSS(k=40_000, epsilon=3.0)
    first, second = (m.moduli[j] for j in (10, 12))
    weights = np.array([1.0 if size in (first, second) else 0.0 for size in m.moduli])
    barely = System(first + second - 1, m.moduli, weights)
    with pytest.raises(hush.errors.ConvergenceError, match="collect more reports"):
        barely.fit([np.random.default_rng(1).normal(size=size) for size in m.moduli])


def test_bounds_of_many_values_give_way_to_the_normal_law() -> None:
    m = hush.MSS(k=1_500, epsilon=2.0)
    few, many = (m.estimate(m.simulate([size] * 1_500, rng=hush.seeded(1))) for size in (10, 10**5))
    wide, plain = few.interval(), few.interval(method="normal")
    assert wide.method == "bound"
    assert (wide.upper - wide.lower).mean() < 2 * (plain.upper - plain.lower).mean()
    assert many.interval().method == "normal"


def test_moduli_without_digits_have_no_bounds() -> None:
    """Four blocks that barely determine their values: what is known of rows is off by a half there."""
    law = hush.MSS(k=8_000, epsilon=1.0, moduli=(2_003, 1_999, 2_011, 1_993)).blocks
    assert not law.system.small
    assert _bounded(law) is None


def covered(m: hush.FrequencyOracle, people: Sequence[int]) -> float:
    """The least coverage of a value, over all reports of these people."""
    truth, found = np.bincount(people, minlength=m.k) / len(people), np.zeros(m.k)
    for tally, chance in tallies(m, people):
        low, high = m.estimate(Aggregate(len(people), tally, m.spec_hash)).interval(0.95)
        found += chance * ((low <= truth) & (truth <= high))
    return float(found.min())


@pytest.mark.parametrize("reveal", ["pair", "alone"])
def test_utility_over_modular_subsets_covers_few_people(reveal: str) -> None:
    choice = {"z": "constant"} if reveal == "alone" else {}
    base = hush.MSS(k=3, epsilon=3.0, moduli=(2, 3))
    u = transform(base, hush.Domain(size=4, sensitive=range(3)), reveal=reveal, **choice)
    for people in ((0,), (3,), (0, 0), (3, 3), (0, 3), (1, 1, 1)):
        assert covered(u, people) >= 0.95 - 1e-9, people


def convolved(u: Any, people: Sequence[int]) -> np.ndarray:
    """The exact law of the steps of the first sensitive value under a noisy base, by how many were sent alone."""
    grid, sent = u.base.grid, u.f if u.reveal == "pair" else 1 - u.z_star
    null, own = grid.probabilities, grid.probabilities[::-1]
    law = np.ones((1, 1))
    for value in people:
        share = 1.0 if value < u.s else sent
        told = share * (own if value == 0 else null if value < u.s else (own + (u.s - 1) * null) / u.s)
        longer = np.zeros((len(law) + 1, law.shape[1] + null.size - 1))
        for alone, before in enumerate(law):
            longer[alone] += np.convolve(before, told)
            after = (1 - share) * np.pad(before, (-grid.lowest, null.size - 1 + grid.lowest))
            longer[alone + 1] += after
        law = longer
    return law


@pytest.mark.parametrize("reveal", ["pair", "alone"])
@pytest.mark.parametrize("people", [(0,), (2,), (0, 0), (0, 2)])
def test_utility_over_noise_covers_few_people(people: tuple[int, ...], reveal: str) -> None:
    base = hush.SHE(k=2, epsilon=4.0)
    choice = {"z": "constant"} if reveal == "alone" else {}
    u = transform(base, hush.Domain(size=3, sensitive=range(2)), reveal=reveal, **choice)
    n, inside, law = len(people), 0.0, convolved(u, people)
    assert law.sum() == pytest.approx(1.0)
    sums = n * base.grid.lowest + np.arange(law.shape[1])
    for alone, chances in enumerate(law):
        raw = base.decode_evenly(sums, n - alone) * (n - alone) / n if alone < n else np.zeros(sums.size)
        known = u.law(np.array([0, 0, 0, alone]), n)
        assert isinstance(known, Parts)
        bounded = known.parts[0][1]
        assert isinstance(bounded, Bounded)
        low, high = replace(bounded, frequencies=raw - u._offset[0] * alone / n).ends(0.025, np.ones(sums.size, bool))
        truth = people.count(0) / n
        inside += float(chances @ ((low <= truth) & (truth <= high)))
    assert inside >= 0.95 - 1e-9


def test_utility_over_noise_takes_the_offset_off() -> None:
    """What the test above takes the estimates to be."""
    base = hush.SHE(k=2, epsilon=4.0)
    u = transform(base, hush.Domain(size=3, sensitive=range(2)))
    known = u.law(np.array([700, 5, 1, 1]), 3)
    assert isinstance(known, Parts)
    bounded = known.parts[0][1]
    assert isinstance(bounded, Bounded)
    expected = base.decode(np.array([700, 5]), 2) * 2 / 3 - u._offset / 3
    assert np.allclose(bounded.frequencies, expected)


def tuples_covered(m: SMP, people: Sequence[Sequence[int]]) -> float:
    """The least coverage of a value of the first attribute, over all reports of people with these tuples."""
    publics = list(itertools.product(*(c.publics() for c in m.components)))
    law: dict[bytes, float] = {m._empty().tobytes(): 1.0}
    for values in people:
        longer: dict[bytes, float] = defaultdict(float)
        for public in publics:
            for y in m.outputs(public):
                chance = m.copies(y) * m.weight(y, values) / m.denominator / len(publics)
                told = m.tally(np.asarray(y, m.report_dtype)[None])
                for before, share in law.items():
                    longer[(np.frombuffer(before, np.int64) + told).tobytes()] += share * chance
        law = longer
    n, k = len(people), m.sizes[0]
    truth, found, total = np.bincount([values[0] for values in people], minlength=k) / n, np.zeros(k), 0.0
    for tally, chance in law.items():
        known = m.laws(np.frombuffer(tally, np.int64), n)[0]
        assert known is not None
        low, high = known.ends(0.025, np.ones(k, bool))
        found += chance * ((low <= truth) & (truth <= high))
        total += chance
    assert total == pytest.approx(1.0)
    return float(found.min())


@pytest.mark.parametrize(("mechanism", "options"), [("HR", {"blocks": 4}), ("HR", {"blocks": 2}), ("MSS", {})])
def test_sampling_over_mechanisms_that_are_not_pure_covers_few_people(
    mechanism: str, options: dict[str, object]
) -> None:
    m = SMP(sizes=(3, 3), epsilon=3.0, mechanism=mechanism, options=options)
    for people in ([(0, 1)], [(0, 1)] * 2, [(0, 0), (1, 2)], [(2, 0)] * 3):
        assert tuples_covered(m, people) >= 0.95 - 1e-9, people


@pytest.mark.parametrize(("held", "n"), [(0, 1), (1, 1), (1, 2)])
def test_sampling_over_noise_covers_few_people(held: int, n: int) -> None:
    m = SMP(sizes=(2, 2), epsilon=4.0, mechanism="SHE")
    base, inside = m.components[0], 0.0
    law = spread(base.grid, held, n)  # type: ignore[attr-defined]
    sums = n * base.grid.lowest + np.arange(law.shape[1])  # type: ignore[attr-defined]
    for count, chances in enumerate(law):
        known = m.laws(np.array([count, n - count, 0, 0, 0, 0]), n)[0]
        if not count:  # nothing is known, and everything covered
            assert isinstance(known, Unknown)
            inside += float(chances.sum())
            continue
        assert isinstance(known, Bounded)
        raw = base.decode(sums, count) * (2 * count / n)
        low, high = replace(known, frequencies=raw).ends(0.025, np.ones(sums.size, bool))
        inside += float(chances @ ((low <= held / n) & (held / n <= high)))
    assert inside >= 0.95 - 1e-9


def test_sampling_over_noise_counts_d_times() -> None:
    """What the test above takes the estimates to be."""
    m = SMP(sizes=(2, 2), epsilon=4.0, mechanism="SHE")
    known = m.laws(np.array([2, 1, 700, 5, 0, 0]), 3)[0]
    assert isinstance(known, Bounded)
    assert np.allclose(known.frequencies, m.components[0].decode(np.array([700, 5]), 2) * 4 / 3)


def spread(grid: Grid, held: int, n: int) -> np.ndarray:
    """Chances of each sum of steps, by how many people reported the attribute; two attributes."""
    steps = grid.probabilities
    size, zero = n * (steps.size - 1) + 1, -grid.lowest
    found = np.zeros((n + 1, size))
    for drawn in itertools.product((False, True), repeat=n):
        law = np.ones(1)
        for i, told in enumerate(drawn):
            one = np.zeros(steps.size)
            one[zero] = 1.0
            law = np.convolve(law, steps[:: -1 if i < held else 1] if told else one)
        found[sum(drawn)] += law / 2**n
    assert found.sum() == pytest.approx(1.0)
    return found
