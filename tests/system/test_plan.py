"""`hush plan`: from a question to a spec that the other commands read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import hush
from tests.system.support import answer, refused, remember, run

pytestmark = pytest.mark.xdist_group("plan")  # one process remembers the plans

ASKED = ("plan", "--k", 100, "--n", 100_000, "--error", "1pp", "--max-asr", 0.1)


@pytest.fixture(scope="module", autouse=True)
def _planned_once() -> Iterator[None]:
    with remember((hush, "plan")):
        yield


def test_the_first_choice_becomes_a_spec_that_simulates_as_promised(tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    told = answer(*ASKED, "--spec-out", spec)
    first = told["choices"][0]
    made = hush.Spec.from_json(spec.read_text())
    assert made.hash == first["spec_hash"]
    measured = answer("simulate", "--spec", spec, "--dataset", "zipf", "--n", 100_000, "--runs", 60, "--seed", 7)
    assert abs(measured["mse"] - first["details"]["mse"]) < 6 * measured["mse_stderr"] + 0.02 * first["details"]["mse"]
    assert abs(measured["asr"] - first["asr"]) < 6 * measured["asr_stderr"]
    assert 1.96 * first["details"]["mse"] ** 0.5 <= 0.01


def test_what_a_person_reads() -> None:
    told = run(*ASKED)
    assert told.exit_code == 0
    for words in ("mechanism", "ASR", "fakes gain", "beside the first", "meet every wish", "shuffl"):
        assert words in told.stdout
    title, recommended = told.stdout.splitlines()[:2]
    assert title.startswith("100,000 people, 100 values")
    assert "is recommended, at ε = " in recommended
    assert "error 0.01" in told.stdout
    narrow = run(*ASKED, columns=80).stdout
    assert max(len(line) for line in narrow.splitlines()) <= 80
    assert "bits" in narrow


def test_a_window_of_140_columns_shows_what_is_given_up() -> None:
    told = run("plan", "--k", 1024, "--n", 1_000_000, "--max-epsilon", 4, "--matters", "work", columns=140)
    head = next(line for line in told.stdout.splitlines() if "mechanism " in line and "ASR" in line)
    assert all(name in head for name in ("parameters", "bits", "work", "beside the first"))
    assert max(len(line.rstrip()) for line in told.stdout.splitlines()) <= 140
    assert "work matters most" in told.stdout


def test_few_rows_are_shown_and_all_when_asked_for() -> None:
    told = answer(*ASKED)
    rows = [row["name"] for row in told["choices"]]
    worth = [row["name"] for row in told["choices"] if row["worth_a_thought"]]
    assert 1 <= len(worth) <= 5 < len(rows)

    def shown(*more: object) -> list[str]:
        lines = run(*ASKED, *more, columns=200).stdout.splitlines()
        table = [line for line in lines if line.strip() and line.split()[0].isdigit() and "  " in line.strip()]
        return [next(name for name in sorted(rows, key=len, reverse=True) if f" {name} " in line) for line in table]

    assert shown() == [rows[0], *worth]
    assert shown("--all") == rows


def test_a_row_by_its_number() -> None:
    told = answer(*ASKED, "--choose", 2)
    assert told["chosen"] == told["choices"][1]["name"]


def test_the_delta_after_shuffling_is_yours() -> None:
    loose, strict = (answer(*ASKED, "--central-delta", d)["choices"][0]["shuffled"] for d in (1e-4, 1e-9))
    assert loose["delta"] == 1e-4
    assert loose["epsilon"] < strict["epsilon"]


def test_an_approximate_guarantee_shows_its_delta() -> None:
    assert "δ 1e-06" in run("plan", "--k", 8, "--n", 1000, "--max-epsilon", 1, "--delta", 1e-6).stdout


def test_percentages_are_shares() -> None:
    as_share, as_percent = (answer("plan", "--k", 9, "--n", 1000, "--error", e) for e in ("0.05", "5%"))
    assert as_share == as_percent


def test_another_row_can_be_chosen(tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    told = answer(*ASKED, "--choose", "oue", "--spec-out", spec)
    assert told["chosen"] == "OUE"
    assert hush.Spec.from_json(spec.read_text()).mechanism.name() == "OUE"


def test_labels_from_a_file(tmp_path: Path) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text("red\ngreen\nblue\n")
    spec = tmp_path / "spec.json"
    answer("plan", "--domain", labels, "--other", "else", "--n", 5000, "--error", 0.05, "--spec-out", spec)
    assert hush.Spec.from_json(spec.read_text()).domain.labels == ("red", "green", "blue", "else")


def test_the_picture_is_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "front.png"
    told = run(*ASKED, "--png", picture)
    assert told.exit_code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_impossible_wishes_leave_with_one_and_say_what_to_relax(tmp_path: Path) -> None:
    spec, picture = tmp_path / "spec.json", tmp_path / "front.png"
    asked = ("plan", "--k", 100, "--n", 1000, "--error", 0.01, "--max-epsilon", 1, "--max-asr", 0.05)
    told = run(*asked, "--spec-out", spec, "--png", picture)
    assert told.exit_code == 1
    assert "No mechanism meets all wishes" in told.stdout
    assert "people" in told.stdout
    assert not spec.exists()
    assert picture.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--n", 10), "--k or --domain must be given"),
        (("--k", 1, "--n", 10), "k must be an integer"),
        (("--k", 5, "--n", 0), "--n must be a whole number"),
        (("--k", 5, "--n", 10, "--error", "much"), "--error must be a number"),
        (("--k", 5, "--n", 10, "--error", "nan"), "--error must be a number"),
        (("--k", 5, "--n", 10, "--error", "-1%"), "--error must be a number"),
        (("--k", 5, "--n", 10, "--max-asr", "0.1"), "blind guessing"),
        (("--k", 5, "--n", 10, "--matters", "speed"), "--matters must be one of"),
        (("--k", 5, "--n", 10, "--metric", "rmse"), "--metric must be one of"),
        (("--k", 5, "--n", 10, "--choose", "XYZ"), "--choose must name a row"),
        (("--k", 5, "--n", 10, "--other", "x"), "--other must stand beside --domain"),
        (("--k", 5, "--n", 10, "--png", "front.jpg"), "--png must end in .png"),
        (("--k", 5, "--n", 10, "--max-bits", "0"), "--max-bits must be a whole number"),
        (("--k", 5, "--n", 10, "--max-epsilon", "inf"), "--max-epsilon must be a number"),
        (("--k", 5, "--n", 10, "--observed", 10), "--observed must stand beside --objectives with pools or changes"),
        (("--k", 5, "--n", 10, "--observed", 4, "--objectives", "asr,error"), "--observed must stand beside"),
        (("--k", 5, "--n", 10, "--parts", 2), "--parts must stand beside --objectives with attribute or pools"),
        (("--k", 5, "--n", 10, "--parts", 2, "--objectives", "error,changes"), "--parts must stand beside"),
        (("--k", 5, "--n", 10, "--collections", 3, "--objectives", "error,pools"), "--collections must stand beside"),
        (("--k", 5, "--n", 10, "--rounds", 2, "--observed", 10), "--observed must be left out with"),
    ],
)
def test_bad_input_is_named(options: tuple[object, ...], words: str) -> None:
    assert words in refused("plan", *options)


def test_eight_objectives_at_once() -> None:
    names = "asr,error,attribute,pools,changes,reidentification,gain,bits"
    asked = ("plan", "--k", 8, "--n", 20_000, "--error", "2pp", "--objectives", names, "--observed", 4)
    told = answer(*asked, "--collections", 3)
    assert [told["wishes"][name] for name in ("observed", "parts", "collections")] == [4, 2, 3]
    assert told["wishes"]["objectives"] == names.split(",")
    assert all(set(names.split(",")) <= set(choice) for choice in told["choices"])
    shown = run(*asked, columns=220).stdout
    assert all(name in shown for name in ("attribute", "pools", "changes", "reidentification", "blind guessing"))
    assert "--objectives" in refused("plan", "--k", 8, "--n", 100, "--objectives", "asr,nonsense")
    assert "--objectives" in refused("plan", "--k", 8, "--n", 100, "--rounds", 2, "--objectives", "asr,error")
