"""Totals of amounts, and intervals that cover them: by all people and all reports, and by exact laws."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

import hush
from hush.errors import ParameterError, ProjectedError
from hush.estimation.intervals import tail
from hush.estimation.sums import OfReports, allowed
from hush.mechanisms.sums import total_law

AMOUNTS = [0.0, 1.0, 10.0]


def spec_of(m: hush.FrequencyOracle, amounts: list[float] | None = None) -> hush.Spec:
    return hush.Spec(m, hush.Domain(size=m.k, values=amounts or AMOUNTS))


def every(m: hush.FrequencyOracle, spec: hush.Spec, n: int, level: float) -> dict[tuple[int, ...], tuple[float, float]]:
    """The interval of the total for every list of reports, up to their order."""
    found = {}
    for reports in itertools.combinations_with_replacement(range(len(m.outputs(None))), n):
        some = np.array([m.outputs(None)[y] for y in reports], m.report_dtype)
        found[reports] = tuple(spec.estimate(spec.aggregate(some)).total_interval(level))
    return found


@pytest.mark.parametrize("name", ["GRR", "SUE", "OUE", "SS"])
@pytest.mark.parametrize("epsilon", [0.5, 3.0, 8.0])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_cover_all_people_by_enumeration(name: str, epsilon: float, level: float) -> None:
    m = hush.registry()[name](k=3, epsilon=epsilon)
    assert isinstance(m, hush.FrequencyOracle)
    spec, outputs = spec_of(m), m.outputs(None)
    chances = np.array([[m.weight(y, v) for v in range(3)] for y in outputs], float) / m.denominator
    for n in (1, 2, 3):
        intervals = every(m, spec, n, level)
        for people in itertools.combinations_with_replacement(range(3), n):
            total, covered = sum(AMOUNTS[v] for v in people), 0.0
            for reports in itertools.product(range(len(outputs)), repeat=n):
                low, high = intervals[tuple(sorted(reports))]
                if low - 1e-9 <= total <= high + 1e-9:
                    covered += math.prod(chances[y, v] for y, v in zip(reports, people, strict=True))
            assert covered >= level - 1e-12, (n, people)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("held", [0, 3, 150, 750])
def test_the_normal_law_misses_no_more_than_it_says(epsilon: float, held: int) -> None:
    """With two values the exact law is that of two binomials; 1500 people are few enough for both kinds of interval."""
    m, n = hush.GRR(k=2, epsilon=epsilon), 1500
    spec = spec_of(m, [1.0, 11.0])
    people, others = np.arange(held + 1), np.arange(n - held + 1)
    law = np.convolve(binom.pmf(people, held, m.p_star), binom.pmf(others, n - held, m.q_star))
    total, covered = n + 10.0 * held, 0.0
    for ones in np.flatnonzero(law > 1e-12).tolist():
        aggregate = hush.Aggregate(n=n, tally=np.array([n - ones, ones]), spec_hash=spec.hash)
        low, high = spec.estimate(aggregate).total_interval()
        covered += float(law[ones]) if low - 1e-6 <= total <= high + 1e-6 else 0.0
    assert covered >= 0.949


@pytest.mark.parametrize("name", ["GRR", "OUE", "OLH", "SS", "HR", "PGR", "SUE"])
def test_variance_and_skewness_are_those_of_a_report(name: str) -> None:
    m = hush.registry()[name](k=4, epsilon=1.0)
    amounts = np.array([0.0, 2.0, 3.0, 7.0])
    frequencies = np.array([0.4, 0.3, 0.2, 0.1])
    law = total_law(m, frequencies, 1000, None, amounts)
    assert isinstance(law, OfReports)
    expected = m.forms.total_law(amounts, np.array([400, 300, 200, 100])).variance
    assert law.variance == pytest.approx(expected, rel=1e-9)
    listing = m.forms.listed
    if listing is not None:
        says, chances = listing.decoded @ amounts, listing.chances
        third = [((says - says @ chances[:, v]) ** 3) @ chances[:, v] for v in range(4)]
        assert law._third == pytest.approx(third, rel=1e-6, abs=1e-6 * float(np.abs(third).max()))


def test_what_frequencies_allow_is_what_a_linear_program_finds() -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        amounts = rng.normal(size=5)
        lower, upper = np.zeros(5), np.ones(5)
        middle = rng.dirichlet(np.ones(5))
        lower, upper = middle * rng.random(5), np.minimum(middle + rng.random(5), 1.0)
        low, high = allowed(amounts, lower, upper)
        ends = [
            linprog(s * amounts, A_eq=np.ones((1, 5)), b_eq=[1.0], bounds=list(zip(lower, upper, strict=True))).fun * s
            for s in (1, -1)
        ]
        assert [low, high] == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize("name", ["MSS", "SHE", "CMS"])
def test_totals_of_others_go_by_the_intervals_of_values(name: str) -> None:
    m = hush.registry()[name](k=6, epsilon=1.0)
    amounts = [0.0, 1.0, 2.0, 3.0, 4.0, 50.0]
    spec = spec_of(m, amounts)
    estimate = spec.estimate(spec.simulate([30, 20, 20, 10, 10, 10], rng=hush.seeded(7)))
    found = estimate.total_interval()
    each = estimate.interval(simultaneous=True)
    assert tuple(found) == pytest.approx([100 * x for x in allowed(np.array(amounts), *each)])
    assert found.method == "bound"
    assert found.lower <= 620 <= found.upper  # the seed's luck: missed once in 40


def test_many_people_have_normal_intervals_around_the_total() -> None:
    counts = np.array([40_000, 30_000, 30_000])
    for name in ("GRR", "OUE", "SS", "HR", "MSS", "SHE"):
        m = hush.registry()[name](k=3, epsilon=1.0)
        spec = spec_of(m)
        estimate = spec.estimate(spec.simulate(counts, rng=hush.seeded(7)))
        found = estimate.total_interval(0.99)
        assert found.method == "normal", name
        assert estimate.total == pytest.approx(estimate.n * float(estimate.frequencies @ AMOUNTS))
        assert abs(estimate.total - 330_000) < 6 * estimate.total_stderr
        assert (found.lower + found.upper) / 2 == pytest.approx(estimate.total)
        bound = estimate.total_interval(0.99, method="exact")
        assert bound.lower < found.lower < found.upper < bound.upper


def test_what_does_not_vary_is_certain_and_what_nobody_can_have_is_left_out() -> None:
    law = OfReports(5.0, 3, np.array([1.0, 2.0]), np.zeros(2), 0.0, 0.0, lambda t: np.zeros((t.size, 2)), 2, 0.0)
    assert law.ends(0.025) == (5.0, 5.0)
    assert not law.normal(0.025)
    m = hush.GRR(k=3, epsilon=0.1)
    spec = spec_of(m)
    low, high = spec.estimate(spec.simulate([1, 0, 0], rng=hush.seeded(7))).total_interval(0.999999)
    assert (low, high) == (0.0, 10.0)
    assert tail(0.999999) < 1e-6


def test_totals_need_amounts_and_raw_estimates() -> None:
    named = hush.Spec(hush.GRR(k=2, epsilon=1.0), hush.Domain(labels=["yes", "no"]))
    estimate = named.estimate(named.simulate([5, 5], rng=hush.seeded(7)))
    with pytest.raises(ParameterError, match="must have values that are amounts"):
        _ = estimate.total
    spec = spec_of(hush.GRR(k=3, epsilon=1.0))
    raw = spec.estimate(spec.simulate([5, 5, 5], rng=hush.seeded(7)))
    with pytest.raises(ProjectedError):
        raw.project().total_interval()
    assert raw.project().total == pytest.approx(15 * float(raw.project().frequencies @ AMOUNTS))
    for level in (0.0, 1.0, math.nan, "x"):
        with pytest.raises(ParameterError, match="level"):
            raw.total_interval(level)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="method"):
        raw.total_interval(method="best")
    assert tuple(pickle.loads(pickle.dumps(raw)).total_interval()) == tuple(raw.total_interval())


def test_a_mean_has_the_same_words() -> None:
    m = hush.Duchi(low=0.0, high=10.0, epsilon=1.0)
    found = m.estimate(m.aggregate(m.privatize([2.0] * 50, rng=hush.seeded(7))))
    assert tuple(found.total_interval()) == pytest.approx([50 * x for x in found.interval()])
    assert found.total_interval().method == found.interval().method
