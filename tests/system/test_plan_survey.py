"""`hush plan` with attributes and rounds: from a question to a spec, in words, in JSON and in a picture."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hush
from hush.cli.asked import survey
from tests.system.support import answer, refused, remember, run

pytestmark = pytest.mark.xdist_group("plan_survey")  # one process remembers the plans

ASKED = ("plan", "--attributes", "7,10,12,20", "--rounds", 12, "--n", 20_000, "--error", "3pp")


@pytest.fixture(scope="module", autouse=True)
def _planned_once() -> Iterator[None]:
    with remember((survey, "survey")):
        yield


def test_the_recommendation_becomes_a_spec(tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    told = answer(*ASKED, "--max-epsilon", 4, "--spec-out", spec)
    first = told["choices"][0]
    made = hush.Spec.from_json(spec.read_text())
    assert made.hash == first["spec_hash"]
    assert told["chosen"] == first["name"]
    assert made.mechanism.sizes == (7, 10, 12, 20)
    assert first["error"] == max(first["errors"]) <= 0.03
    assert first["epsilon_total"] <= 4
    assert {"SMP", "RSFD"} <= {row["layout"] for row in told["beyond"]}
    for guess in first["guesses"]:
        assert guess["luck"] <= guess["rate"] < 1


def test_what_a_person_reads_of_a_survey() -> None:
    told = run(*ASKED)
    assert told.exit_code == 0
    said = " ".join(told.stdout.split())
    for words in (
        "20,000 people, 4 attributes of 7, 10, 12, 20 values, 12 rounds: error 0.03",
        "is recommended",
        "ε changing",
        "linkable",
        "In every round a frequency of attribute 4, the worst attribute, is known to ±",
        "A person whose values never change loses ε = ",
        "luck alone, ",
        "errors of rounds are not independent",
        "can be linked by it",
        "nothing links reports",
    ):
        assert words in said, words
    narrow = run(*ASKED, columns=80).stdout
    assert max(len(line) for line in narrow.splitlines()) <= 80
    fresh = " ".join(run(*ASKED, "--changing").stdout.split())
    assert "whether values change or not" in fresh
    assert "errors of rounds are independent" in fresh
    assert "Nothing in the reports links" in fresh


def test_once_and_alone() -> None:
    once = run("plan", "--attributes", "3,4", "--n", 5000, "--max-epsilon", 2)
    assert "linkable" not in once.stdout
    assert "over all attributes" in once.stdout
    alone = answer("plan", "--k", 12, "--rounds", 12, "--n", 20_000, "--error", "3pp")
    assert {row["way"] for row in alone["choices"]} == {
        "fresh every round",
        "kept, with fresh noise",
        "kept, and repeated",
    }
    assumed = run("plan", "--k", 12, "--rounds", 3, "--n", 20_000).stdout
    assert "a total ε of 1 is assumed" in assumed


def test_all_rows_and_another_one(tmp_path: Path) -> None:
    every = run(*ASKED, "--all", columns=220).stdout
    assert "LSMP OLOLOHA" in every
    spec = tmp_path / "spec.json"
    told = run(*ASKED, "--choose", "smp grr", "--spec-out", spec)
    assert "You choose SMP GRR, which" in told.stdout
    assert hush.Spec.from_json(spec.read_text()).mechanism.name() == "SMP"


def test_labels_by_name(tmp_path: Path) -> None:
    (tmp_path / "ages.txt").write_text("young\nold\n")
    (tmp_path / "towns.txt").write_text("a\nb\nc\n")
    spec = tmp_path / "spec.json"
    files = ("--domain", f"age={tmp_path}/ages.txt", "--domain", f"town={tmp_path}/towns.txt")
    told = run("plan", *files, "--n", 4000, "--rounds", 2, "--max-epsilon", 2, "--spec-out", spec)
    assert told.exit_code == 0, told.output
    assert "town" in told.stdout
    made = hush.Spec.from_json(spec.read_text())
    assert made.domain.names == ("age", "town")
    assert made.domain.domains[1].labels == ("a", "b", "c")


def test_the_picture_of_a_survey(tmp_path: Path) -> None:
    picture = tmp_path / "survey.png"
    assert run(*ASKED, "--png", picture).exit_code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_statement_is_written(tmp_path: Path) -> None:
    """Of several attributes, of several rounds, and of both, whichever row is chosen."""
    several = ("--attributes", "3,4", "--rounds", 3)
    plans = (("--attributes", "3,4"), ("--k", 4, "--rounds", 3), several, (*several, "--choose", "SMP GRR"))
    spec = tmp_path / "spec.json"
    for i, asked in enumerate(plans):
        page = tmp_path / f"{i}.md"
        told = run("plan", *asked, "--n", 5000, "--max-epsilon", 2, "--statement", page, "--spec-out", spec)
        assert told.exit_code == 0, told.output
        text = page.read_text(encoding="utf-8")
        assert "planned as a survey: 5,000 people" in text
        assert f"A person sends {'3 reports' if '--rounds' in asked else '1 report'} at most." in text
        assert hush.Spec.from_json(spec.read_text()).hash in text


def test_what_cannot_be_met_leaves_with_one(tmp_path: Path) -> None:
    spec, picture = tmp_path / "spec.json", tmp_path / "survey.png"
    told = run(*ASKED, "--max-epsilon", 0.2, "--spec-out", spec, "--png", picture)
    assert told.exit_code == 1
    said = " ".join(told.stdout.split())
    assert "Nothing reaches the error within the budget." in said
    assert "would need a total ε of" in said
    assert "people for the wished one" in said
    assert not spec.exists()
    assert picture.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--attributes", "3,1", "--n", 10), "--attributes must be a whole number of at least 2"),
        (("--attributes", "3,,4", "--n", 10), "--attributes must be a whole number of at least 2"),
        (("--attributes", "3,x", "--n", 10), "--attributes must be a whole number of at least 2"),
        (("--attributes", "", "--n", 10), "--attributes must be a whole number of at least 2"),
        (("--attributes", "4", "--n", 10), "--attributes must be two or more, or rounds must be"),
        (("--attributes", "3,4"), "--n must be given"),
        (("--attributes", "3,4", "--k", 5, "--n", 10), "--attributes or --k or --domain must be given, and one"),
        (("--rounds", 3, "--n", 10), "--attributes or --k or --domain must be given"),
        (("--k", 4, "--rounds", 0, "--n", 10), "--rounds must be a whole number of at least 1"),
        (("--k", 4, "--rounds", "-2", "--n", 10), "--rounds must be a whole number of at least 1"),
        (("--k", 4, "--rounds", 3, "--n", 10, "--max-asr", 0.5), "--max-asr must be left out"),
        (("--k", 4, "--rounds", 3, "--n", 10, "--metric", "mae"), "--metric must be one of margin, mse"),
        (("--k", 4, "--rounds", 3, "--n", 10, "--max-epsilon", "nan"), "--max-epsilon must be a number"),
        (("--k", 4, "--rounds", 3, "--n", 10, "--report-share", "1"), "--report-share must be a number above 0"),
        (("--k", 4, "--rounds", 3, "--n", 10, "--choose", "none"), "--choose must name a row"),
        (("--k", 4, "--n", 10, "--changing"), "--changing must stand beside --rounds"),
        (("--k", 4, "--n", 10, "--report-share", "0.5"), "--report-share must stand beside --rounds"),
        (("--domain", "a=none.txt", "--domain", "b=none.txt", "--n", 10), "--domain must be a file that exists"),
        (("--domain", "=x", "--n", 10), "--domain must be a file, or NAME=FILE"),
    ],
)
def test_bad_input_is_named(options: tuple[object, ...], words: str) -> None:
    assert words in refused("plan", *options)


def test_the_smallest_group_is_told_beside_everybody(tmp_path: Path) -> None:
    """Its errors are those of a survey of so few people with the same mechanism."""
    groups = tmp_path / "groups.csv"
    groups.write_text("district,count\nnorth,5200\nwest,2600\nsouth,12200\n")
    said = ("plan", "--attributes", "7,20", "--rounds", 12, "--error", "3pp")
    first = answer(*said, "--groups", groups)["choices"][0]
    whole = answer(*said, "--n", 20_000, "--smallest-group", 2600)["choices"][0]
    assert first == whole
    assert first["errors"] == answer(*said, "--n", 20_000)["choices"][0]["errors"]
    one = hush.Spec.from_dict(first["spec"]).mechanism.first_report
    due = [1.96 * one.variance(j, n=2600, frequency=1 / k) ** 0.5 for j, k in enumerate((7, 20))]
    assert first["errors_in_smallest_group"] == pytest.approx(due, rel=1e-3)
    page = tmp_path / "page.md"
    shown = " ".join(run(*said, "--groups", groups, "--statement", page).stdout.split())
    for text in (shown, page.read_text()):
        assert "In the smallest group (2,600 people) a frequency of attribute 2 is known to ±" in text
    assert "in the smallest group" in shown
    assert "--n must be the sum of the groups, 20,000" in refused(*said, "--groups", groups, "--n", 5)
    assert "--smallest-group must stand without" in refused(*said, "--groups", groups, "--smallest-group", 5)
    assert "--smallest-group must be an integer in 1..100" in refused(*said, "--n", 100, "--smallest-group", 101)
    assert "with --n" in refused(*said, "--groups", groups, "--in-every-group")


def test_the_limit_that_the_rounds_need_is_told_and_is_enough() -> None:
    said = ("plan", "--attributes", "7,20", "--rounds", 12, "--n", 20_000, "--max-epsilon", 4)
    shown = " ".join(run(*said).stdout.split())
    told = re.search(r"may change: (\S+) lets everybody report in all 12 rounds, 4.00 does not", shown)
    assert told is not None
    bound = hush.Spec.from_dict(answer(*said)["choices"][0]["spec"]).mechanism.history_bound(12)
    assert bound <= float(told[1]) < bound + 0.11
    assert "lets everybody" not in run("plan", "--attributes", "7,20", "--n", 20_000, "--max-epsilon", 4).stdout


def test_labels_of_all_attributes_are_in_one_file(tmp_path: Path) -> None:
    labels = {"sex": ["f", "m", "x"], "region": ["n", "s"]}
    (tmp_path / "all.json").write_text(json.dumps(labels))
    for name, some in labels.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(some) + "\n")
    each = [word for name in labels for word in ("--domain", f"{name}={tmp_path / name}.txt")]
    said = ("plan", "--n", 5000, "--max-epsilon", 2, "--other", "unsaid")
    one, two = answer(*said, "--domain", tmp_path / "all.json"), answer(*said, *each)
    assert one["choices"][0]["spec"] == two["choices"][0]["spec"]
    (tmp_path / "bad.json").write_text(json.dumps({"sex": "f", "region": 3}))
    assert "--domain must" in refused(*said, "--domain", tmp_path / "bad.json")
    assert "--domain must" in refused(*said, "--rounds", 2, "--domain", f"else={tmp_path / 'all.json'}")
