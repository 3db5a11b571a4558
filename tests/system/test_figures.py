"""What the figures say and show."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hush.reports import figures
from hush.reports.figures import Series
from hush.reports.words import shortened
from tests.system.support import run, write_csv


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
    assert first.endswith("\npointwise 95 % intervals")
    assert second.endswith("\nsimultaneous 90 % intervals")
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
