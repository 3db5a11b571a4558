"""Mean absolute and squared errors, against enumeration, convolution and rational arithmetic."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import hush
from hush.analysis import absolute_error
from hush.errors import ParameterError
from hush.planning import accuracy
from tests.conftest import example


def convolved(parts: list[tuple[np.ndarray, int, int]]) -> float:
    """E|S - E S| by multiplying out."""
    law = np.ones(1)
    for probabilities, _, many in parts:
        for _ in range(many):
            law = np.convolve(law, probabilities)
    steps = np.arange(law.size) - law @ np.arange(law.size)
    return float(law @ np.abs(steps))


def exact_binomial(n: int, p: Fraction) -> Fraction:
    return sum((math.comb(n, x) * p**x * (1 - p) ** (n - x) * abs(x - n * p) for x in range(n + 1)), start=Fraction(0))


# The closed forms.


def test_sums_of_random_laws() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        parts = []
        for _ in range(rng.integers(1, 4)):
            law = rng.random(rng.integers(2, 30)) ** 3
            parts.append((law / law.sum(), int(rng.integers(-9, 9)), int(rng.integers(1, 25))))
        assert float(absolute_error.lattice(parts)) == pytest.approx(convolved(parts), rel=1e-11)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 61])
@pytest.mark.parametrize("p", [Fraction(1, 2**40), Fraction(3, 128), Fraction(1, 2), Fraction(255, 256)])
def test_a_binomial_in_rational_arithmetic(n: int, p: Fraction) -> None:
    exact = float(exact_binomial(n, p))
    assert absolute_error.binomial(n, float(p)) == pytest.approx(exact, rel=1e-12)
    assert float(absolute_error.lattice([([1 - float(p), float(p)], 0, n)])) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize("n", [10**3, 10**6, 10**9, 10**12])
@pytest.mark.parametrize("p", [1e-9, 1e-3, 0.3, 0.5, 0.9])
def test_large_binomials(n: int, p: float) -> None:
    """Two routes that share nothing; the larger sums need windows of more than 2^20 points."""
    found = float(absolute_error.lattice([([1 - p, p], 0, n)]))
    assert found == pytest.approx(absolute_error.binomial(n, p), rel=1e-10)


def test_a_binomial_at_its_ends_does_not_vary() -> None:
    assert [absolute_error.binomial(10, p) for p in (0.0, 1.0)] == [0.0, 0.0]
    assert float(absolute_error.lattice([([0.0, 1.0], 5, 10)])) == 0.0


def test_steps_of_two_revive_the_characteristic_function() -> None:
    for n in (1, 2, 7, 100):
        walk = float(absolute_error.lattice([([0.5, 0.0, 0.5], -1, n)]))
        assert walk == pytest.approx(2 * absolute_error.binomial(n, 0.5), rel=1e-12)
    almost = [(np.array([0.4999, 0.0002, 0.4999]), -1, 40)]
    assert float(absolute_error.lattice(almost)) == pytest.approx(convolved(almost), rel=1e-11)


def test_many_sums_at_once() -> None:
    holders = np.arange(0, 1001)
    parts = [([0.4, 0.6], 0, holders), ([0.9, 0.1], 0, 1000 - holders)]
    together = absolute_error.lattice(parts)
    assert together.shape == (1001,)
    for x in (0, 1, 500, 999, 1000):
        alone = absolute_error.lattice([([0.4, 0.6], 0, x), ([0.9, 0.1], 0, 1000 - x)])
        assert together[x] == pytest.approx(float(alone), rel=1e-11)
    assert together[0] == pytest.approx(absolute_error.binomial(1000, 0.1), rel=1e-11)


def test_where_the_law_sits_does_not_matter() -> None:
    law = np.array([0.1, 0.2, 0.7])
    same = [float(absolute_error.lattice([(law, lowest, 17)])) for lowest in (-50, 0, 3)]
    padded = float(absolute_error.lattice([(np.concatenate([np.zeros(40), law, np.zeros(9)]), 0, 17)]))
    assert np.ptp([*same, padded]) < 1e-13


def test_edgeworth_on_a_fine_grid() -> None:
    """Laplace noise: kurtosis alone; the remainder falls like 1/n²."""
    grid = hush.SHE(k=2, epsilon=1.0).grid
    off = grid.steps - grid.mean
    second, third, fourth = (float(grid.probabilities @ off**j) for j in (2, 3, 4))
    errors = []
    for n in (10, 100, 1000, 100_000):
        exact = float(absolute_error.lattice([(grid.probabilities, grid.lowest, n)]))
        rough = absolute_error.edgeworth(n * second, n * third, n * (fourth - 3 * second**2))
        errors.append(abs(rough / exact - 1))
    assert errors[0] < 1e-4
    assert errors[-1] < 1e-10
    assert all(after < before / 80 for before, after in itertools.pairwise(errors[:3]))


def test_edgeworth_with_skewness() -> None:
    """A skewed law on a lattice, with the lattice's own term, -B2(theta)/2v: the remainder falls faster than 1/n."""
    law = np.array([0.7, 0.1, 0.05, 0.05, 0.1])
    off = np.arange(5) - law @ np.arange(5)
    second, third, fourth = (float(law @ off**j) for j in (2, 3, 4))
    for n in (1000, 4000, 16_000):
        exact = float(absolute_error.lattice([(law, 0, n)]))
        theta = (n * float(law @ np.arange(5))) % 1.0
        on_lattice = math.sqrt(2 / math.pi * n * second) * -(theta**2 - theta + 1 / 6) / (2 * n * second)
        rough = absolute_error.edgeworth(n * second, n * third, n * (fourth - 3 * second**2)) + on_lattice
        assert abs(rough / exact - 1) < 0.5 / n**1.5
        no_skew = absolute_error.edgeworth(n * second, 0.0, n * (fourth - 3 * second**2)) + on_lattice
        assert abs(no_skew / exact - 1) > 20 * abs(rough / exact - 1)


