"""The expected success of attacks on classes, habits and changes: by enumeration, and by the attacks themselves.

A rate is a mean over all cuts of the values into classes, so that the enumeration is over cuts as well as outputs.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import hush
from hush.attacks import inference, pools, random_cuts
from hush.attacks.inference import _every_cut, classes
from hush.errors import ParameterError
from hush.exact.enumeration import enumerated
from hush.longitudinal import Repeated
from hush.mechanisms.base import FrequencyOracle
from tests.conftest import example

TWO_LEVELS = ("GRR", "SS", "SUE", "OUE")


def law(m: FrequencyOracle) -> np.ndarray:
    """Probabilities from the integers that the mechanism states, as [output, value]."""
    (listing,) = enumerated(m)
    rows = zip(listing.weights, listing.copies, strict=True)
    return np.array([[copies * weight / m.denominator for weight in row] for row, copies in rows])


def several(m: FrequencyOracle, behaviour: np.ndarray, reports: int) -> float:
    """The best guess among classes from several reports: every sequence of outputs, one by one."""
    one = law(m) @ behaviour.T
    total = 0.0
    for sequence in itertools.product(range(len(one)), repeat=reports):
        total += np.prod(one[list(sequence)], axis=0).max()
    return total / len(behaviour)


def over_cuts(m: FrequencyOracle, parts: int, reports: int, loyalty: float) -> float:
    """The best guess among favored classes, by all cuts and all sequences of outputs."""
    found = []
    for cut in _every_cut(np.bincount(classes(m.k, parts))):
        behavior = pools.habits([np.nonzero(cut == j)[0] for j in range(parts)], m.k, loyalty=loyalty)
        found.append(several(m, behavior, reports))
    return float(np.mean(found))


@pytest.mark.parametrize("name", [*TWO_LEVELS, "HR", "PGR"])
@pytest.mark.parametrize(("parts", "k"), [(2, 6), (3, 6), (2, 7)])
def test_naming_a_class_by_enumeration(name: str, parts: int, k: int) -> None:
    m, sizes = example(name, k, 1.3), np.bincount(classes(k, parts))
    joint = [(law(m) @ np.eye(parts)[cut] / k).max(axis=1).sum() for cut in _every_cut(sizes)]
    found = inference.attribute(m, parts)
    assert found.rate == pytest.approx(np.mean(joint), rel=1e-9)
    assert found.stderr == 0.0
    assert found.chance_level == pytest.approx(sizes.max() / k)
    assert 0 < found.advantage < 1


@pytest.mark.parametrize("name", ["SHE", "AGM", "OUE", "OLH", "PGR", "MSS"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0, 12.0, 20.0])
def test_classes_of_one_value_are_values(name: str, epsilon: float) -> None:
    """Of two values, the class is named as often as the value; for noisy histograms up to large ratios."""
    m = example(name, 2, epsilon)
    assert inference.attribute(m).rate == pytest.approx(m.asr(), abs=1e-4)


def test_a_cut_in_the_order_of_values_does_not_hide_classes() -> None:
    """The lines of a plane are cut evenly by the order of values, and by few other orders: that gamed the planner."""
    m = hush.PGR(k=100, epsilon=4.0, q=49)
    ordered = inference.cut_rate(m, classes(100, 2)).advantage
    assert ordered == pytest.approx(0.0203, abs=1e-4)
    assert inference.attribute(m).advantage == pytest.approx(0.2567, abs=1e-4)
    assert inference.worst_known_cut(m).rate.advantage >= inference.attribute(m).advantage
    some = [inference.cut_rate(m, hush.seeded(i).permutation(classes(100, 2))).advantage for i in range(40)]
    error = np.std(some, ddof=1) / math.sqrt(40)
    assert abs(np.mean(some) - inference.attribute(m).advantage) < 6 * error


@dataclass(frozen=True, kw_only=True)
class Renumbered(FrequencyOracle):
    """Another mechanism, with the numbers of its values permuted."""

    base: FrequencyOracle = None  # type: ignore[assignment]
    order: tuple[int, ...] = ()

    @property
    def report_dtype(self) -> np.dtype[Any]:
        return self.base.report_dtype

    def sample(self, values: Any, rng: np.random.Generator) -> Any:
        return self.base.sample(np.array(self.order)[values], rng)

    def tally(self, reports: Any) -> Any:
        return self.base.tally(reports)

    def decode(self, tally: Any, n: int) -> Any:
        return self.base.decode(tally, n)[list(self.order)]

    def outputs(self, public: Any = None) -> Any:
        return self.base.outputs(public)

    def weight(self, report: Any, value: int) -> int:
        return self.base.weight(report, self.order[value])


@pytest.mark.parametrize("name", [*TWO_LEVELS, "HR", "PGR"])
def test_the_numbers_of_values_change_nothing(name: str) -> None:
    """Exactly for one report and for a change; for several, as `random_cuts` says of sets that are not alike."""
    m = example(name, 8, 1.0)
    other = Renumbered(k=8, epsilon=1.0, base=m, order=tuple(hush.seeded(5).permutation(8).tolist()))
    assert inference.attribute(other).rate == pytest.approx(inference.attribute(m).rate, rel=1e-9)
    assert inference.changes(other).rate == pytest.approx(inference.changes(m).rate, rel=1e-5)
    assert inference.pools(other).advantage == pytest.approx(inference.pools(m).advantage, rel=0.03)
    if name in TWO_LEVELS:
        assert inference.pools(other).advantage == pytest.approx(inference.pools(m).advantage, rel=1e-4)


@pytest.mark.parametrize("name", [*TWO_LEVELS, "HR"])
def test_pools_of_one_report_are_classes_and_habits_mix_them(name: str) -> None:
    m = example(name, 6, 1.0)
    for loyalty in (0.3, 1.0):
        expected = over_cuts(m, 2, 1, loyalty)
        assert inference.pools(m, reports=1, loyalty=loyalty).rate == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "loyalty", "within"), [("GRR", 1.0, 1e-4), ("GRR", 0.5, 1e-4), ("SS", 1.0, 1e-4), ("HR", 0.8, 0.02)]
)
@pytest.mark.parametrize("k", [4, 5])
def test_several_reports_by_enumeration(name: str, loyalty: float, within: float, k: int) -> None:
    """Reports of HR have a cut each, which at so few values is off by up to 2 % of the advantage."""
    m = example(name, k, 1.0)
    found = inference.pools(m, reports=3, loyalty=loyalty)
    expected = over_cuts(m, 2, 3, loyalty)
    assert found.stderr == 0
    assert found.advantage == pytest.approx(2 * expected - 1, rel=within)


@pytest.mark.parametrize("name", ["GRR", "SS"])
def test_three_classes_by_enumeration(name: str) -> None:
    """Simulated with a fixed seed; six standard errors, 2·10⁻⁹ under the normal law."""
    m = example(name, 6, 1.0)
    found = inference.pools(m, 3, reports=3, loyalty=0.8)
    assert 0 < found.stderr < 0.003
    assert abs(found.rate - over_cuts(m, 3, 3, 0.8)) < 6 * found.stderr


@pytest.mark.parametrize(
    "m",
    [
        hush.SHE(k=12, epsilon=1.0),
        hush.SHE(k=12, epsilon=8.0),
        hush.AGM(k=10, epsilon=6.0, delta=0.01),
        hush.MSS(k=30, epsilon=2.0),
        hush.OLH(k=30, epsilon=2.0),
        hush.Wheel(k=31, epsilon=2.0),
        hush.THE(k=30, epsilon=1.0),
        hush.PGR(k=30, epsilon=3.0, q=5),
    ],
    ids=lambda m: m.name(),
)
@pytest.mark.parametrize("parts", [2, 3])
def test_laws_of_random_cuts_say_what_scores_of_reports_say(
    m: FrequencyOracle, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The quick way against the general one, which scores all values under 64 cuts: six standard errors and 2 %."""
    quick = inference.attribute(m, parts), inference.pools(m, parts, reports=5, loyalty=0.9)
    for name in ("two_class_laws", "draw_scores", "_listed_chances"):
        monkeypatch.setattr(inference, name, lambda *_: None)
    slow = inference.attribute(m, parts), inference.pools(m, parts, reports=5, loyalty=0.9)
    for one, other, near in zip(quick, slow, (0.0, 0.02), strict=True):
        assert 0 < other.stderr < 0.005
        error = math.hypot(one.stderr, other.stderr)
        assert abs(one.rate - other.rate) < 6 * error + near * one.advantage * (1 - one.chance_level)


