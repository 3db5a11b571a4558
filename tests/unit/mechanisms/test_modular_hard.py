"""Modular subset selection with moduli that barely determine all values, and with blocks that nobody reports from."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import hush
from hush.analysis.modular import Blocks
from hush.analysis.modular_system import System
from hush.analysis.primes import primes
from hush.errors import ConvergenceError, SpecError
from hush.mechanisms.modular import MSS
from hush.mechanisms.modular.moduli import blocks
from hush.planning.accuracy import mean_absolute_error, mean_squared_error
from hush.planning.objectives import OBJECTIVES, Setting

Moduli = tuple[int, ...]
BAD = MSS(k=30, epsilon=1.0, moduli=(7, 11, 13, 5))


def drawn(k: int, slack: int, rng: np.random.Generator) -> Moduli:
    """Random primes that determine k values, with at most so many equations to spare."""
    known = primes(k // 2)
    while True:
        moduli = sorted(rng.choice(known, min(known.size, int(rng.integers(3, 10))), replace=False).tolist())
        if math.prod(moduli) >= k and 0 <= 1 + sum(m - 1 for m in moduli) - k <= slack:
            return tuple(moduli)


RNG = np.random.default_rng(13)
LISTS = [(k, drawn(k, slack, RNG)) for k in (30, 60, 70, 100, 150, 300) for slack in (2, 12, 10**6)]


def factorized(law: Blocks) -> tuple[np.ndarray, float]:
    """What turns weighted residues into values, and the condition: from the singular values of the design itself."""
    left, singular, right = np.linalg.svd(law.system.dense(), full_matrices=False)
    return (right.T / singular) @ left.T, float(singular[0] / singular[-1])


def variances(law: Blocks, f: np.ndarray) -> np.ndarray:
    """In a fixed population, from matrices."""
    gain, _ = factorized(law)
    total, at = f * f - f, 0
    for j, (m, g) in enumerate(zip(law.moduli, law.system.folded(f), strict=True)):
        part = gain[:, at : at + m] * math.sqrt(law.weights[j] * len(law.moduli))
        total = total + np.einsum("vr,rs,vs->v", part, law.covariance(j, g), part)
        at += m
    return total


def only(k: int, value: int, frequency: float) -> np.ndarray:
    """One value has this frequency, the others share the rest."""
    shares = np.full(k, (1 - frequency) / (k - 1))
    shares[value] = frequency
    return shares


@pytest.mark.parametrize(("k", "moduli"), LISTS, ids=str)
def test_conditions_and_errors_of_any_moduli_are_those_of_the_design(k: int, moduli: Moduli) -> None:
    """The normal matrix squares the condition: at 1e8 it has no digit left."""
    law = blocks(k, moduli, 1.0)
    _, condition = factorized(law)
    near = 1e-6 + 1e-15 * condition  # a design is known to 1e-16 of itself
    assert law.system.condition() == pytest.approx(condition, rel=near)
    f = np.random.default_rng(k).dirichlet(np.ones(k))
    due = variances(law, f)
    assert law.variances(f) == pytest.approx(due, rel=1e-6 + 1e-15 * condition, abs=1e-9 * due.max())
    even = variances(law, np.full(k, 1 / k)).mean()
    assert law.even_variance() == pytest.approx(even, rel=near)
    for frequency in (0.0, 0.2):
        mean = np.mean([law.variances(only(k, v, frequency))[v] for v in range(k)])
        assert law.variance(frequency, 7) == pytest.approx(mean / 7, rel=near)
    assert law.worst.bound >= max(due.max(), even) * (1 - near)
    truth = np.arange(k) / math.comb(k, 2)
    assert np.abs(law.system.fit(law.system.folded(truth)) - truth).max() < 1e-12 * condition


def test_some_of_those_lists_are_hard() -> None:
    conditions = [blocks(k, moduli, 1.0).system.condition() for k, moduli in LISTS]
    assert max(conditions) > 1e8
    assert sum(condition > 1e4 for condition in conditions) >= 4
    assert min(conditions) < 100
    dense = [blocks(k, moduli, 1.0).system.small for k, moduli in LISTS if k > 64]
    assert any(dense)
    assert not all(dense)


def test_a_condition_that_cannot_be_found_is_told_as_at_least_a_million(monkeypatch: pytest.MonkeyPatch) -> None:
    k, moduli = 150, (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)
    law = blocks(k, moduli, 1.0)
    assert law.system.condition() > 1e12
    assert law.system.condition(50.0) > 50.0
    monkeypatch.setattr("hush.analysis.modular_system._ROOM", 0)
    narrow = System(k, moduli, law.weights)
    assert narrow.condition() == 1e6
    assert not narrow.small
    with pytest.raises(ConvergenceError, match="too badly conditioned"):
        _ = narrow.first


def test_the_variance_of_a_value_is_the_mean_over_the_values() -> None:
    """That of the first, 0.063 here, is a twentieth of it."""
    assert BAD.variances(only(30, 0, 0.0), 1000)[0] == pytest.approx(0.063, abs=5e-4)
    due = np.mean([variances(BAD.blocks, only(30, v, 0.0))[v] for v in range(30)]) / 1000
    assert due > 1.2
    assert BAD.variance(1000) == pytest.approx(due, rel=1e-9)
    assert OBJECTIVES["variance"].measure(BAD, Setting(n=1000)) == pytest.approx(due, rel=1e-9)
    assert mean_squared_error(BAD, 1000, 0.0) == pytest.approx(due, rel=1e-9)
    assert mean_absolute_error(BAD, 1000, 0.0) == pytest.approx(math.sqrt(2 / math.pi * due), rel=1e-9)


@pytest.mark.parametrize("frequency", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    "m",
    [hush.HR(k=37, epsilon=3.0), hush.HR(k=100, epsilon=4.0), hush.uHR(k=40, epsilon=3.0, sensitive=range(3, 40)),
     hush.PGR(k=37, epsilon=2.0), hush.SHE(k=9, epsilon=1.0)],
    ids=str,
)  # fmt: skip
def test_that_of_other_mechanisms_is_such_a_mean_too(m: hush.mechanisms.base.FrequencyOracle, frequency: float) -> None:
    values = getattr(m, "sensitive", range(m.k))
    due = np.mean([m.variances(only(m.k, v, frequency), 5)[v] for v in values])
    assert m.variance(5, frequency) == pytest.approx(due, rel=1e-9)


def expected(m: MSS, values: tuple[int, ...], blocks: tuple[int, ...]) -> np.ndarray:
    """The mean estimate of people with these values, given the block of each, by enumeration of all their reports."""
    total = np.zeros(m.k)
    for reports in itertools.product(*(m.outputs(j) for j in blocks)):
        weight = math.prod(m.weight(y, v) / m.denominator for y, v in zip(reports, values, strict=True))
        total += weight * m.decode(m.tally(np.stack(reports)), len(values))
    return total


@pytest.mark.parametrize("blocks", list(itertools.product(range(3), repeat=2)), ids=str)
def test_estimates_are_unbiased_where_the_blocks_with_reports_determine_all_values(blocks: tuple[int, int]) -> None:
    """Given a split of the people over the blocks, everybody is as likely to be in one as in another."""
    m = MSS(k=5, epsilon=1.0, moduli=(2, 3, 5))
    values = (0, 1)
    reports = np.stack([m.outputs(j)[0] for j in blocks])
    sure = m.determined(m.aggregate(reports))
    assert sure == (2 in blocks)  # residues modulo 2 and 3 tell four frequencies, not five
    splits = set(itertools.permutations(blocks))
    mean = sum(expected(m, values, split) for split in splits) / len(splits)
    truth = np.bincount(values, minlength=5) / 2
    assert np.allclose(mean, truth, atol=1e-9) == sure
    if not sure:
        assert (mean**2).sum() < (truth**2).sum()


def test_another_aggregate_is_not_judged() -> None:
    other = MSS(k=30, epsilon=1.0, moduli=(29, 30))
    with pytest.raises(SpecError):
        BAD.determined(other.aggregate(other.privatize([3] * 5)))