def test_edgeworth_stays_within_what_is_proved() -> None:
    assert absolute_error.edgeworth(0.0, 0.0, 0.0) == 0.0
    for variance, third, fourth in ((1.0, 50.0, 2600.0), (1.0, 0.0, 900.0), (4.0, 0.0, -32.0)):
        found = absolute_error.edgeworth(variance, third, fourth)
        least = math.sqrt(variance**3 / (fourth + 3 * variance**2))
        assert least * (1 - 1e-12) <= found <= math.sqrt(variance)


# Mechanisms, one small population multiplied out.

LISTED = ["GRR", "SS", "SUE", "OUE", "UE", "THE", "HR", "ASS", "AUE", "ATHE", "AGRR", "ASUE"]


def by_enumeration(m: hush.FrequencyOracle, counts: list[int]) -> np.ndarray:
    """Mean absolute error of each value's estimate, over all outputs of all people."""
    outputs = m.outputs(None)
    decoded = np.array([m.decode(m.tally(outputs[i : i + 1]), 1) for i in range(outputs.size)])
    law = np.array([[m.copies(y) * m.weight(y, v) / m.denominator for v in range(m.k)] for y in outputs])
    sums, chances = np.zeros((1, m.k)), np.ones(1)
    for value, many in enumerate(counts):
        for _ in range(many):
            sums = (sums[:, None] + decoded[None]).reshape(-1, m.k)
            chances = np.multiply.outer(chances, law[:, value]).ravel()
    n = sum(counts)
    return chances @ np.abs(sums / n - np.array(counts) / n)


@pytest.mark.parametrize("listed", LISTED)
def test_every_small_mechanism(listed: str) -> None:
    for k, counts in ((2, [2, 1]), (3, [1, 2, 1]), (3, [0, 3, 1])):
        m = example(listed, k, 1.3)
        exact = by_enumeration(m, counts)
        shares = np.array(counts) / sum(counts)
        assert accuracy.mean_absolute_error(m, sum(counts), shares) == pytest.approx(exact.mean(), rel=1e-9)
        if k == 2:
            found = accuracy.mean_absolute_error(m, 3, 2 / 3)
            assert found == pytest.approx(exact[0], rel=1e-9)


