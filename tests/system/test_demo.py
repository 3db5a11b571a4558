"""`hush demo` at full size, in a process of its own, and the page it writes."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hush
from hush.people import Population
from hush.reports import demo
from hush.reports.outcome import MechanismOutcome
from hush.reports.theme import LIGHT
from tests.system.support import refused, run, shell

pytestmark = pytest.mark.xdist_group("demo")  # one process makes the page

FILES = ["errors.png", "estimates.png", "index.html", "results.json", "trade-off.png"]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    folder = tmp_path_factory.mktemp("demo")
    said = shell("demo", "--output", "page", "--json", folder=folder)
    assert said.returncode == 0, said.stderr
    assert said.stderr == ""
    return json.loads(said.stdout), folder / "page"


def test_numbers(told: tuple[dict[str, Any], Path]) -> None:
    whole, folder = told
    data = hush.datasets.msnbc()
    assert (whole["n"], list(whole["mechanisms"])) == (989_818, ["GRR", "OUE", "OLH"])
    for name, found in whole["mechanisms"].items():
        m = hush.registry()[name](k=17, epsilon=1.0)
        assert found["exact_epsilon"] == m.exact_epsilon() <= 1.0
        assert found["asr_expected"] == m.asr()
        assert abs(found["asr"] - m.asr()) < 6 * (m.asr() / data.n) ** 0.5
        spread = np.sqrt(m.variances(data.frequencies, data.n))
        assert found["rmse_expected"] == np.sqrt(np.mean(spread**2))
        estimates = np.array([row["frequency"] for row in found["estimate"]])
        assert (np.abs(estimates - data.frequencies) < 6.5 * spread).all()
        assert [row["truth"] for row in found["estimate"]] == data.frequencies.tolist()
        assert found["bytes_per_report"] == m.report_dtype.itemsize
    assert json.loads((folder / "results.json").read_text()) == whole


class Page(HTMLParser):
    """Collects what a page would load, and its open tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.loads += [value or "" for name, value in attrs if name in {"src", "srcset", "href", "data"}]
        if tag not in {"meta", "img", "source", "link"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_self_contained(told: tuple[dict[str, Any], Path]) -> None:
    _, folder = told
    assert sorted(path.name for path in folder.iterdir()) == FILES
    text = (folder / "index.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    assert len(page.loads) == 6
    assert all(each.startswith("data:image/png;base64,") for each in page.loads)
    assert "script" not in page.tags
    assert not any(word in text for word in ("http://", "https://", "url(", "@import"))
    assert "frontpage" in text


def outcome(labels: list[str]) -> tuple[Population, MechanismOutcome]:
    m = hush.GRR(k=len(labels), epsilon=1.0)
    data = Population(np.arange(1, m.k + 1) * 100, hush.Domain(labels=labels), "tiny", "a <b>source</b>")
    spec = hush.Spec(m, data.domain)
    estimate = spec.estimate(spec.simulate(data.counts, rng=hush.seeded(7)))
    return data, MechanismOutcome(m, estimate, data.frequencies, 0.5, 0.1, 0.1)


def test_the_table_has_the_order_of_the_charts() -> None:
    data, found = outcome(["least", "middle", "most"])
    table = demo.build(data, [found])["index.html"].decode().partition("<table>")[2]
    assert table.index("most") < table.index("middle") < table.index("least")
    assert found.series(found.order).labels == ["most", "middle", "least"]


def test_mechanisms_are_compared_by_expectations_not_by_one_run() -> None:
    """The same mechanism twice, once lucky: the bars are equal, and the luck is a point."""
    _, lucky = outcome(["a", "b", "c"])
    unlucky = replace(lucky, estimate=replace(lucky.estimate, frequencies=lucky.truth + 0.1), attack_rate=0.9)
    figure = demo.drawings([lucky, unlucky])["trade-off.png"](LIGHT)
    for axes, seen in zip(figure.axes, ("rmse", "attack_rate"), strict=False):
        first, second = (bar.get_width() for bar in axes.patches)
        assert first == second
        points = [100 * getattr(each, seen) for each in (lucky, unlucky)]
        assert list(axes.lines[0].get_xdata()) == pytest.approx(points)
    assert lucky.expected_rmse == pytest.approx(np.sqrt(lucky.mechanism.variances(lucky.truth, 600).mean()))


def test_hostile_labels_are_escaped() -> None:
    data, found = outcome(["<script>alert(1)</script>", '"><img src=x onerror=y>', "$\\frac{", "日本", "a&b"])
    text = demo.build(data, [found])["index.html"].decode()
    page = Page(text)
    assert "script" not in page.tags
    assert all(each.startswith("data:") for each in page.loads)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "a &lt;b&gt;source&lt;/b&gt;" in text
    assert "a&amp;b" in text


@pytest.mark.parametrize("columns", [100, 80])
def test_tables_fit_the_window(tmp_path: Path, columns: int) -> None:
    result = run("demo", "--output", tmp_path / "deep" / "page", "--epsilon", 2, columns=columns)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[-1] == f"The page with figures: {(tmp_path / 'deep' / 'page' / 'index.html').resolve()}"
    assert max(len(line.rstrip()) for line in lines[:-1]) <= columns
    assert any("exact ε" in line for line in lines)


def test_refuses(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "--output must be a folder" in refused("demo", "--output", tmp_path / "file")
    assert "--output must be a folder" in refused("demo", "--output", tmp_path / "file" / "new")
    assert "--output must be a folder" in refused("demo", "--output", "-")
    assert "epsilon must be" in refused("demo", "--output", tmp_path / "new", "--epsilon", 0)
    (tmp_path / "page" / "index.html").mkdir(parents=True)
    assert "index.html, must be a file" in refused("demo", "--output", tmp_path / "page")
    (tmp_path / "page" / "index.html").rmdir()
    (tmp_path / "page" / "index.html").symlink_to("results.json")
    assert "must differ from" in refused("demo", "--output", tmp_path / "page")
    assert not (tmp_path / "new").exists()
