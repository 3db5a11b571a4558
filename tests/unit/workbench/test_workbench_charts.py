"""What charts are told to draw: every number is there, and none that JSON cannot have."""

from __future__ import annotations

import json
import math

import pytest

pytest.importorskip("nicegui")

from hush.reports.theme import DARK, LIGHT
from hush.workbench import theme
from hush.workbench.charts import data, options

LABELS = ["news", "sports"]


def test_bars_have_their_values_and_error_bars_of_their_own() -> None:
    truth = data.Bars("truth", LABELS, [0.5, 0.5], quiet=True)
    estimate = data.Bars("estimate", LABELS, [0.4, 0.6], [0.3, 0.5], [0.5, 0.7])
    made = options.bars([truth, estimate], unit="share")
    first, second, whiskers = made["series"]
    assert (first["data"], second["data"]) == ([0.5, 0.5], [0.4, 0.6])
    assert first["itemStyle"]["color"] == theme.TRUTH
    assert second["itemStyle"]["color"] == theme.SERIES[0]
    assert whiskers["data"] == [[0, 0.3, 0.5], [1, 0.5, 0.7]]
    assert "(1 - (2 - 1) / 2)" in whiskers[":renderItem"]
    assert made["xAxis"]["data"] == LABELS
    assert made["legend"]["data"] == ["truth", "estimate"]
    assert estimate.header("%") == ("estimate (%)", "from", "to")
    assert estimate.row(1) == ("0.6", "0.5", "0.7")
    assert truth.row(0) == ("0.5",)


def test_sideways_the_axes_change_places() -> None:
    made = options.bars([data.Bars("a", LABELS, [1, 2], [0, 1], [2, 3])], sideways=True)
    assert made["yAxis"]["data"] == LABELS
    assert made["xAxis"]["type"] == "value"
    assert made["series"][1]["encode"] == {"x": [1, 2], "y": 0}


def test_nothing_of_a_label_is_ever_code() -> None:
    evil = "'; alert(1); //"
    made = options.bars([data.Bars(evil, [evil], [1.0], [0.0], [2.0])])
    assert all(evil not in str(value) for each in made["series"] for key, value in each.items() if key.startswith(":"))


def test_numbers_that_json_cannot_have_are_left_out() -> None:
    made = [
        options.bars([data.Bars("a", LABELS, [math.nan, 1.0], [-math.inf, 0.0], [math.inf, 2.0])]),
        options.points([data.Points("a", [1.0, math.inf], [math.nan, 2.0])], x="x", y="y", log_x=True),
        options.lines([data.LineSeries("a", [1.0, 2.0], [1.0, math.nan], [0, 0], [2, 2])], x="x", y="y", log_y=True),
    ]
    for each in made:
        json.dumps(each, allow_nan=False)
    assert made[0]["series"][0]["data"] == [None, 1.0]
    assert made[1]["xAxis"]["type"] == "log"
    assert made[2]["yAxis"]["type"] == "log"


def test_series_differ_by_colour_and_by_shape() -> None:
    made = options.points([data.Points(str(i), [1.0], [1.0], chosen=0 if i else None) for i in range(4)], x="x", y="y")
    assert len({each["itemStyle"]["color"] for each in made["series"]}) == 4
    assert len({each["symbol"] for each in made["series"]}) == 4
    assert made["series"][1]["data"][0]["symbolSize"] > made["series"][0]["data"][0]["symbolSize"]


def test_a_band_lies_between_its_edges() -> None:
    made = options.lines(
        [data.LineSeries("a", [1.0, 2.0], [5.0, 6.0], [4.0, 4.5], [6.0, 8.0], dashed=True)], x="x", y="y"
    )
    low, height, line = made["series"]
    assert low["data"] == [[1.0, 4.0], [2.0, 4.5]]
    assert height["data"] == [[1.0, 2.0], [2.0, 3.5]]
    assert low["stack"] == height["stack"]
    assert line["lineStyle"]["type"] == "dashed"
    assert made["legend"]["data"] == ["a"]


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_sheet_has_the_colours_of_figures(name: str) -> None:
    sheet = theme.stylesheet()
    chosen = {"light": LIGHT, "dark": DARK}[name]
    for colour in (*chosen.series, chosen.ground, chosen.ink, chosen.faint, chosen.grid, chosen.truth):
        assert colour in sheet
    assert "http" not in sheet
    assert theme.address().startswith("/theme-")


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(("name", "chosen"), [("light", LIGHT), ("dark", DARK)])
def test_words_can_be_read_on_what_they_stand_on(name: str, chosen: object) -> None:
    """WCAG 2.2 AA asks for 4.5 to 1."""
    parts = [each for each in theme.variables(name, getattr(theme, name.upper())).split("; ") if each]
    said = {key.strip().removeprefix("--"): value.strip(" ;") for key, value in (each.split(":") for each in parts)}
    for ink in ("ink", "faint", "accent", "bad"):
        for ground in ("ground", "card"):
            assert contrast(said[ink], said[ground]) >= 4.5, (ink, ground)
    assert contrast(said["on-accent"], said["accent"]) >= 4.5
    assert contrast(said["ink"], said["bad-ground"]) >= 4.5