@pytest.mark.parametrize("blocks", [1, 2, 4, 8])
def test_hadamard_blocks(blocks: int) -> None:
    m = hush.HR(k=5, epsilon=1.0, blocks=blocks)
    counts = [2, 0, 1, 0, 1]
    exact = by_enumeration(m, counts)
    found = accuracy.mean_absolute_error(m, 4, np.array(counts) / 4)
    assert found == pytest.approx(exact.mean(), rel=1e-9)


@pytest.mark.parametrize("hashed", ["LH", "BLH", "OLH", "ALH", "ABLH", "AOLH", "Wheel", "LHO", "ServerTHE"])
def test_support_counts_of_the_others(hashed: str) -> None:
    """Supports are independent events with chances p* and q*, which the conformance suite checks."""
    m = example(hashed, 4, 1.0)
    p, q = m.p_star, m.q_star
    exact = convolved([(np.array([1 - p, p]), 0, 3), (np.array([1 - q, q]), 0, 7)]) / (10 * (p - q))
    assert accuracy.mean_absolute_error(m, 10, 0.3) == pytest.approx(exact, rel=1e-9)


def of_two(first: np.ndarray, second: np.ndarray) -> float:
    """E|S - E S| of a sum of two, one conditioned on the other."""
    steps = np.arange(first.size)
    target = first @ steps + second @ steps - steps  # where the second would have to be
    at = np.searchsorted(steps, target)
    below = np.concatenate([[0.0], np.cumsum(second)])[at]
    moment = np.concatenate([[0.0], np.cumsum(second * steps)])[at]
    return float(first @ (target * (2 * below - 1) + second @ steps - 2 * moment))


@pytest.mark.parametrize("noisy", ["SHE", "GM", "AGM"])
def test_grid_noise(noisy: str) -> None:
    m = example(noisy, 3, 1.0)
    null, own = m.coordinate_law()
    span = m.grid.unit - 2 * m.grid.mean
    for law in (null, own):
        exact = float(law @ np.abs(np.arange(law.size) - law @ np.arange(law.size))) / span
        assert accuracy.mean_absolute_error(m, 1, float(law is own)) == pytest.approx(exact, rel=1e-9)
    for f, pair in ((0.0, (null, null)), (0.5, (own, null)), (1.0, (own, own))):
        exact = of_two(*pair) / (2 * span)
        assert accuracy.mean_absolute_error(m, 2, f) == pytest.approx(exact, rel=1e-9)


# What holds for every mechanism.


def test_close_to_the_normal_value_and_below_the_root(name: str) -> None:
    m = example(name, 6, 1.0)
    shares = np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
    for where in (0.0, 0.25, None, shares):
        squared = accuracy.mean_squared_error(m, 2000, where)
        absolute = accuracy.mean_absolute_error(m, 2000, where)
        assert absolute < math.sqrt(squared)
        assert absolute == pytest.approx(math.sqrt(2 / math.pi * squared), rel=0.01)


def test_the_average_over_values(name: str) -> None:
    m = example(name, 6, 1.0)
    shares = np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
    expected = float(m.variances(shares, 40).mean())
    assert accuracy.mean_squared_error(m, 40, shares) == pytest.approx(expected, rel=1e-12)
    alike = isinstance(m, (hush.PureOracle, hush.SHE, hush.GM))
    if alike:  # one value's error depends on its own frequency alone
        assert accuracy.mean_squared_error(m, 40) == pytest.approx(expected, rel=1e-9)
        one_by_one = [accuracy.mean_absolute_error(m, 40, float(f)) for f in shares]
        assert accuracy.mean_absolute_error(m, 40, shares) == pytest.approx(np.mean(one_by_one), rel=1e-9)


