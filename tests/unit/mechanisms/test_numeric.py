"""Numeric mechanisms against the exact law they state, by enumeration on small grids; rules, wire and round trips."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import DomainError, ParameterError, ReportError, SpecError
from hush.mechanisms.numeric import Duchi, Hybrid, Piecewise
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.numeric.forms import NumericForms

NUMERIC = hush.registry(kind="numeric")
NAMES = sorted(NUMERIC)


def made(name: str, **changes: Any) -> Numeric:
    return NUMERIC[name](**{"low": -2.0, "high": 4.0, "epsilon": 1.0, "steps": 6, **changes})


def says(m: Numeric, report: Any) -> tuple[Fraction, Fraction]:
    """What one report says about its tick, exactly, and its square."""
    return m.moments(m.tally(np.array([report], m.report_dtype)), 1)


@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
@pytest.mark.parametrize("name", NAMES)
def test_the_law_sums_to_one_keeps_epsilon_and_is_unbiased_exactly(name: str, epsilon: float, steps: int) -> None:
    m = made(name, epsilon=epsilon, steps=steps)
    outputs = m.outputs()
    weights = [[m.weight(y, t) for t in range(steps + 1)] for y in outputs]
    said = [says(m, y)[0] for y in outputs]
    for t in range(steps + 1):
        column = [row[t] for row in weights]
        assert sum(column) == m.denominator
        assert sum(w * s for w, s in zip(column, said, strict=True)) == t * m.denominator
    assert m.exact_epsilon() == Numeric.exact_epsilon(m)
    assert epsilon * (1 - 1e-9) < m.exact_epsilon() <= epsilon
    assert m.guarantee == hush.LDP(epsilon)
    np.testing.assert_allclose(m.decode(outputs), [float(s) for s in said], rtol=1e-12)
    np.testing.assert_allclose(m.chances(np.arange(steps + 1)), np.array(weights, float) / m.denominator, rtol=1e-12)


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 20.0, 40.0])
@pytest.mark.parametrize("name", NAMES)
def test_the_loss_never_exceeds_epsilon(name: str, epsilon: float) -> None:
    for steps in (1, 7, 1000, 1 << 20):
        assert made(name, epsilon=epsilon, steps=steps).exact_epsilon() <= epsilon


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("name", NAMES)
def test_variances_equal_enumeration_rounding_included(name: str, epsilon: float) -> None:
    m = made(name, epsilon=epsilon)
    ticks = np.arange(m.steps + 1)
    law, said = m.chances(ticks), m.decode(m.outputs())
    numbers = np.array([-2.0, -1.3, 0.0, 0.5, 2.25, 3.999, 4.0])
    for x in numbers:
        at = (x - m.low) * m.steps / m.width
        below = min(int(at), m.steps - 1)
        column = (below + 1 - at) * law[:, below] + (at - below) * law[:, below + 1]
        mean = column @ said
        assert mean == pytest.approx(at, abs=1e-9)
        exact = column @ (said - mean) ** 2 * (m.width / m.steps) ** 2
        assert m.variance(values=[x]) == pytest.approx(exact, rel=1e-9)
    each = [m.variance(values=[x]) for x in numbers]
    assert m.variance(n=10, values=numbers) == pytest.approx(np.mean(each) / 10)
    weighted = m.variance(values=numbers[:2], weights=[3, 1])
    assert weighted == pytest.approx((3 * each[0] + each[1]) / 4)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 6.0])
@pytest.mark.parametrize("name", NAMES)
def test_the_worst_variance_is_the_largest(name: str, epsilon: float) -> None:
    m = made(name, epsilon=epsilon)
    dense = np.linspace(m.low, m.high, 2001)
    largest = max(m.variance(values=[x]) for x in dense)
    assert largest <= m.variance() * (1 + 1e-12)
    assert largest == pytest.approx(m.variance(), rel=1e-4)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_variances_are_those_of_the_papers_in_the_limit_of_a_fine_grid(epsilon: float) -> None:
    setting = {"low": -1.0, "high": 1.0, "epsilon": epsilon, "steps": 1 << 16}
    e, s = math.exp(epsilon), math.exp(epsilon / 2)
    bound = (e + 1) / (e - 1)
    for t in (0.0, 0.6, 1.0):
        coin = bound**2 - t**2
        window = t**2 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)
        share = 1 - 1 / s if epsilon > 0.61 else 0.0
        assert Duchi(**setting).variance(values=[t]) == pytest.approx(coin, rel=1e-6)
        assert Piecewise(**setting).variance(values=[t]) == pytest.approx(window, rel=1e-3)
        assert Hybrid(**setting).variance(values=[t]) == pytest.approx(share * window + (1 - share) * coin, rel=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_characteristic_functions_equal_enumeration(name: str) -> None:
    m = made(name)
    ticks = np.arange(m.steps + 1)
    theta = np.array([0.01, 0.3, 2.0])
    exact = np.exp(1j * theta[:, None] * m.decode(m.outputs())) @ m.chances(ticks)
    found = 1 + m.pieces(ticks).phi_less_one(theta, np.zeros(ticks.size))
    np.testing.assert_allclose(found, exact, atol=1e-12)
    np.testing.assert_allclose(m.pieces(ticks).mean(), ticks, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_means_with_their_errors(name: str) -> None:
    m = NUMERIC[name](low=0.0, high=40.0, epsilon=2.0, steps=40)
    values = np.repeat(np.arange(41), 500)
    whole = m.aggregate(m.privatize(values, rng=hush.seeded(7)))
    parts = m.aggregate(iter([m.privatize(values[:0]), m.privatize(values, rng=hush.seeded(7))]))
    assert whole == parts
    found = m.estimate(whole)
    assert found.n == values.size
    assert found.total == pytest.approx(found.mean * found.n)
    spread = (m.variance(1, values) + values.var()) / found.n
    assert found.stderr == pytest.approx(math.sqrt(spread), rel=0.05)
    low, high = found.interval(0.999999)
    assert low < 20 < high
    assert found.to_dict()["n"] == found.n
    assert found.total_stderr == found.to_dict()["total_stderr"] == found.stderr * found.n
    alone = m.estimate(m.aggregate(m.privatize([3.0])))
    assert alone.stderr == pytest.approx(math.sqrt(m.variance()))


@pytest.mark.parametrize("name", NAMES)
def test_few_reports_that_agree_do_not_seem_certain(name: str) -> None:
    """Three equal reports have no spread; what any report's noise is at least is still there."""
    m = made(name)
    least = min(m.variance(values=[x]) for x in np.linspace(m.low, m.high, 601))
    same = np.zeros(3, m.report_dtype)
    assert m.estimate(m.aggregate(same)).stderr == pytest.approx(math.sqrt(least / 3))


