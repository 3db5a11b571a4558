"""Mechanisms tried on a column: the numbers are those of the library, drawn with the seed that is shown."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import hush
from hush.errors import ParameterError
from hush.people import Population
from hush.workbench.data.column import CountedColumn
from hush.workbench.data.trying import tried, worthwhile
from hush.workbench.data.words import comparison, figures, result, told
from hush.workbench.explore import explore

PEOPLE = Population(np.array([4000, 3000, 2000, 1000]), hush.Domain(labels=["tea", "coffee", "water", "juice"]))


@pytest.mark.parametrize("name", ["GRR", "OUE", "OLH", "SS", "HR", "MSS", "RAPPOR"])
def test_a_trial_is_what_the_library_gives_with_that_seed(name: str) -> None:
    one = tried(name, PEOPLE, 1.0, 5)
    m = hush.registry()[name](k=4, epsilon=1.0)
    estimate = m.estimate(m.simulate(PEOPLE.counts, rng=hush.seeded(5)))
    low, high = estimate.interval(0.95)
    np.testing.assert_array_equal(one.estimate, estimate.frequencies)
    np.testing.assert_array_equal(one.low, low)
    np.testing.assert_array_equal(one.high, high)
    assert one.attack == m.asr([0.4, 0.3, 0.2, 0.1])
    assert one.luck == 0.4
    assert one.attack >= one.luck
    assert one.covered == int(((low <= PEOPLE.frequencies) & (PEOPLE.frequencies <= high)).sum())


def test_a_seed_repeats_and_another_does_not() -> None:
    one, again, other = (tried("GRR", PEOPLE, 1.0, seed) for seed in (1, 1, 2))
    assert one.estimate.tolist() == again.estimate.tolist() != other.estimate.tolist()
    with pytest.raises(ParameterError, match=r"^seed must"):
        tried("GRR", PEOPLE, 1.0, -1)


def test_errors_are_those_of_this_collection() -> None:
    one = tried("OUE", PEOPLE, 1.0, 3)
    errors = np.abs(one.estimate - PEOPLE.frequencies)
    assert one.errors.tolist() == errors.tolist()
    assert one.worst == int(errors.argmax())
    assert one.typical == pytest.approx(float(np.sqrt((errors**2).mean())))
    assert one.half_width == pytest.approx(float((one.high - one.low).mean() / 2))


@pytest.mark.parametrize("k", [2, 4, 12, 37, 200])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_worthwhile_ones_are_best_in_something_and_not_far_behind(k: int, epsilon: float) -> None:
    names, table = worthwhile(k, epsilon, 10_000), explore(k, epsilon, 10_000)
    rows = [table.row(name) for name in names]
    assert 1 <= len(names) <= 6
    assert len(set(names)) == len(names)
    margins = [row.margin for row in rows if row is not None]
    assert len(margins) == len(names)
    assert margins[0] == pytest.approx(table.best("margin").margin, rel=0.02)
    assert max(margins) <= 2 * margins[0]
    assert not any(row.approximate for row in rows if row is not None)
    assert not {"UE", "LH"} & {*names}


def test_sentences_say_what_was_found() -> None:
    one = tried("GRR", PEOPLE, 1.0, 3)
    said = " ".join(result(one, PEOPLE))
    assert f"for “{PEOPLE.domain.label(one.worst)}”" in said
    assert f"{one.covered} of 4 intervals of 95 % hold the truth" in said
    assert "40 times without it" in said
    both = [one, tried("HR", PEOPLE, 1.0, 3)]
    assert comparison(both).startswith("GRR has the shortest error bars here")
    assert "HR gives attackers least" in comparison(both)
    assert "attackers" not in comparison(both[:1])
    column = CountedColumn("drink", {"tea": 6, "coffee": 3, "water": 1}, 1)
    assert "10 people, 3 different values" in told(column, column.kept())
    assert "1 row is empty" in told(column, column.kept())
    assert "The 1 most frequent are kept" in told(column, column.kept(1))


def test_what_is_left_over_is_never_called_the_most_frequent_value() -> None:
    towns = CountedColumn("town", {f"town {i}": 100 - i for i in range(50)})
    assert "the most frequent, “town 0”, 2.65 % of them. The 5 most frequent are kept" in told(towns, towns.kept(5))


def test_figures_can_be_taken_away() -> None:
    both = [tried(name, PEOPLE, 1.0, 3) for name in ("GRR", "AGRR")]
    rows = list(csv.DictReader(io.StringIO(figures(both, PEOPLE))))
    assert len(rows) == 8
    assert [row["value"] for row in rows[:4]] == ["tea", "coffee", "water", "juice"]
    assert [float(row["estimate"]) for row in rows[:4]] == both[0].estimate.tolist()
    assert {(row["mechanism"], row["delta"]) for row in rows} == {("GRR", "0"), ("AGRR", "1e-05")}
    assert {row["seed"] for row in rows} == {"3"}
    assert sum(int(row["count"]) for row in rows[:4]) == 10_000


def test_no_label_of_a_file_becomes_a_formula_in_a_spreadsheet() -> None:
    people = Population(np.array([3, 1]), hush.Domain(labels=['=HYPERLINK("http://x")', "tea"]))
    (formula, tea) = csv.DictReader(io.StringIO(figures([tried("GRR", people, 1.0, 3)], people)))
    assert formula["value"] == '\'=HYPERLINK("http://x")'
    assert tea["value"] == "tea"
