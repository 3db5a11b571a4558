"""A survey every month: from a table with people and periods to the course of each attribute, by the real command."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import hush
from tests.system.support import answer, refused, run, write_csv

DOMAINS = {
    "health": ["well", "so-so", "unwell"],
    "work": ["office", "home"],
    "sleep": ["short", "long"],
    "region": [f"r{i}" for i in range(1, 21)],
}
MONTHS = [f"2026-{month}" for month in range(1, 13)]
N = 1_500
COLUMNS = [word for name in DOMAINS for word in ("--column", name)]
LABELS = (*COLUMNS, "--domain", "domains.json", "--other", "unsaid")
WHO = ("--person", "id", "--period", "month")
LSMP = ("--mechanism", "LSMP", "--epsilon-permanent", "8", "--epsilon-report", "6")
CANARY = "canary-of-person"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """1,500 people, twelve months and four questions; one row in ten is missing, and one answer in twenty."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    held = {name: rng.integers(0, len(labels), N) for name, labels in DOMAINS.items()}
    table: dict[str, list[Any]] = {"id": [], "month": [], "amount": [], **{name: [] for name in DOMAINS}}
    for month, name in enumerate(MONTHS):
        held["health"] = np.where(rng.random(N) < 0.1, 2, held["health"])  # more are unwell, month by month
        for i in np.nonzero(rng.random(N) < 0.9)[0]:
            table["id"].append(f"{CANARY}-{i}")
            table["month"].append(name)
            table["amount"].append(int(month))
            for question, labels in DOMAINS.items():
                table[question].append(labels[held[question][i]] if rng.random() < 0.95 else "")
    write_csv(tmp_path / "survey.csv", table)
    (tmp_path / "domains.json").write_text(json.dumps(DOMAINS))
    (tmp_path / "health.txt").write_text("\n".join(DOMAINS["health"]) + "\n")
    for name in MONTHS:
        rows = [i for i, month in enumerate(table["month"]) if month == name]
        write_csv(tmp_path / f"{name}.csv", {column: [cells[i] for i in rows] for column, cells in table.items()})
    return tmp_path


