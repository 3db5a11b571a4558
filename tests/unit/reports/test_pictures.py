"""What pictures are made of: ticks, names beside points, pages of panels."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

import hush
from hush.reports import figures, scales
from hush.reports.figures import Series
from hush.reports.labels import Spot, place
from hush.reports.multiples import MOST_PANELS, Page, most_panels
from hush.reports.planned import front_figure
from hush.reports.theme import LIGHT
from hush_studies.frame import below, frame, mark


def drawn(figure: Figure) -> Any:
    """The figure laid out, and what measures its texts."""
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas.get_renderer()


def apart(boxes: list[Bbox]) -> bool:
    """Whether no two boxes cover each other."""
    return not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


# Logarithmic axes.


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.5, 2e3, ["1", "10", "100", "1000"]),
        (2e-6, 2e-3, ["$10^{-5}$", "$10^{-4}$", "$10^{-3}$"]),
        (0.12, 0.6, ["0.15", "0.2", "0.3", "0.5"]),
        (0.9, 19.0, ["1", "2", "5", "10"]),
        (1.1, 2.3, ["1.2", "1.4", "1.6", "1.8", "2", "2.2"]),
        (1e-9, 1.1, ["$10^{-9}$", "$10^{-7}$", "$10^{-5}$", "$10^{-3}$", "$10^{-1}$"]),
    ],
)
def test_ticks_are_few_and_short(low: float, high: float, labels: list[str]) -> None:
    ticks = scales.ticks(low, high)
    assert scales.written(ticks) == labels
    assert min(ticks) >= low
    assert max(ticks) <= high


def test_every_range_has_ticks_that_are_not_too_many() -> None:
    for low, reach in itertools.product(10.0 ** np.linspace(-8, 8, 33), (1.05, 1.3, 2, 4, 9, 30, 1e3, 1e9, 1e150)):
        ticks = scales.ticks(float(low), float(low * reach))
        assert 3 <= len(ticks) <= 10, (low, reach)
        assert ticks == sorted(set(ticks))


def test_ticks_follow_limits_that_are_set_later() -> None:
    axes = Figure().subplots()
    axes.plot([1, 2], [1e-3, 1e3])
    scales.logarithmic(axes, "y")
    axes.set_ylim(0.12, 0.6)
    drawn(axes.get_figure())
    assert [text.get_text() for text in axes.get_yticklabels()] == ["0.15", "0.2", "0.3", "0.5"]


@pytest.mark.parametrize("which", ["x", "y"])
def test_what_lies_beyond_a_panel_is_marked_at_its_edge(which: str) -> None:
    axes = Figure().subplots()
    getattr(axes, f"set_{which}lim")(0, 1)
    assert scales.beyond(axes, [1, 2, 3, 4], [0.5, 7, -7, math.inf], "#000000", which=which) == 3
    above, under = axes.lines
    assert (above.get_marker(), under.get_marker()) == (("^", "v") if which == "y" else (">", "<"))
    assert np.shape(above.get_xdata()) == (2,)
    assert getattr(axes, f"get_{which}lim")() == (0, 1)


def test_legends_that_do_not_fit_have_several_lines() -> None:
    for number in (3, 12):
        figure, _ = frame(1, 1, "t")
        below(figure, [mark(f"a name of some length, number {i}", "#000000") for i in range(number)])
        extent = figure.legends[0].get_window_extent(drawn(figure))
        assert extent.x0 >= 0
        assert extent.x1 <= figure.bbox.width
    assert len(figure.legends) == 1


# Names beside points.


@pytest.mark.parametrize("seed", range(4))
def test_names_cover_neither_each_other_nor_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    spots = [Spot(float(x), float(y), f"mechanism {i}") for i, (x, y) in enumerate(rng.random((25, 2)) ** 2)]
    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot([s.x for s in spots], [s.y for s in spots], "o", ms=5)
    notes = place(axes, spots, LIGHT)
    renderer = drawn(figure)
    texts = [Text.get_window_extent(note, renderer) for note in notes]  # without the line to the point
    assert len(notes) >= 20
    assert apart(texts)
    window = axes.get_window_extent(renderer)
    assert all(window.x0 <= box.x0 and box.x1 <= window.x1 for box in texts)
    for spot in spots:
        x, y = axes.transData.transform((spot.x, spot.y))
        assert not any(box.contains(x, y) for box in texts), spot


def test_points_that_are_one_have_one_name() -> None:
    axes = Figure().subplots()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    spots = [Spot(0.5, 0.5, name) for name in "abcde"]
    assert [note.get_text() for note in place(axes, [*spots, Spot(0.1, 0.1, "$f$")], LIGHT)] == [
        "a, b, c and 2 more",
        "$f$",
    ]
    strong = [Spot(0.3, 0.7, "the choice", strong=True), Spot(0.3, 0.7, "another")]
    assert [note.get_text() for note in place(axes, strong, LIGHT)] == ["the choice (with another)"]


# The plan's picture.


@pytest.mark.parametrize(
    ("asked", "axes"),
    [
        ({"k": 100, "n": 100_000, "error": 0.01}, ("budget ε", "attack success")),
        ({"k": 13, "n": 60_000, "max_asr": 0.3}, ("error", "attack success")),
        ({"k": 50, "n": 20_000}, ("error", "attack success")),
    ],
)
def test_choices_are_drawn_where_they_differ(asked: dict[str, Any], axes: tuple[str, str]) -> None:
    plan = hush.plan(**asked)
    figure = front_figure(plan, plan.first)
    left, right = figure.axes
    renderer = drawn(figure)
    assert (left.get_xlabel().startswith(axes[0]), left.get_ylabel().startswith(axes[1])) == (True, True)
    assert right.get_title(loc="left") == "what another error would cost"
    points = np.concatenate([np.column_stack(line.get_data()) for line in left.lines if np.size(line.get_xdata())])
    assert len({tuple(point) for point in points.round(9)}) > 5
    spread = points.max(axis=0) / points.min(axis=0)
    assert (spread > 1.5).all(), "on one line, choices cannot be told apart"
    texts = [Text.get_window_extent(note, renderer) for note in left.texts]
    assert apart(texts)
    named = ", ".join(note.get_text() for note in left.texts)
    assert plan.first.name in named
    assert all(math.isfinite(end) for end in (*left.get_xlim(), *left.get_ylim(), *right.get_xlim(), *right.get_ylim()))


@pytest.mark.parametrize(
    ("objectives", "axes", "panels"),
    [
        (("gain", "error"), ("frequency that fake users gain", "error"), 1),
        (("bits", "mse", "asr"), ("bits of a report", "mean squared error"), 1),
        (("asr", "bits", "error"), ("attack success", "bits of a report"), 2),
        (("reidentification", "work", "error"), ("re-identification", "counters that the server touches"), 1),
    ],
)
def test_the_first_two_objectives_are_drawn(objectives: tuple[str, ...], axes: tuple[str, str], panels: int) -> None:
    plan = hush.plan(k=20, n=50_000, max_epsilon=2.0, objectives=objectives)
    figure = front_figure(plan, plan.first)
    drawn(figure)
    left = figure.axes[0]
    assert len(figure.axes) == panels
    assert (left.get_xlabel().startswith(axes[0]), left.get_ylabel().startswith(axes[1])) == (True, True)
    (edge,) = (line for line in left.lines if line.get_label() == "front in these two")
    scale = [100.0 if name == "error" else 1.0 for name in objectives[:2]]
    points = np.array([[choice.numbers[name] for name in objectives[:2]] for choice in plan.choices]) * scale
    beaten = ((points[:, None] >= points).all(axis=2) & (points[:, None] > points).any(axis=2)).any(axis=1)
    assert np.column_stack(edge.get_data()).tolist() == sorted(points[~beaten].tolist())
    shown = {tuple(point) for line in left.lines for point in np.column_stack(line.get_data()).tolist()}
    assert {tuple(point) for point in points.tolist()} <= shown


def test_objectives_of_which_one_is_nothing_have_an_even_scale() -> None:
    plan = hush.plan(k=20, n=50_000, max_epsilon=2.0, objectives=("gain", "error"), fakes=1e-9)
    nothing = tuple(replace(choice, numbers={**choice.numbers, "gain": 0.0}) for choice in plan.choices)
    figure = front_figure(replace(plan, choices=nothing), nothing[0])
    drawn(figure)
    assert figure.axes[0].get_xscale() == "linear"
    assert figure.axes[0].get_yscale() == "log"
    assert figure.axes[0].get_xlim()[0] < 0 < figure.axes[0].get_xlim()[1]


def test_a_plan_without_an_answer_shows_what_was_wished() -> None:
    plan = hush.plan(k=100, n=1000, error=0.01, max_epsilon=1, max_asr=0.05)
    figure = front_figure(plan, None)
    (axes,) = figure.axes
    assert axes.get_xlim()[0] < 1.0 < axes.get_xlim()[1]
    assert axes.get_ylim()[0] < 0.05 < axes.get_ylim()[1]
    assert "your wishes" in [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.mark.parametrize("wishes", [{"n": 5, "error": 0.01}, {"n": 60, "error": 0.01, "max_epsilon": 1.0}])
def test_no_attack_succeeds_more_often_than_always(wishes: dict[str, Any]) -> None:
    plan = hush.plan(k=10, **wishes)
    figure = front_figure(plan, plan.choices[0] if plan.feasible else None)
    drawn(figure)
    for axes in figure.axes:
        assert "attack" in axes.get_ylabel()
        assert axes.get_ylim()[1] < 1.01


def test_legends_cover_no_interval() -> None:
    centre = np.linspace(0.01, 0.9, 12)
    wide = [Series(name, [f"v{j}" for j in range(12)], centre, centre - 0.4, centre + 0.4, centre) for name in "abc"]
    for figure in (figures.errors(wide, "t"), figures.comparison(wide, "t")):
        renderer = drawn(figure)
        assert apart([figure.legends[0].get_window_extent(renderer), figure.axes[0].get_window_extent(renderer)])


# Pages of panels.


def group(i: int, k: int = 4, reach: float = 0.05) -> Series:
    centre = np.linspace(0.05, 0.4, k)
    return Series(f"group {i}, {100 - i} people", [f"v{j}" for j in range(k)], centre, centre - reach, centre + reach)


@pytest.mark.parametrize("number", [1, 2, 13])
def test_every_group_has_a_panel_on_the_same_axes(number: int) -> None:
    figure = figures.estimates([group(i) for i in range(number)], "t")
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == [f"group {i}, {100 - i} people" for i in range(number)]
    assert len({axes.get_xlim() for axes in shown}) == 1
    assert figure.get_size_inches()[1] <= 50


def test_a_page_is_bounded_whatever_there_is() -> None:
    for k in (2, 17, 40, 41, 1000):
        assert 1 <= most_panels(k) <= MOST_PANELS
        assert Page(k, MOST_PANELS).tall * -(-most_panels(k) // 4) <= 48
    many = figures.estimates([group(i, k=40) for i in range(20)], "t")
    assert "(the first 16 of 20 groups)" in many.get_suptitle()


def test_wide_intervals_do_not_stretch_the_axes() -> None:
    wide = group(1, reach=3.0)
    outside = Series("far, 3 people", wide.labels, wide.centre - 2.0, wide.lower - 2, wide.upper - 2)
    figure = figures.estimates([group(0), wide, outside], "t")
    assert all(axes.get_xlim() == pytest.approx((-15, 115)) for axes in figure.axes)
    assert [line.get_marker() for line in figure.axes[2].lines].count("<") == 1


def test_every_attribute_has_a_panel_on_axes_of_its_own() -> None:
    small, large = group(0, k=2), group(1, k=60)
    truth = Series(**{**vars(small), "name": "sex", "truth": small.centre, "centre": small.centre + 0.3})
    figure = figures.attributes([truth, large, group(2, k=9, reach=0.3)], "t")
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == ["sex", "group 1, 99 people", "group 2, 98 people"]
    assert [len(axes.get_yticklabels()) for axes in (shown[0], shown[2])] == [2, 9]
    assert shown[0].get_xlim() != shown[2].get_xlim()
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"truth", "estimate"}
    many = figures.attributes([group(i, k=2) for i in range(50)], "t")
    assert "(the first 48 of 50 attributes)" in many.get_suptitle()
    assert many.get_size_inches()[1] <= 50


def test_bars_are_what_is_expected_and_points_what_was_seen() -> None:
    figure = figures.trade_off(["a", "b"], {"error": [2.0, 3.0], "bytes": [1, 9]}, "t", seen={"error": [3.5, 1.0]})
    left, right = figure.axes
    assert [bar.get_width() for bar in left.patches] == [2.0, 3.0]
    assert [line.get_xdata().tolist() for line in map(_arrays, left.lines)] == [[3.5, 1.0]]
    assert not right.lines
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["expected, exact", "this run"]


def _arrays(line: Any) -> Any:
    line.set_data(np.asarray(line.get_xdata()), np.asarray(line.get_ydata()))
    return line
