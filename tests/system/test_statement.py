"""`--statement` of the four commands: one page, the same but for what only the command knows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hush
from hush.reports import statement
from hush.reports.statements import lay
from tests.system.support import run

CANARY = "zq-canary-81724"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table with a label that is in nobody's domain, and a domain that takes it in."""
    monkeypatch.chdir(tmp_path)
    rows = "bus,north\ntrain,south\nfoot,north\n" * 100 + f"{CANARY},south\n"
    (tmp_path / "raw-table.csv").write_text("travel,city\n" + rows, encoding="utf-8")
    (tmp_path / "labels.txt").write_text("bus\ntrain\nfoot\n", encoding="utf-8")
    return tmp_path


def privatized(*more: str) -> None:
    words = "privatize raw-table.csv --column travel --domain labels.txt --other other --mechanism OUE --epsilon 1"
    result = run(*words.split(), "-o", "reports.parquet", "--keep", "city", "--spec-out", "spec.json", *more)
    assert result.exit_code == 0, result.output


def test_privatize_and_estimate_write_the_same_page_but_for_what_each_knows(here: Path) -> None:
    privatized("--statement", "first.md")
    result = run("estimate", "reports.parquet", "--by", "city", "--statement", "second.md")
    assert result.exit_code == 0, result.output
    assert "wrote the statement, second.md" in result.output
    first, second = ((here / name).read_text(encoding="utf-8") for name in ("first.md", "second.md"))
    spec = hush.read("spec.json")
    common = statement(spec, n=301, kept=["city"]).to_markdown().splitlines()
    own = [[line for line in text.splitlines() if line not in common] for text in (first, second)]
    assert not [line for text in (first, second) for line in common if line not in text.splitlines()]
    assert [line[:40] for line in own[0]] == [
        "- The file of values that these reports ",
        "- A report hides only among those with t",
    ]
    assert "101 reports in the smallest group" in own[0][1]
    assert [line[:30] for line in own[1]] == [
        "- Groups of “city”, which were",
        "Of these 301 reports together,",
        "Of each group by itself, the 9",
    ]
    for text in (first, second):
        assert CANARY not in text
        assert "raw-table" not in text
        assert str(here) not in text
        assert "north" not in text


def test_html_and_a_kept_order(here: Path) -> None:
    privatized("--keep-order", "--statement", "page.HTML", "--json")
    page = (here / "page.HTML").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "The order of the rows" in page
    assert CANARY not in page


def test_means(here: Path) -> None:
    (here / "ages.csv").write_text("age\n" + "30\n50\n70\n" * 100, encoding="utf-8")
    words = "privatize ages.csv --column age --mechanism Duchi --low 0 --high 100 --epsilon 1 -o ages.parquet"
    assert run(*words.split()).exit_code == 0
    assert run("estimate", "ages.parquet", "--statement", "ages.md").exit_code == 0
    text = (here / "ages.md").read_text(encoding="utf-8")
    assert "a number from 0 to 100" in text
    assert "Of these 300 reports together, the 95 % intervals are ±" in text


def test_what_intervals_cover_is_told(here: Path) -> None:
    privatized()
    assert run("estimate", "reports.parquet", "--aggregate-out", "counts.hush").exit_code == 0
    whole = hush.read("spec.json").estimate(hush.read("counts.hush"))
    for options, covered, simultaneous in (
        ([], "each frequency by itself.", False),
        (["--simultaneous"], "all frequencies at once.", True),
    ):
        assert run("estimate", "reports.parquet", *options, "--statement", "page.md").exit_code == 0
        told = [line for line in (here / "page.md").read_text(encoding="utf-8").splitlines() if "% intervals" in line]
        low, high = whole.interval(0.95, simultaneous=simultaneous)
        reach = [f"±{lay.amount(50 * each)}" for each in ((high - low).min(), (high - low).max())]
        assert told == [
            f"Of these 301 reports together, the 95 % intervals are {' to '.join(reach)} percentage points, and "
            f"cover {covered}"
        ]