def test_a_tally_of_another_shape_is_refused() -> None:
    m = made("Duchi")
    with pytest.raises(SpecError, match=r"must have a tally of shape \(1,\)"):
        m.estimate(hush.Aggregate(3, np.zeros(2, np.int64), m.spec_hash))


def test_tallies_of_squares_do_not_overflow() -> None:
    m = Piecewise(low=0.0, high=1.0, epsilon=20.0)
    report = np.full(1000, m.size - 1, m.report_dtype)
    total, squares = m.moments(m.tally(report), 1000)
    one, square = says(m, m.size - 1)
    assert (total, squares) == (1000 * one, 1000 * square)


@pytest.mark.parametrize("name", NAMES)
def test_ends_round_to_themselves(name: str) -> None:
    m = made(name)
    floors, parts = m.ticks([m.low, m.high, 0.0, 0.25])
    assert floors.tolist() == [0, m.steps, 2, 2]
    assert parts.tolist() == [0, 0, 0, 1 << 62]


@pytest.mark.parametrize("name", NAMES)
def test_seeds_repeat_and_secure_randomness_does_not(name: str) -> None:
    m = made(name)
    values = np.linspace(m.low, m.high, 70_000)
    assert (m.privatize(values, rng=hush.seeded(7)) == m.privatize(values, rng=hush.seeded(7))).all()
    assert (m.privatize(values) != m.privatize(values)).any()
    assert m.privatize(1.0).dtype == m.report_dtype
    assert m.bits == (m.size - 1).bit_length()