def told(*arguments: object) -> str:
    """What a run that succeeds says, in one line."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def truth(folder: Path, month: str, column: str) -> dict[str, float]:
    with (folder / f"{month}.csv").open() as file:
        cells = [row[column] or "unsaid" for row in csv.DictReader(file)]
    return {label: cells.count(label) / len(cells) for label in [*DOMAINS[column], "unsaid"]}


def test_from_the_table_to_the_chart(folder: Path) -> None:
    """Every estimate within seven standard errors: a false alarm in 3e-12 of 348 values."""
    made = answer("privatize", "survey.csv", *LABELS, *LSMP, *WHO, "--clients", "c.hushdb", "--output", "r.parquet")
    assert (made["people"], made["periods"], made["refused"]) == (N, MONTHS, 0)
    assert made["account"]["most_reports"] == 12
    spec = hush.Spec.from_dict(made["spec"])
    assert made["account"]["most_epsilon"] == pytest.approx(spec.mechanism.history_bound(12))
    found = answer("estimate", "r.parquet", "--csv", "all.csv", "--png", "months.png")
    assert [group["group"] for group in found["groups"]] == MONTHS  # 2 before 10
    for group in found["groups"]:
        assert sum(each["reports"] for each in group["attributes"]) == group["n"]
        for each in group["attributes"]:
            due = truth(folder, group["group"], each["attribute"])
            for row in each["estimate"]:
                assert abs(row["frequency"] - due[row["label"]]) < 7 * row["stderr"] + 1e-9
    assert (folder / "months.png").read_bytes().startswith(b"\x89PNG")
    lines = list(csv.DictReader((folder / "all.csv").read_text().splitlines()))
    assert len(lines) == 12 * sum(len(labels) + 1 for labels in DOMAINS.values())
    assert {line["period"] for line in lines} == set(MONTHS)
    shown = told("estimate", "r.parquet", "--top", "3")
    for words in ("12 periods", "health", "region", "2026-12", "the 3 most frequent of 21 values"):
        assert words in shown
    assert "not independent" in shown
    assert "link" in shown


def test_nobody_is_named_in_any_file(folder: Path) -> None:
    told("privatize", "survey.csv", *LABELS, *LSMP, *WHO, "--clients", "c.hushdb", "--output", "r.parquet",
        "--spec-out", "spec.json", "--statement", "statement.md")  # fmt: skip
    told("estimate", "r.parquet", "--csv", "e.csv", "--statement", "s.html")
    written = ["c.hushdb", "r.parquet", "spec.json", "statement.md", "e.csv", "s.html"]
    assert all(CANARY.encode() not in (folder / name).read_bytes() for name in written)
    assert pq.read_schema(folder / "r.parquet").names == ["report", "period"]


@pytest.mark.parametrize(
    "options",
    [
        (*LABELS, *LSMP),
        (*LABELS, "--mechanism", "SMP", "--epsilon", "2"),
        ("--column", "health", "--domain", "health.txt", "--other", "unsaid", "--mechanism", "OUE", "--epsilon", "2"),
        ("--column", "health", "--domain", "health.txt", "--other", "unsaid", "--mechanism", "LOSUE",
         "--epsilon-permanent", "4", "--epsilon-report", "2"),
        ("--column", "amount", "--mechanism", "Duchi", "--low", "0", "--high", "12", "--epsilon", "2"),
    ],
    ids=["LSMP", "SMP", "OUE", "LOSUE", "Duchi"],
)  # fmt: skip
def test_a_file_a_month_is_as_one_of_a_year(folder: Path, options: tuple[str, ...]) -> None:
    year = answer("privatize", "survey.csv", *options, *WHO, "--clients", "a.hushdb", "--output", "year.parquet")
    files = []
    for month in MONTHS[:3]:
        files.append(f"{month}.parquet")
        made = answer("privatize", f"{month}.csv", *options, *WHO, "--clients", "b.hushdb", "--output", files[-1])
    assert made["account"]["most_reports"] == 3
    assert made["spec_hash"] == year["spec_hash"]
    whole, parts = answer("estimate", "year.parquet"), answer("estimate", *files)
    sizes = {group["group"]: group["n"] for group in whole["groups"]}
    assert [(group["group"], group["n"]) for group in parts["groups"]] == [(m, sizes[m]) for m in MONTHS[:3]]


def test_a_mean_has_a_course(folder: Path) -> None:
    options = ("--column", "amount", "--mechanism", "Duchi", "--low", "0", "--high", "12", "--epsilon", "4")
    made = answer("privatize", "survey.csv", *options, *WHO, "--clients", "c.hushdb", "--output", "r.parquet")
    assert made["account"] == {
        "fewest_reports": made["account"]["fewest_reports"],
        "most_reports": 12,
        "least_epsilon": 4.0 * made["account"]["fewest_reports"],
        "most_epsilon": 48.0,
        "limit": None,
    }
    groups = answer("estimate", "r.parquet", "--png", "mean.png")["groups"]
    for month, group in enumerate(groups):
        assert abs(group["estimate"]["mean"] - month) < 7 * group["estimate"]["stderr"]
    assert (folder / "mean.png").exists()


def test_whoever_would_exceed_the_limit_does_not_report(folder: Path) -> None:
    options = ("--column", "health", "--domain", "health.txt", "--other", "unsaid", "--mechanism", "GRR",
               "--epsilon", "0.5")  # fmt: skip
    said = ("privatize", "survey.csv", *options, *WHO, "--clients", "c.hushdb", "--limit", "2", "--output", "r.parquet")
    shown = told(*said)
    assert "would exceed the limit and did not report" in shown
    assert "the limit is 2" in shown
    assert "Reports of one person so far: 4." in shown
    # and so in a later run
    late = answer("privatize", "2026-12.csv", *options, "--person", "id", "--in-period", "2027-1",
                  "--clients", "c.hushdb", "--limit", "2", "--output", "s.parquet")  # fmt: skip
    assert late["reports"] == 0
    assert late["refused"] > 1000


def test_rows_of_one_person_are_counted_without_a_period(folder: Path) -> None:
    options = ("--column", "health", "--domain", "health.txt", "--other", "unsaid", "--mechanism", "GRR",
               "--epsilon", "0.5", "--person", "id")  # fmt: skip
    shown = told("privatize", "survey.csv", *options, "--output", "r.parquet")
    assert "people have several rows" in shown
    assert "0.5 for one, 6 for 12 reports" in shown
    assert "Nothing is kept" in shown
    assert pq.read_schema(folder / "r.parquet").names == ["report"]
    assert "several rows" not in told("privatize", "2026-1.csv", *options, "--output", "s.parquet")


def test_groups_are_estimated_in_one_period(folder: Path) -> None:
    """Nobody's reports of two periods are ever taken together where answers are kept. Seven standard errors."""
    with (folder / "survey.csv").open() as file:
        rows = [{**row, "side": "odd" if int(row["id"].split("-")[-1]) % 2 else "even"} for row in csv.DictReader(file)]
    write_csv(folder / "sides.csv", {name: [row[name] for row in rows] for name in rows[0]})
    told(
        "privatize",
        "sides.csv",
        *LABELS,
        *LSMP,
        *WHO,
        "--keep",
        "side",
        "--clients",
        "c.hushdb",
        "--output",
        "r.parquet",
    )
    march = ("estimate", "r.parquet", "--in-period", "2026-3")
    found = answer(*march, "--by", "side")
    assert (found["period"], [group["group"] for group in found["groups"]]) == ("2026-3", ["even", "odd"])
    for group in found["groups"]:
        here = [row for row in rows if row["month"] == "2026-3" and row["side"] == group["group"]]
        assert group["n"] == len(here)
        for each in group["attributes"]:
            cells = [row[each["attribute"]] or "unsaid" for row in here]
            for row in each["estimate"]:
                due = cells.count(row["label"]) / len(cells)
                assert abs(row["frequency"] - due) < 7 * row["stderr"] + 1e-9
    whole = answer(*march)
    assert whole["n"] == sum(group["n"] for group in found["groups"])
    assert "reports of 2026-3" in told(*march, "--attribute", "health", "--png", "march.png")
    assert "--in-period" in refused("estimate", "r.parquet", "--by", "side")
    assert "got '2026-13'" in refused("estimate", "r.parquet", "--in-period", "2026-13")
    assert "without --all-periods" in refused(*march, "--all-periods")
    assert "people keep their answers" in refused(*march, "--aggregate-out", "march.hush")
    told("privatize", "2026-1.csv", "--column", "health", "--domain", "health.txt", "--other", "unsaid",
         "--mechanism", "OUE", "--epsilon", "2", "--output", "plain.parquet")  # fmt: skip
    assert "have no periods" in refused("estimate", "plain.parquet", "--in-period", "2026-1")


