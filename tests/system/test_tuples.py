"""Several columns in one report: from a CSV to the estimates of each, by the real command."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import hush
from hush.multidim import RSFD, RSRFD, SMP, SPL
from tests.system.support import answer, refused, run, write_csv

N = 12_000
DOMAINS = {"age": ["young", "middle", "old"], "region": ["north", "south"], "income": 5}
COLUMNS = ("--column", "age", "--column", "region", "--column", "income")
SMALL = (*COLUMNS, "--domain", "domains.json", "--other", "other", "--epsilon", "2")
BOTH = "--column age --column region --epsilon 1"
OPTIONS = {
    "SPL": (),
    "SMP": ("--set", "mechanism=GRR,OUE,SS"),
    "RSFD": ("--set", "variant=OUE-z"),
    "RSRFD": ("--set", "priors=priors.json"),
}
MADE = {
    "SPL": SPL(sizes=(4, 3, 5), epsilon=2.0),
    "SMP": SMP(sizes=(4, 3, 5), epsilon=2.0, mechanism=("GRR", "OUE", "SS")),
    "RSFD": RSFD(sizes=(4, 3, 5), epsilon=2.0, variant="OUE-z"),
    "RSRFD": RSRFD(
        sizes=(4, 3, 5), epsilon=2.0, priors=[[0.4, 0.3, 0.2, 0.1], [0.5, 0.25, 0.25], [0.2, 0.2, 0.2, 0.2, 0.2]]
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A survey of 12,000 people: ages with gaps, regions with strangers, incomes as numbers, and their sex."""
    monkeypatch.chdir(tmp_path)
    rows = np.arange(N)
    age = np.array(["young", "young", "middle", "old", ""])[rows % 5]
    region = np.array(["north", "north", "north", "south"])[rows // 5 % 4].astype(object)
    region[:7] = "elsewhere"
    income = rows // 20 % 5
    sex = np.array(["f", "m", "m"])[rows % 3]
    table = {"id": rows, "age": age, "region": region, "income": income, "sex": sex}
    write_csv(tmp_path / "survey.csv", {name: list(cells) for name, cells in table.items()})
    (tmp_path / "domains.json").write_text(json.dumps(DOMAINS))
    (tmp_path / "ages.txt").write_text("young\nmiddle\nold\n")
    (tmp_path / "regions.txt").write_text("north\nsouth\n")
    priors = {"age": {"young": 0.4, "middle": 0.3, "old": 0.2, "other": 0.1}, "region": [0.5, 0.25, 0.25]}
    (tmp_path / "priors.json").write_text(json.dumps({**priors, "income": [0.2] * 5}))
    return tmp_path


TRUTH = {
    "age": [0.4, 0.2, 0.2, 0.2],
    "region": [0.75, 0.25, 0.0],
    "income": [0.2] * 5,
}


def collected(name: str = "SMP", *more: object) -> dict[str, Any]:
    found: dict[str, Any] = answer(
        "privatize", "survey.csv", *SMALL, "--mechanism", name, *OPTIONS[name], *more, "-o", "r.parquet"
    )
    return found


@pytest.mark.parametrize("name", OPTIONS)
def test_from_a_csv_to_the_estimates_of_each_attribute(folder: Path, name: str) -> None:
    told = collected(name)
    spec = hush.Spec.from_dict(told["spec"])
    assert spec.mechanism == MADE[name]
    assert spec.domain.names == ("age", "region", "income")
    assert told["guarantee"] == str(MADE[name].guarantee)
    assert told["unmatched"] == {"age": 0, "region": 7, "income": 0}
    assert told["missing"] == {"age": N // 5, "region": 0, "income": 0}
    found = answer("estimate", "r.parquet")
    assert found["n"] == N
    assert found["guarantee"] == told["guarantee"]
    assert [each["attribute"] for each in found["attributes"]] == ["age", "region", "income"]
    for each in found["attributes"]:
        # Twelve values each; a normal estimate is off by 7 standard errors with a chance below 3e-12.
        for row, truth in zip(each["estimate"], TRUTH[each["attribute"]], strict=True):
            assert abs(row["frequency"] - truth) < 7 * row["stderr"] + 7 / N
    reports = hush.read("r.parquet")
    assert isinstance(reports, hush.files.ReportFile)
    again = spec.estimate(reports.aggregate())
    assert [row["frequency"] for row in found["attributes"][1]["estimate"]] == again["region"].frequencies.tolist()
    about = spec.mechanism.reports_about(reports.aggregate())
    assert tuple(each["reports"] for each in found["attributes"]) == about
    assert sum(about) == (N if name == "SMP" else 3 * N)


def test_domains_by_column_make_the_same_spec_as_one_file_of_all(folder: Path) -> None:
    whole = collected("SPL")
    apart = answer(
        "privatize", "survey.csv", *COLUMNS, "--domain", "age=ages.txt", "--domain", "region=regions.txt",
        "--k", "income=5", "--other", "age=other", "--other", "region=other", "--mechanism", "spl", "--epsilon", 2,
        "-o", "s.parquet", "--spec-out", "s.json",
    )  # fmt: skip
    assert apart["spec"] == whole["spec"]
    again = answer("privatize", "survey.csv", "--spec", "s.json", "-o", "t.parquet")
    assert again["spec_hash"] == whole["spec_hash"]
    assert again["missing"] == whole["missing"]
    swapped = ("--column", "income", "--column", "age", "--column", "region")
    assert answer("privatize", "survey.csv", *swapped, "--spec", "s.json", "-o", "u.parquet")["missing"] == {
        "age": N // 5, "region": 0, "income": 0,
    }  # fmt: skip


def test_one_file_may_serve_all_columns(folder: Path) -> None:
    write_csv(folder / "likert.csv", {"a": ["1", "2", "3"], "b": ["3", "9", "1"]})
    Path("scale.txt").write_text("1\n2\n3\n")
    made = ("likert.csv", "--column", "a", "--column", "b", "--domain", "scale.txt", "--mechanism", "SPL")
    told = answer("privatize", *made, "--epsilon", 1, "--other", "b=9", "-o", "r.parquet")
    assert [each["domain"]["size"] for each in told["spec"]["attributes"]] == [3, 4]
    sizes = ("--column", "a", "--column", "b", "--k", 4, "--clip", "--mechanism", "SPL", "--epsilon", 1)
    assert answer("privatize", "likert.csv", *sizes, "-o", "r.parquet")["clipped"] == {"a": 0, "b": 1}


def test_a_spec_without_names_takes_columns_in_order(folder: Path) -> None:
    hush.write("plain.json", hush.Spec(SMP(sizes=(5, 5), epsilon=1.0)))
    write_csv(folder / "two.csv", {"x": [0, 1, 2], "y": [4, 4, 4]})
    told = answer("privatize", "two.csv", "--column", "y", "--column", "x", "--spec", "plain.json", "-o", "r.parquet")
    assert told["reports"] == 3
    found = answer("estimate", "r.parquet")
    assert [each["attribute"] for each in found["attributes"]] == ["attribute 0", "attribute 1"]
    message = refused("privatize", "two.csv", "--column", "x", "--spec", "plain.json", "-o", "r.parquet")
    assert "--column must be given 2 times" in message


def test_the_tables_the_csv_and_the_picture_have_every_attribute(folder: Path) -> None:
    collected("SMP", "--keep", "sex")
    shown = run("estimate", "r.parquet", "--csv", "e.csv", "--png", "e.png", "--project", "simplex", "--top", 2)
    assert shown.exit_code == 0, shown.output
    for word in ("age (", "region (", "income (", "simplex", "SMP, 3 attributes of 4, 3 and 5 values, 2-LDP"):
        assert word in shown.stdout
    with open("e.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["attribute"] for row in rows] == ["age"] * 4 + ["region"] * 3 + ["income"] * 5
    assert [row["label"] for row in rows[:4]] == ["young", "middle", "old", "other"]
    assert Path("e.png").read_bytes().startswith(b"\x89PNG")
    one = answer("estimate", "r.parquet", "--attribute", "region", "--by", "sex", "--png", "g.png")
    assert [group["group"] for group in one["groups"]] == ["f", "m"]
    assert all([each["attribute"] for each in group["attributes"]] == ["region"] for group in one["groups"])
    assert Path("g.png").read_bytes().startswith(b"\x89PNG")
    every = run("estimate", "r.parquet", "--by", "sex", "--csv", "g.csv")
    assert "sex = f (4,000 reports), age (" in every.stdout
    assert Path("g.csv").read_text().splitlines()[0].startswith("sex,n,attribute,label,frequency")


def test_groups_below_the_floor_are_estimated_together(folder: Path) -> None:
    collected("SPL", "--keep", "sex")
    found = answer("estimate", "r.parquet", "--by", "sex", "--floor", N)
    assert [group["n"] for group in found["groups"]] == [N]
    assert found["groups"][0]["together"] == 2
    assert len(found["groups"][0]["attributes"]) == 3


def test_simultaneous_intervals_cover_all_attributes_together(folder: Path) -> None:
    collected("SPL")
    each = answer("estimate", "r.parquet")["attributes"][0]["estimate"][0]
    all_ = answer("estimate", "r.parquet", "--simultaneous")["attributes"][0]["estimate"][0]
    one = answer("estimate", "r.parquet", "--simultaneous", "--attribute", "age")["attributes"][0]["estimate"][0]
    estimate = hush.read("r.parquet")
    assert isinstance(estimate, hush.files.ReportFile)
    due = estimate.spec.estimate(estimate.aggregate())["age"].interval(1 - 0.05 / 3, simultaneous=True)
    assert all_["lower"] == due.lower[0] < one["lower"] < each["lower"]


def test_saved_aggregates_merge_with_reports(folder: Path) -> None:
    collected("RSFD", "--spec-out", "s.json")
    run("estimate", "r.parquet", "--aggregate-out", "a.hush")
    answer("privatize", "survey.csv", "--spec", "s.json", "-o", "more.parquet")
    found = answer("estimate", "a.hush", "more.parquet")
    assert found["n"] == 2 * N
    assert answer("estimate", "a.hush", "--spec", "s.json")["n"] == N


def test_an_attribute_without_reports_does_not_lose_the_others(folder: Path) -> None:
    spec = hush.Spec(SMP(sizes=(2, 3), epsilon=1.0), {"a": hush.Domain(size=2), "b": hush.Domain(size=3)})
    reports = spec.privatize({"a": [0] * 50, "b": [1] * 50}, rng=hush.seeded(1))
    hush.write("r.parquet", reports[reports["attribute"] == 1], spec=spec)
    shown = run("estimate", "r.parquet", "--project", "simplex", "--png", "e.png", "--csv", "e.csv")
    assert shown.exit_code == 0, shown.output
    assert "no report is about a" in shown.stderr
    assert "b" in shown.stdout
    found = answer("estimate", "r.parquet")["attributes"]
    assert [each["reports"] > 0 for each in found] == [False, True]
    first = found[0]["estimate"][0]
    assert (first["frequency"], first["stderr"], first["lower"], first["upper"]) == (None, "inf", 0.0, 1.0)
    assert all(row["frequency"] is not None for row in found[1]["estimate"])
    assert "no report is about a" in refused("estimate", "r.parquet", "--attribute", "a", "--png", "x.png")


def test_people_are_told_what_a_report_costs_and_shows(folder: Path) -> None:
    said = {
        name: " ".join(
            run(
                "privatize", "survey.csv", *SMALL, "--mechanism", name, *OPTIONS[name], "-o", "r.parquet"
            ).output.split()
        )
        for name in OPTIONS
    }  # fmt: skip
    assert "ε = 2 is what the papers claim. The true loss of a report is ε′ = 3.00406" in said["RSFD"]
    assert "3.00406-LDP" in said["RSFD"]
    assert "ε′ = 3.00406" in said["RSRFD"]
    assert "about one of the 3 attributes, drawn at random, and says which" in said["SMP"]
    assert "each with 0.6667 of the budget" in said["SPL"]
    assert "2-LDP, is that of a person's whole report" in said["SPL"]
    assert "Rows without a value: age 2,400, which report 'other'; of 12,000" in said["SMP"]
    assert "match no label: region 7, which report 'other'" in said["SMP"]
    assert "elsewhere" not in said["SMP"]


def test_rows_are_shuffled_and_kept_cells_go_with_them(folder: Path) -> None:
    told = collected("SPL", "--keep", "sex", "--keep", "id")
    assert told["smallest_group"] == 1
    assert told["kept"] == ["sex", "id"]
    table = pq.read_table("r.parquet")
    order = np.array([int(each) for each in table["id"].to_pylist()])
    assert sorted(order.tolist()) == list(range(N))
    assert order.tolist() != list(range(N))
    assert [("f", "m", "m")[i % 3] for i in order] == table["sex"].to_pylist()
    kept = answer(
        "privatize", "survey.csv", *SMALL, "--mechanism", "SPL", "--keep", "id", "--keep-order", "-o", "k.parquet"
    )  # fmt: skip
    assert kept["order"] == "input"
    assert pq.read_table("k.parquet")["id"].to_pylist() == [str(i) for i in range(N)]


def test_each_row_s_values_stay_together(folder: Path) -> None:
    write_csv(
        folder / "pairs.csv", {"a": [str(i % 50) for i in range(2_000)], "b": [str(i % 50) for i in range(2_000)]}
    )
    made = ("--column", "a", "--column", "b", "--k", 50, "--mechanism", "SPL", "--set", "mechanism=GRR")
    answer("privatize", "pairs.csv", *made, "--epsilon", 40, "-o", "r.parquet")
    reports = hush.read("r.parquet")
    assert isinstance(reports, hush.files.ReportFile)
    both = reports.reports()
    # At 20 nats for each attribute a report differs from its value with a chance of 1e-7.
    assert (both["a0"] == both["a1"]).mean() > 0.99


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", ["--column must be given"]),
        ("--column age --column age", ["--column must be different columns", "'age'"]),
        ("BOTH --mechanism OUE --k 5", ["must be one for several columns: SPL", "mechanism=OUE"]),
        ("--column age --column region --k 5", ["--mechanism must be given", "SMP"]),
        ("--column age --column region --mechanism SMP --k 5", ["epsilon must be given for SMP"]),
        ("BOTH --mechanism SMP", ["which values age has", "--k age=K"]),
        ("BOTH --mechanism SMP --domain age=ages.txt", ["which values region has"]),
        ("BOTH --mechanism SMP --domain domains.json", ["column age, row 5 ", "missing value", "--other"]),
        ("BOTH --mechanism SMP --k 3", ["column age, row 1 ", "integer in 0..2"]),
        ("BOTH --mechanism SMP --k 3 --other x", ["--other needs labels"]),
        ("BOTH --mechanism SMP --k 3 --other age=x", ["--other needs labels beside it for age"]),
        ("BOTH --mechanism SMP --k 3 --k 4", ["--k must be given once for all columns"]),
        ("BOTH --mechanism SMP --k age=3 --domain age=ages.txt --k 2", ["must say once which values age has"]),
        ("BOTH --mechanism SMP --k x", ["--k must be a whole number"]),
        ("BOTH --mechanism SMP --k 1", ["k must be"]),
        ("BOTH --mechanism SMP --k 3 --sensitive 0", ["--sensitive must be left out"]),
        ("BOTH --mechanism RSRFD --k 3", ["priors must be given for RSRFD"]),
        ("BOTH --mechanism RSRFD --k 3 --set priors=no.json", ["--set priors must be a file that exists"]),
        ("BOTH --mechanism RSRFD --k 3 --set priors=domains.json", ["--set priors must be numbers for age"]),
        ("--column age --mechanism RSFD --epsilon 1 --k 3", ["sizes must list the domain sizes of 2"]),
        ("BOTH --mechanism RSFD --k 3 --set variant=XX", ["variant must be one of"]),
        ("BOTH --mechanism SMP --k 3 --set mechanism=XX", ["mechanism must be one of"]),
        ("BOTH --mechanism SMP --k 3 --keep age", ["--keep must not be a column to protect"]),
        ("--column age --column nope --mechanism SMP --epsilon 1 --k 3", ["--column must be one of the 5 names"]),
        ("--column age --spec s.json", ["--column must be the attributes of s.json: age, region"]),
        ("--spec s.json --other x", ["--other must not stand beside --spec"]),
        ("--spec s.json --epsilon 3", ["--epsilon must be 2.0, as in s.json"]),
        ("--column age --column region --spec one.json", ["--column must be given once for one.json"]),
    ],
)  # fmt: skip
def test_refuses(folder: Path, arguments: str, words: list[str]) -> None:
    domains = {"age": hush.Domain(labels=["young", "old"], other="x"), "region": hush.Domain(size=2)}
    hush.write("s.json", hush.Spec(SMP(sizes=(3, 2), epsilon=2.0), domains))
    hush.write("one.json", hush.Spec(hush.OUE(k=3, epsilon=1.0)))
    message = refused("privatize", "survey.csv", *arguments.replace("BOTH", BOTH).split(), "-o", "out.parquet")
    assert all(word in message for word in words), message
    assert not Path("out.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--attribute nope", ["--attribute must be one of age, region, income", "'nope'"]),
        ("--by sex --png x.png", ["--png must be of one attribute where there are groups", "--attribute age"]),
        ("--mechanism OUE", ["--mechanism must be SMP"]),
    ],
)
def test_estimate_refuses(folder: Path, arguments: str, words: list[str]) -> None:
    collected("SMP", "--keep", "sex")
    message = refused("estimate", "r.parquet", *arguments.split())
    assert all(word in message for word in words), message
    assert answer("estimate", "r.parquet", "--mechanism", "smp")["n"] == N


