"""`hush reproduce`, run for real."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import hush
from hush.cli.shown import bars, terminal
from hush_studies import Check, refined
from tests.system.support import answer, refused, run, shell, words
from tests.system.test_demo import Page
from tests.waiting import wait_for_file

pytestmark = pytest.mark.xdist_group("reproduce_command")  # one process makes the page

CHOSEN = ("--quick", "--only", "figure-7", "--only", "figure-15")
CLAIMS = ["verdict", "claim", "printed", "matches", "when", "computed", "people", "figure", "where"]
FILES = ["checks.csv", "figure-15.csv", "figure-15.png", "figure-7.csv", "figure-7.png", "index.html", "made.json"]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """Two figures, in a process of its own."""
    folder = tmp_path_factory.mktemp("reproduce")
    said = shell("reproduce", "refined", *CHOSEN, "--json", folder=folder)
    assert said.returncode == 0, said.stderr
    assert said.stderr == ""
    return json.loads(said.stdout), folder / "hush-reproduce" / "refined-quick"


def test_lists_studies() -> None:
    shown = run("reproduce").stdout
    assert "refined" in shown
    assert "arXiv:2503.01482" in shown
    found = answer("reproduce")["studies"]
    refined = next(each for each in found if each["name"] == "refined")
    assert [part["id"] for part in refined["parts"]] == [f"figure-{i}" for i in range(1, 16)]


def test_writes_figures_numbers_and_a_page(told: tuple[dict[str, Any], Path]) -> None:
    whole, folder = told
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert [part["id"] for part in whole["parts"]] == ["figure-7", "figure-15"]
    for part in whole["parts"]:
        assert (folder.parents[1] / part["png"]).read_bytes().startswith(b"\x89PNG")
        with (folder.parents[1] / part["csv"]).open(encoding="utf-8") as file:
            assert len(list(csv.DictReader(file))) == part["rows"]
    assert (whole["quick"], whole["seed"], whole["failed"]) == (True, 7, 0)
    verdicts = {check["claim"]: check["verdict"] for check in whole["checks"]}
    assert verdicts["p of AUE"] == verdicts["g of ALH"] == "matches"
    page = Page((folder / "index.html").read_text(encoding="utf-8"))
    assert page.open == []
    assert sorted(page.loads) == ["figure-15.csv", "figure-15.png", "figure-7.csv", "figure-7.png"]


def test_numbers_have_all_their_digits(told: tuple[dict[str, Any], Path]) -> None:
    _, folder = told
    with (folder / "figure-15.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    row = next(row for row in rows if row["protocol"] == "OUE" and row["epsilon"] == "4.0")
    assert float(row["asr_expected"]) == hush.OUE(k=100, epsilon=4.0).asr()
    assert float(row["asr_stderr"]) > 0
    assert float(row["mse_stderr"]) > 0


def test_goes_on_where_it_was(told: tuple[dict[str, Any], Path]) -> None:
    _, folder = told
    before = {path: path.stat().st_mtime_ns for path in folder.glob("figure-*")}
    more = answer("reproduce", "refined", *CHOSEN, "--only", "figure-4", "--output", folder)
    assert {part["id"]: part["kept"] for part in more["parts"]} == {
        "figure-4": False, "figure-7": True, "figure-15": True,
    }  # fmt: skip
    assert {path: path.stat().st_mtime_ns for path in before} == before
    again = answer("reproduce", "refined", *CHOSEN, "--seed", 8, "--output", folder)
    assert [part["kept"] for part in again["parts"]] == [True, False]
    fresh = answer("reproduce", "refined", "--quick", "--seed", 8, "--only", "figure-7", "--fresh", "--output", folder)
    assert [part["kept"] for part in fresh["parts"]] == [False]
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert all(f"figure-{i}.png" in page for i in (4, 7, 15))  # all that the folder holds


@pytest.mark.parametrize("columns", [160, 100, 80])
def test_tables_fit_the_window(told: tuple[dict[str, Any], Path], columns: int) -> None:
    _, folder = told
    result = run("reproduce", "refined", "--quick", "--only", "figure-7", "--output", folder, columns=columns)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[-1] == f"The page with figures: {(folder / 'index.html').resolve()}"
    assert max(len(line.rstrip()) for line in lines[:-1]) <= columns
    assert any("0.818182" in line for line in lines)


def test_piped_output_has_all_columns(told: tuple[dict[str, Any], Path]) -> None:
    """Each claim with its figure and its place, whatever the width."""
    _, folder = told
    result = run("reproduce", "refined", "--quick", "--only", "7", "--output", folder)
    assert result.exit_code == 0, result.output
    heads = [line.split() for line in result.stdout.splitlines() if line.startswith(("figure ", "verdict "))]
    assert heads == [["figure", "shows", "kind", "rows", "made", "in"], CLAIMS]
    assert "narrow" not in result.stderr


def test_lists_figures_and_takes_their_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    parts = answer("reproduce", "budget", "--list")["parts"]
    assert [part["id"] for part in parts][:2] == ["figure-4.1", "figure-5.1"]
    shown = run("reproduce", "budget", "--list").stdout
    assert all(part["id"] in shown and part["title"] in shown for part in parts)
    for name in ("5.1", "figure-5.1"):
        assert [part["id"] for part in answer("reproduce", "budget", "--list", "--only", name)["parts"]] == [
            "figure-5.1"
        ]
    assert list(tmp_path.iterdir()) == []


def test_a_number_that_does_not_come_out_is_exit_code_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the paper had printed another p."""
    part = refined.STUDY.parts[6]
    wrong = refined.checks.objectives
    monkeypatch.setitem(
        vars(part), "check", lambda table: [Check.number("p of AUE", "0.817", 0.8182, "V"), *wrong(table)]
    )
    result = run("reproduce", "refined", "--quick", "--only", "figure-7", "--output", tmp_path)
    assert result.exit_code == 1
    assert "differs, UNEXPECTED" in result.stdout
    assert "11 checks: 8 matches, 1 differs, 0 not told by the paper, 2 ours against ours; 1 otherwise" in result.stdout
    assert (tmp_path / "index.html").exists()