def test_a_table_of_periods_says_no_less_than_its_intervals(folder: Path) -> None:
    """A raw estimate may lie far outside of its interval, which ends at 0: what stands behind ± reaches all of it."""
    told("privatize", "2026-1.csv", *LABELS, *LSMP, *WHO, "--clients", "c.hushdb", "--output", "r.parquet")
    shown = told("estimate", "r.parquet", "--attribute", "region")
    assert "no report is about" not in shown  # of the attributes that were not asked for
    (group,) = answer("estimate", "r.parquet", "--attribute", "region")["groups"]
    for row in group["attributes"][0]["estimate"]:
        middle, lower, upper = row["frequency"], row["lower"], row["upper"]
        reach = max(upper - middle, middle - lower)
        assert f"{row['label']} {100 * middle:.1f} ±{100 * reach:.1f}" in shown


def test_what_the_store_holds_is_told_as_it_is(folder: Path) -> None:
    options = ("--column", "health", "--domain", "health.txt", "--other", "unsaid")
    mechanism = ("--mechanism", "OUE", "--epsilon", "1")
    said = ("privatize", "2026-1.csv", *options, *mechanism, *WHO, "--clients", "a.hushdb", "--output", "a.parquet")
    fresh = told(*said)
    assert "a.hushdb holds what everybody has spent" in fresh
    kept = told("privatize", "2026-1.csv", *LABELS, *LSMP, *WHO, "--clients", "b.hushdb", "--output", "b.parquet")
    assert "b.hushdb holds permanent answers" in kept


