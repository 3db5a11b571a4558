"""What the benchmark of the client for web pages is timed with, and what it makes of figures."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from benchmarks import browser
from benchmarks.browser import engines, loading, peers, specs

from tests.golden.write_replays import FILE
from tests.javascript import CLIENT


def names(spec: dict[str, Any]) -> str:
    """The mechanism or protocol of a spec."""
    return str(spec.get("protocol", spec.get("mechanism")))


def test_every_mechanism_that_the_client_knows_is_timed_at_ten_thousand_values() -> None:
    known = {names(entry["spec"]) for entry in json.loads(FILE.read_text("utf-8"))["replays"].values()}
    large = dict(specs.large())
    assert {names(m.to_dict()) for m in large.values()} == known
    assert {name for name, m in large.items() if getattr(m, "k", specs.K) != specs.K} == {"RAPPOR"}
    codes = {(names(spec), spec.get("code"), spec.get("hash")) for m in large.values() for spec in [m.to_dict()]}
    assert {("SS", "enumerative", None), ("MSS", "enumerative", None), ("LH", None, "family")} <= codes


def test_those_that_were_asked_for_are_counted_by_the_second() -> None:
    found = {(names(m.to_dict()), m.k) for _, m in specs.many()}
    assert found >= {("OUE", 128), ("OLH", 128), ("SS", 128), ("MSS", 1024), ("PGR", 128)}
    oue = dict(specs.many())["OUE (128, 1)"]
    assert (oue.k, oue.p_star) == (browser.PLAIN["k"], browser.PLAIN["p"])
    assert oue.q_star == pytest.approx(browser.PLAIN["q"], rel=1e-12)


def test_its_limit_of_bytes_is_that_of_the_build() -> None:
    told = re.search(r"const MOST = ([\d_]+);", (CLIENT / "build.js").read_text("utf-8"))
    assert told is not None
    assert int(told[1]) == loading.MOST


class Engine:
    """One whose figures are made up."""

    def __init__(self, name: str, **figures: float) -> None:
        self.name = name
        self.figures = {"tables": 1.0, "first": 2.0, "median": 0.1, "p99": 0.5, "slowest": 3.0, "size": 2, **figures}

    def call(self, module: str, function: str, *given: Any) -> Any:
        made: Any
        if function == "sizes":
            made = [{"bytes": 20_000, "gzipped": self.figures["size"]} for _ in given[0]]
        else:
            made = {"singles": self.figures, "joined": {"time": 7.0}, "drawn": 3e6, "drawnPlainly": 1e6}[function]
        return made


@pytest.mark.parametrize(
    ("figures", "missed"),
    [({}, ""), ({"p99": 5.0}, "p99 5.0 ms"), ({"tables": 50.0}, "tables 50.0 ms"), ({"p99": 4.9, "tables": 49.9}, "")],
)
def test_slow_reports_and_slow_tables_are_missed_in_either_engine(figures: dict[str, float], missed: str) -> None:
    grr = dict(specs.large())["GRR"]
    for both in ((Engine("N", **figures), Engine("C")), (Engine("N"), Engine("C", **figures))):
        table = browser._singles(both, [("GRR", grr, "http://127.0.0.1/")], quick=True)
        assert table.misses == ([f"GRR: {missed}"] if missed else [])
        assert table.rows[0][:4] == ["GRR", "10,000", "2", "7.0 / 7.0"]
        assert len(table.rows[0]) == len(table.columns) + 1


@pytest.mark.parametrize(("median", "missed"), [(19.9, False), (20.0, True)])
def test_a_module_that_loads_late_is_missed(median: float, missed: bool) -> None:
    table = loading.report.Table("Loading", ("where", "median", "slowest", "of it the fetch", "required"))
    loading._add(table, "Here", [{"time": time, "fetched": 1.0} for time in (1.0, median, 99.0)])
    assert bool(table.misses) == missed
    assert table.rows[0][:4] == ["Here", f"{median} ms", "99.0 ms", "1.0 ms"]


@pytest.mark.parametrize(("size", "missed"), [(12_288, 0), (12_289, 2)])
def test_a_module_that_is_too_large_is_missed(size: int, missed: int) -> None:
    table = loading.sizes(Engine("N", size=size))
    assert [row[0] for row in table.rows] == ["`hush.js`", "`question.js`"]
    assert len(table.misses) == missed


def test_rates_are_held_against_a_plain_sampler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    table = browser._rates((Engine("N"), Engine("C")), tmp_path, 1, 1)
    assert [row[0] for row in table.rows] == [*(name for name, _ in specs.many()), "plain bits (128, 1)"]
    assert table.rows[-1][1:4] == ["1.00 M", "1.00 M", "3.00× and 3.00×"]


def test_what_is_missing_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    assert engines.missing() == "Node is not installed; run: apt-get install nodejs"
    assert peers.installed(tmp_path) == peers.Found(
        "", "The npm package `rappor` is left out, for npm is not installed."
    )
    (tmp_path / "node").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert engines.missing() == "Chromium is not installed; run: apt-get install chromium"
    assert browser.run(quick=True) == []
