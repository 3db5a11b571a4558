"""Events learned from reports alone find what is wrong, come close to the truth, and never go beyond it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hush
from hush.audit import MechanismTarget, Target, run, screen
from hush.audit.candidates import promises
from hush.audit.classifier import hypotheses
from hush.audit.columns import Bins, ReportColumn, all_columns, keys, last_place
from hush.audit.foreign import CallableTarget
from hush.audit.pairs import tried
from hush.audit.reading import ABSENT, joined, pack, table
from hush.audit.stream import Stream
from hush.errors import ParameterError
from hush.testing import museum

ALPHA = 1e-6  # of every audit here: the chance that an honest mechanism is accused


def black_box(m: hush.FrequencyOracle) -> CallableTarget:
    """The mechanism as code of which nothing is known."""
    return CallableTarget(lambda values, rng: m.privatize(values, rng=rng), m.k, 1.0, "a black box", True)


def event(target: Target, pair: tuple[int, int] = (0, 1), size: int = 4000) -> str:
    ones, twos = (Stream(target, value, 7, value).sample(size) for value in pair)
    return hypotheses(target, ones, twos, pair)[0].words


@pytest.mark.parametrize("name", ["OUE", "SS", "SHE", "HR", "OLH"])
def test_an_honest_mechanism_comes_close_to_its_claim_and_keeps_it(name: str) -> None:
    m = hush.registry()[name](k=16, epsilon=1.0)
    found = run(m, "classifier", trials=40_000, alpha=ALPHA, rng=hush.seeded(7))
    assert found.verdict == "consistent"
    assert 0.7 < found.epsilon_lower <= m.exact_epsilon()


def test_an_honest_black_box_comes_close_too_unless_it_hashes() -> None:
    for m in (hush.GRR(k=16, epsilon=1.0), hush.OUE(k=16, epsilon=1.0), hush.SS(k=16, epsilon=1.0)):
        found = run(black_box(m), "classifier", trials=40_000, alpha=ALPHA, pair=(0, 1), rng=hush.seeded(7))
        assert 0.7 < found.epsilon_lower <= m.exact_epsilon()
    hashed = run(black_box(hush.OLH(k=16, epsilon=1.0)), "classifier", trials=5000, pair=(0, 1), rng=hush.seeded(7))
    assert hashed.verdict == "inconclusive"
    assert hashed.epsilon_lower == 0.0  # the stated limit: nobody told it the hash function


@pytest.mark.parametrize(
    ("exhibit", "pair", "least"),
    [
        (museum.MissingResetOUE, (0, 1), 1.2),
        (museum.LastBitUnprotected, (3, 15), 5.0),
        (museum.ShiftByOne, (4, 5), 5.0),
        (museum.TrueValueFirst, (0, 1), 4.9),
        (museum.LastNeverFake, (0, 15), 5.0),
        (museum.SeedTellsValue, (0, 1), 5.0),
        (museum.MiddleBits, (0, 1), 5.0),
        (museum.EvenSteps, (0, 1), 5.0),
        (museum.TwinBits, (0, 1), 4.0),
    ],
)
def test_the_museum_is_seen_through(exhibit: type[hush.FrequencyOracle], pair: tuple[int, int], least: float) -> None:
    m = exhibit(k=16, epsilon=1.0)
    for target in (m, black_box(m)):
        found = run(target, "classifier", trials=30_000, alpha=ALPHA, pair=pair, rng=hush.seeded(7))
        assert found.violated
        assert found.epsilon_lower > least


def test_hashing_without_noise_is_seen_through() -> None:
    found = run(hush.LHO(k=16, g=4), "classifier", trials=30_000, alpha=ALPHA, rng=hush.seeded(7))
    assert found.epsilon_lower > 5.0


def test_the_event_is_put_in_words() -> None:
    assert event(MechanismTarget(museum.ShiftByOne(k=16, epsilon=1.0))) == "the report is 0"
    assert event(MechanismTarget(museum.SeedTellsValue(k=16, epsilon=1.0))) in ("bit 0 of b is 0", "bit 0 of b is 1")
    assert event(MechanismTarget(museum.LastBitUnprotected(k=16, epsilon=1.0)), (0, 15)) == "bit 7 of bits[1] is 0"
    told = event(black_box(hush.OUE(k=16, epsilon=1.0)))
    assert "bit 0 of bits[0] is" in told
    assert "bit 1 of bits[0] is" in told
    noisy = CallableTarget(lambda values, rng: values[:, None] + rng.laplace(size=(values.size, 1)), 2, 1.0, "", True)
    assert "last binary digit" in event(noisy)
    assert event(CallableTarget(lambda value: 7, 4)) == "any report"


def test_trees_find_what_no_two_columns_show() -> None:
    def never_in_turn(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Twenty fair bits, of which the first three are never 010 nor 101 if the value is one."""
        bits = rng.integers(0, 2, (values.size, 20))
        while (barred := (values == 1) & (bits[:, 0] != bits[:, 1]) & (bits[:, 1] != bits[:, 2])).any():
            bits[barred] = rng.integers(0, 2, (int(barred.sum()), 20))
        return bits

    target = CallableTarget(never_in_turn, 2, None, "three bits", True)
    parts = [Stream(target, value, 7, value).sample(10_000) for value in (0, 1)]
    simple, thorough = (hypotheses(target, parts[0], parts[1], (0, 1), thorough=each)[0] for each in (False, True))
    assert simple.promise < 1.0
    assert thorough.promise > 3.0
    assert run(target, "classifier", trials=20_000, alpha=ALPHA, rng=hush.seeded(7)).epsilon_lower > 2.0


