"""Fisher information that reports keep, against enumeration and against the information matrices themselves."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

import hush
from hush.analysis import information
from hush.errors import ParameterError
from hush.planning import accuracy
from tests.conftest import example


def law_of(m: hush.FrequencyOracle) -> np.ndarray:
    """Exact probabilities of all outputs, as [output, value]."""
    weights = [[m.copies(y) * m.weight(y, v) for v in range(m.k)] for y in m.outputs(None)]
    return np.array([[w / m.denominator for w in row] for row in weights])


def efficiency(law: np.ndarray, shares: np.ndarray) -> float:
    """Trace of the information in a report times the inverse of that in a value, over k-1 free frequencies."""
    law = law[law @ shares > 0]
    k = shares.size
    directions = np.vstack([np.eye(k - 1), -np.ones(k - 1)])  # the last frequency makes up for the others
    raw = directions.T @ np.diag(1 / shares) @ directions
    moved = law @ directions
    private = moved.T @ (moved / (law @ shares)[:, None])
    return float(np.trace(np.linalg.solve(raw, private)) / (k - 1))


def uniform(k: int) -> np.ndarray:
    return np.full(k, 1 / k)


def independent(k: int, null: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The law of k independent coordinates, multiplied out."""
    rows = itertools.product(range(len(null)), repeat=k)
    return np.array(
        [[math.prod(own[i] if j == v else null[i] for j, i in enumerate(row)) for v in range(k)] for row in rows]
    )


LISTED = ["GRR", "SS", "SUE", "OUE", "UE", "THE", "HR", "ASS", "AUE", "ATHE", "AGRR", "ASUE"]