def test_a_simulated_rate_is_that_of_the_attack() -> None:
    """The attack's own successes; six standard errors of the difference."""
    m, rng = hush.OLH(k=30, epsilon=1.0), hush.seeded(11)
    found = inference.pools(m, 3, reports=5)
    of = classes(30, 3)
    behaviour = pools.habits([np.nonzero(of == j)[0] for j in range(3)], 30)
    favoured = np.arange(30_000) % 3
    values = np.stack([rng.choice(30, 5, p=behaviour[j]) for j in favoured])
    repeated = Repeated(m, 5)
    seen = pools.infer(repeated, repeated.collect(values, rng=rng), favoured, behaviour, rng=rng)
    assert abs(seen.success - found.rate) < 6 * math.hypot(found.stderr, 0.5 / math.sqrt(seen.n))


@pytest.mark.parametrize("name", ["HR", "PGR", "OUE"])
def test_the_worst_known_cut_is_a_cut_and_no_better_than_the_worst(name: str) -> None:
    m = example(name, 8, 1.0)
    worst = max((law(m) @ np.eye(2)[cut] / 8).max(axis=1).sum() for cut in _every_cut(np.array([4, 4])))
    found = inference.worst_known_cut(m)
    assert np.bincount(found.classes).tolist() == [4, 4]
    assert found.rate.rate == pytest.approx(inference.cut_rate(m, found.classes).rate)
    assert inference.cut_rate(m, classes(8, 2)).rate <= found.rate.rate <= worst + 1e-9
    assert inference.attribute(m).rate <= worst + 1e-9


