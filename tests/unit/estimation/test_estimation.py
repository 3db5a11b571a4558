"""Aggregates, estimates, intervals, post-processing, maximum likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import hush
from hush.errors import ParameterError, ProjectedError, SpecError
from hush.estimation import Aggregate, consistency
from hush.estimation.intervals import deviations, tail
from tests.conftest import NAMES, example

M = hush.OUE(k=5, epsilon=1.0)


def an_estimate(n: int = 1000) -> hush.Estimate:
    return M.estimate(M.simulate([n, n, 0, 0, n], rng=hush.seeded(1)))


def test_a_normal_interval_is_symmetric_and_widens_with_the_level() -> None:
    estimate = an_estimate()
    low, high = estimate.interval(0.95, method="normal")
    assert np.allclose((low + high) / 2, estimate.frequencies)
    assert np.allclose((high - low) / 2, 1.959963984540054 * estimate.stderr)
    wider = estimate.interval(0.99, method="normal")
    assert (wider[0] < low).all()
    assert (wider[1] > high).all()
    both = estimate.interval(0.95, simultaneous=True, method="normal")
    assert np.allclose((both[1] - both[0]) / 2, deviations(tail(0.95, 5)) * estimate.stderr)


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 95, float("nan"), "0.9", None])
def test_bad_levels(level: object) -> None:
    with pytest.raises(ParameterError, match="level must lie strictly between 0 and 1"):
        an_estimate().interval(level)  # type: ignore[arg-type]


def test_standard_error_is_the_exact_variance_at_the_estimate() -> None:
    estimate = an_estimate()
    plugged = consistency.simplex(estimate.frequencies)
    assert np.allclose(estimate.stderr, [np.sqrt(M.variance(estimate.n, f)) for f in plugged])


@pytest.mark.parametrize("method", ["clip", "simplex", "norm-sub", "norm-cut"])
def test_projection_is_named_and_takes_the_error_bars_away(method: str) -> None:
    raw = an_estimate(30)
    projected = raw.project(method)
    assert projected.projection == method
    assert (projected.frequencies >= 0).all()
    with pytest.raises(ProjectedError, match="raw estimate"):
        projected.interval()
    with pytest.raises(ProjectedError):
        _ = projected.stderr
    assert raw.projection is None
    assert "lower" not in projected.rows()[0]


def test_unknown_projection() -> None:
    with pytest.raises(ParameterError, match="method must be one of clip, simplex"):
        an_estimate().project("magic")


vectors = arrays(np.float64, st.integers(2, 30), elements=st.floats(-3, 3, allow_nan=False))


@given(vectors)
def test_simplex_is_the_nearest_distribution(raw: np.ndarray) -> None:
    nearest = consistency.simplex(raw)
    assert (nearest >= 0).all()
    assert nearest.sum() == pytest.approx(1.0)
    assert np.allclose(consistency.simplex(nearest), nearest)
    # optimality: the gap is constant where positive, and no larger elsewhere
    gap = raw - nearest
    shared = gap[nearest > 1e-12]
    assert np.allclose(shared, shared[0], atol=1e-9)
    assert (gap <= shared[0] + 1e-9).all()


@given(vectors)
def test_norm_cut_keeps_the_largest_untouched(raw: np.ndarray) -> None:
    cut = consistency.norm_cut(raw)
    assert (cut >= 0).all()
    assert cut.sum() <= 1.0 + 1e-9
    kept = cut > 0
    assert np.allclose(cut[kept], np.minimum(raw[kept], 1.0))
    if kept.any() and (~kept).any():
        assert cut[kept].min() >= np.minimum(np.maximum(raw[~kept], 0), 1).max() - 1e-12 or raw[kept].min() > 0


@given(vectors)
def test_clip_touches_each_alone(raw: np.ndarray) -> None:
    assert np.array_equal(consistency.clip(raw), np.minimum(np.maximum(raw, 0), 1))


def test_maximum_likelihood_from_the_tally_equals_that_from_reports() -> None:
    for m in (hush.GRR(k=6, epsilon=1.0), hush.HR(k=6, epsilon=1.0)):
        reports = m.privatize(np.repeat(np.arange(6), [900, 500, 300, 200, 100, 0]), rng=hush.seeded(2))
        by_reports = m.maximum_likelihood(reports)
        by_tally = m.maximum_likelihood(m.aggregate(reports))
        assert np.allclose(by_reports.frequencies, by_tally.frequencies, atol=1e-12)
        assert by_tally.projection == "maximum likelihood"
        assert by_tally.n == 2000


@pytest.mark.parametrize("name", [name for name in NAMES if name != "LHO"])  # which has no noise to undo
def test_maximum_likelihood_beats_clipping_and_is_a_distribution(name: str) -> None:
    m = example(name, 6, 1.0)
    counts = np.array([9000, 500, 300, 200, 0, 0])
    reports = m.privatize(np.repeat(np.arange(6), counts), rng=hush.seeded(3))
    found = m.maximum_likelihood(reports).frequencies
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0).all()
    at = np.clip(found, 1e-12, None)
    truth = counts / counts.sum()
    for rival in (truth, m.estimate(m.aggregate(reports)).project("simplex").frequencies, np.full(6, 1 / 6)):
        assert likelihood(m, reports, at) >= likelihood(m, reports, np.clip(rival, 1e-12, None)) - 2e-6
    assert np.abs(found - truth).max() < 6 * np.sqrt(m.variance(10_000, 0.9))


def test_maximum_likelihood_converges_where_noise_is_heavy() -> None:
    for m in (hush.GRR(k=100, epsilon=0.1), hush.GRR(k=10, epsilon=0.1), hush.HR(k=60, epsilon=0.5)):
        counts = hush.datasets.zipf(m.k, 100_000).counts
        found = m.maximum_likelihood(m.simulate(counts, rng=hush.seeded(5))).frequencies
        assert found.sum() == pytest.approx(1.0)
    with pytest.raises(hush.errors.ConvergenceError, match="raise steps or tolerance"):
        m.maximum_likelihood(m.simulate(counts, rng=hush.seeded(5)), tolerance=1e-15, steps=3)


def test_maximum_likelihood_refuses_an_aggregate_of_another_spec() -> None:
    ours, theirs = hush.GRR(k=4, epsilon=3.0), hush.GRR(k=4, epsilon=1.0)
    with pytest.raises(SpecError):
        ours.maximum_likelihood(theirs.simulate([5, 5, 5, 5]))
    with pytest.raises(SpecError):
        ours.maximum_likelihood(hush.GRR(k=5, epsilon=3.0).simulate([5, 5, 5, 5, 5]))


def likelihood(m: hush.FrequencyOracle, reports: np.ndarray, frequencies: np.ndarray) -> float:
    score = m.scores(reports)
    return float(np.log(np.exp(score - score.max(axis=1, keepdims=True)) @ frequencies).mean())


def test_maximum_likelihood_refuses_what_does_not_suffice() -> None:
    with pytest.raises(ParameterError, match="tally does not suffice"):
        M.maximum_likelihood(M.aggregate(M.privatize([1, 2])))
    with pytest.raises(ParameterError, match="at least one"):
        M.maximum_likelihood(M.privatize([]))
    with pytest.raises(ParameterError, match="tolerance"):
        M.maximum_likelihood(M.privatize([1]), tolerance=0.0)


def test_raw_estimates_are_unbiased_so_some_are_negative() -> None:
    m = hush.GRR(k=50, epsilon=0.5)
    estimate = m.estimate(m.simulate([1000] + [0] * 49, rng=hush.seeded(4)))
    assert (estimate.frequencies < 0).any()
    assert estimate.frequencies.sum() == pytest.approx(1.0)


def test_frames() -> None:
    spec = hush.Spec(hush.GRR(k=3, epsilon=1.0), hush.Domain(labels=["a", "b", "c"]))
    estimate = spec.estimate(spec.simulate([5, 3, 2], rng=hush.seeded(1)))
    frame = estimate.to_frame()
    assert list(frame.index) == ["a", "b", "c"]
    assert list(frame.columns) == ["frequency", "count", "stderr", "lower", "upper", "method"]
    assert frame.loc["b", "count"] == pytest.approx(estimate.counts[1])


@pytest.fixture
def aggregate() -> Aggregate:
    return M.aggregate(M.privatize([0, 1, 2, 3, 4], rng=hush.seeded(1)))


def test_aggregates_of_different_specs_do_not_merge(aggregate: Aggregate) -> None:
    other = hush.OUE(k=5, epsilon=1.5)
    with pytest.raises(SpecError, match="merge only aggregates of one collection"):
        aggregate + other.aggregate(other.privatize([0]))
    with pytest.raises(SpecError):
        other.estimate(aggregate)
    with pytest.raises(TypeError):
        aggregate + 1


def test_damaged_aggregates_are_refused(aggregate: Aggregate) -> None:
    whole = aggregate.to_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 0x10
        with pytest.raises(SpecError):
            Aggregate.from_bytes(bytes(damaged))
    for size in range(len(whole)):
        with pytest.raises(SpecError):
            Aggregate.from_bytes(whole[:size])


@given(st.binary(max_size=200))
def test_rubbish_is_never_an_aggregate(data: bytes) -> None:
    with pytest.raises(SpecError):
        Aggregate.from_bytes(data)


def test_a_tally_of_another_shape_is_refused(aggregate: Aggregate) -> None:
    with pytest.raises(SpecError, match=r"tally of shape \(5,\)"):
        M.estimate(Aggregate(3, np.zeros(7, np.int64), aggregate.spec_hash))


def test_a_huge_shape_is_refused_without_allocating(aggregate: Aggregate) -> None:
    import struct
    import zlib

    body = bytearray(aggregate.to_bytes()[:-4])
    body[47:55] = struct.pack("<Q", 2**62)
    forged = bytes(body) + struct.pack("<I", zlib.crc32(bytes(body)))
    with pytest.raises(SpecError, match="whole tally"):
        Aggregate.from_bytes(forged)
