"""Modular subset selection: its law, its decoder and its closed forms, against enumeration and dense matrices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

import hush
from hush.analysis import information, modular_worst
from hush.analysis.modular import Blocks
from hush.analysis.modular_system import System, rank
from hush.errors import ParameterError, ReportError, SpecError
from hush.estimation.consistency import simplex
from hush.mechanisms.modular import MSS
from hush.mechanisms.modular.moduli import blocks
from hush.mechanisms.modular.weighing import reconstruction
from hush.planning.accuracy import information_loss, mean_absolute_error, mean_squared_error
from hush.testing import check_mechanism
from tests.conftest import NAMES, UTILITY, example

pytestmark = pytest.mark.slow

Moduli = tuple[int, ...]
CASES = [(20, (7, 11, 5), 0.5), (12, (5, 7, 3), 4.0), (30, (7, 11, 13, 5), 1.0), (9, (9, 4), 1.0), (6, (2, 3, 5), 20.0)]


def some(k: int, power: float = 1.2) -> np.ndarray:
    weights = np.random.default_rng(k).permutation(np.arange(1.0, k + 1)) ** -power
    return np.asarray(weights / weights.sum())


def gain(m: MSS, people: np.ndarray) -> np.ndarray:
    """The decoder as a matrix on debiased residues, from what it does to single counts."""
    starts, law = m._starts, m.blocks
    zero = np.zeros(starts[-1] + len(m.moduli))
    zero[starts[-1] :] = people
    base = m.decode(zero, int(people.sum()))
    columns = []
    for j in range(len(m.moduli)):
        for at in range(starts[j], starts[j + 1]):
            one = zero.copy()
            one[at] = people[j] * (law.p[j] - law.q[j])
            columns.append(m.decode(one, int(people.sum())) - base)
    return np.array(columns).T


@pytest.mark.parametrize(
    "mechanism",
    [
        MSS(k=5, epsilon=1.0, moduli=(5, 3)),
        MSS(k=7, epsilon=0.3, moduli=(5, 4)),
        MSS(k=6, epsilon=1.0, moduli=(2, 3, 5), code="enumerative"),
        MSS(k=8, epsilon=2.0, moduli=(8,)),
    ],
    ids=str,
)
def test_conforms(mechanism: MSS) -> None:
    check_mechanism(mechanism)


@pytest.mark.parametrize(("k", "moduli", "epsilon"), CASES)
def test_unbiased_exactly_whatever_the_blocks_sizes(k: int, moduli: tuple[int, ...], epsilon: float) -> None:
    m = MSS(k=k, epsilon=epsilon, moduli=moduli)
    people = np.arange(1, len(moduli) + 1) * 3
    for value in (0, 1, k - 1):
        tally = np.zeros(m._starts[-1] + len(moduli))
        tally[m._starts[-1] :] = people
        for j in m.publics():
            reports = m.outputs(j)
            for y in reports:
                chance = float(Fraction(m.weight(y, value), m.denominator))
                tally[: m._starts[-1]] += people[j] * chance * m.tally(y[None])[: m._starts[-1]]
        found = m.decode(tally, int(people.sum()))
        assert np.allclose(found, np.arange(k) == value, atol=1e-8)


@pytest.mark.parametrize(("k", "moduli", "epsilon"), CASES)
def test_covariance_of_a_report_by_enumeration(k: int, moduli: tuple[int, ...], epsilon: float) -> None:
    m = MSS(k=k, epsilon=epsilon, moduli=moduli)
    f = some(k)
    for j, g in enumerate(m.blocks.system.folded(f)):
        mean, square = np.zeros(moduli[j]), np.zeros((moduli[j], moduli[j]))
        gap = m.blocks.p[j] - m.blocks.q[j]
        for y in m.outputs(j):
            chance = sum(f[v] * float(Fraction(m.weight(y, v), m.denominator)) for v in range(k))
            seen = (m.tally(y[None])[m._starts[j] : m._starts[j + 1]] - m.blocks.q[j]) / gap
            mean += chance * seen
            square += chance * np.outer(seen, seen)
        assert np.allclose(mean, g)
        exact = square - np.outer(mean, mean)
        assert np.allclose(m.blocks.covariance(j, g), exact, atol=1e-12 * np.abs(exact).max())
        assert np.abs(m.blocks.covariance(j, g).sum(axis=0)).max() < 1e-9 * np.abs(exact).max()


def test_covariance_is_not_multinomial() -> None:
    law = blocks(13, (13,), 1.0)
    g = np.full(13, 1 / 13)
    printed = -((law.omegas[0] / 13) ** 2) / (law.p[0] - law.q[0]) ** 2
    assert law.covariance(0, g)[0, 1] == pytest.approx(printed * (13 - 3) / (3 * 12))


@pytest.mark.parametrize(("k", "moduli", "epsilon"), CASES)
@pytest.mark.parametrize("fixed", [True, False])
def test_variances_from_the_decoder_itself(k: int, moduli: tuple[int, ...], epsilon: float, fixed: bool) -> None:
    """One report's covariance is enumerated above; the decoder's matrix is read off the decoder."""
    m = MSS(k=k, epsilon=epsilon, moduli=moduli)
    people, f = 10.0 * np.arange(1, len(moduli) + 1), some(k)
    n = float(people.sum())
    g, total, at = gain(m, people), np.zeros(k), 0
    for j, part in enumerate(m.blocks.system.folded(f)):
        block = g[:, at : at + moduli[j]]
        total += ((block @ m.blocks.covariance(j, part)) * block).sum(axis=1) / people[j]
        at += moduli[j]
    due = total - (f - f * f) / n * fixed
    assert np.allclose(m.blocks.variances(f, n, people=people, fixed=fixed), due, rtol=1e-8)


@pytest.mark.parametrize(("k", "moduli"), [(70, (41, 43, 67)), (110, (97, 89, 83)), (120, (2, 3, 61, 113, 67))])
def test_structured_variances_equal_dense_ones(k: int, moduli: tuple[int, ...]) -> None:
    law = blocks(k, moduli, 4.0)
    shares = np.arange(1, len(moduli) + 1) / 100
    system = System(k, moduli, law.weights * shares)
    assert not system.small
    for f in (some(k), np.eye(k)[3]):
        assert np.allclose(
            *(form(system, system.folded(f), shares) for form in (law._structured, law._dense)), rtol=1e-9
        )


def test_printed_numbers_of_the_error() -> None:
    """Corrected equation 3 as in the list of errors, the printed equation 3, and the printed bound below the truth."""
    k, moduli, n = 30, (7, 11, 13, 5), 3_000
    law = blocks(k, moduli, 1.0)
    f = np.full(k, 1 / k)
    assert law.variances(f, n, fixed=False).mean() == pytest.approx(0.4067, abs=5e-5)
    assert law.system.condition() == pytest.approx(208.844465369351, rel=1e-9)
    assert 4 * law.system.condition() * math.e / (n * (math.e - 1) ** 2) == pytest.approx(0.256, abs=5e-4)
    people = np.full(4, n / 4)
    design = System(k, moduli, law.weights * people).dense()
    printed, at = 0.0, 0
    inverse = np.linalg.pinv(design)
    for j, g in enumerate(law.system.folded(f)):
        level = law.q[j] + (law.p[j] - law.q[j]) * g
        cov = (np.diag(level) - np.outer(level, level)) / (people[j] * (law.p[j] - law.q[j]) ** 2)
        block = inverse[:, at : at + moduli[j]]
        printed += np.trace(block @ cov @ block.T) / k
        at += moduli[j]
    assert printed == pytest.approx(0.0019, abs=5e-5)


@pytest.mark.parametrize(("epsilon", "mse"), [(1.0, 0.00134038503807981), (4.0, 2.99534161434371e-05)])
def test_golden_error(epsilon: float, mse: float) -> None:
    law = blocks(100, (97, 89, 83), epsilon)
    assert law.variances(np.full(100, 0.01), 3_000, fixed=False).mean() == pytest.approx(mse, rel=1e-10)


def test_golden_condition_numbers_and_ranks() -> None:
    assert blocks(100, (97, 89, 83), 1.0).system.condition() == pytest.approx(2.54216816160729, rel=1e-9)
    assert blocks(12, (11, 3, 5, 7), 4.0).system.condition() == pytest.approx(2.912413770915, rel=1e-9)
    bound = 3.93  # by the printed theorem
    assert System(100, (29, 31, 37, 41), np.ones(4)).condition() == pytest.approx(104, abs=0.5)
    assert System(100, (29, 31, 37, 41), np.ones(4)).condition() > 20 * bound
    assert System(12, (5, 7), np.ones(2)).condition() == math.inf
    for k, moduli in ((20, (7, 11, 5)), (12, (5, 7)), (50, (11, 17))):
        assert rank(k, moduli) == np.linalg.matrix_rank(System(k, moduli, np.ones(len(moduli))).dense())


def test_golden_probabilities() -> None:
    law = Blocks(12, (12,), np.array([3]), np.array([3 * math.e / (3 * math.e + 9)]))
    assert law.q[0] == pytest.approx(0.229512101234666, rel=1e-13)
    assert law.weights[0] == pytest.approx(0.322371068788659, rel=1e-13)
    assert MSS(k=7, epsilon=4.0, moduli=(7,)).omegas == (1,)  # the printed formula gives 0


@pytest.mark.parametrize(("k", "moduli", "epsilon"), [(20, (7, 11, 5), 0.5), (12, (5, 7, 11), 0.5), (9, (9, 4), 1.0)])
def test_attack_success_by_enumeration(k: int, moduli: tuple[int, ...], epsilon: float) -> None:
    m = MSS(k=k, epsilon=epsilon, moduli=moduli)
    for prior in (np.full(k, 1 / k), some(k), some(k, 5.0)):
        best = 0.0
        for j in m.publics():
            for y in m.outputs(j):
                best += max(prior[v] * float(Fraction(m.weight(y, v), m.denominator)) for v in range(k)) / len(moduli)
        assert m.asr(prior) == pytest.approx(best, rel=1e-12)
    assert m.asr(np.ones(k)) == pytest.approx(m.asr(), rel=1e-12)


def test_golden_attack_success() -> None:
    assert MSS(k=20, epsilon=0.5, moduli=(7, 11, 5)).asr() == pytest.approx(0.0697386390381068, rel=1e-12)
    for k, moduli, epsilon, due in ((12, (5, 7), 0.5, 0.118762169250699), (50, (11, 17), 0.8, 0.0330390540077404)):
        law = blocks(k, moduli, epsilon)  # these moduli do not determine all values
        assert reconstruction(k, moduli, law.omegas.tolist(), law.p.tolist()) == pytest.approx(due, rel=1e-12)


def test_printed_attack_success_is_a_lower_bound() -> None:
    m = MSS(k=30, epsilon=1.0, moduli=(11, 13, 7, 2))
    several = list(zip(m.blocks.p, m.omegas, m.moduli, strict=True))[:3]
    printed = sum(p / (w * math.ceil(30 / size)) for p, w, size in several) / 3
    assert printed == pytest.approx(0.0583437438903594, rel=1e-12)
    assert printed < sum(p * size / (w * 30) for p, w, size in several) / 3


def test_bits() -> None:
    assert MSS(k=20, epsilon=0.5, moduli=(7, 11, 5)).average_bits == pytest.approx(23 / 3)
    m = MSS(k=1024, epsilon=2.0)
    short = MSS(k=1024, epsilon=2.0, code="enumerative")
    assert m.bits == short.bits == (sum(map(math.comb, m.moduli, m.omegas)) - 1).bit_length()
    assert short.report_dtype.itemsize == -(-m.bits // 8)
    small, plain = MSS(k=30, epsilon=1.0, code="enumerative"), hush.SS(k=30, epsilon=1.0, code="enumerative")
    assert small.report_dtype.itemsize <= plain.report_dtype.itemsize
    assert m.average_bits < hush.SS(k=1024, epsilon=2.0).bits


@pytest.mark.parametrize("k", [40, 200])
def test_decoder_equals_dense_least_squares(k: int) -> None:
    m = MSS(k=k, epsilon=2.0)
    counts = np.zeros(k, np.int64)
    counts[[1, k // 2, k - 1]] = (500, 800, 1_200)
    tally = m.simulate(counts, rng=hush.seeded(7)).tally
    parts, people = m._residues(tally)
    assert people.sum() == 2_500
    assert all(part.sum() == pytest.approx(1.0) for part in parts)
    design = System(k, m.moduli, m.blocks.weights * people).dense()
    right = np.concatenate([np.sqrt(w * n) * s for w, n, s in zip(m.blocks.weights, people, parts, strict=True)])
    due = np.linalg.lstsq(design, right, rcond=None)[0]
    assert np.abs(m.decode(tally, 2_500) - due).max() < 1e-8 * np.abs(due).max()


@pytest.mark.parametrize("k", [20, 90])
def test_ridge_solves_its_own_equations(k: int) -> None:
    m = MSS(k=k, epsilon=0.5)
    aggregate = m.simulate(np.full(k, 50), rng=hush.seeded(7))
    parts, people = m._residues(aggregate.tally)
    design = System(k, m.moduli, m.blocks.weights * people).dense()
    right = np.concatenate([np.sqrt(w * n) * s for w, n, s in zip(m.blocks.weights, people, parts, strict=True)])
    due = np.linalg.solve(design.T @ design + 4.0 * np.eye(k), design.T @ right)
    found = m.ridge(aggregate)
    assert np.allclose(found.frequencies, due, atol=1e-9)
    assert found.projection == "ridge"
    with pytest.raises(ParameterError, match="penalty must be a number above 0"):
        m.ridge(aggregate, -1.0)
    with pytest.raises(SpecError, match="must come from the spec"):
        m.ridge(MSS(k=k, epsilon=0.6).simulate(np.full(k, 5), rng=hush.seeded(7)))


@pytest.mark.parametrize("ridge", [0.0, 2.0])
@pytest.mark.parametrize(
    ("k", "moduli", "weights"),
    [
        (20, (7, 11, 5), (1, 2, 3)),
        (20, (7, 11, 5), (1, 2, 0)),  # undetermined
        (20, (7, 11, 5), (0, 0, 1)),
        (20, (7, 11, 5), (0, 0, 0)),
        (58, (2, 3, 5, 7, 11, 13, 23), (1, 1, 1, 1, 1, 1, 1)),  # a condition number of two million
        (64, (61, 59), (1e-3, 1e3)),
    ],
)
def test_small_systems_equal_dense_least_squares(
    k: int, moduli: Moduli, weights: tuple[float, ...], ridge: float
) -> None:
    system = System(k, moduli, np.array(weights, float), ridge)
    parts = [np.random.default_rng(m).standard_normal(m) for m in moduli]
    seen = np.concatenate([np.sqrt(w) * part for w, part in zip(weights, parts, strict=True)])
    design = system.dense()
    right = np.concatenate([seen, np.zeros(design.shape[0] - seen.size)])
    due = np.linalg.lstsq(design, right, rcond=1e-10)[0]
    assert np.allclose(system.fit(parts), due, rtol=0, atol=1e-6 * np.abs(due).max())
    assert np.allclose(system.normal(), design.T @ design)


def test_ridge_pulls_a_spike_down() -> None:
    """At n=1000 and epsilon=0.5 the printed ridge takes several per cent off the value that everybody has."""
    m = MSS(k=60, epsilon=0.5)
    law, each = m.blocks, 1_000 // len(m.moduli)
    people = np.full(len(m.moduli), each)
    parts = [each * (law.q[j] + (law.p[j] - law.q[j]) * g) for j, g in enumerate(law.system.folded(np.eye(60)[7]))]
    tally = np.concatenate([*parts, people])
    assert m.decode(tally, int(people.sum()))[7] == pytest.approx(1.0, abs=1e-8)
    biased = System(60, m.moduli, law.weights * people, 1 / 0.25).fit(m._residues(tally)[0])
    assert 0.8 < biased[7] < 0.97


@pytest.mark.parametrize(("k", "moduli"), [(20, (7, 11, 5)), (70, (41, 43, 67))])
def test_influence_of_a_member(k: int, moduli: tuple[int, ...]) -> None:
    m = MSS(k=k, epsilon=1.0, moduli=moduli)
    targets, n = np.array([0, 3, k - 1]), 300
    tally = m.simulate(np.full(k, 10), rng=hush.seeded(7)).tally
    tally[m._starts[-1] :] = n // 3
    before = m.decode(tally, n)[targets].sum()
    for j, part in enumerate(m.influence(targets)):
        for r in (0, moduli[j] - 1):
            more = tally.copy()
            more[m._starts[j] + r] += 1
            assert n * (m.decode(more, n)[targets].sum() - before) == pytest.approx(part[r], rel=1e-6, abs=1e-6)


def test_blocks_without_reports() -> None:
    m = MSS(k=6, epsilon=1.0, moduli=(5, 6))
    only = m.outputs(1)[:3]
    assert m.decode(m.tally(only), 3).sum() == pytest.approx(1.0)  # the other block determines all values
    part = MSS(k=11, epsilon=1.0, moduli=(5, 7))
    lone = part.decode(part.tally(part.outputs(0)[:1]), 1)
    assert np.isfinite(lone).all()
    assert np.allclose(lone[:5], lone[5:10])  # the smallest of the solutions: values of a residue share alike


LONG = (547, 839, 1709, 2011, 2347, 2663, 2887, 3169, 3259, 3671, 3853, 4591, 4643, 4721, 4733)


@pytest.mark.parametrize(
    ("epsilon", "moduli", "usual", "most"),
    [(3.0, LONG, 0.001, 0.002), (7.0, LONG, 0.01, 0.03), (10.0, (1721, 4159, 4259, 4421), 0.12, 0.75)],
    ids=["3", "7", "10"],
)
def test_error_bars_of_many_values_are_near_the_exact_ones(
    epsilon: float, moduli: Moduli, usual: float, most: float
) -> None:
    k = 5_000
    law = blocks(k, moduli, epsilon)
    two, several = np.zeros(k), np.zeros(k)
    two[[17, 900]] = 0.7, 0.3
    several[np.random.default_rng(1).choice(k, 20, replace=False)] = 0.05
    for f in (two, several, some(k), np.full(k, 1 / k)):
        ratio = np.sqrt(law.near_variances(f, 10_000) / law.variances(f, 10_000))
        assert np.sqrt(((ratio - 1) ** 2).mean()) < usual
        assert np.abs(ratio - 1).max() < most < 1  # so none is zero
    ratio = np.sqrt(law.near_variances(two, 10_000) / law.variances(two, 10_000))
    assert np.abs(ratio - 1).max() < 1e-5


def test_error_bars_are_exact_where_they_are_not_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    m = MSS(k=1_024, epsilon=3.0)
    estimate = m.estimate(m.simulate(np.arange(1_024), rng=hush.seeded(7)))
    assert callable(estimate.errors)
    people = m.simulate(np.arange(1_024), rng=hush.seeded(7)).tally[m._starts[-1] :].astype(float)
    due = m.blocks.variances(simplex(estimate.frequencies), estimate.n, people=people)
    assert np.allclose(estimate.stderr, np.sqrt(due), rtol=1e-12)
    assert estimate.stderr is estimate.stderr
    monkeypatch.setattr("hush.analysis.modular.EXACT_TERMS", 0)
    near = m.estimate(m.simulate(np.arange(1_024), rng=hush.seeded(7))).stderr
    assert 0 < np.abs(near / estimate.stderr - 1).max() < 0.05


def test_error_bars_of_few_reports_know_how_many_each_block_has() -> None:
    m = MSS(k=6, epsilon=2.0, moduli=(5, 6))
    for counts in ((1, 3), (0, 4), (4, 0)):
        reports = np.concatenate([m.outputs(j)[np.zeros(many, int)] for j, many in enumerate(counts)])
        estimate = m.estimate(m.aggregate(reports))
        whole = counts != (4, 0)  # residues modulo 5 alone do not determine six values
        people = np.array(counts, float) if whole else np.full(2, 2.0)
        due = m.blocks.variances(simplex(estimate.frequencies), 4, people=people)
        assert np.allclose(estimate.stderr, np.sqrt(due), rtol=1e-12)


def test_flat_variances_are_near_those_of_equal_frequencies() -> None:
    law = MSS(k=2_048, epsilon=3.0).blocks
    due = law.variances(np.full(2_048, 1 / 2_048), 10_000, fixed=False).mean()
    assert law.flat_variances(10_000).mean() == pytest.approx(due, rel=2e-3)


def test_malformed_reports() -> None:
    m = MSS(k=20, epsilon=0.5, moduli=(7, 11, 5))
    good = m.privatize([3] * 30, rng=hush.seeded(7))
    for block, *subset in ((3, 0, 1, 2, 3), (0, 1, 1, 0, 0), (0, 2, 1, 0, 0), (0, 1, 7, 0, 0), (2, 1, 0, 2, 0)):
        bad = good.copy()
        bad[4] = (block, subset)
        with pytest.raises(ReportError, match=r"reports must .*, got ('another'|3 at position 4); "):
            m.aggregate(bad)
    code = MSS(k=20, epsilon=0.5, moduli=(7, 11, 5), code="enumerative")
    bad = code.privatize([3] * 30, rng=hush.seeded(7))
    bad["number"][0] = list((21 + 330 + 5).to_bytes(2, "little"))  # subsets of 2 of 7, 4 of 11 and 1 of 5
    with pytest.raises(ReportError, match=r"must be numbers of subsets, below the sum of C\(m, omega\)"):
        code.aggregate(bad)


def test_codes_agree() -> None:
    plain, short = (MSS(k=200, epsilon=1.0, code=code) for code in ("sorted", "enumerative"))
    values = np.arange(200)
    reports = [m.privatize(values, rng=hush.seeded(7)) for m in (plain, short)]
    assert (plain.members(reports[0]) == short.members(reports[1])).all()
    assert (plain.aggregate(reports[0]).tally == short.aggregate(reports[1]).tally).all()
    assert short.report_dtype.itemsize < plain.report_dtype.itemsize
    small = MSS(k=20, epsilon=0.5, moduli=(7, 11, 5), code="enumerative")
    numbers = sorted(int.from_bytes(y.tobytes(), "little") for j in range(3) for y in small.outputs(j))
    assert numbers == list(range(21 + 330 + 5))  # every number once, none beyond
    assert "code" not in plain.to_dict()
    assert hush.Spec.from_json(hush.Spec(short).to_json()).mechanism == short


def populations(k: int) -> Iterator[np.ndarray]:
    """One value, two in equal and other shares, and mixtures of many and of few."""
    eye, rng = np.eye(k), np.random.default_rng(k)
    yield from eye
    for u, v in itertools.combinations(range(k), 2):
        yield from (share * eye[u] + (1 - share) * eye[v] for share in (0.5, 0.3, 0.8))
    for scale in (0.05, 0.3, 2.0):
        yield from rng.dirichlet(np.full(k, scale), 100)


@pytest.mark.parametrize(
    ("k", "moduli", "epsilon"), [*CASES, (20, None, 8.0), (8, (8,), 1.0), (23, (2, 3, 5, 17), 6.0)]
)
def test_no_population_has_a_larger_variance_than_the_worst(k: int, moduli: Moduli | None, epsilon: float) -> None:
    m = MSS(k=k, epsilon=epsilon, moduli=moduli)
    seen = max(float(m.variances(f, 10).max()) for f in populations(k))
    assert 0.9 * m.blocks.worst_variance(10) <= seen <= m.blocks.worst_variance(10) * (1 + 1e-9)
    assert m.blocks.worst_variance(10) >= m.blocks.even_variance(10)


@pytest.mark.parametrize(("k", "moduli", "epsilon"), [*CASES, (23, (2, 3, 5, 17), 6.0), (80, (41, 43, 67), 9.0)])
def test_worst_variance_is_that_of_a_smallest_enclosing_ball(k: int, moduli: Moduli, epsilon: float) -> None:
    """The concave program in its frequencies, solved apart: its value for some, and the mirror image of each value."""
    law = blocks(k, moduli, epsilon)
    assert law.worst.reached <= law.worst.bound <= law.worst.reached * (1 + 1.01 * modular_worst.TOLERANCE)
    search, best = modular_worst.Search(law), 0.0
    for v in range(k):
        value, bound, _ = search._ball(v)
        assert value <= bound * (1 + 1e-12)
        assert value <= law.worst.bound * (1 + 1e-12)
        assert search._ball(k - 1 - v)[1] == pytest.approx(bound, rel=0.01)
        best = max(best, value)
    assert law.worst.bound <= best * (1 + 2 * modular_worst.TOLERANCE)
    centre = search._ball(k // 2)[2]
    exact = np.array([search._ball(v)[1] for v in range((k + 1) // 2)])
    assert (search._first(centre) >= exact * (1 - 0.01)).all()
    assert (search._coarse(centre) >= search._first(centre) * (1 - 1e-9)).all()


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("name", sorted({*NAMES, *UTILITY}))
def test_worst_errors_of_all_mechanisms_are_the_largest(name: str, epsilon: float) -> None:
    """In particular no other relies on a variance that is linear in the frequencies where it is not."""
    m, rng = example(name, 7, min(epsilon, 0.9) if name == "GM" else epsilon), np.random.default_rng(7)
    worst = mean_squared_error(m, 50, worst=True) * (1 + 1e-9)
    for f in (*np.eye(7), *rng.dirichlet(np.full(7, 0.3), 40), *(np.eye(7)[:-1] + np.eye(7)[1:]) / 2):
        assert m.variances(f, 50).max() <= worst
    assert mean_squared_error(m, 50) <= worst
    assert mean_absolute_error(m, 50) <= mean_absolute_error(m, 50, worst=True) * 1.1


def test_the_worst_case_of_the_list_of_faults() -> None:
    """Half hold 3 and half hold 5: 4.94e-4 by formula, 5.07e-4 simulated, where a corner has 1.4e-11."""
    m = MSS(k=6, epsilon=20.0, moduli=(2, 3, 5))
    both = np.array([0, 0, 0, 0.5, 0, 0.5])
    assert m.variances(both, 1_000).max() == pytest.approx(4.94e-4, abs=1e-6)
    assert m.variances(np.eye(6)[3], 1_000).max() < 1e-10
    assert 4.94e-4 < mean_squared_error(m, 1_000, worst=True) < 6e-4
    wide = MSS(k=20, epsilon=8.0)
    for error in (mean_squared_error, mean_absolute_error):
        assert error(wide, 10_000, worst=True) > 2 * error(wide, 10_000)


@pytest.mark.parametrize("epsilon", [2.0, 4.0, 7.0, 10.0])
@pytest.mark.parametrize(
    ("k", "moduli"), [(1_000, (317, 373, 709, 859)), (120, (2, 3, 61, 113, 67)), (1_000, (499, 503, 101))]
)
def test_even_variance_of_many_values(k: int, moduli: Moduli, epsilon: float) -> None:
    law = MSS(k=k, epsilon=epsilon, moduli=moduli).blocks
    assert not law.system.small
    due = float(law.variances(np.full(k, 1 / k), 7).mean())
    assert law.even_variance(7) == pytest.approx(due, rel=1e-7)


@pytest.mark.parametrize(("k", "moduli", "epsilon"), CASES)
def test_information_by_enumeration(k: int, moduli: tuple[int, ...], epsilon: float) -> None:
    m = MSS(k=k, epsilon=epsilon, moduli=moduli)
    kept = 0.0
    for j in m.publics():
        law = [[float(Fraction(m.weight(y, v), m.denominator)) for v in range(k)] for y in m.outputs(j)]
        kept += information.channel(np.array(law), np.full(k, 1 / k)) / len(moduli)
    found = information_loss(m)
    assert found.stderr == 0.0
    assert 1 - found.loss == pytest.approx(kept, rel=1e-9)