def test_the_worst_case(name: str) -> None:
    m = example(name, 6, 1.0)
    rng = np.random.default_rng(2)
    worst_square = accuracy.mean_squared_error(m, 30, worst=True)
    worst = accuracy.mean_absolute_error(m, 30, worst=True)
    assert worst <= math.sqrt(worst_square)
    corners = [float(m.variances(corner, 30).max()) for corner in np.eye(6)]
    if name == "MSS":  # what its reports say of a block varies with who is asked, most in mixed populations
        assert worst_square > max(corners)
    else:  # a sum over people, so linear in their shares
        assert worst_square == pytest.approx(max(corners), rel=1e-12)
    for _ in range(20):
        shares = rng.dirichlet(np.full(6, 0.3))
        assert m.variances(shares, 30).max() <= worst_square * (1 + 1e-12)
        assert accuracy.mean_absolute_error(m, 30, shares) <= worst * (1 + 1e-9)


def test_the_worst_number_of_holders_can_lie_between() -> None:
    """With p + q = 1 the variance is the same for all, and the mean absolute error is largest off the lattice."""
    m = hush.SUE(k=4, epsilon=8.0)
    errors = [accuracy.mean_absolute_error(m, 8, x / 8) for x in range(9)]
    assert accuracy.mean_absolute_error(m, 8, worst=True) == pytest.approx(max(errors), rel=1e-12)


def test_the_worst_of_hadamard_response_is_a_crowded_block() -> None:
    m = hush.HR(k=8, epsilon=3.0, blocks=4)
    crowded = np.zeros(8)
    crowded[4] = 1.0  # in the block of value 0, which nobody holds
    assert accuracy.mean_squared_error(m, 10, worst=True) == pytest.approx(float(m.variances(crowded, 10)[0]))
    exact = by_enumeration(m, [0, 0, 0, 0, 1, 0, 0, 0])
    assert accuracy.mean_absolute_error(m, 1, worst=True) == pytest.approx(exact.max(), rel=1e-9)


def test_errors_fall_with_people_and_budget() -> None:
    for listed in ("GRR", "OUE", "SHE", "HR", "OLH"):
        by_people = [accuracy.mean_absolute_error(example(listed, 10, 1.0), n, 0.1) for n in (10, 100, 10**4, 10**8)]
        by_budget = [accuracy.mean_absolute_error(example(listed, 10, e), 1000, 0.1) for e in (0.1, 0.5, 1.0, 2.0, 4.0)]
        for errors in (by_people, by_budget):
            assert all(later < earlier for earlier, later in itertools.pairwise(errors))
        assert by_people[-1] == pytest.approx(by_people[-2] / 100, rel=1e-3)


# Mechanisms of one's own.