@pytest.mark.parametrize("name", NAMES)
def test_it_travels(name: str) -> None:
    m = made(name, epsilon=1.5)
    assert hush.from_dict(m.to_dict()) == m
    assert pickle.loads(pickle.dumps(m)) == m
    assert len(m.spec_hash) == 64
    assert m.spec_hash != made(name, epsilon=1.6).spec_hash
    assert all(isinstance(x, str) for x in m.to_dict()["thresholds"].values())
    tampered = {**m.to_dict(), "thresholds": {"keep": "1"}}
    for bad in (tampered, {"mechanism": "Nothing"}, [], {**m.to_dict(), "k": 3}):
        with pytest.raises(SpecError):
            hush.from_dict(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes",
    [
        {"low": math.nan}, {"high": math.inf}, {"high": -2.0}, {"low": 5.0}, {"epsilon": 0.0}, {"epsilon": -1.0},
        {"epsilon": math.nan}, {"epsilon": 1e9}, {"steps": 0}, {"steps": 2.5}, {"steps": 1 << 21}, {"low": "a"},
        {"low": 1e90, "high": 1.0000000000000002e90}, {"steps": True},
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", NAMES)
def test_bad_parameters_are_refused(name: str, changes: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        made(name, **changes)


@pytest.mark.parametrize("name", NAMES)
def test_bad_values_are_refused_and_never_repeated(name: str) -> None:
    m = made(name)
    for bad in ([0.0, 4.125], [-2.125], [math.inf]):
        with pytest.raises(DomainError, match="clip") as caught:
            m.privatize(bad)
        assert "4.125" not in str(caught.value)
    for wrong in ([math.nan], ["a"], [[1.0]], None):
        with pytest.raises(ParameterError):
            m.privatize(wrong)  # type: ignore[arg-type]
    assert m.clip([-5, 0, 99]).tolist() == [-2.0, 0.0, 4.0]
    assert m.clip(np.inf) == 4.0
    assert m.privatize([]).size == 0


@pytest.mark.parametrize("name", NAMES)
def test_bad_reports_and_aggregates_are_refused(name: str) -> None:
    m = made(name)
    beyond = np.array([m.size], m.report_dtype)
    for bad in (beyond, np.zeros(2), np.zeros((2, 2), m.report_dtype), 5):
        with pytest.raises(ReportError):
            m.aggregate(bad)  # type: ignore[arg-type]
    other = made(name, epsilon=2.0).aggregate(np.zeros(3, made(name, epsilon=2.0).report_dtype))
    with pytest.raises(SpecError):
        m.estimate(other)
    with pytest.raises(ParameterError):
        m.estimate(m.aggregate(np.zeros(0, m.report_dtype)))
    with pytest.raises(ParameterError):
        m.estimate("aggregate")  # type: ignore[arg-type]
    for weights in ([1.0], [-1.0, 2.0], [0.0, 0.0]):
        with pytest.raises(ParameterError):
            m.variance(values=[0.0, 1.0], weights=weights)
    with pytest.raises(ParameterError):
        m.variance(values=[])
    with pytest.raises(ParameterError):
        m.variance(n=0)


@dataclass(frozen=True, kw_only=True)
class Bolder(Duchi):
    """Another law, perhaps."""

    def weight(self, report: Any, tick: int) -> int:
        return super().weight(report, tick)


def test_forms_hold_as_long_as_the_law_does() -> None:
    given = {"low": 0.0, "high": 4.0, "epsilon": 1.0, "steps": 4}
    amounts, counts = np.array([0.0, 1.5, 4.0]), np.array([30, 20, 10])
    assert type(Bolder(**given).forms) is NumericForms
    one_by_one, together = (m.forms.total_law(amounts, counts) for m in (Bolder(**given), Duchi(**given)))
    assert one_by_one.work == 60
    assert one_by_one.variance == together.variance
    drawn = one_by_one.draw(400, hush.seeded(7))
    assert abs(drawn.mean() - together.mean) < 6.1 * math.sqrt(together.variance / 400)


def test_they_are_registered_as_a_kind_of_their_own() -> None:
    assert {name: getattr(hush, name) for name in NAMES} == NUMERIC
    assert not set(NAMES) & set(hush.registry())  # these take values 0..k-1

    @hush.register
    class Own(Duchi):
        pass

    assert hush.registry(kind="numeric")[Own.name()] is Own
    assert isinstance(hush.from_dict(Own(low=0.0, high=1.0, epsilon=1.0).to_dict()), Own)
