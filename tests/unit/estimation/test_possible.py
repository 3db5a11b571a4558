"""Aggregates that no reports can give are refused: at reading, merging and estimating, by every mechanism."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import HushError, ParameterError, SpecError
from hush.estimation import Aggregate, consistency, possible
from hush.planning.optimus.population import population
from hush.simulation import tallies
from tests import fuzz

WIDE = {"SHE", "GM", "AGM"}
"""Sums of noise that a few reports can have, too."""


@cache
def kinds() -> dict[str, int]:
    """Where each mechanism, collection and first report is among the fuzzer's."""
    return {f"{m.name()}-{at}": at for at, m in enumerate(fuzz.mechanisms())}


@pytest.fixture(params=sorted(kinds()))
def real(request: pytest.FixtureRequest) -> tuple[Any, Aggregate]:
    """Something that aggregates, and an aggregate of forty reports."""
    at = kinds()[request.param]
    return fuzz.mechanisms()[at], fuzz.aggregate(at)


def readers(m: Any, good: Aggregate) -> list[Callable[[Aggregate], object]]:
    """All that may be done with a stranger's aggregate."""
    return [m.check, m.estimate, lambda other: good + other, lambda other: other + good]


def refused(m: Any, good: Aggregate, tally: np.ndarray, n: int) -> None:
    for act in readers(m, good):
        with pytest.raises(SpecError, match=r"^aggregate must have .*, got .*; fetch it again"):
            act(Aggregate(n, tally, good.spec_hash))


def test_real_aggregates_pass(real: tuple[Any, Aggregate]) -> None:
    m, good = real
    stranger = Aggregate.from_bytes(good.to_bytes())
    assert stranger.rule is None
    assert m.check(stranger) == good
    assert (good + stranger).n == (stranger + good).n == 80
    assert m.check(good + stranger).rule is not None
    nothing = m.aggregate(m.privatize(fuzz.people(m)[:0]))
    assert m.check(Aggregate(0, nothing.tally, good.spec_hash)).n == 0


def test_every_entry_has_bounds(real: tuple[Any, Aggregate]) -> None:
    m, good = real
    for at in np.ndindex(good.tally.shape):
        for entry in (-(10**8), 10**8, 2**62, -(2**63), 2**63 - 1):
            bad = good.tally.copy()
            bad[at] = entry
            refused(m, good, bad, good.n)
    refused(m, good, np.full_like(good.tally, 2**62), good.n)
    refused(m, good, np.full_like(good.tally, -(2**62)), good.n)


def test_a_tally_of_many_is_not_one_of_few(real: tuple[Any, Aggregate]) -> None:
    m, good = real
    if m.name() not in WIDE:
        refused(m, good, good.tally, 1)
    refused(m, good, np.ones_like(good.tally), 0)


@pytest.mark.parametrize(
    ("m", "change"),
    [
        (hush.GRR(k=4, epsilon=1.0), {0: 1}),  # one more than there are
        (hush.HR(k=4, epsilon=1.0), {0: 1}),
        (hush.PGR(k=4, epsilon=1.0), {0: 1}),
        (hush.SS(k=6, epsilon=0.5), {0: 1}),  # not omega members each
        (hush.MSS(k=20, epsilon=1.0, moduli=(7, 11, 5)), {0: 1}),  # not omega residues each
        (hush.MSS(k=20, epsilon=1.0, moduli=(7, 11, 5)), {-1: 1}),  # one report more than there are
        (hush.MSS(k=20, epsilon=1.0, moduli=(7, 11, 5)), {-1: 1, -2: -1}),  # of another modulus
        (hush.utility.uRR(k=6, epsilon=1.0, sensitive=range(3)), {-1: 1}),  # alone, but not revealed
        (hush.utility.uRR(k=6, epsilon=1.0, sensitive=range(3)), {-2: 1}),  # revealed, but not alone, nor in pairs
        (
            hush.longitudinal.dBitFlipPM(k=5, epsilon_permanent=1.0, d=2).first_report,
            {(1, 0): 1},
        ),  # asked once too often
    ],
)
def test_one_report_too_many_or_too_few_shows(m: hush.FrequencyOracle, change: dict[Any, int]) -> None:
    good = m.simulate(np.full(m.k, 100), rng=hush.seeded(1))
    bad = good.tally.copy()
    for at, more in change.items():
        bad[at] += more
    refused(m, good, bad, good.n)


