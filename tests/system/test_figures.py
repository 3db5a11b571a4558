"""What the figures say and show."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hush
from hush.files.collections import Collection
from hush.files.groups import by_size, folded
from hush.reports import figures
from hush.reports.figures import Series
from hush.reports.words import shortened
from tests.system.support import answer, refused, run, write_csv


def series(labels: list[str], **more: Any) -> Series:
    centre = np.linspace(0.1, 0.2, len(labels))
    return Series("", labels, centre, centre - 0.05, centre + 0.05, **more)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[Series], str]]:
    """What commands ask to be drawn."""
    seen: list[tuple[list[Series], str]] = []
    real = figures.estimates

    def watched(what: Any, title: str, **how: Any) -> Any:
        seen.append((list(what), title))
        return real(what, title, **how)

    monkeypatch.setattr(figures, "estimates", watched)
    return seen


def test_titles_say_which_intervals(reports: Path, tmp_path: Path, drawn: list[Any]) -> None:
    png = ("--png", tmp_path / "e.png")
    run("estimate", reports, *png)
    run("estimate", reports, *png, "--simultaneous", "--level", 0.9)
    made = ("--mechanism", "OUE", "--epsilon", 1, "--k", 5, "--dataset", "zipf", "--n", 100, "--runs", 1)
    run("simulate", *made, *png)
    first, second, third = (title for _, title in drawn)
    assert first.endswith("\npointwise 95 % intervals, exact")
    assert second.endswith("\nsimultaneous 90 % intervals, exact")
    assert "pointwise 95 % intervals" in third


def test_a_projection_is_drawn(reports: Path, tmp_path: Path, drawn: list[Any]) -> None:
    assert run("estimate", reports, "--png", tmp_path / "e.png", "--project", "simplex").exit_code == 0
    ((what, title),) = drawn
    assert what[0].projected.sum() == pytest.approx(1)
    assert "simplex projection" in title
    for k in (3, 60):
        figure = figures.estimates([series(["x"] * k, projected=np.full(k, 1 / k))], "t")
        assert "projected" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_long_labels_are_shortened() -> None:
    figure = figures.estimates([series(["a" * 90 + "1", "short"])], "t")
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["a" * 17 + "…" + "a" * 7 + "1", "short"]
    assert shortened("a\nb", 10) == "a b"


def test_labels_that_the_font_lacks_are_told(tmp_path: Path) -> None:
    (tmp_path / "l.json").write_text(json.dumps(["日本", "café"]))
    write_csv(tmp_path / "d.csv", {"v": ["日本", "café"] * 5})
    made = ("--domain", tmp_path / "l.json", "--mechanism", "GRR", "--epsilon", 1, "-o", tmp_path / "r.parquet")
    assert run("privatize", tmp_path / "d.csv", "--column", "v", *made).exit_code == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run("estimate", tmp_path / "r.parquet", "--png", tmp_path / "e.png")
    assert result.exit_code == 0, result.output
    assert "font lacks signs of 1 of its labels, which show as boxes: 日本" in result.stderr
    assert "Glyph" not in result.stderr


def test_labels_that_are_not_drawn_are_not_missed() -> None:
    assert figures.unprintable([series(["日本"] * 41)]) == []
    assert figures.unprintable([series(["日本", "日本", "x"])]) == ["日本"]


# Groups.

SIZES = {"small 1": 2, "big": 900, "small 2": 3, "biggest": 1500, "middle": 400, "small 3": 1}


@pytest.fixture
def grouped(tmp_path: Path) -> Path:
    """Reports of six groups, three of them tiny, over four values."""
    rows = [(f"v{i % 4}", name) for name, size in SIZES.items() for i in range(size)]
    write_csv(tmp_path / "d.csv", {"v": [value for value, _ in rows], "g": [name for _, name in rows]})
    (tmp_path / "l.txt").write_text("v0\nv1\nv2\nv3\n")
    made = ("--domain", tmp_path / "l.txt", "--mechanism", "OUE", "--epsilon", 2, "--keep", "g")
    assert run("privatize", tmp_path / "d.csv", "--column", "v", *made, "-o", tmp_path / "r.parquet").exit_code == 0
    return tmp_path / "r.parquet"


def test_groups_are_drawn_by_size_and_tiny_ones_together(grouped: Path, tmp_path: Path, drawn: list[Any]) -> None:
    told = run("estimate", grouped, "--by", "g", "--png", tmp_path / "e.png")
    assert told.exit_code == 0
    ((panels, title),) = drawn
    assert [each.name for each in panels[:3]] == ["biggest, 1,500 people", "big, 900 people", "middle, 400 people"]
    assert panels[3].name.startswith("3 groups of fewer than ")
    assert panels[3].name.endswith(": 6 people")
    assert title.startswith("OUE, k=4, 2-LDP, 2,806 reports, by g")
    assert "The picture shows 3 groups of fewer than " in told.stderr
    assert told.stdout.count("g = small") == 3


def test_what_is_drawn_together_is_the_estimate_of_all_these_people(
    grouped: Path, tmp_path: Path, drawn: list[Any]
) -> None:
    told = answer("estimate", grouped, "--by", "g", "--floor", 500, "--png", tmp_path / "e.png")
    assert [(each["group"], each["n"]) for each in told["groups"]] == [
        ("big", 900), ("biggest", 1500), ("4 groups of fewer than 500 people, together", 406),
    ]  # fmt: skip
    assert told["groups"][-1]["together"] == 4
    apart = {each["group"]: each for each in answer("estimate", grouped, "--by", "g")["groups"]}
    assert len(apart) == 6
    small = [each for each in apart.values() if each["n"] < 500]
    for i, row in enumerate(told["groups"][-1]["estimate"]):
        assert row["count"] == pytest.approx(sum(each["estimate"][i]["count"] for each in small))
    ((panels, _),) = drawn
    whole = answer("estimate", grouped)["estimate"]
    assert all(each.whole.tolist() == [row["frequency"] for row in whole] for each in panels)
    assert panels[-1].lower.tolist() == [row["lower"] for row in told["groups"][-1]["estimate"]]


def test_one_small_group_keeps_its_name(grouped: Path) -> None:
    told = answer("estimate", grouped, "--by", "g", "--floor", 2)
    assert "small 3" in [each["group"] for each in told["groups"]]


def test_more_groups_than_a_page_takes_are_taken_together() -> None:
    m = hush.GRR(k=2, epsilon=1.0)
    spec = hush.Spec(m, hush.Domain(size=2))
    parts = {i: spec.simulate(np.array([10 * i, 5]), rng=hush.seeded(i)) for i in range(1, 101)}
    found = by_size(folded(Collection(spec, parts, []), 1, most=12))
    assert list(found.parts)[:11] == list(range(100, 89, -1))
    assert str(list(found.parts)[11]) == "89 groups of fewer than 896 people, together"
    assert sum(part.n for part in found.parts.values()) == sum(part.n for part in parts.values())


def test_the_values_of_all_are_compared_not_those_that_noise_chose(
    grouped: Path, tmp_path: Path, drawn: list[Any]
) -> None:
    run("estimate", grouped, "--by", "g", "--top", 2, "--png", tmp_path / "e.png")
    ((panels, _),) = drawn
    first = [row["label"] for row in answer("estimate", grouped, "--top", 2)["estimate"]]
    assert all(each.labels == first for each in panels)


def test_a_floor_needs_groups(grouped: Path) -> None:
    assert "--floor must stand with --by" in refused("estimate", grouped, "--floor", 5)
    assert "--floor must be a whole number of at least 1" in refused("estimate", grouped, "--by", "g", "--floor", 0)
