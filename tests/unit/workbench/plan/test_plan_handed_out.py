"""What one leaves with, run as it is handed out."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import hush
from hush.errors import ParameterError
from hush.reports.statements.paper import unspellable
from hush.workbench.plan import Answer, Question, answered, handout, notebook, script

ANSWERS = {
    "once": Question(people=2_000, points=3.0, answers=12),
    "labels": Question(people=2_000, points=5.0, answers=3, labels=('a"""\\', "b'''{x}", "c$1 | _d_")),
    "sensitive": Question(people=2_000, points=5.0, answers=4, labels=("a", "b", "c", "d"), sensitive=(1, 2)),
    "rounds": Question(people=2_000, points=6.0, answers=4, rounds=6),
    "afresh": Question(people=2_000, points=6.0, answers=4, labels=("a", "b", "c", "d"), rounds=2, changing=True),
}


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    """All kinds."""
    return {name: answered(question) for name, question in ANSWERS.items()}


def run(folder: Path, text: str) -> str:
    """Run a program in a process of its own; what it printed."""
    path = folder / "collection.py"
    path.write_text(text, encoding="utf-8")
    known = {**os.environ, "MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path)], capture_output=True, text=True, env=known, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ANSWERS)
def test_the_script_runs(answers, tmp_path, name):
    """As it is: with the spec that was planned, and intervals of which most hold the truth."""
    answer = answers[name]
    text = script(answer)
    assert answer.made.hash in text
    printed = run(tmp_path, text)
    assert "One report: " in printed
    share = re.search(r"(\d+)% of these intervals hold the truth", printed)
    assert share is not None
    assert int(share[1]) >= 25  # all of a few intervals fail together less often than once in 10⁶ runs


@pytest.mark.parametrize("name", ["once", "labels", "rounds"])
def test_the_notebook_runs_cell_by_cell(answers, tmp_path, name):
    """As Jupyter runs it, one cell after the other."""
    cells = json.loads(notebook(answers[name]))["cells"]
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    assert len(code) == 6
    assert "these intervals hold the truth" in run(tmp_path, "\n\n".join(code))


def test_the_notebook_is_one_of_version_4(answers):
    """With all that nbformat 4.5 asks of a notebook and its cells, and nothing beside."""
    made = json.loads(notebook(answers["labels"]))
    assert set(made) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert set(made["metadata"]["kernelspec"]) >= {"name", "display_name"}
    ids = [cell["id"] for cell in made["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in made["cells"]:
        assert re.fullmatch("[a-zA-Z0-9-_]{1,64}", cell["id"])
        asked = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            asked |= {"execution_count", "outputs"}
            assert (cell["execution_count"], cell["outputs"]) == (None, [])
        else:
            assert cell["cell_type"] == "markdown"
        assert set(cell) == asked
        assert isinstance(cell["source"], str)


def test_the_spec_is_read_by_what_reads_specs(answers, tmp_path):
    """`hush.read` gives the same collection."""
    for answer in answers.values():
        path = tmp_path / "spec.json"
        path.write_text(answer.spec)
        assert hush.read(path) == answer.made


@pytest.mark.parametrize("name", ["once", "labels", "rounds"])
def test_the_command_plans_the_same(answers, tmp_path, name):
    """At the command line, with the answers in a file where they have labels."""
    answer = answers[name]
    if answer.question.labels is not None:
        (tmp_path / "answers.txt").write_text("\n".join(map(str, answer.question.labels)))
    words = shlex.split(answer.command)
    assert words[0] == "hush"
    done = subprocess.run([sys.executable, "-m", "hush", *words[1:]], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert hush.read(tmp_path / "spec.json").hash == answer.made.hash


@pytest.mark.parametrize("name", ["once", "labels", "rounds"])
def test_the_call_plans_the_same(answers, name):
    """In Python."""
    answer = answers[name]
    found = eval(answer.call, {"hush": hush, "domain": answer.question.domain})
    assert found.first.spec == answer.made


def test_the_page_for_a_privacy_officer(answers):
    """One page of HTML with every number of it, and one of PDF with letters that can be searched."""
    answer = answers["once"]
    made = handout(answer, date="2024-05-01")
    page, paper = made.to_html(), made.to_pdf()
    assert answer.question.words in page
    assert answer.made.hash in page
    assert "2024-05-01" in page
    assert "<script" not in page
    assert "http" not in page
    assert paper.startswith(b"%PDF-1.")
    assert paper.count(b"/Type /Page ") == 1
    assert b"/FontFile2" in paper
    assert unspellable(made) == []


def test_the_script_says_what_the_page_says(answers, tmp_path):
    """The guess of a sensitive answer, which the page rounds up; and no more people than will report."""
    answer = answered(replace(answers["sensitive"].question, people=50, points=40.0))
    assert answer.chosen is not None
    printed = run(tmp_path, script(answer))
    assert f"Of a sensitive one {100 * answer.chosen.numbers['asr']:.4g} times" in printed
    assert "50 reports, " in printed


@pytest.mark.parametrize("name", ["rounds", "afresh"])
def test_a_privacy_officer_reads_of_all_rounds(answers, name):
    """The total and the guess from all reports, as the page has them."""
    answer = answers[name]
    made = handout(answer)
    total, _, guess = answer.headline
    assert guess in made.to_markdown()
    told = re.search(r"ε = \S+", total)
    assert told is not None
    assert told[0] in made.to_markdown()


def test_what_nothing_meets_has_no_page():
    """There is nothing to promise."""
    with pytest.raises(ParameterError, match="take one of the ways out"):
        handout(answered(Question(people=100, points=0.1, answers=5)))


def test_a_font_that_lacks_letters_says_so():
    """So that the HTML page is printed instead."""
    answer = answered(Question(people=2_000, points=5.0, answers=2, labels=("東京", "大阪")))
    assert unspellable(handout(answer))