@pytest.mark.parametrize("listed", LISTED)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_every_small_mechanism_at_equal_frequencies(listed: str, k: int) -> None:
    for epsilon in (0.1, 1.0, 5.0):
        m = example(listed, k, epsilon)
        found = accuracy.information_loss(m)
        assert found.stderr == 0.0
        assert 1 - found.loss == pytest.approx(efficiency(law_of(m), uniform(k)), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("listed", LISTED)
def test_every_small_mechanism_at_other_frequencies(listed: str) -> None:
    m, shares = example(listed, 4, 1.5), np.array([0.6, 0.25, 0.1, 0.05])
    found = accuracy.information_loss(m, shares)
    assert found.stderr == 0.0
    assert 1 - found.loss == pytest.approx(efficiency(law_of(m), shares), rel=1e-9)


def test_values_that_nobody_holds_do_not_count() -> None:
    m = hush.GRR(k=4, epsilon=1.0)
    found = accuracy.information_loss(m, [0.0, 0.7, 0.0, 0.3])
    expected = efficiency(law_of(m)[:, [1, 3]], np.array([0.7, 0.3]))
    assert 1 - found.loss == pytest.approx(expected, rel=1e-12)


def test_equal_frequencies_may_be_said() -> None:
    for listed in ("OLH", "SHE", "HR"):
        m = example(listed, 8, 1.0)
        assert accuracy.information_loss(m, uniform(8)) == accuracy.information_loss(m)


# Two levels.


@pytest.mark.parametrize(("k", "s", "r"), [(10, 1, 3.0), (10, 4, 2.5), (7, 6, 50.0)])
def test_a_report_that_supports_some_values(k: int, s: int, r: float) -> None:
    p = s * r / (s * r + k - s)
    one_report = k * (s * r**2 + k - s) / (k - s + r * s) ** 2 - 1
    assert information.subset(k, s, p) == pytest.approx(one_report / (k - 1), rel=1e-12)


@pytest.mark.parametrize("width", [2, 4, 8, 16, 32])
def test_rows_of_a_hadamard_matrix(width: int) -> None:
    for rows in range(1, width):
        columns = np.arange(width)
        even = np.bitwise_count(columns[:, None] & np.arange(1, rows + 1)) % 2 == 0
        expected = np.bincount(even.sum(axis=1), minlength=rows + 1)
        found = np.zeros(rows + 1, np.int64)
        for support, many in information.hadamard_supports(width, rows):
            found[support] += many
        assert (found == expected).all()


@pytest.mark.parametrize("k", [2, 3, 6, 7, 8, 13])
def test_hadamard_blocks(k: int) -> None:
    for blocks in (1, 2, 4, 8):
        if blocks <= 2 * k:
            m = hush.HR(k=k, epsilon=1.2, blocks=blocks)
            kept = 1 - accuracy.information_loss(m).loss
            assert kept == pytest.approx(efficiency(law_of(m), uniform(k)), rel=1e-9)


# Hashing, ideal.


@pytest.mark.parametrize(("k", "g"), [(2, 2), (3, 2), (3, 4), (4, 4), (5, 3)])
def test_all_hash_functions(k: int, g: int) -> None:
    """Every assignment of k values to g buckets, equally likely and public."""
    hashed = [hush.LH(k=k, epsilon=1.5, g=g), hush.LHO(k=k, g=g)]
    for m in hashed:
        p, total = m.p_star, 0.0
        for buckets in itertools.product(range(g), repeat=k):
            here = np.array(buckets) == np.arange(g)[:, None]
            total += efficiency(np.where(here, p, (1 - p) / (g - 1)), uniform(k))
        assert 1 - accuracy.information_loss(m).loss == pytest.approx(total / g**k, rel=1e-7)


@pytest.mark.parametrize("listed", ["Wheel", "BLH", "OLH", "ALH", "ABLH", "AOLH", "LHO"])
def test_supports_are_independent_bits(listed: str) -> None:
    m = example(listed, 4, 1.0)
    null, own = np.array([1 - m.q_star, m.q_star]), np.array([1 - m.p_star, m.p_star])
    expected = efficiency(independent(4, null, own), uniform(4))
    assert 1 - accuracy.information_loss(m).loss == pytest.approx(expected, rel=1e-9)


# Independent coordinates.


def by_support_size(k: int, p: float, q: float) -> float:
    """The law of the number of ones: the own bit, and a binomial number of others."""
    from scipy.stats import binom

    ones = np.arange(k)
    others = binom.pmf(ones, k - 1, q)
    low, high = (1 - p) / (1 - q), p / q

    def one_report(s: np.ndarray) -> np.ndarray:
        return s * (k - s) * (high - low) ** 2 / ((k - s) * low + s * high) ** 2

    return float(p * (others @ one_report(ones + 1)) + (1 - p) * (others @ one_report(ones))) / (k - 1)


@pytest.mark.parametrize("k", [2, 30, 10_000])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.27), (0.88, 0.12), (0.5, 1e-6), (1 - 1e-6, 1e-6), (0.501, 0.5)])
def test_bits_by_their_number(k: int, p: float, q: float) -> None:
    assert information.bits(k, p, q) == pytest.approx(by_support_size(k, p, q), rel=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_coordinates_by_enumeration(k: int) -> None:
    rng = np.random.default_rng(3)
    for size in (2, 3, 5):
        for _ in range(8):
            null, own = (part / part.sum() for part in rng.random((2, size)) ** 4)
            expected = efficiency(independent(k, null, own), uniform(k))
            assert information.product(k, null, own) == pytest.approx(expected, rel=1e-9)


def test_outcomes_that_tell_all_or_nothing() -> None:
    null, own = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.0, 0.2, 0.3, 0.5])
    expected = efficiency(independent(3, null, own), uniform(3))
    assert information.product(3, null, own) == pytest.approx(expected, rel=1e-9)
    assert information.product(5, np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 1.0
    assert information.product(5, null, null) == 0.0


def test_grid_noise_on_a_small_grid() -> None:
    """The table of a mechanism, thinned to a few steps so that it can be multiplied out."""
    for m in (hush.SHE(k=2, epsilon=2.0), hush.AGM(k=2, epsilon=2.0, delta=1e-6)):
        null, own = m.coordinate_law()
        edges = np.linspace(0, null.size, 9).astype(int)[:-1]
        coarse_null, coarse_own = (np.add.reduceat(part, edges) for part in (null, own))
        for k in (2, 3):
            expected = efficiency(independent(k, coarse_null, coarse_own), uniform(k))
            found = information.product(k, coarse_null, coarse_own)
            assert found == pytest.approx(expected, rel=1e-9)
            assert found < information.product(k, null, own) + 1e-12  # a coarser report tells less


def test_grid_noise_of_two_values() -> None:
    """Two coordinates, all pairs of steps; the steps beyond 0 and 1, which tell the same, are joined first."""
    laplace = [hush.SHE(k=2, epsilon=e) for e in (0.5, 3.0, 12.0)]
    for m in (*laplace, hush.GM(k=2, epsilon=1.0, delta=1e-5)):
        null, own = m.coordinate_law()
        if m in laplace:
            edges = np.append(0, np.arange(1 - m.grid.lowest, m.grid.unit - m.grid.lowest + 1))
            null, own = (np.add.reduceat(part, edges) for part in (null, own))
        first, second = np.multiply.outer(own, null), np.multiply.outer(null, own)
        either = first + second
        total = float(((first - second)[either > 0] ** 2 / either[either > 0]).sum() / 2)
        assert 1 - accuracy.information_loss(m).loss == pytest.approx(total, rel=1e-8)


def test_server_thresholds_lose_nothing_of_what_is_sent() -> None:
    she, server = hush.SHE(k=9, epsilon=1.0), hush.ServerTHE(k=9, epsilon=1.0)
    assert accuracy.information_loss(server) == accuracy.information_loss(she)


# What holds for every mechanism.


@pytest.mark.parametrize("k", [2, 17, 1000])
def test_loss_lies_between_nothing_and_all(name: str, k: int) -> None:
    assert 0 <= accuracy.information_loss(example(name, k, 1.0)).loss < 1


@pytest.mark.parametrize(
    "listed", ["GRR", "SS", "SUE", "OUE", "BLH", "OLH", "SHE", "THE", "HR", "Wheel", "AGM", "ASUE"]
)
def test_loss_falls_with_the_budget(listed: str) -> None:
    losses = [accuracy.information_loss(example(listed, 20, e)).loss for e in (0.05, 0.3, 1.0, 2.0, 3.0, 5.0, 8.0)]
    assert all(later < earlier for earlier, later in itertools.pairwise(losses))


@pytest.mark.parametrize("listed", ["GRR", "SS", "SUE", "SHE"])
def test_limits(listed: str) -> None:
    """Nothing is kept of a tiny budget, nearly all of a huge one; kept information falls like its square."""
    tiny, twice = (1 - accuracy.information_loss(example(listed, 8, e)).loss for e in (0.004, 0.008))
    assert tiny < 1e-5
    assert twice / tiny == pytest.approx(4, rel=0.02)
    assert accuracy.information_loss(example(listed, 8, 36.0)).loss < 1e-4


def test_half_of_the_bits_are_lost_by_a_fair_coin() -> None:
    """OUE keeps its own bit half of the time, whatever the budget."""
    assert accuracy.information_loss(hush.OUE(k=8, epsilon=36.0)).loss == pytest.approx(0.5, rel=1e-9)


def test_randomized_response_in_closed_form() -> None:
    m = hush.GRR(k=11, epsilon=1.0)
    assert 1 - accuracy.information_loss(m).loss == pytest.approx((m.p_star - m.q_star) ** 2, rel=1e-12)


@pytest.mark.parametrize("listed", ["GRR", "SS", "OUE", "HR"])
def test_all_is_lost_in_a_corner(listed: str) -> None:
    """With 1 - h in one value, the information is at most h e^epsilon."""
    m = example(listed, 3, 1.0)
    losses = []
    for h in (0.3, 0.01, 1e-4, 1e-6):
        found = accuracy.information_loss(m, [1 - h, h / 2, h / 2]).loss
        assert (1 - found) * 2 <= h * math.e
        losses.append(found)
    assert losses[-1] > 1 - 2e-6
    assert all(later > earlier for earlier, later in itertools.pairwise(losses))


def test_reports_tell_no_more_than_they_did_by_score() -> None:
    """The estimator from log-likelihoods, averaged over all outputs, is the exact value."""
    m, shares = hush.OUE(k=4, epsilon=1.0), np.array([0.5, 0.0, 0.3, 0.2])
    law = law_of(m)
    parts = information.from_scores(m.scores(m.outputs(None)), shares)
    assert (law @ shares) @ parts == pytest.approx(information.channel(law, shares), rel=1e-12)


def test_scores_that_are_infinite() -> None:
    scores = np.array([[np.inf, 0.0, -np.inf], [0.0, -np.inf, -np.inf], [0.0, 0.0, 0.0]])
    kept = information.from_scores(scores, uniform(3))
    assert kept.tolist() == pytest.approx([1.0, 1.0, 0.0])


# Mechanisms of one's own.


@dataclass(frozen=True, kw_only=True)
class Skewed(hush.FrequencyOracle):
    """Value v reports itself with weight v + 2, any other value with weight 1, and k with what is left."""

    @property
    def report_dtype(self) -> np.dtype:
        return np.dtype("u1")

    def sample(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        law = np.array([[self.weight(y, v) for y in range(self.k + 1)] for v in range(self.k)])
        drawn = rng.integers(0, self.denominator, values.size)[:, None]
        return (drawn >= np.cumsum(law, axis=1)[values]).sum(axis=1).astype("u1")

    def tally(self, reports: np.ndarray) -> np.ndarray:
        return np.bincount(reports, minlength=self.k + 1)

    def decode(self, tally: np.ndarray, n: int) -> np.ndarray:
        return (tally[:-1] / n * self.denominator - 1) / (np.arange(self.k) + 1)

    def outputs(self, public: object = None) -> np.ndarray:
        return np.arange(self.k + 1, dtype="u1")

    def weight(self, report: int, value: int) -> int:
        if report == self.k:
            return self.k - 1 - value
        return value + 2 if report == value else 1


class Crowded(Skewed):
    """Refuses to list its outputs, as mechanisms with very many do."""

    def outputs(self, public: object = None) -> np.ndarray:
        raise ParameterError("too many")

    @property
    def denominator(self) -> int:
        return 2 * self.k


def test_ones_own_mechanism() -> None:
    m, shares = Skewed(k=4, epsilon=2.0), np.array([0.4, 0.3, 0.2, 0.1])
    assert 1 - accuracy.information_loss(m).loss == pytest.approx(efficiency(law_of(m), uniform(4)), rel=1e-9)
    assert 1 - accuracy.information_loss(m, shares).loss == pytest.approx(efficiency(law_of(m), shares), rel=1e-9)


def test_ones_own_mechanism_that_cannot_be_listed() -> None:
    m = Crowded(k=4, epsilon=2.0)
    exact = accuracy.information_loss(Skewed(k=4, epsilon=2.0)).loss
    found = accuracy.information_loss(m, reports=4_000, rng=hush.seeded(7))
    again = accuracy.information_loss(m, reports=4_000, rng=hush.seeded(7))
    assert found == again
    assert 0 < found.stderr < 0.05
    assert abs(found.loss - exact) < 6.2 * found.stderr  # false alarm below 1e-9, and the seed is fixed


def test_bad_input() -> None:
    m = hush.OUE(k=3, epsilon=1.0)
    bad = ([0.5, 0.5], [0.5, 0.5, 0.5], [1.5, -0.5, 0.0], [math.nan, 0.5, 0.5], [math.inf, 0, 0], [], "abc", 0.5, {})
    for shares in bad:
        with pytest.raises(ParameterError, match="frequencies must be 3 non-negative numbers that sum to 1"):
            accuracy.information_loss(m, shares)
    with pytest.raises(ParameterError, match="at least two values"):
        accuracy.information_loss(m, [0.0, 1.0, 0.0])
    for reports in (0, 1, -5, 2.5, math.nan, True):
        with pytest.raises(ParameterError, match="reports must be an integer"):
            accuracy.information_loss(m, reports=reports)
    with pytest.raises(ParameterError, match="m must be a mechanism"):
        accuracy.information_loss("OUE")
    with pytest.raises(ParameterError, match="rng must be a numpy Generator"):
        accuracy.information_loss(hush.OLH(k=3, epsilon=1.0), [0.5, 0.3, 0.2], rng=7)
