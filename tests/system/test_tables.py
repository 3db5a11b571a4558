"""Tables in windows of any width, and what stands in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hush.cli.shown import grid, terminal
from tests.system.support import answer, run, write_csv


def widest(text: str) -> int:
    return max(len(line.rstrip()) for line in text.splitlines())


@pytest.mark.parametrize("k", [10, 1024, 1_000_000])
@pytest.mark.parametrize("columns", [100, 80, 60])
def test_mechanisms_fit(columns: int, k: int) -> None:
    names = ("--mechanism", "GRR", "--mechanism", "OUE", "--mechanism", "THE", "--mechanism", "SHE")
    result = run("mechanisms", "--k", k, *names, columns=columns)
    assert widest(result.stdout.partition("SHE is not")[0]) <= columns
    head = result.stdout.splitlines()[1]
    assert all(name in head for name in ("name", "n·Var", "ASR"))
    for name in ("family", "bits", "q*", "bytes"):
        assert (name in head) != (name in result.stderr.partition("left out")[2].partition("Widen")[0])
    assert "…" not in result.stdout


def test_piped_tables_are_as_wide_as_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No column is left out, and no cell is folded, where nothing bounds the width."""
    monkeypatch.delenv("COLUMNS", raising=False)
    columns = [grid.Column(f"column {i}", "left" if i % 2 else "right", i) for i in range(6)]
    rows = [[f"{i} " + "word " * 30 + "end" for i in range(6)]]
    grid.show(terminal.stdout(), columns, rows, "Wide", "below")
    told = capsys.readouterr()
    title, head, _, row, caption = told.out.splitlines()
    assert (title, caption, told.err) == ("Wide", "below", "")
    assert all(column.name in head for column in columns)
    assert row.count("end") == 6
    monkeypatch.setenv("COLUMNS", "80")
    grid.show(terminal.stdout(), columns, rows)
    told = capsys.readouterr()
    assert widest(told.out) <= 80
    assert "left out column" in told.err


def test_small_shares_and_large_sizes() -> None:
    shown = run("mechanisms", "--k", 100_000, "--mechanism", "GRR", "--mechanism", "OUE").stdout
    grr, oue = (line.split() for line in shown.splitlines()[-2:])
    assert (grr[-6], grr[-5]) == ("2.7e-05", "1.0e-05")
    assert (oue[-2], oue[-1]) == ("100,000", "12,500")


def test_the_footnote_names_only_who_is_there() -> None:
    assert "UE, LH and LHO need a parameter" in run("mechanisms").stderr
    assert "need a parameter" not in run("mechanisms", "--mechanism", "GRR").stderr
    said = run("mechanisms", "--mechanism", "LH", "--mechanism", "GRR").stderr
    assert "LH need a parameter" in said
    assert "p=…" not in said


@pytest.mark.parametrize(
    ("columns", "project"),
    [(80, []), (60, []), (40, []), (80, ["--project", "norm-cut"]), (60, ["--project", "norm-cut"])],
)
def test_estimates_fit(reports: Path, columns: int, project: list[str]) -> None:
    result = run("estimate", reports, *project, columns=columns)
    assert widest(result.stdout) <= columns
    plain = result.stdout.replace("\n", " ")
    for row in answer("estimate", reports, *project)["estimate"]:
        assert f"{row['frequency']:.5f}" in plain
        assert f"{(row['upper'] - row['lower']) / 2:.5f}" in plain


def test_what_does_not_fit_is_folded(reports: Path) -> None:
    shown = run("estimate", reports, "--project", "norm-cut", columns=24).stdout
    assert widest(shown) <= 24
    for name in ("value", "norm-cut", "frequency", "cat", "other"):
        assert set(name) <= set(shown)
    assert "…" not in shown


@pytest.mark.parametrize("columns", [1, 3, 5, 9])
def test_no_column_is_lost_in_silence(reports: Path, columns: int) -> None:
    result = run("estimate", reports, "--project", "norm-cut", columns=columns)
    out = result.stderr.partition("left out")[2]
    for row in answer("estimate", reports, "--project", "norm-cut")["estimate"]:
        assert set(row["label"]) <= set(result.stdout)
    head = result.stdout.splitlines()
    table = head[next(i for i, line in enumerate(head) if "─" in line) - 3 :]
    for name in ("value", "norm-cut", "frequency"):
        assert name in out or all(letter in "".join(table) for letter in name)


def test_the_projected_count_stands_beside_its_share(reports: Path, tmp_path: Path) -> None:
    shown = run("estimate", reports, "--project", "simplex", "--csv", tmp_path / "e.csv").stdout.splitlines()
    assert shown[1].split("  ")[0] == "value"
    assert shown[1].index("simplex") < shown[1].index("count by simplex") < shown[1].index("frequency")
    row = answer("estimate", reports, "--project", "simplex")["estimate"][0]
    assert shown[3].split()[1:3] == [f"{row['projected']:.5f}", f"{row['projected_count']:,.0f}"]
    assert list(row)[-3:] == ["count", "projected", "projected_count"]
    assert (tmp_path / "e.csv").read_text().splitlines()[0].endswith("count,projected,projected_count")
    assert row["projected_count"] == row["projected"] * 10_000


def test_groups_are_sorted_as_people_count(tmp_path: Path) -> None:
    groups = ["g10", "g2", "g1", "h", "G3", "g02", ""]
    write_csv(tmp_path / "d.csv", {"v": [0, 1] * 7, "g": groups * 2})
    made = (
        "--column",
        "v",
        "--k",
        2,
        "--mechanism",
        "GRR",
        "--epsilon",
        1,
        "--keep",
        "g",
        "-o",
        tmp_path / "r.parquet",
    )
    assert run("privatize", tmp_path / "d.csv", *made).exit_code == 0
    told = answer("estimate", tmp_path / "r.parquet", "--by", "g")["groups"]
    assert [group["group"] for group in told if group["group"] not in {"g02"}] == ["G3", "g1", "g2", "g10", "h", None]


def test_long_labels_are_shortened_and_stay_apart(tmp_path: Path) -> None:
    long = ["x" * 200 + "1", "x" * 200 + "2"]
    (tmp_path / "l.json").write_text(json.dumps(long))
    write_csv(tmp_path / "d.csv", {"v": long * 5})
    made = ("--domain", tmp_path / "l.json", "--mechanism", "GRR", "--epsilon", 1, "-o", tmp_path / "r.parquet")
    assert run("privatize", tmp_path / "d.csv", "--column", "v", *made).exit_code == 0
    rows = [line.split()[0] for line in run("estimate", tmp_path / "r.parquet").stdout.splitlines()[-2:]]
    assert [len(row) for row in rows] == [40, 40]
    assert all("…" in row for row in rows)
    assert rows[0] != rows[1]
    assert [row["label"] for row in answer("estimate", tmp_path / "r.parquet")["estimate"]] == long
