"""The chart over time: names that do not meet, lines that are named, and periods that are read."""

from __future__ import annotations

import numpy as np
import pytest

from hush.reports.figures import Timeline, png, timelines, unspellable
from hush.reports.timelines import MOST_LINES, _apart


def course(periods: int = 12, values: int = 20, named: int = MOST_LINES, name: str = "region") -> Timeline:
    centre = np.random.default_rng(periods).random((periods, values)) * 30
    labels = [f"value {v}" for v in range(values)]
    months = [f"2026-{t + 1}" for t in range(periods)]
    return Timeline(name, months, labels, centre, centre - 2, centre + 2, named)


def test_names_at_the_ends_do_not_meet() -> None:
    placed = _apart(np.array([0.3, 0.3, 0.31, 0.32, 0.9]))
    assert (np.diff(placed) > 0.06).all()
    assert placed[4] == 0.9
    assert _apart(np.array([0.5])).tolist() == [0.5]


def test_the_most_frequent_values_are_named_and_the_others_faint() -> None:
    figure = timelines([course()], "title")
    (axes,) = figure.axes
    texts = {text.get_text() for text in axes.texts}
    assert texts == {f"value {v}" for v in range(MOST_LINES)}
    assert axes.get_title(loc="left") == "region, 14 others faint"
    assert [label.get_text() for label in axes.get_xticklabels()] == [f"2026-{t + 1}" for t in range(12)]


@pytest.mark.parametrize("panels", [1, 2, 4, 5, 14])
def test_every_attribute_has_a_panel(panels: int) -> None:
    figure = timelines([course(3, 4, 4, f"attribute {j}") for j in range(panels)], "title")
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == min(panels, 12)
    assert ("first 12 of 14" in figure.get_suptitle()) == (panels == 14)


@pytest.mark.parametrize("periods", [1, 2, 60, 365])
def test_few_and_many_periods(periods: int) -> None:
    figure = timelines([course(periods, 3, 3)], "title")
    assert png(figure, dpi=40).startswith(b"\x89PNG")
    assert 1 <= len(figure.axes[0].get_xticks()) <= 60


def test_a_value_that_is_the_same_in_all_periods_has_room() -> None:
    flat = Timeline("", ["1", "2"], ["a"], np.zeros((2, 1)), np.zeros((2, 1)), np.zeros((2, 1)), 1)
    low, high = timelines([flat], "title").axes[0].get_ylim()
    assert low < 0 < high


@pytest.mark.parametrize("panels", [1, 4])
def test_a_long_title_is_not_cut_off(panels: int) -> None:
    long = "LSMP, 4 attributes of 8, 11, 13 and 21 values, 1.705-LDP a report, 3.41-LDP while a value stays, 9 reports"
    figure = timelines([course(3, 4, 4, f"attribute {j}") for j in range(panels)], f"{long}\npointwise 95 % intervals")
    png(figure, dpi=40)
    assert " ".join(figure.get_suptitle().split("\n")) == f"{long} pointwise 95 % intervals"
    (title,) = [text for text in figure.texts if text.get_text() == figure.get_suptitle()]
    assert title.get_window_extent().x1 < figure.bbox.x1


def test_signs_that_the_font_lacks_are_told() -> None:
    one = course(2, 2, 2)
    strange = Timeline("x", one.periods, ["日", "b"], one.centre, one.lower, one.upper, 2)
    assert unspellable([one]) == []
    assert unspellable([strange]) == ["日"]
