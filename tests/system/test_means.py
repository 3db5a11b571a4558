"""Means by the command: from a plan to reports to a mean and a total."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hush
from hush import from_dict
from hush.people.amounts import AmountReader
from tests.system.support import answer, refused, run, write_csv

AMOUNTS = np.arange(41)
COUNTS = np.rint(20_000 * np.exp(-0.5 * ((AMOUNTS - 16.2) / 7.5) ** 2) / 18.5).astype(int)
PEOPLE = np.repeat(AMOUNTS, COUNTS)
RANGE = ("--low", 0, "--high", 40, "--set", "steps=40")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_csv(Path("water.csv"), {"value": AMOUNTS.tolist(), "count": COUNTS.tolist()})
    write_csv(Path("meters.csv"), {"use": PEOPLE.tolist(), "town": ["north" if a % 3 else "south" for a in PEOPLE]})
    return tmp_path


def collected(name: str, epsilon: float = 2.0, *more: object) -> dict[str, Any]:
    made = ("--mechanism", name, "--epsilon", epsilon, *RANGE, "-o", "r.parquet", *more)
    told: dict[str, Any] = answer("privatize", "meters.csv", "--column", "use", *made)
    return told


@pytest.mark.parametrize("name", ["Duchi", "Piecewise", "Hybrid"])
def test_from_a_plan_to_a_total(folder: Path, name: str) -> None:
    """Eight standard errors: it fails by chance less than once in 10^14 runs, whatever the secure coins do."""
    planned = ("capacity", "--mechanism", name, "--counts", "water.csv", "--cap", 300_000, "--probability", 0.01)
    assert run(*planned, "--spec-out", "s.json").exit_code == 0
    m = from_dict(json.loads(Path("s.json").read_text()))
    told = answer("privatize", "meters.csv", "--column", "use", "--spec", "s.json", "-o", "r.parquet")
    assert (told["reports"], told["randomness"], told["spec_hash"]) == (PEOPLE.size, "secure", m.spec_hash)
    found = answer("estimate", "r.parquet")
    mean = found["estimate"]
    assert found["spec"] == m.to_dict()
    assert abs(mean["mean"] - PEOPLE.mean()) < 8 * m.variance(PEOPLE.size, PEOPLE) ** 0.5
    assert mean["stderr"] == pytest.approx(m.variance(PEOPLE.size, PEOPLE) ** 0.5, rel=0.2)
    assert (mean["total"], mean["total_stderr"]) == (mean["mean"] * mean["n"], mean["stderr"] * mean["n"])
    assert mean["lower"] < mean["mean"] < mean["upper"]
    wide = mean["total_upper"] - mean["total_lower"]
    assert 3.8 * mean["total_stderr"] < wide < (7 if mean["method"] == "bound" else 4) * mean["total_stderr"]
    shown = run("estimate", "r.parquet").stdout
    assert f"{mean['total']:,.0f}" in shown
    assert "mean" in shown


def test_the_file_says_what_it_is(folder: Path) -> None:
    collected("Piecewise")
    table = pq.read_table("r.parquet")
    m = from_dict(json.loads(table.schema.metadata[b"hush.spec"]))
    assert m == hush.Piecewise(low=0.0, high=40.0, epsilon=2.0, steps=40)
    assert table.schema.metadata[b"hush.randomness"] == b"secure"
    assert table.schema.field("report").type == pa.binary(m.report_dtype.itemsize)
    reports = np.frombuffer(b"".join(table["report"].to_pylist()), m.report_dtype)
    by_hand = m.estimate(m.aggregate(reports))
    assert answer("estimate", "r.parquet")["estimate"]["mean"] == by_hand.mean
    first = reports.tolist()
    collected("Piecewise")
    again = np.frombuffer(b"".join(pq.read_table("r.parquet")["report"].to_pylist()), m.report_dtype)
    assert first != again.tolist()


def test_groups_files_and_aggregates(folder: Path) -> None:
    told = collected("Hybrid", 2.0, "--keep", "town", "--spec-out", "s.json")
    assert told["spec"]["mechanism"] == "Hybrid"
    groups = answer("estimate", "r.parquet", "--by", "town", "--csv", "means.csv")["groups"]
    whole = answer("estimate", "r.parquet", "--aggregate-out", "a.hush", "--spec-out", "again.json")["estimate"]
    assert [group["group"] for group in groups] == ["north", "south"]
    assert sum(group["estimate"]["total"] for group in groups) == pytest.approx(whole["total"])
    assert Path("again.json").read_text() == Path("s.json").read_text()
    assert answer("estimate", "a.hush", "--spec", "s.json")["estimate"] == whole
    assert answer("estimate", "a.hush", "--spec", "r.parquet", "--mechanism", "hybrid")["estimate"] == whole
    Path("twice.parquet").write_bytes(Path("r.parquet").read_bytes())
    assert answer("estimate", "r.parquet", "twice.parquet")["estimate"]["total"] == pytest.approx(2 * whole["total"])
    lines = Path("means.csv").read_text().splitlines()
    assert lines[0] == "town,n,mean,stderr,lower,upper,method,total,total_stderr,total_lower,total_upper"
    assert len(lines) == 3
    shown = run("estimate", "r.parquet", "--by", "town").stdout.splitlines()
    assert [line.split()[0] for line in shown[-2:]] == ["north", "south"]
    (narrow,) = {max(len(line.rstrip()) for line in run("estimate", "r.parquet", columns=60).stdout.splitlines()[1:])}
    assert narrow <= 60


def test_simulate_measures_what_the_formula_says(folder: Path) -> None:
    """Six standard errors, on a fixed seed."""
    collected("Duchi", 1.0, "--spec-out", "s.json")
    made = ("simulate", "--spec", "s.json", "--counts", "water.csv", "--seed", 7, "--runs", 200)
    told = answer(*made, "--reports-out", "sim.parquet")
    m = hush.Duchi(low=0.0, high=40.0, epsilon=1.0, steps=40)
    assert told["analytic_variance"] == pytest.approx(m.variance(PEOPLE.size, PEOPLE))
    assert abs(told["mse"] - told["analytic_variance"]) < 6 * told["mse_stderr"]
    assert told["coverage"] > 0.95 - 6 * told["coverage_stderr"]
    assert (told["mean"], told["total"]) == (pytest.approx(PEOPLE.mean()), pytest.approx(PEOPLE.sum()))
    again = answer(*made)
    assert (again["mse"], again["spec_hash"]) == (told["mse"], told["spec_hash"])
    assert answer("estimate", "sim.parquet")["randomness"] == ["simulated, seed 7"]
    shown = run(*made).stdout
    assert "typical error of the total" in shown
    sized = answer(
        "simulate", "--mechanism", "Hybrid", "--epsilon", 1, *RANGE, "--dataset", "zipf", "--k", 41, "--n", 50
    )
    assert sized["n"] == 50


def numbers(cells: list[Any] | pa.Array, *, clip: bool = False) -> list[float]:
    m = hush.Duchi(low=0.0, high=40.0, epsilon=1.0)
    given = cells if isinstance(cells, pa.Array) else pa.array(cells)
    return AmountReader(m, "use", clip=clip).encode(given, 1).tolist()


def test_cells_that_are_or_read_as_numbers() -> None:
    assert numbers(["7", "7.5", "1e1"]) == [7.0, 7.5, 10.0]
    assert numbers([" 7", "7.0"]) == [7.0, 7.0]
    assert numbers([0, 40]) == [0.0, 40.0]
    assert numbers([Decimal("7.25")]) == [7.25]
    assert numbers([True, False]) == [1.0, 0.0]
    assert numbers(pa.array(["3", "4", "3"]).dictionary_encode()) == [3.0, 4.0, 3.0]
    assert numbers(pa.array([], pa.string())) == []
    assert numbers([2**60, -1, 5], clip=True) == [40.0, 0.0, 5.0]
    assert numbers(["100", "-0.5", "40.0"], clip=True) == [40.0, 0.0, 40.0]


@pytest.mark.parametrize(
    ("cells", "clip", "words"),
    [
        ([1, 41], False, ["column use, row 2 must be a number from 0 to 40", "may be private", "--clip"]),
        ([1, 2, -0.5], False, ["row 3 must be a number from 0 to 40", "--clip"]),
        (["1", None], True, ["row 2 must be a number, got a missing value"]),
        ([1.0, float("nan")], True, ["row 2 must be a number, got a missing value"]),
        ([1.0, float("inf")], True, ["row 2 must be a number, got a missing value"]),
        (["1", "many"], True, ["row 2 must be a number, got another value"]),
        (["1", "1" + "0" * 400], True, ["row 2 must be a number, got another value"]),
        ([datetime.date(2024, 1, 1)], False, ["row 1 must be a number"]),
        ([[1]], False, ["column use must hold plain values"]),
    ],
)
def test_cells_that_do_not(cells: list[Any], clip: bool, words: list[str]) -> None:
    with pytest.raises(hush.HushError) as caught:
        numbers(cells, clip=clip)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "many" not in str(caught.value)


def test_clipping(folder: Path) -> None:
    made = ("privatize", "meters.csv", "--column", "use", "--mechanism", "Duchi", "--epsilon", 40, "--low", 5)
    out = ("--high", 30, "--set", "steps=25", "-o", "r.parquet")
    assert "--clip" in refused(*made, *out)
    assert not Path("r.parquet").exists()
    assert run(*made, *out, "--clip").exit_code == 0
    found = answer("estimate", "r.parquet")["estimate"]
    assert abs(found["mean"] - np.clip(PEOPLE, 5, 30).mean()) < 8 * found["stderr"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--mechanism Duchi --epsilon 1", ["low must be given for Duchi", "--low"]),
        ("--mechanism Duchi --epsilon 1 --low 0", ["high must be given for Duchi", "--high"]),
        ("--mechanism Duchi --low 0 --high 40", ["epsilon must be given for Duchi", "--epsilon"]),
        ("--mechanism Duchi --epsilon 1 --low 40 --high 0", ["high must be"]),
        ("--mechanism Duchi --epsilon 1 --low nan --high 4", ["low must be"]),
        ("--mechanism Duchi --epsilon 1 --low x --high 4", ["--low must be a number"]),
        ("--mechanism Duchi --epsilon -1 --low 0 --high 40", ["epsilon must be"]),
        (
            "--mechanism Duchi --epsilon 1 --low 0 --high 40 --k 3",
            ["k is no parameter of Duchi, which takes low, high"],
        ),
        ("--mechanism Duchi --epsilon 1 --low 0 --high 40 --delta 0.1", ["delta is no parameter of Duchi"]),
        ("--mechanism Duchi --epsilon 1 --low 0 --high 40 --set low=1", ["low must be given once"]),
        ("--mechanism Duchi --epsilon 1 --low 0 --high 40 --sensitive 3", ["--sensitive must be left out for Duchi"]),
        ("--mechanism Duchi --epsilon 1 --low 0 --high 40 --domain l.txt", ["--domain must be left out for Duchi"]),
        ("--mechanism OUE --epsilon 1 --low 0 --high 40 --k 41", ["low is no parameter of OUE"]),
        ("--spec s.json --epsilon 2", ["--epsilon must be 1.0, as in s.json"]),
        ("--spec s.json --low 1", ["--low must be 0.0, as in s.json"]),
        ("--spec s.json --k 41", ["--k must be a parameter of Duchi, the mechanism of s.json"]),
        ("--spec s.json --mechanism OUE", ["--mechanism must be Duchi, the mechanism of s.json"]),
        ("--spec s.json --mechanism Hybrid", ["--mechanism must be Duchi, the mechanism of s.json"]),
        ("--spec s.json --domain l.txt", ["--domain must not stand beside --spec"]),
    ],
)
def test_options(folder: Path, arguments: str, words: list[str]) -> None:
    collected("Duchi", 1.0, "--spec-out", "s.json")
    Path("l.txt").write_text("1\n2\n")
    message = refused("privatize", "meters.csv", "--column", "use", *arguments.split(), "-o", "n.parquet")
    assert all(word in message for word in words), message
    assert not Path("n.parquet").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": 2.0}, ["s2.json", "the spec was changed after it was written"]),
        ({"epsilon": -1}, ["s2.json", "epsilon must be"]),
        ({"low": "much"}, ["s2.json", "low must be"]),
        ({"steps": 0}, ["s2.json", "steps must be"]),
        ({"zap": 1}, ["s2.json", "zap is no parameter of Duchi"]),
        ({"thresholds": {"base": "1"}}, ["s2.json", "the spec was changed"]),
        ({"mechanism": "Dutchi"}, ["s2.json", "mechanism must be registered"]),
        ({"mechanism": "evil:Duchi"}, ["s2.json", "mechanism must be registered"]),
    ],
)
def test_broken_specs(folder: Path, change: dict[str, object], words: list[str]) -> None:
    collected("Duchi", 1.0, "--spec-out", "s.json")
    Path("s2.json").write_text(json.dumps({**json.loads(Path("s.json").read_text()), **change}))
    message = refused("privatize", "meters.csv", "--column", "use", "--spec", "s2.json", "-o", "n.parquet")
    assert all(word in message for word in words), message


def test_specs_of_kept_answers_ask_for_the_person(folder: Path) -> None:
    made = hush.longitudinal.LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0)
    Path("s.json").write_text(hush.Spec(made).to_json())
    message = refused("privatize", "meters.csv", "--column", "use", "--spec", "s.json", "-o", "n.parquet")
    assert f"--person must be given for {made.name()}" in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("estimate r.parquet --project simplex", ["--project must be left out for Duchi, which estimates a mean"]),
        ("estimate r.parquet --top 3", ["--top must be left out for Duchi"]),
        ("estimate r.parquet --simultaneous", ["--simultaneous must be left out for Duchi"]),
        ("estimate r.parquet --png m.png", ["--png must be left out for Duchi"]),
        ("estimate r.parquet --mechanism Hybrid", ["--mechanism must be Duchi, the mechanism of r.parquet"]),
        ("estimate r.parquet other.parquet", ["must have the spec of r.parquet"]),
        ("estimate bad.hush --spec s.json", ["aggregate must"]),
        ("estimate bad.parquet", ["reports in bad.parquet must be below 2"]),
        ("estimate none.parquet", ["aggregate must hold at least one report"]),
        ("audit --mechanism Duchi --k 3 --epsilon 1", ["k is no parameter of Duchi", "leave it out"]),
        ("mechanisms --mechanism Duchi", ["--mechanism must estimate frequencies"]),
        ("capacity --mechanism OUE --earlier r.parquet --cap 9 --probability 0.1", ["must estimate a mean, since no"]),
        ("capacity --mechanism Duchi --earlier none.parquet --cap 9 --probability 0.1", ["at least one report"]),
        ("capacity --mechanism Duchi --earlier bad.parquet --cap 9 --probability 0.1", ["must be below 2"]),
        ("simulate --spec s.json", ["--dataset or --counts must be given"]),
        ("simulate --spec s.json --dataset adult_age", ["range of Duchi, 0 to 40", "--clip"]),
        ("simulate --spec s.json --dataset msnbc", ["must be amounts"]),
        ("simulate --spec s.json --counts water.csv --png m.png", ["--png must be left out for Duchi"]),
        ("simulate --mechanism Duchi --epsilon 1 --counts water.csv", ["low must be given for Duchi"]),
    ],
)  # fmt: skip
def test_refuses(folder: Path, arguments: str, words: list[str]) -> None:
    collected("Duchi", 1.0, "--spec-out", "s.json")
    Path("other.parquet").write_bytes(Path("r.parquet").read_bytes())
    collected("Duchi", 3.0)
    Path("r.parquet").rename("third.parquet")
    Path("other.parquet").rename("r.parquet")
    Path("third.parquet").rename("other.parquet")
    write_csv(Path("none.csv"), {"use": []})
    assert run("privatize", "none.csv", "--column", "use", "--spec", "s.json", "-o", "none.parquet").exit_code == 0
    schema = pq.read_schema("r.parquet")
    pq.write_table(pa.table({"report": pa.array([b"\x07"], pa.binary(1))}, schema=schema), "bad.parquet")
    m = hush.Duchi(low=0.0, high=40.0, epsilon=1.0, steps=40)
    Path("bad.hush").write_bytes(hush.Aggregate(1, np.zeros(3, np.int64), m.spec_hash).to_bytes())
    message = refused(*arguments.split())
    assert all(word in message for word in words), message


def test_simulate_clips_to_the_range_of_a_spec(folder: Path) -> None:
    file = write_csv(folder / "held.csv", {"value": [0, 10, 30, 50], "count": [200, 500, 200, 100]})
    spec = folder / "clipped.json"
    run("capacity", "--mechanism", "Duchi", "--counts", file, "--clip-above", 30, "--cap", 10_000, "--probability", 0.1,
        "--spec-out", spec)  # fmt: skip
    wish = ("simulate", "--spec", spec, "--counts", file, "--runs", 5, "--seed", 7)
    said = refused(*wish)
    assert "must lie in the range of Duchi, 0 to 30, got 50.0; add --clip" in said
    told = answer(*wish, "--clip")
    assert (told["n"], told["clipped"], told["total"], told["total_unclipped"]) == (1000, 100, 14_000, 16_000)
    shown = run(*wish, "--clip").stdout
    assert "100 people were clipped to the range. Errors are measured against the total after that" in shown
    assert "off by 2,000 from the whole, 16,000" in shown
    assert "clipped" not in run("simulate", "--mechanism", "Duchi", "--low", 0, "--high", 50, "--epsilon", 1,
                                "--counts", file, "--runs", 2, "--clip").stdout  # fmt: skip
    many = ("simulate", "--mechanism", "OUE", "--epsilon", 1, "--counts", file, "--runs", 2, "--clip")
    assert "--clip must be left out where frequencies are estimated" in refused(*many)