def test_a_damaged_store_is_refused_and_left_as_it_is(folder: Path) -> None:
    said = ("--column", "health", "--domain", "health.txt", "--other", "unsaid", "--mechanism", "LOSUE",
            "--epsilon-permanent", "2", "--epsilon-report", "1", *WHO, "--clients", "c.hushdb")  # fmt: skip
    told("privatize", "2026-1.csv", *said, "--output", "a.parquet")
    whole = (folder / "c.hushdb").read_bytes()
    pages = len(whole) // 4096
    for page in {1, 2, 3, 4, 5, pages // 2, pages - 1}:
        damaged = whole[: 4096 * page] + b"x" * 4096 + whole[4096 * (page + 1) :]
        (folder / "c.hushdb").write_bytes(damaged)
        result = run("privatize", "2026-2.csv", *said, "--output", "b.parquet")
        (folder / "b.parquet").unlink(missing_ok=True)
        if result.exit_code != 0:  # a page that is in use
            assert result.exit_code == 2, (page, result.output)
            assert "or damaged" in " ".join(result.output.split())
            assert (folder / "c.hushdb").read_bytes() == damaged
        else:
            assert page > 5


def test_the_statement_tells_of_the_store_the_limit_and_one_period(folder: Path) -> None:
    said = ("privatize", "survey.csv", *LABELS, *LSMP, *WHO, "--clients", "c.hushdb", "--limit", "500")
    made = answer(*said, "--output", "r.parquet", "--statement", "page.md")
    page = (folder / "page.md").read_text()
    assert "The file that keeps permanent answers, and what each person has spent" in page
    assert "more than ε = 500 in all" in page
    assert f"with {made['reports'] // 12:,} people" in page  # and not everybody of the year
    m = hush.Spec.from_dict(made["spec"]).mechanism
    assert f"Whenever they change, they lose at most ε = {m.any_histories_bound(12):.3g}"[:-2] in page


def test_a_second_run_passes_over_who_has_reported(folder: Path) -> None:
    said = (*LABELS, *LSMP, *WHO, "--clients", "c.hushdb")
    first = answer("privatize", "2026-1.csv", *said, "--output", "a.parquet")
    again = answer("privatize", "2026-1.csv", *said, "--output", "b.parquet")
    assert (again["reports"], again["passed_over"]) == (0, first["reports"])
    assert "must be a new file" in refused("privatize", "2026-2.csv", *said, "--output", "a.parquet")


ONE = ("--column", "health", "--domain", "health.txt", "--other", "unsaid")
LGRR = ("--mechanism", "LGRR", "--epsilon-permanent", "2", "--epsilon-report", "1")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((*ONE, *LGRR), "--person must be given for LGRR"),
        ((*ONE, *LGRR, "--person", "id"), "--clients must be given for LGRR"),
        ((*ONE, *LGRR, "--person", "id", "--clients", "c"), "--clients needs the period"),
        ((*ONE, *LGRR, *WHO, "--clients", "c", "--keep-nothing"), "--keep-nothing must stand without --clients"),
        ((*ONE, *LGRR, *WHO, "--keep-nothing", "--limit", "none"), "--limit must be a number above 0"),
        ((*ONE, *LGRR, *WHO, "--keep-nothing", "--limit", "nan"), "--limit must be a number above 0"),
        ((*ONE, *LGRR, "--person", "nobody", "--keep-nothing"), "--person must be one of"),
        ((*ONE, *LGRR, "--person", "health", "--keep-nothing"), "--person must not be a column to protect"),
        ((*ONE, *LGRR, "--person", "id", "--keep", "id", "--keep-nothing"), "--person must stand in no output"),
        ((*ONE, *LGRR, "--person", "id", "--period", "id", "--keep-nothing"), "--person must stand in no output"),
        ((*ONE, *LGRR, *WHO, "--in-period", "x", "--keep-nothing"), "--in-period must stand without --period"),
        ((*ONE, *LGRR, "--person", "id", "--in-period", "", "--keep-nothing"), "--in-period must name a period"),
        ((*ONE, *LGRR, "--person", "id", "--period", "work", "--keep-nothing"), "--period must be in every row"),
        ((*ONE, *LGRR, "--person", "work", "--keep-nothing"), "--person must be in every row"),
        ((*ONE, *LGRR, *WHO, "--keep-nothing", "--epsilon", "1"), "--epsilon must be left out"),
        ((*ONE, *LGRR, *WHO, "--clients", "survey.csv"), "--clients must be a file of"),
        ((*ONE, "--mechanism", "GRR", "--epsilon", "1", "--period", "month"), "--period needs --person"),
        ((*ONE, "--mechanism", "GRR", "--epsilon", "1", "--limit", "3"), "--limit needs --person"),
        ((*ONE, "--mechanism", "GRR", "--epsilon-report", "1"), "--epsilon-report must be left out"),
        ((*ONE, "--mechanism", "LGRR", "--epsilon-report", "1", *WHO), "add --epsilon-permanent"),
        ((*LABELS, "--mechanism", "LGRR", "--epsilon-report", "1", *WHO), "must be one for several columns"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else None,
)
def test_what_does_not_go_together_is_refused(folder: Path, options: tuple[str, ...], words: str) -> None:
    said = refused("privatize", "survey.csv", *options, "--output", "r.parquet")
    assert words in said
    assert CANARY not in said
    assert not (folder / "r.parquet").exists()


def test_kept_answers_are_not_pooled(folder: Path) -> None:
    told("privatize", "survey.csv", *ONE, *LGRR, *WHO, "--keep-nothing", "--output", "r.parquet")
    for option in (["--all-periods"], ["--aggregate-out", "a.hush"]):
        assert "not independent" in refused("estimate", "r.parquet", *option)
    fresh = ("--mechanism", "GRR", "--epsilon", "2")
    told("privatize", "survey.csv", *ONE, *fresh, *WHO, "--output", "f.parquet")
    assert "estimate" in answer("estimate", "f.parquet", "--all-periods")


REPEATED = ("--mechanism", "Memoized", "--set", "mechanism=OUE", "--epsilon-permanent", "2")
WORK = ("survey.csv", "--column", "work", "--domain", "domains.json", "--other", "unsaid", *WHO)


def test_reports_of_any_mechanism_are_repeated(folder: Path) -> None:
    """The domain of one column comes from the file that has all of them."""
    told("privatize", *WORK, *REPEATED, "--clients", "c.hushdb", "-o", "r.parquet")
    spec = hush.read("r.parquet").spec
    assert spec.mechanism == hush.longitudinal.Memoized(mechanism=hush.OUE(k=3, epsilon=2.0))
    assert spec.domain == hush.Domain(labels=DOMAINS["work"], other="unsaid")
    claimed = answer("audit", *REPEATED, "--k", "3", "--rounds", "2", "--method", "exact", "--json")
    assert claimed["audits"][0]["epsilon_lower"] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--mechanism", "Memoized", "--epsilon-permanent", "2"), ["--set must say whose reports Memoized repeats"]),
        (("--mechanism", "Memoized", "--set", "mechanism=OUE"), ["epsilon_permanent must be given for Memoized"]),
        ((*REPEATED, "--epsilon-report", "1"), ["--epsilon-report must be left out for Memoized"]),
        (("--mechanism", "Memoized", "--set", "mechanism=AGRR", "--epsilon-permanent", "2"), ["delta must be given"]),
    ],
)
def test_what_is_repeated_must_be_said(folder: Path, options: tuple[str, ...], words: list[str]) -> None:
    message = refused("privatize", *WORK, *options, "--clients", "c.hushdb", "-o", "r.parquet")
    assert all(word in message for word in words), message