def test_simulated_reports_are_told(here: Path) -> None:
    words = "simulate --dataset zipf --k 4 --n 500 --mechanism GRR --epsilon 1 --seed 7 --reports-out made.parquet"
    assert run(*words.split()).exit_code == 0
    assert run("estimate", "made.parquet", "--statement", "made.md").exit_code == 0
    assert "do not come from secure randomness" in (here / "made.md").read_text(encoding="utf-8")


def test_plan_writes_what_was_asked(here: Path) -> None:
    words = "plan --k 4 --n 5000 --max-epsilon 1 --spec-out spec.json --statement plan.md"
    result = run(*words.split())
    assert result.exit_code == 0, result.output
    text = (here / "plan.md").read_text(encoding="utf-8")
    asked = [line for line in text.splitlines() if line.startswith("The collection was planned for 5,000 people")]
    assert len(asked) == 1
    assert text == statement(hush.read("spec.json"), n=5000, asked=[asked[0].replace("\\", "")]).to_markdown()


@pytest.mark.parametrize(
    ("options", "called"),
    [("--groups groups.csv", "south, 700 people"), ("--n 900 --smallest-group 700", "700 people")],
)
def test_a_plan_of_groups_tells_of_the_smallest(here: Path, options: str, called: str) -> None:
    (here / "groups.csv").write_text("city,count\nnorth,5200\nsouth,700\n", encoding="utf-8")
    words = f"plan --k 4 {options} --max-epsilon 1 --statement plan.md"
    result = run(*words.split())
    assert result.exit_code == 0, result.output
    text = (here / "plan.md").read_text(encoding="utf-8")
    told = [line for line in text.splitlines() if line.startswith(f"In the smallest group ({called}) the error is ±")]
    assert len(told) == 1
    assert told[0].replace("\\", "") in " ".join(result.output.split())


def test_a_plan_that_fails_writes_none(here: Path) -> None:
    words = "plan --k 100 --n 100 --error 0.001 --max-epsilon 0.1 --statement plan.md"
    result = run(*words.split())
    assert result.exit_code == 1
    assert "no statement was written" in result.output
    assert not (here / "plan.md").exists()


def test_budget_writes_what_was_asked(here: Path) -> None:
    words = "budget --mechanism GRR --dataset zipf --k 5 --n 2000 --loss l1 --threshold 0.05 --runs 50 --method BS"
    result = run(*words.split(), "--seed", "7", "--spec-out", "spec.json", "--statement", "budget.html")
    assert result.exit_code == 0, result.output
    text = (here / "budget.html").read_text(encoding="utf-8")
    assert "The budget was looked for so that in 90\u00a0% of such collections" in text
    assert "With 2,000 people," in text
    assert hush.read("spec.json").hash in text


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("page.txt", "--statement must end in .md or .html, got 'page.txt'; write e.g. page.md"),
        ("nowhere/page.md", "--statement must lie in a folder that exists"),
        ("-", "--statement must be the name of a file"),
        ("labels.txt", "--statement must not be a file that this command reads"),
        ("spec.json", "--statement must differ from --spec-out"),
    ],
)
def test_bad_places_are_refused_before_any_work(here: Path, name: str, rule: str) -> None:
    words = "privatize raw-table.csv --column travel --domain labels.txt --mechanism OUE --epsilon 1 -o out.parquet"
    result = run(*words.split(), "--spec-out", "spec.json", "--statement", name)
    assert result.exit_code == 2
    assert rule in " ".join(result.output.split())
    assert not (here / "out.parquet").exists()


def test_the_lines_on_the_page_check_it(here: Path) -> None:
    """They are run as they stand, in a folder with the spec."""
    privatized("--statement", "page.md")
    text = (here / "page.md").read_text(encoding="utf-8")
    lines = text.partition("```sh\n")[2].partition("```")[0].splitlines()
    spec = hush.read("spec.json")
    assert len(lines) == 3
    for line, due in zip(lines, [spec.hash, str(spec.mechanism.exact_epsilon())], strict=False):
        code = line.removeprefix('python -c "').removesuffix('"')
        shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert shown.stdout.strip() == due
    audited = run(*lines[2].removeprefix("hush ").split(), "--trials", "2000")
    assert audited.exit_code == 0, audited.output
