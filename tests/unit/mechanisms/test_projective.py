"""Projective geometry response: the geometry, the decoder, closed forms against enumeration, golden values."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example as pin
from hypothesis import given
from hypothesis import strategies as st

import hush
from hush.analysis import information, projective
from hush.errors import ParameterError, ReportError
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.projective import PGR
from hush.mechanisms.projective.counts import hyperplane_sizes, over_hyperplanes
from hush.mechanisms.projective.field import CONWAY, field
from hush.planning.accuracy import information_loss
from hush.testing import check_mechanism

pytestmark = pytest.mark.slow

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text(encoding="utf-8"))["golden"]
ORDERS = [2, 3, 4, 5, 7, 8, 9]
SPACES = [(2, 2), (2, 3), (2, 5), (3, 3), (3, 4), (4, 3), (4, 4), (5, 3), (7, 3), (8, 3), (9, 3), (25, 2), (16, 3)]


def whole(q: int, t: int, epsilon: float = 1.0) -> PGR:
    """With a value for every point."""
    return PGR(k=projective.points(q, t), epsilon=epsilon, q=q)


# The field.


@pytest.mark.parametrize("q", [*CONWAY, 2, 3, 7, 13])
def test_tables_are_a_field(q: int) -> None:
    made = field(q)
    times = made.products[:q, :q]
    minus = made.differences if made.differences.size else (np.arange(q)[:, None] - np.arange(q)) % q
    plus = minus[np.arange(q)[:, None], minus[0][None]]
    elements = np.arange(q)
    assert (plus == plus.T).all()
    assert (times == times.T).all()
    assert (np.sort(plus, axis=1) == elements).all()
    assert (np.sort(times[1:], axis=1) == elements).all()
    assert (plus[0] == elements).all()
    assert (times[1] == elements).all()
    assert (times[0] == 0).all()
    a, b, c = np.random.default_rng(q).integers(0, q, (3, 2000))
    assert (plus[plus[a, b], c] == plus[a, plus[b, c]]).all()
    assert (times[times[a, b], c] == times[a, times[b, c]]).all()
    assert (times[a, plus[b, c]] == plus[times[a, b], times[a, c]]).all()


def test_tables_are_those_of_an_independent_library() -> None:
    galois = pytest.importorskip("galois")
    for q in (4, 8, 9, 27, 729, 1024):
        p = projective.characteristic(q)
        assert int(galois.conway_poly(p, round(math.log(q, p)))) == CONWAY[q]
    elements = galois.GF(9)(np.arange(9))
    assert (np.asarray(np.multiply.outer(elements, elements)) == field(9).products[:9, :9]).all()
    assert (np.asarray(np.subtract.outer(elements, elements)) == field(9).differences).all()


def sum_of_products(first: np.ndarray, second: np.ndarray, q: int) -> np.ndarray:
    """The product of vectors, digit by digit, from the tables of single digits alone."""
    made = field(q)
    total = np.zeros(np.broadcast_shapes(first.shape, second.shape)[:-1], np.int64)
    for a, b in zip(np.moveaxis(first, -1, 0), np.moveaxis(second, -1, 0), strict=True):
        if made.differences.size:
            total = made.differences[total, made.differences[0, made.products[a, b]]]
        else:
            total = (total + a * b) % q
    return total


# The geometry.


@pytest.mark.parametrize(("q", "t"), [*SPACES, (149, 3), (1009, 2)])
def test_points_round_trip(q: int, t: int) -> None:
    ranks = np.arange(projective.points(q, t))
    vectors = projective.unrank(ranks, q, t)
    assert (projective.rank(vectors, q) == ranks).all()
    assert len(np.unique(vectors, axis=0)) == ranks.size
    assert (vectors[np.arange(ranks.size), t - 1 - np.argmax(vectors[:, ::-1] != 0, axis=1)] == 1).all()


@pytest.mark.parametrize(("q", "t"), SPACES)
def test_values_favour_the_messages_on_their_hyperplanes(q: int, t: int) -> None:
    m = whole(q, t)
    vectors = projective.unrank(np.arange(m.size), q, t)
    due = sum_of_products(vectors[:, None], vectors[None, :, ::-1], q) == 0
    matrix = m.support_matrix(m.outputs())
    assert (matrix == due).all()
    assert (matrix == matrix.T).all()
    assert (m.supports(m.outputs()[:, None], np.arange(m.k)) == due).all()


@pytest.mark.parametrize(("q", "t"), SPACES)
def test_every_two_hyperplanes_meet_in_as_many_points(q: int, t: int) -> None:
    m = whole(q, t)
    matrix = m.support_matrix(m.outputs()).astype(np.int64)
    common = matrix.T @ matrix
    assert (np.diag(common) == m.favoured).all()
    assert (common[~np.eye(m.k, dtype=bool)] == m.shared).all()


@pytest.mark.parametrize("q", [257, 89, 101])
def test_large_fields_agree_with_plain_arithmetic(q: int) -> None:
    m = PGR(k=9 * q, epsilon=1.0, q=q)
    rng = np.random.default_rng(q)
    values = rng.integers(0, m.k, 300)
    reports = m.privatize(values, rng=hush.seeded(q))
    left = projective.unrank(reports.astype(np.int64), q, m.t)
    right = projective.unrank(values, q, m.t)[:, ::-1]
    assert (m.supports(reports, values) == ((left * right).sum(axis=1) % q == 0)).all()
    assert 0 < m.supports(reports, values).sum() < 300


# The law.


@pytest.mark.parametrize(
    ("q", "k", "epsilon"),
    [(2, 5, 1.0), (2, 15, 0.5), (3, 11, 1.0), (4, 21, 2.0), (5, 8, 4.0), (5, 6, 1.0), (7, 30, 1.0), (8, 9, 3.0),
     (8, 40, 1.0), (9, 11, 0.2), (9, 91, 12.0)],
)  # fmt: skip
def test_conforms(q: int, k: int, epsilon: float) -> None:
    check_mechanism(PGR(k=k, epsilon=epsilon, q=q))


@pytest.mark.parametrize("q", [*ORDERS, 16, 49, 101, 2503])
@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0, 40.0])
def test_loss_is_within_the_promise_and_tight(q: int, epsilon: float) -> None:
    for k in (2, q + 1, q + 2, 10_000):
        exact = PGR(k=k, epsilon=epsilon, q=q).exact_epsilon()
        assert exact <= epsilon
        assert exact > epsilon - (1e-8 if epsilon <= 20 else 1.0)


@pytest.mark.parametrize(("q", "k", "epsilon"), [(2, 7, 1.0), (5, 31, 2.0), (4, 85, 0.5), (89, 22_000, 4.5)])
def test_probabilities_are_those_of_the_literature(q: int, k: int, epsilon: float) -> None:
    m = PGR(k=k, epsilon=epsilon, q=q)
    e = math.exp(epsilon)
    inside, both = (q ** (m.t - 1) - 1) // (q - 1), (q ** (m.t - 2) - 1) // (q - 1)
    p = 1 / ((e - 1) * inside + m.size)
    assert m.p_star == pytest.approx(e * inside * p, rel=1e-12)
    assert m.q_star == pytest.approx(p * ((e - 1) * both + inside), rel=1e-12)
    reports, values = m.privatize(np.arange(k), rng=hush.seeded(7)), np.arange(k)
    due = np.where(m.supports(reports, values), e * p, p)
    assert np.exp(m.log_prob(reports, values)) == pytest.approx(due, rel=1e-12)


def test_estimates_of_tiny_budgets_keep_their_digits() -> None:
    m = PGR(k=7, epsilon=1e-6, q=2)
    mean = sum(m.weight(y, 3) / m.denominator * m.decode(m.tally(m.outputs()[y : y + 1]), 1) for y in range(m.size))
    assert np.allclose(mean, np.eye(7)[3], atol=1e-6)


# The decoder.


@given(st.sampled_from([*ORDERS, 11, 16, 25, 27]), st.integers(2, 500), st.integers(0, 2**32))
@pin(2, 2, 0)
@pin(2, 256, 0)
@pin(3, 365, 1)
@pin(27, 28, 2)
def test_decoder_counts_what_every_report_supports(q: int, k: int, seed: int) -> None:
    m = PGR(k=k, epsilon=1.0, q=q)
    tally = np.random.default_rng(seed).integers(0, 50, m.size)
    matrix = m.support_matrix(m.outputs())
    assert (m.support_counts(tally) == tally @ matrix).all()
    assert (m.favoured_sums(tally[:k]) == matrix @ tally[:k]).all()
    belief = np.random.default_rng(seed).random(m.size)
    due = np.where(matrix, belief[:, None], 0).max(axis=0)
    assert (over_hyperplanes(belief, k, m._space, largest=True) == due).all()


@pytest.mark.parametrize(("q", "k"), [(2, 2_000), (5, 4_000), (13, 2_500), (32, 1_100), (101, 10_303), (151, 3_000)])
def test_decoder_at_larger_sizes_on_any_number_of_threads(q: int, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    m = PGR(k=k, epsilon=1.0, q=q)
    reports = np.random.default_rng(q).integers(0, m.size, 400).astype(m.report_dtype)
    tally = m.tally(reports)
    due = m.support_matrix(reports).sum(axis=0)
    monkeypatch.setattr("hush.mechanisms.projective.counts._WORTH_THREADS", 1)
    for threads in ("1", "3"):
        monkeypatch.setenv("HUSH_THREADS", threads)
        assert (m.support_counts(tally) == due).all()


def test_decoder_holds_more_reports_than_32_bits() -> None:
    m = PGR(k=13, epsilon=1.0, q=3)
    tally = np.full(13, 10**9)
    assert (m.support_counts(tally) == 4 * 10**9).all()


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 7.0])
def test_a_million_values(epsilon: float) -> None:
    m = PGR(k=10**6, epsilon=epsilon)
    held = np.repeat([999_999, 5, 400_000], [20_000, 10_000, 10_000])
    estimate = m.estimate(m.aggregate(m.privatize(held, rng=hush.seeded(7))))
    truth = np.bincount(held, minlength=m.k) / held.size
    z = (estimate.frequencies - truth) / np.sqrt(m.variances(truth, held.size))
    assert np.abs(z).max() < 7.5  # false alarm: 1e-13 for each of a million values
    assert z.var() == pytest.approx(1.0, abs=0.1)  # below 1e-9 even if a hundred values each moved as one


def test_malformed_reports_are_refused() -> None:
    m = PGR(k=8, epsilon=1.0, q=5)
    with pytest.raises(ReportError, match="must be below 31, got 31"):
        m.aggregate(np.array([31], m.report_dtype))


# Closed forms.


@pytest.mark.parametrize(("q", "k"), [(2, 2), (2, 5), (3, 4), (3, 10), (4, 3), (5, 8), (7, 60), (8, 74), (9, 11)])
def test_success_equals_enumeration(q: int, k: int) -> None:
    m = PGR(k=k, epsilon=2.0, q=q)
    if m.size <= 100:
        assert m.asr() == pytest.approx(FrequencyOracle.asr(m), rel=1e-12)
    matrix = m.support_matrix(m.outputs())
    priors = [1.0 / np.arange(1, k + 1), np.random.default_rng(k).random(k) ** 8, np.eye(k)[k - 1], np.ones(k)]
    low, high = (w / m.denominator for w in m._weights)
    for prior in priors:
        belief = prior / prior.sum()
        due = (np.where(matrix, high, low) * belief).max(axis=1).sum()
        assert m.asr(prior) == pytest.approx(due, rel=1e-12)
    assert m.asr(np.ones(k)) == pytest.approx(m.asr(), rel=1e-12)


def test_success_where_values_are_fewer_than_points() -> None:
    m = PGR(k=8, epsilon=4.0, q=5)
    assert m.asr() == pytest.approx(0.600041099589654, rel=1e-12)
    printed = 0.7119  # equation 15, which takes all messages as equally likely
    matrix = m.support_matrix(m.outputs())
    e = math.exp(4.0)
    assert (e / (m.k + (e - 1) * matrix.sum(axis=1))).mean() == pytest.approx(printed, abs=1e-4)


@pytest.mark.parametrize("k", range(2, 200, 7))
def test_every_message_favours_a_value_from_three_dimensions_on(k: int) -> None:
    for q in ORDERS:
        m = PGR(k=k, epsilon=1.0, q=q)
        preferred = int(m.support_matrix(m.outputs()).any(axis=1).sum())
        assert preferred == (m.size if m.t > 2 else k)


@pytest.mark.parametrize(("q", "k"), [(2, 7), (3, 10), (4, 21), (5, 8), (5, 6), (9, 91)])
def test_mean_variance_is_that_of_the_mechanism_for_every_distribution(q: int, k: int) -> None:
    m = PGR(k=k, epsilon=1.3, q=q)
    for shares in (np.eye(k)[0], np.full(k, 1 / k)):
        due = m.variances(shares, 1).mean()
        assert float(projective.mean_variance(k, 1.3, q, m.t)) == pytest.approx(due, rel=1e-9)


def golden() -> list[dict[str, Any]]:
    return [entry for entry in GOLDEN if entry["protocol"] == "PGR"]


@pytest.mark.parametrize("entry", golden(), ids=lambda e: f"{e['id']}-{e['quantity']}")
def test_golden_value(entry: dict[str, Any]) -> None:
    given, quantity = entry["params"], entry["quantity"]
    q, t = given["q"], given["t"]
    m = PGR(k=given.get("k", projective.points(q, t)), epsilon=given.get("eps", 1.0), q=q)
    found = {
        "c_set": m.favoured, "c_int": m.shared, "K": m.size, "bits": m.bits, "p_star": m.p_star, "q_star": m.q_star,
        "var_eq4_n1": m.variance(), "DRA_exact": m.asr(),
    }[quantity]  # fmt: skip
    assert m.t == t
    assert found == pytest.approx(entry["value"], rel=1e-12)
    if "closest" in entry["method"]:
        assert PGR(k=given["k"], epsilon=given["eps"], q="closest") == m


def test_the_closest_prime_needs_20_bits_where_another_needs_15() -> None:
    closest, ours = PGR(k=22_000, epsilon=4.5, q="closest"), PGR(k=22_000, epsilon=4.5)
    assert (closest.size, closest.bits) == (712_980, 20)
    assert (ours.size, ours.bits) == (22_351, 15)
    assert ours.variance() < 1.07 * closest.variance()


# The choice of the field.


@pytest.mark.parametrize("k", [2, 3, 10, 100, 1024, 22_000])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 5.0])
def test_the_best_order_has_the_least_error_for_its_messages(k: int, epsilon: float) -> None:
    ours = PGR(k=k, epsilon=epsilon)
    error = ours.variance(1, 1 / k)
    for q in [q for q in range(2, 300) if projective.characteristic(q)]:
        other = PGR(k=k, epsilon=epsilon, q=q)
        bits = math.log2(other.size / ours.size)
        assert other.variance(1, 1 / k) * 1.02**bits >= error * (1 - 1e-9)


def test_orders_are_found() -> None:
    assert [q for q in range(33) if projective.characteristic(q)] == [
        2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32,
    ]  # fmt: skip
    assert projective.characteristic(3**16) == 3
    assert projective.characteristic(11_579**2) == 11_579
    assert projective.characteristic(11_579 * 11_587) == 0
    assert projective.is_prime(100_000_007)
    assert [projective.closest_order(epsilon) for epsilon in (1e-6, 0.5, 1.0, 2.0, 4.0, 5.0)] == [2, 3, 3, 7, 53, 149]


@pytest.mark.parametrize("k", [2, 10**6, 10**8])
@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 9.0, 40.0])
def test_there_is_always_an_order(k: int, epsilon: float) -> None:
    m = PGR(k=k, epsilon=epsilon)
    assert k <= m.size <= max(2**25, 2 * k)
    assert PGR(k=k, epsilon=epsilon, q=m.q) == m


BAD_ORDERS = [1, 0, -3, 6, 10, 12, 36, 1_000, 4.0, math.nan, math.inf, "best", "", True, [7], 2**27, 2**40]


@pytest.mark.parametrize("q", BAD_ORDERS, ids=repr)
def test_bad_orders_are_refused(q: Any) -> None:
    with pytest.raises(ParameterError, match=r"^q must .*, got .*; "):
        PGR(k=10, epsilon=1.0, q=q)


@pytest.mark.parametrize(
    ("k", "epsilon", "q", "why"),
    [
        (10**8, 1.0, 3, "must give at most 134217728 messages for k=100000000"),
        (200_000, 1.0, 11_579, None),
        (10**8, 1.0, 11_587, "must give at most"),
        (10, 1.0, 2048, "must be a prime, or a prime power of at most 1024"),
        (10, 40.0, "closest", "must be at most 134217728"),
    ],
)
def test_what_is_too_large_is_refused(k: int, epsilon: float, q: Any, why: str | None) -> None:
    if why is None:
        assert PGR(k=k, epsilon=epsilon, q=q).t == 3
        return
    with pytest.raises(ParameterError, match=why):
        PGR(k=k, epsilon=epsilon, q=q)


@pytest.mark.parametrize("k", [1, 0, -1, 2.5, math.nan, "4", None, 10**9])
def test_bad_sizes_are_refused(k: Any) -> None:
    with pytest.raises(ParameterError, match="k must be an integer in"):
        PGR(k=k, epsilon=1.0)


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, 41.0, "1", None])
def test_bad_budgets_are_refused(epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon must be a number from"):
        PGR(k=10, epsilon=epsilon, q=3)


def test_likeliest_distribution_from_the_counts_alone() -> None:
    m = PGR(k=6, epsilon=2.0, q=2)
    values = np.repeat(np.arange(6), [3000, 2000, 1000, 500, 300, 200])
    aggregate = m.aggregate(m.privatize(values, rng=hush.seeded(7)))
    found = m.maximum_likelihood(aggregate)
    assert found.frequencies == pytest.approx(np.bincount(values) / values.size, abs=0.08)


@pytest.mark.parametrize(("k", "q"), [(8, 5), (31, 5), (20, 2), (7, 8)])
def test_information_by_enumeration(k: int, q: int) -> None:
    m = PGR(k=k, epsilon=1.3, q=q)
    law = np.array([[m.weight(y, v) / m.denominator for v in range(k)] for y in m.outputs()])
    found = information_loss(m)
    assert found.stderr == 0.0
    assert 1 - found.loss == pytest.approx(information.channel(law, np.full(k, 1 / k)), rel=1e-9)


@pytest.mark.parametrize("q", [2, 3, 4, 5, 7, 8, 9, 11, 13, 25])
def test_hyperplanes_favor_as_many_of_the_first_values_as_is_stated(q: int) -> None:
    """By counting on every hyperplane, for all small domains and some others."""
    for k in [*range(2, 16), *hush.seeded(q).integers(16, 3000, 20).tolist()]:
        m = PGR(k=k, epsilon=1.0, q=q)
        due = np.unique(m.favoured_sums(np.ones(k, np.int32)), return_counts=True)
        for stated, counted in zip(hyperplane_sizes(q, m.t, k), due, strict=True):
            assert stated.tolist() == counted.tolist()