def test_simulated_errors_are_those_of_the_formulas(folder: Path) -> None:
    collected("SMP", "--spec-out", "s.json")
    made = ("--mechanism", "RSFD", "--set", "variant=GRR", "--attributes", "3,5", "--epsilon", 1, "--dataset", "zipf")
    for arguments in (("--spec", "s.json", "--people", "filled.csv"), (*made, "--n", 4_000)):
        rows = np.arange(4_000)
        held = {"age": ["young", "old"] * 2_000, "region": ["north"] * 4_000, "income": (rows % 5).tolist()}
        write_csv(folder / "filled.csv", held)
        found = answer("simulate", *arguments, "--runs", 60, "--seed", 3)
        assert found["n"] == 4_000
        assert found["runs"] == 60
        spec = hush.Spec.from_dict(found["spec"])
        assert found["guarantee"] == str(spec.mechanism.guarantee)
        for j, each in enumerate(found["attributes"]):
            # Deviations of seven standard errors; the seed is fixed, so that this cannot fail by chance.
            assert abs(each["mse"] - each["analytic_variance"]) < 7 * each["mse_stderr"]
            assert abs(each["asr"] - each["asr_expected"]) < 7 * each["asr_stderr"]
            assert each["coverage"] > 0.95 - 7 * each["coverage_stderr"]
            assert each["asr_expected"] == spec.mechanism.asr(j)
            assert each["unreported"] == 0
        again = answer("simulate", *arguments, "--runs", 60, "--seed", 3)
        assert [each["mse"] for each in again["attributes"]] == [each["mse"] for each in found["attributes"]]