@pytest.mark.parametrize(
    "cut", [[0, 1], [0, 0, 0, 0, 0, 0, 0, 0], [0, 2, 0, 2, 0, 2, 0, 2], [0.5] * 8], ids=["short", "one", "gap", "half"]
)
def test_a_cut_that_is_none_is_rejected(cut: list[int]) -> None:
    with pytest.raises(ParameterError, match="of"):
        inference.cut_rate(hush.GRR(k=8, epsilon=1.0), cut)


@pytest.mark.parametrize("name", [*TWO_LEVELS, "HR"])
def test_a_change_is_told_as_well_as_the_reports_after_it(name: str) -> None:
    m = example(name, 5, 1.0)
    one = law(m)

    def apart(other: int, reports: int) -> float:
        total = 0.0
        for sequence in itertools.product(range(len(one)), repeat=reports):
            stays, moves = (np.prod(one[list(sequence), value]) for value in (0, other))
            total += max(stays - moves, 0.0)
        return total

    expected = max(apart(1, 2), apart(4, 2))
    found = inference.changes(m, reports=4)
    assert abs(found.advantage - expected) < max(1e-9, 6 * 2 * found.stderr)


def test_without_a_formula_changes_are_simulated() -> None:
    found = inference.changes(hush.RAPPOR(k=30, epsilon=1.0), reports=6)
    assert found.stderr > 0
    assert 0.5 < found.rate < 1.0