def test_a_slack_is_taken_into_account() -> None:
    def now_and_then(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Says the value in one case of a hundred, and otherwise nothing."""
        return np.where(rng.random(values.size) < 0.01, values, -1)

    target = CallableTarget(now_and_then, 2, 0.5, "now and then", True)
    assert run(target, "classifier", trials=20_000, rng=hush.seeded(7)).violated
    slack = CallableTarget(now_and_then, 2, hush.audit.Claim(0.5, 0.02), "now and then", True)
    assert not run(slack, "classifier", trials=20_000, rng=hush.seeded(7)).violated


@pytest.mark.parametrize(
    ("exhibit", "k", "telling"),
    [
        (museum.LastBitUnprotected, 16, lambda pair: 15 in pair),
        (museum.LastBitUnprotected, 40, lambda pair: 39 in pair),
        (museum.LastNeverFake, 16, lambda pair: 15 in pair),
        (museum.ShiftByOne, 16, lambda pair: abs(pair[0] - pair[1]) == 1),
    ],
)
def test_the_most_telling_pair_shows_the_bug(exhibit: type[hush.FrequencyOracle], k: int, telling: object) -> None:
    m = exhibit(k=k, epsilon=1.0)
    pair = screen(m, trials=10_000, rng=hush.seeded(7)).pair
    assert telling(pair)  # type: ignore[operator]
    assert run(m, "classifier", trials=10_000, alpha=ALPHA, pair=pair, rng=hush.seeded(7)).violated


def test_pairs_may_be_named_and_are_ranked() -> None:
    m = museum.LastBitUnprotected(k=6, epsilon=1.0)
    ranked = tried(m, sample=1000, rng=hush.seeded(7))
    assert {each.pair for each in ranked} == set(itertools.combinations(range(6), 2))
    assert {each.pair for each in ranked[:5]} == {(v, 5) for v in range(5)}
    assert ranked == sorted(ranked, key=lambda each: -each.promise)
    assert [each.pair for each in tried(m, [(0, 1), (5, 2)], rng=hush.seeded(7))] == [(5, 2), (0, 1)]
    for wrong in ([(0, 0)], [(0, 6)], [(0,)], [0], []):
        with pytest.raises(ParameterError, match="pairs must"):
            tried(m, wrong)  # type: ignore[arg-type]


def test_reports_that_are_alike_become_records_and_others_stay_objects() -> None:
    assert pack([1, 2, 300]).dtype == np.uint16
    assert pack([(1, 2), [3, 4]])["report"].tolist() == [[1, 2], [3, 4]]
    assert pack([(np.arange(3), 5), (np.arange(3), 6)]).dtype.names == ("#0", "#1")
    assert pack([{"a": 1}, {"a": 2}]).dtype.names == ("a",)
    assert pack([2**60 + 1, 5]).tolist() == [2**60 + 1, 5]
    for odd in ([1, "1"], [[1], [1, 2]], [{"a": 1}, {"b": 1}], [{1}, {2}], ["a"], [None], [(2**60 + 1, 0.5)]):
        assert pack(odd).tolist() == odd or pack(odd).dtype.names is not None
    both = joined([pack([(1, 2)]), pack([[1, 2, 3]])])
    assert both.tolist() == [[1, 2], [1, 2, 3]]


@given(st.lists(st.tuples(st.integers(-3, 12), st.integers(0, 2)), min_size=2, max_size=6))
@example([(1, 5), (7, 2)])
@example([(0, 1), (1, 0)])
@example([(0, 12), (3, 0)])
def test_the_same_report_reads_alike_packed_or_not(reports: list[tuple[int, int]]) -> None:
    """What a report shows must not depend on the reports beside it."""
    packed, plain = table(pack(reports), 9), table(pack([*reports, "other"])[: len(reports)], 9)
    for path in ((0,), (1,), ("length",), (2,), *(("has", value) for value in range(9))):
        assert packed.column(path).astype(float).tolist() == plain.column(path).astype(float).tolist()


def test_reports_have_keys_of_what_they_hold() -> None:
    reports = [(1, 5), (7, 2)]
    packed, plain = table(pack(reports), 9), table(pack([*reports, "other"])[:2], 9)
    assert packed.column((2,)).tolist() == [ABSENT, ABSENT]
    assert keys(packed, [(0,), (1,)]).tolist() == keys(plain, [(0,), (1,)]).tolist()


def test_keys_tell_reports_apart() -> None:
    wide = table(pack([2**60, 2**60 + 1, 2**60]), 2)
    first, second, third = keys(wide, [()]).tolist()
    assert first == third != second
    grid = table(pack(list(itertools.product(range(40), repeat=2))), 99)
    assert len(set(keys(grid, [(0,), (1,)]).tolist())) == 1600


def test_columns_are_those_that_move() -> None:
    found = all_columns([table(pack([(3, 0, 0.5), (3, 2, 0.25)]), 9)])
    assert {str(column) for column in found} == {
        "item 1", "item 2", "bit 1 of item 1", "the place of the last binary digit of item 2",
    }  # fmt: skip
    signs = ReportColumn((), "bit", 0).read(table(pack([-1, -2, 3]), 9))
    assert signs.tolist() == [1, 0, 1]


def test_the_last_place_of_a_double() -> None:
    doubles = np.array([3.0, 0.1, -0.1, 2.0**-1074, 1e300, -1e-300, 2.0**1023])
    for x, place in zip(doubles.tolist(), last_place(doubles).tolist(), strict=True):
        odd = abs(int(math.ldexp(*math.frexp(x)) * 0) + int(x.as_integer_ratio()[0]))
        shift = (odd & -odd).bit_length() - 1 - (x.as_integer_ratio()[1].bit_length() - 1)
        assert place == shift


def test_bins_hold_values_or_equal_shares() -> None:
    few = Bins.of(np.array([3.0, 1.0, 3.0, 7.0]), 4)
    assert few.codes(np.array([1.0, 3.0, 7.0])).tolist() == [0, 1, 2]
    assert [few.spell(code) for code in range(3)] == ["is 1", "is 3", "is 7"]
    many = Bins.of(np.arange(1000.0), 4)
    assert np.bincount(many.codes(np.arange(1000.0))).tolist() == pytest.approx([250] * 4, abs=2)
    assert many.spell(0).startswith("is at most")
    assert many.spell(3).startswith("is above")


def test_a_promise_is_of_the_best_union_of_cells() -> None:
    high, low = np.array([[500, 300, 200]]), np.array([[100, 100, 800]])
    best = max(
        math.log(sum(h) / sum(x))
        for cells in ([0], [0, 1], [1])
        for h, x in [([high[0, c] for c in cells], [low[0, c] for c in cells])]
    )
    assert best - 0.6 < promises(high, low)[0] < best
    assert promises(low, high)[0] == promises(high, low)[0]
