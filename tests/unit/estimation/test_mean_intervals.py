"""Intervals of means cover at every n, whoever the people are: by the exact law of what reports say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hush
from hush.errors import ParameterError
from hush.estimation.intervals import tail
from hush.mechanisms.numeric.estimate import MeanEstimate
from hush.mechanisms.numeric.laws import Coins, Windows, outermost


def ones_law(m: hush.Duchi, ticks: tuple[int, ...]) -> np.ndarray:
    """The law of the number of ones."""
    law = np.ones(1)
    for tick in ticks:
        one = m.weight(1, tick) / m.denominator
        law = np.convolve(law, [1 - one, one])
    return law


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0, 8.0])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_bits_cover_whoever_the_people_are(epsilon: float, level: float) -> None:
    m = hush.Duchi(low=-1.0, high=1.0, epsilon=epsilon, steps=4)
    for n in (1, 2, 3, 5):
        ends = [Coins(ones, n, m.base / 2**64, m.slope / 2**64, m.steps).ends(tail(level)) for ones in range(n + 1)]
        for people in itertools.combinations_with_replacement(range(m.steps + 1), n):
            law, mean = ones_law(m, people), sum(people) / n
            held = [low <= mean + 1e-9 and mean - 1e-9 <= high for low, high in ends]
            covered = float(law[held].sum())
            assert covered >= level - 1e-12, (n, people)


def test_two_people_of_duchi_are_covered() -> None:
    """At epsilon 4 the normal law covers 49 % of the collections of two people in the middle."""
    m = hush.Duchi(low=-1.0, high=1.0, epsilon=4.0)
    estimates = [m.estimate(m.aggregate(np.array(bits, np.uint8))) for bits in ((0, 0), (0, 1), (1, 1))]
    law = ones_law(m, (512, 512))
    pairs = [[each.interval(method=how) for each in estimates] for how in ("normal", None)]
    normal, exact = (float(law[[low <= 0 <= high for low, high in pair]].sum()) for pair in pairs)
    assert normal < 0.51
    assert exact >= 0.95
    assert estimates[1].interval().method == "exact"


def crossing(m: hush.Piecewise | hush.Hybrid, n: int, mean: float, level: float, end: int) -> float:
    """The sum of what reports say, in steps, from which on an end of the interval passes the mean."""
    pieces, bent = m.pieces(outermost(m.steps)), isinstance(m, hush.Piecewise)
    low, high = -100.0 * m.steps * n, 100.0 * m.steps * n
    for _ in range(45):
        middle = (low + high) / 2
        at = Windows(middle, n, m.steps, pieces, bent).ends(tail(level))[end]
        low, high = (low, middle) if (at > mean if end == 0 else at >= mean) else (middle, high)
    return (low + high) / 2


@pytest.mark.parametrize("epsilon", [1.0, 8.0])
@pytest.mark.parametrize("n", [1, 3, 100])
def test_windows_cover_people_at_the_ends_and_in_the_middle(epsilon: float, n: int) -> None:
    """The law of a sum of places, by the fast Fourier transform."""
    m = hush.Piecewise(low=-1.0, high=1.0, epsilon=epsilon, steps=16)
    start, slope = (float(x) for x in m._line)
    size = 1 << (n * m.size).bit_length()
    for shares in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.5, 0.0, 0.5), (0.9, 0.0, 0.1)):
        people = np.round(np.array(shares) * n).astype(int)
        people[0] += n - people.sum()
        ticks = np.array([0, 8, 16])
        each = np.fft.rfft(m.chances(ticks).T, size)
        law = np.fft.irfft(np.prod(each ** people[:, None], axis=0), size)
        says = (np.arange(size) - n * start) / slope
        mean = float(people @ ticks) / n
        above, below = crossing(m, n, mean, 0.95, 0), crossing(m, n, mean, 0.95, 1)
        assert law[says > above].sum() + law[says < below].sum() <= 0.05


@pytest.mark.parametrize("name", ["Piecewise", "Hybrid"])
@pytest.mark.parametrize("steps", [1, 2])
def test_windows_cover_numbers_that_are_rounded_at_random(name: str, steps: int) -> None:
    """At epsilon 8, a grid of one step and one person in the middle, 57 of a hundred were missed at 95 %."""
    m = hush.registry(kind="numeric")[name](low=0.0, high=1.0, epsilon=8.0, steps=steps)
    assert isinstance(m, (hush.Piecewise, hush.Hybrid))
    says, ends = m.decode(m.outputs()), m.chances(np.arange(steps + 1))
    for level in (0.5, 0.95):
        for mean in (0.5, steps - 0.02):
            below = min(int(mean), steps - 1)
            law = ends[:, below] + (mean - below) * (ends[:, below + 1] - ends[:, below])
            first, last = crossing(m, 1, mean, level, 0), crossing(m, 1, mean, level, 1)
            assert law[says > first].sum() + law[says < last].sum() <= 1 - level + 1e-9


@pytest.mark.parametrize("name", ["Duchi", "Piecewise", "Hybrid"])
def test_people_at_the_very_ends_are_covered(name: str) -> None:
    """-3.3 + 1000 * (3.4 / 1000) is less than 0.1 in doubles."""
    m = hush.registry(kind="numeric")[name](low=-3.3, high=0.1, epsilon=1.0, steps=1000)
    for end in (m.low, m.high):
        found = m.estimate(m.aggregate(m.privatize([end] * 3, rng=hush.seeded(1)))).interval(0.999)
        assert found.lower <= end <= found.upper


def test_the_hundred_people_at_the_lowest_number_are_covered() -> None:
    """At epsilon 8 the normal law covered 80 %: often nobody is far from the window, and the spread seems small."""
    m = hush.Piecewise(low=-1.0, high=1.0, epsilon=8.0)
    near = m.estimate(m.aggregate(np.full(100, m.inside // 2, m.report_dtype)))
    assert near.interval(method="normal").upper < -1.0
    assert near.interval().lower == -1.0 < near.interval().upper
    assert near.interval().method == "bound"


@pytest.mark.parametrize("name", ["Piecewise", "Hybrid"])
@pytest.mark.parametrize("epsilon", [0.7, 2.0, 6.0])
def test_the_generating_function_is_largest_at_the_ends(name: str, epsilon: float) -> None:
    """On which the bound rests: no population of the same mean has more than one at the two ends."""
    m = hush.registry(kind="numeric")[name](low=0.0, high=1.0, epsilon=epsilon, steps=12)
    ticks = np.arange(13)
    theta = np.concatenate([-np.geomspace(1e-3, 30, 25), np.geomspace(1e-3, 30, 25)]) / m.steps
    cumulants = m.pieces(ticks).cumulants(theta)
    by_hand = np.log(np.exp(theta[:, None] * m.decode(m.outputs())) @ m.chances(ticks))
    assert np.allclose(cumulants, by_hand, rtol=1e-9, atol=1e-11)
    chord = cumulants[:, :1] + (cumulants[:, -1:] - cumulants[:, :1]) * (ticks / 12)
    if name == "Hybrid":
        ends = np.exp(cumulants[:, [0, -1]])
        chord = np.log(ends[:, :1] + (ends[:, 1:] - ends[:, :1]) * (ticks / 12))
    assert (cumulants <= chord + 1e-10 * np.abs(chord) + 1e-13).all()


@pytest.mark.parametrize("name", ["Duchi", "Piecewise", "Hybrid"])
def test_many_reports_are_normal_and_agree(name: str) -> None:
    m = hush.registry(kind="numeric")[name](low=0.0, high=10.0, epsilon=1.0)
    few, many = (m.estimate(m.aggregate(m.privatize(np.full(n, 3.0), rng=hush.seeded(5)))) for n in (200, 2_000_000))
    assert few.interval().method in {"exact", "bound"}
    assert many.interval().method == "normal"
    exact, normal = many.interval(method="exact"), many.interval(method="normal")
    assert exact.lower <= normal.lower + 1e-3
    assert exact.upper >= normal.upper - 1e-3
    assert exact.upper - exact.lower < 1.9 * (normal.upper - normal.lower)


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="no other law of this mean is known"):
        MeanEstimate(1.0, 0.1, 10).interval(method="exact")
    with pytest.raises(ParameterError, match="method must be exact or normal"):
        MeanEstimate(1.0, 0.1, 10).interval(method="t")
    assert MeanEstimate(1.0, 0.1, 10).interval().method == "normal"
