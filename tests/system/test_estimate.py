"""`hush estimate`: from reports to numbers that the library agrees with."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hush
from tests.system.support import answer, refused, run, write_csv

TRUTH = {"cat": 0.6, "dog": 0.3, "fish": 0.09, "other": 0.01}
PNG = b"\x89PNG\r\n\x1a\n"


def library(path: Path, where: str | None = None) -> hush.Estimate:
    """The same by the library, reading the file with pyarrow alone."""
    table = pq.read_table(path)
    spec = hush.Spec.from_json(table.schema.metadata[b"hush.spec"].decode())
    if where is not None:
        table = table.filter(pa.compute.equal(table["region"], where))
    data = b"".join(table["report"].to_pylist())
    return spec.estimate(spec.aggregate(np.frombuffer(data, spec.mechanism.report_dtype)))


def test_recovers_the_truth(reports: Path) -> None:
    """Within 6 standard errors: a false alarm once in 10^8 runs."""
    for row in answer("estimate", reports)["estimate"]:
        assert abs(row["frequency"] - TRUTH[row["label"]]) < 6 * row["stderr"]


def test_json_agrees_with_the_library(reports: Path) -> None:
    told, own = answer("estimate", reports, "--level", 0.9), library(reports)
    low, high = own.interval(0.9)
    assert (told["n"], told["level"], told["simultaneous"], told["randomness"]) == (10_000, 0.9, False, ["secure"])
    assert [row["label"] for row in told["estimate"]] == own.labels
    for name, numbers in {"frequency": own.frequencies, "stderr": own.stderr, "lower": low, "upper": high}.items():
        assert [row[name] for row in told["estimate"]] == numbers.tolist()
    wide = answer("estimate", reports, "--level", 0.9, "--simultaneous")["estimate"]
    assert [row["lower"] for row in wide] == own.interval(0.9, simultaneous=True)[0].tolist()


@pytest.mark.parametrize("method", ["simplex", "clip", "norm-cut"])
def test_projection_stands_beside_the_raw(reports: Path, method: str) -> None:
    rows, own = answer("estimate", reports, "--project", method)["estimate"], library(reports)
    assert [row["projected"] for row in rows] == own.project(method).frequencies.tolist()
    assert [row["frequency"] for row in rows] == own.frequencies.tolist()
    assert [row["count"] for row in rows] == (own.frequencies * 10_000).tolist()
    assert [row["projected_count"] for row in rows] == (own.project(method).frequencies * 10_000).tolist()


def test_groups(reports: Path) -> None:
    told = answer("estimate", reports, "--by", "region")
    assert [(group["group"], group["n"]) for group in told["groups"]] == [("north", 6667), ("south", 3333)]
    for group in told["groups"]:
        own = library(reports, group["group"])
        assert [row["frequency"] for row in group["estimate"]] == own.frequencies.tolist()
    shown = run("estimate", reports, "--by", "region").stdout
    assert "region = north (6,667 reports)" in shown


def test_groups_of_numbers_and_missing_cells(tmp_path: Path) -> None:
    table = pa.table({"v": [0, 1] * 50, "g": pa.array(([10, 9, None, 9.0] * 25), pa.float64())})
    pq.write_table(table, tmp_path / "d.parquet")
    chosen = ("--column", "v", "--k", 2, "--mechanism", "GRR", "--epsilon", 1, "--keep", "g")
    assert run("privatize", tmp_path / "d.parquet", *chosen, "-o", tmp_path / "r.parquet").exit_code == 0
    groups = answer("estimate", tmp_path / "r.parquet", "--by", "g")["groups"]
    assert [(group["group"], group["n"]) for group in groups] == [(9, 50), (10, 25), (None, 25)]
    assert "g = missing (25 reports)" in run("estimate", tmp_path / "r.parquet", "--by", "g").stdout


def test_files_beside_the_table(reports: Path, tmp_path: Path) -> None:
    result = run("estimate", reports, "--csv", tmp_path / "e.csv", "--png", tmp_path / "e.png", "--top", 2)
    assert result.exit_code == 0
    assert "2 most frequent of 4" in result.stdout
    assert "intervals are pointwise, exact." in " ".join(result.stderr.split())
    assert (tmp_path / "e.png").read_bytes().startswith(PNG)
    with (tmp_path / "e.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["frequency"]) for row in rows] == library(reports).frequencies.tolist()
    run("estimate", reports, "--by", "region", "--csv", tmp_path / "g.csv", "--png", tmp_path / "g.png")
    assert (
        (tmp_path / "g.csv")
        .read_text()
        .startswith("region,n,label,frequency,stderr,lower,upper,method,count\nnorth,6667,cat,")
    )
    assert (tmp_path / "g.png").read_bytes().startswith(PNG)


def test_top_sorts(reports: Path) -> None:
    rows = answer("estimate", reports, "--top", 2)["estimate"]
    assert [row["label"] for row in rows] == ["cat", "dog"]


def test_aggregates_merge_with_reports(reports: Path, tmp_path: Path) -> None:
    saved, spec = tmp_path / "a.hush", tmp_path / "spec.json"
    assert run("estimate", reports, "--aggregate-out", saved, "--spec-out", spec).exit_code == 0
    own = library(reports)
    assert hush.Aggregate.from_bytes(saved.read_bytes()).n == own.n
    copy = tmp_path / "b.hush"
    copy.write_bytes(saved.read_bytes())
    for sources in ([saved, "--spec", spec], [saved, "--spec", reports], [saved, copy, reports, "--spec", spec]):
        told = answer("estimate", *sources)
        assert [row["frequency"] for row in told["estimate"]] == pytest.approx(own.frequencies.tolist(), abs=1e-15)
    assert answer("estimate", saved, copy, reports)["n"] == 3 * own.n


def test_simulated_reports_say_so(tmp_path: Path) -> None:
    made = ("--mechanism", "OLH", "--k", 5, "--epsilon", 1, "--dataset", "zipf", "--n", 100, "--runs", 2, "--seed", 7)
    assert run("simulate", *made, "--reports-out", tmp_path / "s.parquet").exit_code == 0
    assert answer("estimate", tmp_path / "s.parquet")["randomness"] == ["simulated, seed 7"]
    assert "simulated, seed 7" in run("estimate", tmp_path / "s.parquet").stderr


def test_hostile_labels_do_no_harm(tmp_path: Path) -> None:
    hostile = ["[bold red]x", "\x1b[2J", "$\\frac{", "<script>", "日本", "a" * 90]
    (tmp_path / "d.json").write_text(__import__("json").dumps(hostile))
    write_csv(tmp_path / "d.csv", {"v": hostile})
    chosen = ("--column", "v", "--domain", tmp_path / "d.json", "--mechanism", "GRR", "--epsilon", 40)
    assert run("privatize", tmp_path / "d.csv", *chosen, "-o", tmp_path / "r.parquet").exit_code == 0
    result = run("estimate", tmp_path / "r.parquet", "--png", tmp_path / "e.png")
    assert result.exit_code == 0, result.output
    assert "[bold red]x" in result.stdout
    assert "\x1b" not in result.stdout


def test_refuses(reports: Path, pets: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.parquet"
    pq.write_table(pa.table({"report": [b"a"]}), plain)
    other = tmp_path / "other.parquet"
    chosen = ("--column", "v", "--k", 2, "--mechanism", "GRR", "--epsilon", 1)
    write_csv(tmp_path / "v.csv", {"v": [0, 1]})
    assert run("privatize", tmp_path / "v.csv", *chosen, "-o", other).exit_code == 0
    table = pq.read_table(reports)
    wrong, nulls, empty = (tmp_path / f"{name}.parquet" for name in ("wrong", "nulls", "empty"))
    pq.write_table(pa.table({"report": [b"long"]}).replace_schema_metadata(table.schema.metadata), wrong)
    column = pa.array([None, b"\0"], pa.binary(1))
    pq.write_table(pa.table({"report": column}).replace_schema_metadata(table.schema.metadata), nulls)
    pq.write_table(table.slice(0, 0), empty)
    bits = tmp_path / "bits.parquet"
    pq.write_table(
        pa.table({"report": pa.array([b"\xff"], pa.binary(1))}).replace_schema_metadata(table.schema.metadata), bits
    )
    saved, broken = tmp_path / "a.hush", tmp_path / "b.hush"
    assert run("estimate", reports, "--aggregate-out", saved).exit_code == 0
    broken.write_bytes(saved.read_bytes()[:-1])
    png = tmp_path / "never.png"
    cases: list[tuple[list[object], list[str]]] = [
        ([tmp_path / "nope.parquet"], ["reports must be a file that exists"]),
        ([pets], ["input must be a readable Parquet file of reports"]),
        ([plain], ["must carry a spec", "hush.spec", "hush privatize"]),
        ([wrong], ["wrong.parquet must have 1 bytes each", "4 bytes at position 0"]),
        ([nulls], ["must not be missing"]),
        ([bits], ["must have zeros after bit 3"]),
        ([empty], ["aggregate must hold at least one report"]),
        ([reports, other], ["must have the spec of", "estimate one collection at a time"]),
        ([reports, "--spec", other], ["must have the spec of"]),
        ([reports, "--by", "nope"], ["--by must be a kept column", "region", "'nope'"]),
        ([reports, "--by", "report"], ["--by must be a kept column"]),
        (
            [reports, "--by", "region", "--aggregate-out", tmp_path / "c.hush"],
            ["--aggregate-out must stand without --by"],
        ),
        ([reports, "--level", 95], ["level must lie strictly between 0 and 1", "95"]),
        ([reports, "--project", "magic"], ["--project must be one of clip, simplex", "magic"]),
        ([reports, "--mechanism", "OUF"], ["--mechanism must be a known name"]),
        ([reports, "--top", 0], ["--top"]),
        ([saved], ["--spec must be given to read a saved aggregate"]),
        ([saved, "--spec", other], ["must come from the spec"]),
        ([saved, "--spec", reports, "--by", "region"], ["--by needs reports"]),
        ([broken, "--spec", reports], ["aggregate must be intact"]),
        ([saved, "--spec", pets], ["spec must be JSON"]),
    ]
    for arguments, words in cases:
        message = refused("estimate", *arguments, "--png", png)
        assert all(word in message for word in words), message
        assert not png.exists()


def test_groups_that_would_not_fit_the_memory_are_refused(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "d.csv", {"v": [0, 1, 2] * 100, "g": list(range(300))})
    chosen = ("--column", "v", "--keep", "g", "--mechanism", "GRR", "--epsilon", 1, "-o", tmp_path / "r.parquet")
    assert run("privatize", file, "--k", 1_000_000, *chosen).exit_code == 0
    assert (tmp_path / "r.parquet").stat().st_size < 10_000
    said = refused("estimate", tmp_path / "r.parquet", "--by", "g", "--top", 1)
    assert "--by must have at most 2 groups where each has 1,000,000 values, got 'g'; choose a coarser column" in said
    assert run("privatize", file, "--k", 1000, *chosen).exit_code == 0
    assert len(answer("estimate", tmp_path / "r.parquet", "--by", "g", "--top", 1)["groups"]) == 300


def test_totals_of_amounts(tmp_path: Path) -> None:
    """By themselves where the spec has values; asked for where labels are numbers; else refused."""
    domain = hush.Domain(labels=["low", "mid", "high"], values=[0.0, 2.5, 10.0])
    spec = hush.Spec(hush.GRR(k=3, epsilon=1.0), domain)
    write_csv(tmp_path / "people.csv", {"use": ["low", "mid", "high"] * 700, "region": ["a", "b", "a"] * 700})
    (tmp_path / "spec.json").write_text(spec.to_json())
    people, out = tmp_path / "people.csv", tmp_path / "reports.parquet"
    run("privatize", people, "--column", "use", "--spec", tmp_path / "spec.json", "--keep", "region", "--output", out)
    told, own = answer("estimate", out, "--level", 0.9), library(out)
    low, high = own.total_interval(0.9)
    total = {"total": own.total, "stderr": own.total_stderr, "lower": low, "upper": high, "method": "normal"}
    assert told["total"] == total
    assert [row["amount"] for row in told["estimate"]] == [0.0, 2.5, 10.0]
    assert (
        f"total {own.total:,.0f} ± {high - own.total:,.0f}, 90 % interval"
        in run("estimate", out, "--level", 0.9).stdout
    )
    run("estimate", out, "--by", "region", "--csv", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    parts = {row["region"]: float(row["total"]) for row in rows}
    assert sum(parts.values()) == pytest.approx(own.total)
    assert {row["total_method"] for row in rows} <= {"normal", "bound"}


def test_totals_are_asked_for_where_labels_are_numbers(tmp_path: Path) -> None:
    write_csv(tmp_path / "people.csv", {"rooms": ["0", "1", "2", "3"] * 125})
    out = tmp_path / "reports.parquet"
    run(
        "privatize",
        tmp_path / "people.csv",
        "--column",
        "rooms",
        "--k",
        4,
        "--mechanism",
        "OUE",
        "--epsilon",
        1,
        "--output",
        out,
    )
    assert "total" not in answer("estimate", out)
    assert answer("estimate", out, "--total")["total"]["total"] == pytest.approx(library(out).total)


def test_totals_of_words_are_refused(reports: Path) -> None:
    assert "--total must have values that are amounts" in refused("estimate", reports, "--total")