def test_pairs_may_be_revealed_beside_reports() -> None:
    m = hush.utility.uLH(k=6, epsilon=1.0, sensitive=range(3), reveal="pair")
    good = m.simulate([10, 10, 10, 500, 500, 500], rng=hush.seeded(1))
    revealed, alone = good.tally[3:-1], int(good.tally[-1])
    assert alone < revealed.sum() < good.n
    too_many, too_few = good.tally.copy(), good.tally.copy()
    too_many[3] += good.n - revealed.sum() + 1
    too_few[-1] = revealed.sum() + 1
    refused(m, good, too_many, good.n)
    refused(m, good, too_few, good.n)


@pytest.mark.parametrize(
    "m", [hush.Piecewise(low=0.0, high=1.0, epsilon=0.5), hush.Hybrid(low=0.0, high=1.0, epsilon=3.0)], ids=str
)
def test_sums_of_squares_go_with_sums(m: Any) -> None:
    good = m.aggregate(m.privatize(np.linspace(0, 1, 200), rng=hush.seeded(2)))
    first = good.tally.size // 2 - 1
    total = int(good.tally[first])
    for at, entry in ((0, total + 1), (1, total), (1, int(good.tally[first + 1]) + 1), (2, 1000), (2, -1000)):
        bad = good.tally.copy()
        bad[first + at] = entry
        refused(m, good, bad, good.n)


def test_a_hybrid_that_is_all_coins_has_no_places() -> None:
    m = hush.Hybrid(low=0.0, high=1.0, epsilon=0.5)
    good = m.aggregate(m.privatize(np.linspace(0, 1, 200), rng=hush.seeded(2)))
    refused(m, good, np.array([1, 0, 0, 0, 50]), good.n)


def test_a_stranger_hides_in_no_sum() -> None:
    """A tally that is impossible on its own is refused though its sum with a good one would be possible."""
    m = hush.GRR(k=4, epsilon=1.0)
    good = m.simulate([20_000] * 4, rng=hush.seeded(3))
    bad = Aggregate(1800, np.array([-5000, 5000, 900, 900]), m.spec_hash)
    possible.counts(good.tally + bad.tally, good.n + bad.n)
    with pytest.raises(SpecError, match="from 0 to 1800, got -5000 at place 0"):
        _ = good + bad
    with pytest.raises(SpecError, match="got -5000 at place 0"):
        sum([bad, good])


def test_what_was_checked_is_no_stranger_until_it_travels() -> None:
    m = hush.OUE(k=4, epsilon=1.0)
    good = m.check(Aggregate.from_bytes(m.simulate([5] * 4).to_bytes()))
    assert good.rule == m.check_tally
    assert pickle.loads(pickle.dumps(good)) == good
    assert pickle.loads(pickle.dumps(good)).rule is None
    assert hush.Spec(m).simulate([5] * 4).rule == m.check_tally


def test_sums_beyond_64_bits_are_refused() -> None:
    m = hush.OUE(k=4, epsilon=1.0)
    half = Aggregate(2**61, np.array([2**61] * 4), m.spec_hash)
    assert (half + half).tally.tolist() == [2**62] * 4
    with pytest.raises(SpecError, match="aggregate must count at most 4611686018427387904"):
        _ = half + half + half
    for sign in (1, -1):
        huge = Aggregate(1, np.array([sign * 2**62] * 4) - (sign < 0), m.spec_hash)
        with pytest.raises(
            SpecError, match=r"aggregate must have entries of 64 bits, got a sum beyond 2\^63; merge fewer"
        ):
            _ = huge + huge
    with pytest.raises(ParameterError, match="tally must be an array of integers, got 'float64'"):
        possible.added(np.array([1]), np.array([1.5]))


def test_totals_are_exact() -> None:
    rng = np.random.default_rng(1)
    for dtype in ("i1", "u1", "i4", "i8", "u8"):
        bounds = np.iinfo(dtype)
        array = rng.integers(bounds.min, bounds.max, 1000, dtype=dtype, endpoint=True)
        assert possible.total(array) == sum(array.tolist())