def test_a_simulation_of_tuples_writes_reports_and_a_picture(folder: Path) -> None:
    made = ("--mechanism", "SMP", "--attributes", "3,5,2", "--epsilon", 1, "--dataset", "uniform", "--n", 3)
    shown = run("simulate", *made, "--runs", 4, "--seed", 2, "--reports-out", "r.parquet", "--png", "s.png")
    assert shown.exit_code == 0, shown.output
    assert "attribute 2" in shown.stdout
    assert "no report was about" in shown.stderr
    assert "says which" in shown.stderr
    reports = hush.read("r.parquet")
    assert isinstance(reports, hush.files.ReportFile)
    assert (reports.n, reports.randomness) == (3, "simulated, seed 2")
    assert Path("s.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--mechanism SMP --epsilon 1 --dataset zipf", ["--attributes must be given for tuples"]),
        ("--mechanism SMP --epsilon 1 --attributes 3,1 --dataset zipf", ["--attributes must be a whole number of at"]),
        ("--mechanism SMP --epsilon 1 --attributes 3,x --dataset zipf", ["--attributes must be a whole number"]),
        ("--mechanism OUE --epsilon 1 --attributes 3,4 --dataset zipf", ["must be one for several columns"]),
        ("--mechanism SMP --epsilon 1 --attributes 3,4", ["--people or --dataset must be given"]),
        ("--mechanism SMP --epsilon 1 --attributes 3,4 --dataset msnbc", ["--dataset must be one of zipf"]),
        ("--mechanism SMP --epsilon 1 --attributes 3,4 --dataset zipf --k 3", ["--k must be left out"]),
        ("--mechanism SMP --epsilon 1 --attributes 3,4 --dataset zipf --clip", ["--clip must stand with --people"]),
        ("--mechanism SMP --epsilon 1 --attributes 3,4 --people survey.csv", ["--people must stand beside a --spec"]),
        ("--spec s.json --attributes 3 --dataset zipf", ["--attributes must not stand beside --spec"]),
        ("--spec s.json --people none.csv", ["input must be a file that exists"]),
    ],
)
def test_simulate_refuses(folder: Path, arguments: str, words: list[str]) -> None:
    hush.write("s.json", hush.Spec(SMP(sizes=(3, 2), epsilon=2.0)))
    if "none.csv" in arguments:
        domains = {"age": hush.Domain(size=3), "region": hush.Domain(size=2)}
        hush.write("s.json", hush.Spec(SMP(sizes=(3, 2), epsilon=2.0), domains))
    message = refused("simulate", *arguments.split())
    assert all(word in message for word in words), message


def test_the_names_of_all_kinds_are_listed(folder: Path) -> None:
    found = answer("mechanisms", "--mechanism", "OUE")
    assert found["tuples"] == ["SPL", "SMP", "RSFD", "RSRFD"]
    assert found["over_time"] == list(hush.registry(kind="longitudinal"))
    shown = run("mechanisms", "--mechanism", "OUE").stderr
    assert all(name in shown for name in [*found["tuples"], *found["over_time"], *found["numeric"]])
    message = refused("mechanisms", "--mechanism", "SMP")
    assert "--mechanism must collect one value, and not a tuple, got 'SMP'" in message
