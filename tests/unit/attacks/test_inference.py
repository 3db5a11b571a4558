"""The expected success of attacks on classes, habits and changes: by enumeration, and by the attacks themselves."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import hush
from hush.attacks import inference, pools
from hush.attacks.inference import _halves, _simulated, classes
from hush.errors import ParameterError
from hush.exact.enumeration import enumerated
from hush.longitudinal import Repeated
from tests.conftest import example

TWO_LEVELS = ("GRR", "SS", "SUE", "OUE")


def law(m: hush.GRR) -> np.ndarray:
    """Probabilities from the integers that the mechanism states, as [output, value]."""
    (listing,) = enumerated(m)
    rows = zip(listing.weights, listing.copies, strict=True)
    return np.array([[copies * weight / m.denominator for weight in row] for row, copies in rows])


def several(m: hush.GRR, behaviour: np.ndarray, reports: int) -> float:
    """The best guess among classes from several reports: every sequence of outputs, one by one."""
    one = law(m) @ behaviour.T
    total = 0.0
    for sequence in itertools.product(range(len(one)), repeat=reports):
        total += np.prod(one[list(sequence)], axis=0).max()
    return total / len(behaviour)


@pytest.mark.parametrize("name", [*TWO_LEVELS, "HR"])
@pytest.mark.parametrize("parts", [2, 3])
def test_naming_a_class_by_enumeration(name: str, parts: int) -> None:
    m = example(name, 6, 1.3)
    of = classes(6, parts)
    joint = np.stack([law(m)[:, of == j].sum(axis=1) for j in range(parts)], axis=1) / 6
    found = inference.attribute(m, parts)
    assert found.rate == pytest.approx(joint.max(axis=1).sum(), rel=1e-9)
    assert found.stderr == 0.0
    assert found.chance_level == pytest.approx(1 / parts)
    assert 0 < found.advantage < 1


@pytest.mark.parametrize("name", TWO_LEVELS)
@pytest.mark.parametrize("k", [5, 8])
def test_the_law_of_sizes_says_the_same_as_all_outputs(name: str, k: int) -> None:
    m = example(name, k, 0.7)
    shape = m.forms.shape
    assert shape is not None
    of = classes(k, 2)
    joint = np.stack([law(m)[:, of == j].sum(axis=1) for j in range(2)], axis=1) / k
    assert _halves(shape.law, shape.high, shape.low, of) == pytest.approx(joint.max(axis=1).sum(), rel=1e-9)


@pytest.mark.parametrize("name", [*TWO_LEVELS, "HR"])
def test_pools_of_one_report_are_classes_and_habits_mix_them(name: str) -> None:
    m = example(name, 6, 1.0)
    for loyalty in (0.3, 1.0):
        behaviour = pools.habits([[0, 1, 2], [3, 4, 5]], 6, loyalty=loyalty)
        expected = several(m, behaviour, 1)
        assert inference.pools(m, reports=1, loyalty=loyalty).rate == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("name", "loyalty"), [("GRR", 1.0), ("GRR", 0.5), ("SS", 1.0), ("HR", 0.8)])
def test_several_reports_by_enumeration(name: str, loyalty: float) -> None:
    """Simulated with a fixed seed; six standard errors, 2·10⁻⁹ under the normal law."""
    m = example(name, 4, 1.0)
    found = inference.pools(m, reports=3, loyalty=loyalty)
    expected = several(m, pools.habits([[0, 1], [2, 3]], 4, loyalty=loyalty), 3)
    assert 0 < found.stderr < 0.003
    assert abs(found.rate - expected) < 6 * found.stderr


def test_a_simulated_rate_is_that_of_the_attack() -> None:
    """The attack's own successes; six standard errors of the difference."""
    m, rng = hush.OLH(k=30, epsilon=1.0), hush.seeded(11)
    found = inference.pools(m, 3, reports=5)
    of = classes(30, 3)
    behaviour = pools.habits([np.nonzero(of == j)[0] for j in range(3)], 30)
    favoured = np.arange(30_000) % 3
    values = np.stack([rng.choice(30, 5, p=behaviour[j]) for j in favoured])
    repeated = Repeated(m, 5)
    seen = pools.infer(repeated, repeated.collect(values, rng=rng), favoured, behaviour, rng=rng)
    assert abs(seen.success - found.rate) < 6 * math.hypot(found.stderr, 0.5 / math.sqrt(seen.n))


@pytest.mark.parametrize("name", [*TWO_LEVELS, "HR"])
def test_a_change_is_told_as_well_as_the_reports_after_it(name: str) -> None:
    m = example(name, 5, 1.0)
    one = law(m)

    def apart(other: int, reports: int) -> float:
        total = 0.0
        for sequence in itertools.product(range(len(one)), repeat=reports):
            stays, moves = (np.prod(one[list(sequence), value]) for value in (0, other))
            total += max(stays - moves, 0.0)
        return total

    expected = max(apart(1, 2), apart(4, 2))
    found = inference.changes(m, reports=4)
    assert abs(found.advantage - expected) < max(1e-9, 6 * 2 * found.stderr)


def test_without_a_formula_changes_are_simulated() -> None:
    m = hush.SHE(k=4, epsilon=1.0)
    found = inference.changes(m, reports=6)
    assert found.stderr > 0
    assert 0.5 < found.rate < 1.0


def test_more_budget_and_more_reports_tell_more() -> None:
    rates = [inference.pools(hush.OUE(k=20, epsilon=e), reports=r).rate for e, r in ((0.5, 4), (1.0, 4), (1.0, 16))]
    assert rates == sorted(rates)
    assert rates[0] < rates[-1]


def test_simulation_stays_within_its_memory() -> None:
    found = _simulated(hush.OUE(k=2000, epsilon=4.0), np.eye(2)[classes(2000, 2)].T / 1000, np.full(2, 0.5), 10, 0.5)
    assert 0.5 < found.rate < 1.0
    assert found.stderr < 0.02


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda m: inference.attribute(m, 1), "parts"),
        (lambda m: inference.attribute(m, 9), "parts"),
        (lambda m: inference.attribute(m, 2.5), "parts"),
        (lambda m: inference.pools(m, reports=0), "reports"),
        (lambda m: inference.pools(m, loyalty=math.nan), "loyalty"),
        (lambda m: inference.pools(m, loyalty=1.5), "loyalty"),
        (lambda m: inference.changes(m, reports=1), "reports"),
    ],
)
def test_bad_numbers_are_named(call: object, named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        call(hush.GRR(k=8, epsilon=1.0))  # type: ignore[operator]