def test_an_interrupt_leaves_whole_files(tmp_path: Path) -> None:
    """Ended while figure 15 is measured in full: figure 7 is there with its page, nothing else is begun."""
    wanted = ["reproduce", "refined", "--only", "figure-7", "--only", "figure-15", "--output", "page"]
    with subprocess.Popen(words(*wanted), cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        wait_for_file(tmp_path / "page" / "checks.csv", process, seconds=300)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "no half-written file is left" in said
    left = sorted(path.name for path in (tmp_path / "page").iterdir())
    assert left == ["checks.csv", "figure-7.csv", "figure-7.png", "index.html", "made.json"]
    assert "1 of 2 figures were made; the page shows what is there: page/index.html." in said
    assert "`hush reproduce refined --only figure-7 --only figure-15 --output page` goes on with the rest." in said
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert "1 of 15 parts are here." in page
    assert "<code>hush reproduce refined --output page</code> goes on." in page


def test_an_interrupt_at_once_says_how_to_go_on_and_leaves_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(vars(refined.STUDY.parts[6]), "compute", stop)
    result = run("reproduce", "refined", "--quick", "--seed", 8, "--only", "7", "--output", tmp_path / "page")
    assert result.exit_code == 130
    folder = tmp_path / "page"
    assert (
        f"`hush reproduce refined --quick --only 7 --seed 8 --output {folder}` goes on with the rest." in result.stderr
    )
    assert "0 of 1 figures were made. " in result.stderr
    assert list(folder.iterdir()) == []


def test_a_quick_run_never_takes_the_place_of_a_full_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Left to itself it writes elsewhere; told to write there, it refuses and touches nothing."""
    monkeypatch.chdir(tmp_path)
    full = answer("reproduce", "refined", "--only", "7")
    assert full["out"] == "hush-reproduce/refined"
    before = {path: path.read_bytes() for path in Path(full["out"]).iterdir()}
    assert answer("reproduce", "refined", "--quick", "--only", "7")["out"] == "hush-reproduce/refined-quick"
    for chosen in (["--only", "7"], ["--only", "1"], ["--only", "7", "--fresh"]):
        said = refused("reproduce", "refined", "--quick", *chosen, "--output", full["out"])
        assert "--output must not hold a full run when --quick is given" in said
        assert "use e.g. --output hush-reproduce/refined-quick" in said
    assert {path: path.read_bytes() for path in Path(full["out"]).iterdir()} == before


def test_the_bar_names_the_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    monkeypatch.setattr(bars.Bar, "name", lambda bar, title: heard.append(title))
    result = run("reproduce", "refined", "--quick", "--only", "7", "--only", "4", "--output", tmp_path)
    assert result.exit_code == 0, result.output
    assert heard == ["refined, figure-4 (1 of 2)", "refined, figure-7 (2 of 2)"]


def test_a_bar_shows_the_title_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Console(file=io.StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr(terminal, "stderr", lambda: shown)
    with bars.progress("Reproducing refined", 2.0) as bar:
        bar.name("refined, figure-4 [1 of 2]")
        bar(1.0)
    assert "refined, figure-4 [1 of 2]" in shown.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["refine"], ["STUDY must be one of refined", "'refine'", "did you mean refined?"]),
        (["nothing"], ["STUDY must be one of refined", "`hush reproduce` lists them"]),
        (
            ["refined", "--only", "figure-16"],
            ["--only must be a figure of refined", "use one of figure-1, figure-2, figure-3,", "figure-14, figure-15"],
        ),
        (["refined", "--seed", "-1"], ["--seed must be a whole number of at least 0"]),
        (["refined", "--output", "-"], ["--output must be a folder"]),
        (["--quick"], ["STUDY must be given with these options"]),
        (["refined", "--quick", "--only", "figure-7", "--output", "/proc/hush"], ["/proc/hush", "cannot be used"]),
    ],
)
def test_refuses(arguments: list[str], said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    message = refused("reproduce", *arguments)
    assert all(word in message for word in said), message
    assert list(tmp_path.iterdir()) == []


def test_refuses_what_stands_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "--output must be a folder" in refused("reproduce", "refined", "--output", tmp_path / "file")
    (tmp_path / "page" / "figure-7.png").mkdir(parents=True)
    chosen = ("reproduce", "refined", "--quick", "--only", "figure-7")
    assert "figure-7.png, must be a file" in refused(*chosen, "--output", tmp_path / "page")


def test_the_searches_of_the_budget_study_keep_their_claims(tmp_path: Path) -> None:
    """Those figures that the unit tests leave out, since they take long."""
    found = answer("reproduce", "budget", "--quick", "--only", "5.3", "--only", "5.4", "--output", tmp_path)
    assert found["failed"] == 0
    fewer = [check["verdict"] for check in found["checks"] if check["claim"] == "collections of DBS over those of BS"]
    assert fewer == ["not told by the paper", "not told by the paper"]
