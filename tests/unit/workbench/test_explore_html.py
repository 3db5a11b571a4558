"""The table of Explore as HTML: sorted as asked, well-formed, and of the numbers that were found."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from hush.workbench.explore import explore
from hush.workbench.explore.html import SORTED_BY, ordered, table
from hush.workbench.explore.words import pictured, points

FOUND = explore(20, 1.0, 20_000)


@pytest.mark.parametrize("by", SORTED_BY)
@pytest.mark.parametrize("descending", [False, True])
def test_rows_are_sorted_by_a_column_and_it_says_so(by: str, descending: bool) -> None:
    whole = ElementTree.fromstring(table(FOUND, by, descending=descending, chosen="SS"))
    names = [each.attrib["data-pick"] for each in whole.iter("button") if "data-pick" in each.attrib]
    rows = {row.name: row for row in FOUND.rows}
    values = [getattr(rows[name], by) for name in names]
    assert values == sorted(values, reverse=descending)
    assert len(names) == len(rows)
    states = {
        each[0].attrib["data-sort"]: each.attrib["aria-sort"] for each in whole.iter("th") if "aria-sort" in each.attrib
    }
    assert states.pop(by) == ("descending" if descending else "ascending")
    assert set(states.values()) == {"none"}


def test_cells_are_the_numbers_and_the_chosen_one_is_marked() -> None:
    whole = ElementTree.fromstring(table(FOUND, chosen="SS"))
    first = whole.findall("./tbody/tr")[0]
    assert first.attrib["class"] == "chosen"
    assert first.findall("td")[1].text == points(FOUND.rows[0].margin)
    pressed = [each.attrib["data-pick"] for each in whole.iter("button") if each.attrib.get("aria-pressed") == "true"]
    assert pressed == ["SS"]
    assert whole.findtext("caption") == f"{len(FOUND.rows)} mechanisms at k = 20, ε = 1 and n = 20,000"


def test_equal_rows_keep_their_order() -> None:
    by_family = ordered(FOUND.rows, "family")
    unary = [row.name for row in by_family if row.family == "unary"]
    assert unary == [row.name for row in FOUND.rows if row.family == "unary"]


def test_the_picture_has_who_is_near_and_names_who_is_far() -> None:
    rows, said = pictured(explore(500, 1.0, 20_000))
    assert "GRR" not in {row.name for row in rows}
    assert "GRR" in said
    assert {row.name for row in rows} >= {"SS", "OUE", "OLH"}
    assert max(row.margin for row in rows) <= 2 * rows[0].margin
