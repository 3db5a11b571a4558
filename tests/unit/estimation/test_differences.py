"""Differences of frequencies: coverage by enumeration of both laws, widths, and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import hush
from hush.errors import ParameterError, ProjectedError
from hush.estimation import Aggregate
from hush.estimation.differences import _corners
from hush.estimation.estimate import Estimate


def law(n: int, held: int, p: float, q: float) -> np.ndarray:
    """Probabilities of a tally."""
    mine, others = stats.binom.pmf(np.arange(held + 1), held, p), stats.binom.pmf(np.arange(n - held + 1), n - held, q)
    return np.convolve(mine, others)


def ends(m: hush.OUE, tallies: tuple[np.ndarray, np.ndarray], sizes: tuple[int, int], **asked: Any) -> Any:
    """Intervals of many pairs of tallies at once: each is a value of its own."""
    found = []
    for tally, n in zip(tallies, sizes, strict=True):
        wide = hush.OUE(k=tally.size, epsilon=m.epsilon)
        found.append(
            Estimate(
                wide.decode(tally, n), n, hush.Domain(size=tally.size), np.ones(tally.size), law=wide.law(tally, n)
            )
        )
    return found[0].difference(found[1]).interval(**asked)


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("sizes", [(1, 1), (3, 5), (20, 4), (12, 12), (60, 1)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_every_pair_of_frequencies_is_covered(epsilon: float, sizes: tuple[int, int], level: float) -> None:
    """All pairs of tallies, and of numbers of people who hold the value: never less than the level."""
    m = hush.OUE(k=5, epsilon=epsilon)
    n, other = sizes
    grid = np.array(list(product(range(n + 1), range(other + 1))))
    found = ends(m, (grid[:, 0], grid[:, 1]), sizes, level=level, method="exact")
    assert set(found.methods) == {"exact"}
    for held, theirs in product(range(0, n + 1, max(1, n // 4)), range(0, other + 1, max(1, other // 4))):
        chances = np.outer(law(n, held, m.p_star, m.q_star), law(other, theirs, m.p_star, m.q_star))
        true = held / n - theirs / other
        covered = (found.lower <= true + 1e-12) & (true - 1e-12 <= found.upper)
        assert chances.ravel() @ covered >= level - 1e-12


@pytest.mark.parametrize("tail", [0.25, 0.025, 1e-6])
@pytest.mark.parametrize("share", [1e-6, 0.001, 0.3, 1.0, 50.0, 1e6])
def test_the_staircase_leaves_out_what_may_be_missed(tail: float, share: float) -> None:
    """Its chance under two normal laws, cell by cell; and it is all spent."""
    corners = np.array(_corners(tail, share))
    one, other = stats.norm.isf(corners).T
    edges = np.concatenate([[-np.inf], one])
    inside = sum(
        (stats.norm.cdf(edges[i + 1]) - stats.norm.cdf(edges[i])) * stats.norm.cdf(other[i]) for i in range(one.size)
    )
    assert 1 - inside == pytest.approx(tail, rel=1e-6, abs=1e-14)
    assert (np.diff(one) >= 0).all()
    assert (np.diff(other) <= 0).all()


def of_tallies(m: hush.OUE, frequencies: list[float], n: int) -> Estimate:
    """An estimate of n people, whose tallies are what these frequencies lead to on average."""
    tally = np.array([round(n * (m.q_star + f * (m.p_star - m.q_star))) for f in frequencies])
    return m.estimate(Aggregate(n, tally, m.spec_hash))


@pytest.mark.parametrize("few", [1, 30, 2000])
@pytest.mark.parametrize("many", [2 * 10**8, 4 * 10**13, 10**16])
def test_few_people_against_very_many(few: int, many: int) -> None:
    """Nearly the interval of the few alone, less a frequency that is known, and on neither side narrower than that."""
    m, shares = hush.OUE(k=3, epsilon=1.0), [0.1, 0.6, 0.3]
    one, other = (of_tallies(m, shares, n) for n in (few, many))
    alone = one.interval(0.95, method="exact")
    found, turned = (pair.interval(0.95) for pair in (one.difference(other), other.difference(one)))
    assert set(found.methods) == {"exact"}
    assert found.lower == pytest.approx(alone.lower - shares, abs=2e-3)
    assert found.upper == pytest.approx(alone.upper - shares, abs=2e-3)
    assert (found.lower <= alone.lower - shares + 1e-12).all()
    assert (found.upper >= alone.upper - shares - 1e-12).all()
    assert turned.lower == pytest.approx(-found.upper, abs=1e-3)
    assert turned.upper == pytest.approx(-found.lower, abs=1e-3)


@pytest.mark.parametrize("sizes", [(2 * 10**8, 2 * 10**8), (10**9, 4 * 10**8), (4 * 10**12, 10**16)])
def test_very_many_people_against_very_many(sizes: tuple[int, int]) -> None:
    """Where the normal law is right, the ends of exact tests are its own, a little farther out for the steps."""
    m = hush.OUE(k=4, epsilon=2.0)
    one, other = (of_tallies(m, [0.1, 0.2, 0.3, 0.4], n) for n in sizes)
    exact, normal = (one.difference(other).interval(0.95, method=how) for how in ("exact", "normal"))
    wider = (exact.upper - exact.lower) / (normal.upper - normal.lower)
    assert one.difference(other).interval().method == "normal"
    assert (wider > 1 - 1e-6).all()
    assert (wider < 1.06).all()


def test_it_is_hardly_wider_than_the_normal_law() -> None:
    m = hush.OUE(k=50, epsilon=1.0)
    for first, second in ((1000, 1000), (40_000, 10_000)):
        one, other = (m.estimate(m.simulate(np.full(50, n // 50), rng=hush.seeded(7))) for n in (first, second))
        for simultaneous in (False, True):
            exact, normal = (
                one.difference(other).interval(simultaneous=simultaneous, method=how) for how in ("exact", "normal")
            )
            wider = np.mean(exact.upper - exact.lower) / np.mean(normal.upper - normal.lower)
            assert 0.9 < wider < 1.08


def test_all_values_together_are_covered() -> None:
    """300 collections of 30 and 50 people: so few misses that the rate may be 5 %; false alarms 1e-9."""
    m, runs, rng = hush.OUE(k=8, epsilon=2.0), 300, hush.seeded(7)
    first, second = np.array([20, 5, 5, 0, 0, 0, 0, 0]), np.array([10, 20, 0, 0, 10, 10, 0, 0])
    true = first / 30 - second / 50
    missed = {"two": 0, "pairs": 0}
    for _ in range(runs):
        one, other = (m.estimate(m.simulate(counts, rng=rng)) for counts in (first, second))
        found = one.difference(other).interval(simultaneous=True)
        missed["two"] += not ((found.lower <= true + 1e-12) & (true <= found.upper + 1e-12)).all()
        pairs = one.pairs()
        apart = first[pairs.first] / 30 - first[pairs.second] / 30
        within = pairs.interval(simultaneous=True)
        missed["pairs"] += not ((within.lower <= apart + 1e-12) & (apart <= within.upper + 1e-12)).all()
    for which, count in missed.items():
        assert stats.binom.sf(count - 1, runs, 0.05) > 5e-10, which


@pytest.mark.parametrize("n", [1, 2, 3])
def test_pairs_of_one_collection_are_covered_however_they_depend(n: int) -> None:
    """Randomized response over three values: all collections of n reports."""
    m = hush.GRR(k=3, epsilon=1.5)
    for people in product(range(3), repeat=n):
        counts = np.bincount(people, minlength=3)
        missed, together = np.zeros(3), 0.0
        for reports in product(range(3), repeat=n):
            chance = math.prod(m.p_star if r == v else m.q_star for r, v in zip(reports, people, strict=True))
            pairs = m.estimate(m.aggregate(np.array(reports, m.report_dtype))).pairs()
            true = (counts[pairs.first] - counts[pairs.second]) / n
            single, all_of_them = pairs.interval(0.9), pairs.interval(0.9, simultaneous=True)
            missed += chance * ((true < single.lower - 1e-12) | (true > single.upper + 1e-12))
            together += chance * bool(((true < all_of_them.lower - 1e-12) | (true > all_of_them.upper + 1e-12)).any())
        assert (missed <= 0.1).all()
        assert together <= 0.1


def test_dependent_collections_share_what_may_be_missed() -> None:
    m = hush.OUE(k=4, epsilon=1.0)
    one, other = (m.estimate(m.simulate([5000, 3000, 2000, 2000], rng=hush.seeded(seed))) for seed in (1, 2))
    kept = one.difference(other, independent=False).interval()
    half = one.interval(0.975), other.interval(0.975)
    assert kept.lower == pytest.approx(half[0].lower - half[1].upper)
    free = one.difference(other).interval()
    assert (free.upper - free.lower < kept.upper - kept.lower).all()
    assert (one.difference(other, independent=False).stderr > one.difference(other).stderr).all()


def test_rows_and_words() -> None:
    spec = hush.Spec(hush.HR(k=3, epsilon=1.0, blocks=2), hush.Domain(labels=["a", "b", "c"]))
    one, other = (spec.estimate(spec.simulate([5, 3, 2], rng=hush.seeded(seed))) for seed in (1, 2))
    rows = one.difference(other).rows(simultaneous=True)
    assert [row["label"] for row in rows] == ["a", "b", "c"]
    assert all(row["lower"] <= row["difference"] <= row["upper"] or row["method"] == "bound" for row in rows)
    assert {row["method"] for row in rows} == {"bound"}
    (row,) = one.pairs([("c", "a")]).rows()
    assert (row["label"], row["than"]) == ("c", "a")
    assert row["difference"] == pytest.approx(one.frequencies[2] - one.frequencies[0])
    assert one.pairs().labels == [("a", "b"), ("a", "c"), ("b", "c")]


ONE = hush.GRR(k=3, epsilon=1.0).estimate(hush.GRR(k=3, epsilon=1.0).simulate([5, 3, 2], rng=hush.seeded(1)))
OTHER = hush.GRR(k=2, epsilon=1.0).estimate(hush.GRR(k=2, epsilon=1.0).simulate([5, 5], rng=hush.seeded(1)))


@pytest.mark.parametrize(
    ("act", "parameter"),
    [
        (lambda: ONE.difference(OTHER), "other"),
        (lambda: ONE.difference(0.5), "other"),  # type: ignore[arg-type]
        (lambda: ONE.difference(ONE).interval(1.0), "level"),
        (lambda: ONE.difference(ONE).interval(method="wald"), "method"),
        (lambda: ONE.pairs([]), "pairs"),
        (lambda: ONE.pairs(5), "pairs"),  # type: ignore[arg-type]
        (lambda: ONE.pairs([(0, 0)]), "pairs"),
        (lambda: ONE.pairs([(0, 1, 2)]), "pairs"),  # type: ignore[list-item]
        (lambda: ONE.pairs([("1", 1)]), "pairs"),
        (lambda: ONE.pairs([([1], 1)]), "pairs"),  # type: ignore[list-item]
        (lambda: ONE.pairs([(0, 7)]), "pairs"),
        (lambda: ONE.pairs().interval(math.nan), "level"),
    ],
)
def test_refusals(act: Callable[[], object], parameter: str) -> None:
    with pytest.raises(ParameterError, match=f"^{parameter} must"):
        act()


def test_a_projected_estimate_has_no_intervals() -> None:
    for act in (lambda: ONE.difference(ONE.project()), lambda: ONE.project().pairs()):
        with pytest.raises(ProjectedError):
            act()
