"""What Explore shows is what the mechanisms say, directly asked."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest

import hush
from hush.attacks.poisoning import gain
from hush.errors import ParameterError
from hush.workbench.explore import EPSILONS, PEOPLE, SIZES, explore
from hush.workbench.explore.kept import SLOW, is_position, kept
from hush.workbench.explore.numbers import DELTA, FAKES, computed, explored, made
from hush.workbench.explore.positions import budget_in_words, nearest
from hush.workbench.explore.table import COLUMNS
from hush.workbench.explore.words import MEANINGS, as_csv, points, promise, summary

Z95 = 1.959963984540054


def direct(name: str, k: int, epsilon: float) -> hush.FrequencyOracle:
    """A mechanism as anybody would make it."""
    cls = hush.registry()[name]
    extra = {"AGRR", "ASUE", "ABLH", "AOLH", "GM", "AGM"} & {name} and {"delta": DELTA}
    return cls(k=k, epsilon=epsilon, **(extra or {}), **({"UE": {"p": 0.75}, "LH": {"g": 4}}.get(name, {})))


@pytest.mark.parametrize(("k", "epsilon", "n"), [(5, 0.5, 1000), (20, 1.0, 20_000), (60, 3.0, 1_000_000)])
def test_numbers_are_those_of_the_mechanisms(k: int, epsilon: float, n: int) -> None:
    found = explore(k, epsilon, n)
    assert found.pending == ()
    assert {row.name for row in found.rows} | {*found.unavailable} == {*explored()}
    for row in found.rows:
        m = direct(row.name, k, epsilon)
        margin = Z95 * math.sqrt(m.variances(np.full(k, 1 / k), n).mean())
        assert row.margin == pytest.approx(margin, rel=2e-5), row.name
        assert row.asr == pytest.approx(m.asr(), rel=2e-5), row.name
        assert row.gain == pytest.approx(gain(m, 1, fraction=FAKES), rel=2e-5), row.name
        assert (row.bits, row.size) == (m.bits, m.report_dtype.itemsize), row.name
        assert row.approximate == isinstance(m.guarantee, hush.ApproxLDP), row.name


def test_every_mechanism_that_protects_all_values_and_takes_a_budget_is_there() -> None:
    left_out = hush.registry().keys() - explored().keys()
    assert left_out == {"LHO", "uRR", "uRAP", "uHR", "uSS", "uUE", "uLH", "uWheel"}


@pytest.mark.parametrize("name", SLOW)
def test_what_is_kept_is_what_would_be_computed(name: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(4):
        k, epsilon = int(rng.choice(SIZES[:22])), float(rng.choice(EPSILONS))
        ready, fresh = kept(name, k, epsilon), computed(name, k, epsilon)
        assert ready is not None
        for number in ("variance", "asr", "gain"):
            assert getattr(ready, number) == pytest.approx(getattr(fresh, number), rel=1e-5), (name, k, epsilon)
        assert (ready.bits, ready.size) == (fresh.bits, fresh.size)
        again = made(name, k, epsilon, ready.parameters)
        assert again == made(name, k, epsilon)


def test_all_positions_are_kept_but_where_a_mechanism_is_not_defined() -> None:
    gaps = {(name, k) for name in SLOW for k in SIZES for epsilon in EPSILONS if kept(name, k, epsilon) is None}
    assert gaps == {("RAPPOR", 3000), ("RAPPOR", 5000), ("RAPPOR", 10_000)}
    assert kept("MSS", 11, 1.0) is None
    assert kept("GRR", 10, 1.0) is None
    for name, k in gaps:
        with pytest.raises(ParameterError):
            made(name, k, 1.0)


def test_between_positions_slow_ones_come_later_and_are_the_same() -> None:
    assert not is_position(11, 1.0)
    found = explore(11, 1.0, 5000)
    assert found.pending == SLOW
    assert not {row.name for row in found.rows} & {*SLOW}
    whole = found.completed()
    assert whole.pending == ()
    assert {row.name for row in whole.rows} == {*explored()}
    row = whole.row("MSS")
    assert row is not None
    assert row.asr == hush.MSS(k=11, epsilon=1.0).asr()
    assert whole.row("nobody") is None


def test_the_front_has_who_is_best_in_anything_and_nobody_who_is_beaten() -> None:
    found = explore(100, 1.0, 10_000)
    pure = [row for row in found.rows if not row.approximate]
    for row in pure:
        beaten = any(
            all(getattr(other, c) <= 1.00002 * getattr(row, c) for c in COLUMNS)
            and any(getattr(other, c) < 0.9999 * getattr(row, c) for c in COLUMNS)
            for other in pure
        )
        assert row.on_front != beaten, row.name
    for column in COLUMNS:
        assert getattr(found.best(column), column) <= min(getattr(row, column) for row in pure) * 1.0001
    assert [row.margin for row in found.rows] == pytest.approx(sorted(row.margin for row in found.rows), rel=1e-4)


def test_a_mechanism_that_is_not_defined_says_why() -> None:
    found = explore(10_000, 2.0, 1000)
    assert {*found.unavailable} == {"RAPPOR", "GM"}
    assert "2048" in found.unavailable["RAPPOR"]


def test_four_times_the_people_halve_the_error() -> None:
    few, many = explore(30, 1.0, 2500), explore(30, 1.0, 10_000)
    for row in few.rows:
        other = many.row(row.name)
        assert other is not None
        assert other.margin == pytest.approx(row.margin / 2, rel=1e-12)


@pytest.mark.parametrize(
    ("k", "epsilon", "n", "named"),
    [(1, 1.0, 10, "k"), (10_001, 1.0, 10, "k"), (10, 0.0, 10, "epsilon"), (10, 11.0, 10, "epsilon"), (10, 1.0, 0, "n")],
)
def test_what_is_out_of_bounds_is_refused_by_name(k: int, epsilon: float, n: int, named: str) -> None:
    with pytest.raises(ParameterError, match=rf"^{named} must be"):
        explore(k, epsilon, n)


def test_positions_ascend_and_the_nearest_is_found() -> None:
    for positions in (SIZES, EPSILONS, PEOPLE):
        assert list(positions) == sorted(set(positions))
        assert all(nearest(positions, value) == i for i, value in enumerate(positions))
    assert PEOPLE[nearest(PEOPLE, 20_100)] == 20_000


def test_sentences_tell_the_numbers_of_the_table() -> None:
    found = explore(10, 1.0, 10_000)
    said = " ".join(summary(found))
    assert f"±\u00a0{points(found.best('margin').margin)} points" in said
    assert "10 by luck alone" in said
    assert "hardly anything" not in said
    assert "hardly anything" in summary(explore(10, 0.1, 100))[0]
    assert set(MEANINGS) == set(COLUMNS)
    assert "2.72 times likelier" in budget_in_words(1.0)
    row, other = found.row("GRR"), found.row("AGM")
    assert row is not None
    assert other is not None
    assert (promise(row, 1.0), promise(other, 1.0)) == ("1-LDP", "(1, 1e-05)-LDP")


def test_the_table_can_be_taken_away() -> None:
    found = explore(10, 1.0, 10_000)
    rows = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert [row["name"] for row in rows] == [row.name for row in found.rows]
    assert float(rows[0]["margin"]) == found.rows[0].margin
    assert {row["delta"] for row in rows} == {"0", "1e-05"}