@pytest.mark.parametrize("n", [-1, 2**63, 1.5, True, None, "4"])
def test_the_number_of_reports_is_one(n: Any) -> None:
    m = hush.OUE(k=4, epsilon=1.0)
    with pytest.raises(SpecError, match="aggregate must count 0 to"):
        m.check(Aggregate(n, np.zeros(4, np.int64), m.spec_hash))


@pytest.mark.parametrize("tally", [np.zeros(4), np.zeros(5, np.int64), [0, 0, 0, 0], None, np.zeros((2, 2), np.int64)])
def test_a_tally_is_integers_of_its_shape(tally: Any) -> None:
    m = hush.OUE(k=4, epsilon=1.0)
    with pytest.raises(SpecError, match=r"aggregate must have a tally of shape \(4,\), of 64-bit integers"):
        m.estimate(Aggregate(4, tally, m.spec_hash))


@pytest.mark.parametrize("counts", [[2**62] * 4, [2**53, 1, 0, 0], np.array([2**63] * 4, np.uint64)])
def test_a_population_is_counted_without_overflow(counts: Any) -> None:
    for m in (hush.OUE(k=4, epsilon=1.0), hush.GRR(k=4, epsilon=1.0), hush.SHE(k=4, epsilon=1.0)):
        with pytest.raises(
            ParameterError, match=r"^counts must add up to at most 9007199254740992, got [0-9]+; simulate"
        ):
            m.simulate(counts)
    with pytest.raises(ParameterError, match="n must be an integer in"):
        population([*([2**62] * 4), 1000], None)


def test_sums_of_steps_stay_within_64_bits() -> None:
    m = hush.SHE(k=3, epsilon=1.0)
    people = (2**63 - 1) // m.grid.highest
    with pytest.raises(
        ParameterError, match=rf"^counts must add up to at most {people}, so that 64 bits hold the sums"
    ):
        m.simulate([people // 2, people // 2, 10])
    assert m.estimate(m.simulate([10**12] * 3, rng=hush.seeded(1))).frequencies.sum() == pytest.approx(1, abs=1e-3)
    assert tallies.MOST_PEOPLE == 2**53


def test_the_nearest_distribution_to_huge_numbers() -> None:
    assert consistency.simplex(np.array([1e300, -1e300, 0.0])).tolist() == [1.0, 0.0, 0.0]
    assert consistency.simplex(np.array([1e19, 1e19, 0.0])).tolist() == [0.5, 0.5, 0.0]


def test_a_mechanism_of_ones_own_says_what_holds_for_its_tallies() -> None:
    class Own(hush.GRR):
        def check_tally(self, tally: np.ndarray, n: int) -> None:
            super().check_tally(tally, n)
            possible.within(tally, 0, 9, "small counts")

    m = Own(k=3, epsilon=1.0)
    small = Aggregate(27, np.array([9, 9, 9]), "0" * 64)
    m.check_tally(small.tally, 27)
    with pytest.raises(HushError, match="small counts from 0 to 9, got 10 at place 0"):
        m.check_tally(np.array([10, 8, 9]), 27)


def test_more_people_than_numpy_draws_from() -> None:
    m = hush.utility.uLH(k=7, epsilon=1.0, sensitive=range(4), z="balanced")
    seen = m.simulate([10**9] * 7, rng=hush.seeded(1))
    assert m.check(seen).n == 7 * 10**9
    assert m.estimate(seen).frequencies == pytest.approx(np.full(7, 1 / 7), abs=1e-3)
    with pytest.raises(
        ParameterError, match=r"^counts must add up to less than 1000000000, of whom the first can be drawn"
    ):
        hush.utility.collaborate(hush.utility.uSS, k=4, epsilon=1.0, sensitive=[0, 1], counts=[10**9] * 4)


def test_sums_ask_for_integers_in_either_order() -> None:
    for pair in ((np.array([0.5]), np.array([1])), (np.array([1]), np.array([0.5]))):
        with pytest.raises(ParameterError, match="tally must be an array of integers"):
            possible.added(*pair)