@dataclass(frozen=True, kw_only=True)
class Tilted(hush.FrequencyOracle):
    """Two values, three outputs; weights out of 10, decoded by numbers that lie on a lattice or on none."""

    root: bool = False

    WEIGHTS = ((6, 3, 1), (1, 4, 5))

    @property
    def report_dtype(self) -> np.dtype:
        return np.dtype("u1")

    def sample(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        drawn = rng.integers(0, 10, values.size)[:, None]
        return (drawn >= np.cumsum(self.WEIGHTS, axis=1)[values]).sum(axis=1).astype("u1")

    def tally(self, reports: np.ndarray) -> np.ndarray:
        return np.bincount(reports, minlength=3)

    def decode(self, tally: np.ndarray, n: int) -> np.ndarray:
        middle = math.sqrt(0.2) if self.root else 0.0
        second = np.array([-1.0, middle, 1.0]) @ tally / n  # any function that tells the values apart
        low, high = (np.array(w) / 10 @ np.array([-1.0, middle, 1.0]) for w in self.WEIGHTS)
        held = (second - low) / (high - low)
        return np.array([1 - held, held])

    def outputs(self, public: object = None) -> np.ndarray:
        return np.arange(3, dtype="u1")

    def weight(self, report: int, value: int) -> int:
        return self.WEIGHTS[value][int(report)]


class Public(Tilted):
    """Says that its randomness is public, so that it cannot be enumerated."""

    def publics(self) -> list[int]:
        return [0, 1]

    def variances(self, frequencies: np.ndarray, n: int = 1) -> np.ndarray:
        return np.full(2, 0.25 / n)


def test_ones_own_mechanism_on_a_lattice() -> None:
    m = Tilted(k=2, epsilon=3.0)
    exact = by_enumeration(m, [2, 3])
    assert accuracy.mean_absolute_error(m, 5, [0.4, 0.6]) == pytest.approx(exact.mean(), rel=1e-9)
    assert accuracy.mean_absolute_error(m, 5, 0.4) == pytest.approx(exact[0], rel=1e-9)
    ends = max(by_enumeration(m, [5, 0]).max(), by_enumeration(m, [0, 5]).max())
    assert accuracy.mean_absolute_error(m, 5, worst=True) == pytest.approx(ends, rel=1e-9)


def test_ones_own_mechanism_off_all_lattices() -> None:
    m = Tilted(k=2, epsilon=3.0, root=True)
    exact = by_enumeration(m, [4, 6])
    assert accuracy.mean_absolute_error(m, 10, [0.4, 0.6]) == pytest.approx(exact.mean(), rel=0.01)
    ends = max(by_enumeration(m, [10, 0]).max(), by_enumeration(m, [0, 10]).max())
    assert accuracy.mean_absolute_error(m, 10, worst=True) == pytest.approx(ends, rel=0.02)


def test_ones_own_mechanism_with_public_randomness() -> None:
    m = Public(k=2, epsilon=3.0)
    for more in ({}, {"worst": True}, {"frequencies": 0.5}):
        assert accuracy.mean_absolute_error(m, 16, **more) == pytest.approx(math.sqrt(2 / math.pi) / 8)


# Populations and input.


@pytest.mark.parametrize("n", [1, 7, 100, 10**9, 10**15])
def test_whole_people(n: int) -> None:
    shares = np.random.default_rng(n).dirichlet(np.ones(13))
    counts = accuracy._whole(n, shares)
    assert counts.sum() == n
    assert counts.min() >= 0
    assert np.abs(counts - n * shares).max() <= 1.0
    one = accuracy._one_against_all(n, 0.3, 13)
    assert one.sum() == n
    assert one[0] == round(0.3 * n)
    assert np.ptp(one[1:]) <= 1


@pytest.mark.parametrize("measure", [accuracy.mean_absolute_error, accuracy.mean_squared_error])
def test_bad_input(measure: object) -> None:
    m = hush.OUE(k=3, epsilon=1.0)
    for n in (0, -1, 1.5, math.nan, math.inf, True, "10", None, 10**16):
        with pytest.raises(ParameterError, match="n must be an integer"):
            measure(m, n)
    for bad in (-0.1, 1.1, math.nan, math.inf):
        with pytest.raises(ParameterError, match="frequencies must lie in"):
            measure(m, 10, bad)
    for shares in ([0.5, 0.5], [0.5, 0.5, 0.5], [1.5, -0.5, 0.0], [math.nan, 0.5, 0.5], [[0.2, 0.3, 0.5]], [], "abc"):
        with pytest.raises(ParameterError, match="frequencies must"):
            measure(m, 10, shares)
    for other in (None, "OUE", hush.OUE):
        with pytest.raises(ParameterError, match="m must be a mechanism"):
            measure(other, 10)
    with pytest.raises(ParameterError, match="left out where the worst"):
        measure(m, 10, [0.2, 0.3, 0.5], worst=True)


def test_a_keep_probability_that_is_one_in_doubles_has_the_error_of_one_just_below() -> None:
    near, at = (accuracy.mean_absolute_error(hush.HR(k=2, epsilon=e, blocks=1), 100) for e in (20.0, 40.0))
    assert at == pytest.approx(near, rel=1e-6)


@pytest.mark.parametrize(("k", "blocks"), [(2, 4), (5, 2), (13, 8), (100, 1), (100, 32)])
def test_even_frequencies_have_a_closed_form_in_hadamard_response(k: int, blocks: int) -> None:
    m = hush.HR(k=k, epsilon=1.3, blocks=blocks)
    assert m.forms.even_variance(7) == pytest.approx(m.variances(np.full(k, 1 / k), 7).mean(), rel=1e-12)
    assert accuracy.mean_squared_error(m, 7) == m.forms.even_variance(7)
