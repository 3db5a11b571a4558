"""What pages and docstrings claim of numbers, held against computation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import hush
from hush.estimation.consistency import simplex
from hush.testing import ConformanceError, check_tightness

pytestmark = pytest.mark.boundary

NEAR = 1e-8


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 1.0, 5.0, 10.0, 15.0, 20.0])
@pytest.mark.parametrize("p", [1e-9, 1e-3, 0.5, 0.9, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12])
def test_unary_encoding_is_tight_where_it_says_so(p: float, epsilon: float) -> None:
    m = hush.UE(k=3, epsilon=epsilon, p=p)
    assert m.exact_epsilon() <= epsilon
    assert not m.tight or epsilon - m.exact_epsilon() <= NEAR
    assert m.tight == (min(p, 1 - p, m.q, 1 - m.q) >= 1e-11)


def test_unary_encoding_is_not_tight_at_the_ends() -> None:
    for p, epsilon in ((1 - 1e-12, 1.0), (1e-9, 10.0), (1e-9, 20.0), (1 - 1e-15, 1.0)):
        m = hush.UE(k=3, epsilon=epsilon, p=p)
        assert not m.tight
        assert epsilon - m.exact_epsilon() > NEAR
    assert hush.OUE(k=3, epsilon=20.0).tight
    assert hush.SUE(k=3, epsilon=20.0).tight
    assert not hush.THE(k=3, epsilon=1.0).tight


@pytest.mark.parametrize(
    ("epsilon", "delta", "tight"),
    [(0.01, 1e-12, True), (1.0, 1e-12, True), (5.0, 0.3, True), (11.0, 1e-12, True), (20.0, 1e-8, True),
     (17.0, 1e-12, False), (20.0, 1e-12, False)],
)  # fmt: skip
def test_gaussian_noise_is_tight_where_it_says_so(epsilon: float, delta: float, tight: bool) -> None:
    m = hush.AGM(k=2, epsilon=epsilon, delta=delta)
    assert m.tight == tight
    short = epsilon - m.exact_epsilon()
    assert short >= 0
    assert (short <= NEAR) == tight
    check_tightness(m, 0)


def test_a_false_claim_of_tightness_is_found() -> None:
    class Boastful(hush.AGM):
        tight = True  # type: ignore[assignment]

    with pytest.raises(ConformanceError, match="claims to be tight"):
        check_tightness(Boastful(k=2, epsilon=20.0, delta=1e-12), 0)


def test_places_of_numbers_are_right_to_two_to_the_minus_51_of_themselves() -> None:
    rng = np.random.default_rng(13)
    largest = 0.0
    for steps in (1, 3, 10, 1000, 1024, 1 << 20):
        for low, high in ((0.0, 1.0), (-1.0, 1.0), (0.1, 0.7), (18.0, 99.0), (-1e6, 0.3)):
            m = hush.Duchi(low=low, high=high, epsilon=1.0, steps=steps)
            values = np.append(rng.uniform(low, high, 200), [low, high])
            floors, parts = m.ticks(values)
            width = Fraction(high) - Fraction(low)
            off = [
                abs(int(floor) + Fraction(int(part), 2**64) - (Fraction(value) - Fraction(low)) * steps / width)
                for value, floor, part in zip(values.tolist(), floors.tolist(), parts.tolist(), strict=True)
            ]
            assert off[-2] == off[-1] == 0  # the ends are exact
            assert max(off) <= Fraction(steps, 2**51) + Fraction(1, 2**64)
            largest = max(largest, float(max(off)))
    assert largest > 2**-40  # far more than 2^-53 of a step


def test_whole_numbers_on_the_grid_are_not_rounded() -> None:
    m = hush.Piecewise(low=18.0, high=99.0, epsilon=1.0, steps=81)
    floors, parts = m.ticks(np.arange(18, 100))
    assert (floors == np.arange(82)).all()
    assert not parts.any()


def test_error_bars_are_those_of_the_nearest_distribution() -> None:
    m = hush.GRR(k=30, epsilon=1.0)
    estimate = m.estimate(m.aggregate(m.privatize([3] * 200, rng=hush.seeded(7))))
    assert estimate.frequencies.min() < 0
    due = np.sqrt(m.variances(simplex(estimate.frequencies), 200))
    assert np.allclose(estimate.stderr, due, rtol=1e-12)
    cut = np.sqrt(m.variances(np.clip(estimate.frequencies, 0, 1), 200))
    assert np.abs(estimate.stderr / cut - 1).max() > 0.001
