"""Several mechanisms on one column."""

from __future__ import annotations

import pickle

import pytest

from hush.errors import ParameterError
from hush.workbench.data.column import CountedColumn
from hush.workbench.data.comparing import HEADER, LONG, SHOWN, AskedTrial, compared, compared_job, takes_long
from hush.workbench.data.trying import tried, worthwhile
from hush.workbench.explore.words import points
from hush.workbench.jobs import Progress

COLUMN = CountedColumn("drink", {"tea": 4000, "coffee": 3000, "water": 2000, "juice": 1000})


def test_worthwhile_ones_are_tried_and_the_shortest_bars_come_first() -> None:
    found = compared(COLUMN, AskedTrial(epsilon=1.0, seed=5))
    assert {each.name for each in found.trials} == {*worthwhile(4, 1.0, 10_000)}
    widths = [each.half_width for each in found.trials]
    assert widths == sorted(widths)
    for each in found.trials:
        assert each.estimate.tolist() == tried(each.name, COLUMN.kept(), 1.0, 5).estimate.tolist()
    assert found.trial("nobody") is found.trials[0]
    assert found.refused == {}


def test_others_are_tried_where_they_are_asked_for_and_refused_in_words() -> None:
    found = compared(COLUMN, AskedTrial(epsilon=3.0, names=("OUE", "GM")))
    assert [each.name for each in found.trials] == ["OUE"]
    assert "epsilon must be" in found.refused["GM"]


def test_more_people_have_the_same_shares_and_shorter_bars() -> None:
    few, many = (compared(COLUMN, AskedTrial(n=n, names=("GRR",))) for n in (None, 1_000_000))
    assert (few.people.n, many.people.n) == (10_000, 1_000_000)
    assert few.people.frequencies.tolist() == many.people.frequencies.tolist()
    assert many.trials[0].half_width == pytest.approx(few.trials[0].half_width / 10, rel=0.02)


@pytest.mark.parametrize(
    ("asked", "named"), [(AskedTrial(epsilon=0.0), "epsilon"), (AskedTrial(n=0), "n"), (AskedTrial(seed=-1), "seed")]
)
def test_what_breaks_a_rule_is_refused_by_name(asked: AskedTrial, named: str) -> None:
    with pytest.raises(ParameterError, match=rf"^{named} must"):
        compared(COLUMN, asked)


def test_the_table_tells_what_was_tried() -> None:
    found = compared(COLUMN, AskedTrial(names=("GRR",)))
    (row,) = found.rows()
    assert len(row) == len(HEADER)
    assert row[0] == "GRR"
    assert points(found.trials[0].typical) in row[1]
    assert "40 without" in row[4]


def test_of_many_values_the_most_frequent_are_shown() -> None:
    column = CountedColumn("v", {str(i): 1000 - i for i in range(60)})
    found = compared(column, AskedTrial(names=("SS",), most=30))
    assert found.people.k == 31
    assert found.shown.size == SHOWN
    assert found.people.domain.label(int(found.shown[0])) == "other"


def test_many_values_are_a_job_which_gives_the_same_and_says_how_far_it_is() -> None:
    column = CountedColumn("v", {str(i): 1000 - i for i in range(LONG + 1)})
    assert takes_long(column, AskedTrial())
    assert takes_long(column, AskedTrial(most=LONG))
    assert not takes_long(column, AskedTrial(most=LONG - 1))
    told: list[tuple[float, str]] = []
    asked = AskedTrial(names=("OUE", "GRR"))
    found = compared_job(Progress(lambda fraction, note: told.append((fraction, note))), column, asked)
    assert told == [(0.0, "Simulating OUE"), (0.5, "Simulating GRR")]
    came, due = pickle.loads(pickle.dumps(found)), compared(column, asked)
    for one, other in zip(came.trials, due.trials, strict=True):
        assert one.estimate.tolist() == other.estimate.tolist()
    assert came.rows() == due.rows()