@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_changes_of_noisy_histograms_say_what_reports_say(epsilon: float) -> None:
    """Six standard errors of simulated log-ratios, 2·10⁻⁹ under the normal law; one report exactly."""
    m, after = hush.SHE(k=3, epsilon=epsilon), Repeated(hush.SHE(k=3, epsilon=epsilon), 3)
    reports = after.collect(np.zeros((40_000, 3), np.int64), rng=hush.seeded(3))
    lost = -np.expm1(-np.maximum(after.sequence_log_ratio(reports, 0, 1), 0.0))
    assert abs(inference.changes(m, reports=6).advantage - lost.mean()) < 6 * lost.std() / math.sqrt(lost.size)
    one = inference.changes(m, reports=2).advantage
    assert one == pytest.approx(m.forms.variation(0, 1), rel=1e-12)


def test_more_budget_and_more_reports_tell_more() -> None:
    rates = [inference.pools(hush.OUE(k=20, epsilon=e), reports=r).rate for e, r in ((0.5, 4), (1.0, 4), (1.0, 16))]
    assert rates == sorted(rates)
    assert rates[0] < rates[-1]


@pytest.mark.parametrize("name", ["SHE", "SUE", "OLH", "SS", "HR", "PGR", "THE"])
def test_many_values_take_no_longer(name: str) -> None:
    """Of 10⁵ values in a fraction of a second; the advantage falls with the root of the number of values."""
    few, many = (hush.registry()[name](k=k, epsilon=1.0) for k in (1_000, 100_000))
    started = time.process_time()
    found = inference.pools(many)
    assert time.process_time() - started < 5.0
    assert found.advantage == pytest.approx(inference.pools(few).advantage / 10, rel=0.03)


def test_of_changes_the_worst_pair_is_taken() -> None:
    """HR with two blocks: values of one block are hard to tell apart, wherever they are."""
    m = hush.HR(k=9, epsilon=2.0, blocks=2)
    order = (0, 2, 4, 6, 8, 1, 3, 5, 7)  # the first two values, and the first and the last but two, are of one block
    other = Renumbered(k=9, epsilon=2.0, base=m, order=order)
    assert inference.changes(other).rate == pytest.approx(inference.changes(m).rate, rel=1e-5)
    apart = [Repeated(m, 5).sequence_variation(*pair) or 0.0 for pair in itertools.combinations(range(9), 2)]
    assert inference.changes(m).advantage == pytest.approx(max(apart))
    hidden = hush.uRR(k=6, epsilon=1.0, sensitive=(0, 1, 4, 5))
    revealed = 1 - (1 - hidden.z_star) ** 5
    assert inference.changes(hidden).advantage == pytest.approx(revealed, rel=1e-6)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda m: inference.attribute(m, 1), "parts"),
        (lambda m: inference.attribute(m, 9), "parts"),
        (lambda m: inference.attribute(m, 2.5), "parts"),
        (lambda m: inference.pools(m, reports=0), "reports"),
        (lambda m: inference.pools(m, loyalty=math.nan), "loyalty"),
        (lambda m: inference.pools(m, loyalty=1.5), "loyalty"),
        (lambda m: inference.changes(m, reports=1), "reports"),
    ],
)
def test_bad_numbers_are_named(call: object, named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        call(hush.GRR(k=8, epsilon=1.0))  # type: ignore[operator]


@pytest.mark.parametrize(("k", "error"), [(150, 1e-9), (280, 2e-3), (560, 2e-3), (1000, 2e-3)])
@pytest.mark.parametrize("cls", [hush.OUE, hush.SUE, hush.OLH])
def test_merged_sizes_change_the_advantage_by_as_much_as_stated(
    cls: type[hush.FrequencyOracle], k: int, error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = cls(k=k, epsilon=0.5)
    merged = inference.attribute(m).advantage
    monkeypatch.setattr(random_cuts, "_MAX_SIZES", 4 * k)
    assert merged == pytest.approx(inference.attribute(cls(k=k, epsilon=0.5)).advantage, rel=error)
