"""`hush simulate`: measured beside expected."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import hush
from tests.system.support import answer, refused, run, write_csv

OUE = ("--mechanism", "OUE", "--epsilon", 1)


def test_measures_what_the_formulas_say() -> None:
    """Six standard errors, on a fixed seed."""
    told = answer("simulate", *OUE, "--k", 20, "--dataset", "zipf", "--n", 10_000, "--runs", 200, "--seed", 7)
    m, people = hush.OUE(k=20, epsilon=1.0), hush.datasets.zipf(20, 10_000)
    assert told["analytic_variance"] == pytest.approx(m.variances(people.frequencies, people.n).mean())
    assert abs(told["mse"] - told["analytic_variance"]) < 6 * told["mse_stderr"]
    assert abs(told["coverage"] - 0.95) < 6 * told["coverage_stderr"] + 0.005
    assert told["asr_expected"] == m.asr()
    assert abs(told["asr"] - m.asr()) < 6 * told["asr_stderr"]
    assert (told["n"], told["runs"], told["seed"], told["attacked"]) == (10_000, 200, 7, 100_000)


def test_a_seed_repeats_a_run() -> None:
    made = ("simulate", *OUE, "--k", 5, "--dataset", "dirichlet", "--n", 1000, "--runs", 3)
    first, again, other = (answer(*made, "--seed", seed) for seed in (1, 1, 2))
    for told in (first, again, other):
        del told["seconds_per_collection"]
    assert first == again
    assert first["mse"] != other["mse"]
    assert answer(*made)["seed"] != answer(*made)["seed"]


@pytest.mark.parametrize("name", ["spike", "geometric", "normal", "uniform"])
def test_shapes(name: str) -> None:
    told = answer("simulate", *OUE, "--k", 5, "--dataset", name, "--n", 100, "--runs", 1)
    assert (told["population"], told["n"], told["mse_stderr"]) == (name, 100, None)


def test_real_people_keep_their_labels_and_number() -> None:
    told = answer("simulate", *OUE, "--dataset", "msnbc", "--runs", 2)
    assert told["n"] == 989_818
    assert told["spec"]["domain"]["labels"][0] == "frontpage"
    assert answer("simulate", *OUE, "--dataset", "adult_age", "--runs", 2, "--n", 500)["n"] == 500


def test_counts_from_a_file(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "c.csv", {"label": ["a", "b", "c"], "count": [50, 30, 20]})
    told = answer("simulate", *OUE, "--counts", path, "--runs", 2)
    assert (told["n"], told["spec"]["domain"]["labels"]) == (100, ["a", "b", "c"])
    bare = write_csv(tmp_path / "bare.csv", {"count": [50, 30]})
    assert answer("simulate", *OUE, "--counts", bare, "--runs", 2)["spec"]["domain"] == {"size": 2}


def test_files_and_table(tmp_path: Path) -> None:
    out, png = tmp_path / "r.parquet", tmp_path / "s.png"
    made = ("--k", 50, "--dataset", "zipf", "--n", 300, "--runs", 2, "--seed", 7)
    result = run("simulate", *OUE, *made, "--reports-out", out, "--png", png)
    assert result.exit_code == 0, result.output
    assert "mean squared error" in result.stdout
    assert "seed 7" in result.stdout
    table = pq.read_table(out)
    assert table.num_rows == 300
    assert table.schema.metadata[b"hush.randomness"] == b"simulated, seed 7"
    assert png.read_bytes().startswith(b"\x89PNG")


def test_refuses(tmp_path: Path) -> None:
    bad = write_csv(tmp_path / "bad.csv", {"count": [3, -1]})
    none = write_csv(tmp_path / "none.csv", {"count": [0, 0]})
    odd = write_csv(tmp_path / "odd.csv", {"people": [1]})
    cases: list[tuple[list[object], list[str]]] = [
        ([], ["--dataset or --counts must be given", "got nothing"]),
        (["--dataset", "zipf", "--counts", bad], ["and not both"]),
        (["--dataset", "zpif", "--k", 5], ["--dataset must be one of", "did you mean zipf"]),
        (["--dataset", "zipf"], ["k must be given for OUE"]),
        (["--dataset", "msnbc", "--k", 5], ["--k must be 17, as in msnbc, got 5; leave it out"]),
        (["--dataset", "zipf", "--k", 5, "--n", 0], ["--n"]),
        (["--dataset", "zipf", "--k", 5, "--seed", -1], ["--seed"]),
        (["--counts", bad], ["--counts, row 2", "got -1;"]),
        (["--counts", none], ["--counts must hold at least one person"]),
        (["--counts", odd], ["--counts must have a column count", "got 1 others in"]),
        (["--counts", tmp_path / "nope.csv"], ["--counts must be a file that exists", "nope.csv"]),
    ]
    for arguments, words in cases:
        message = refused("simulate", *OUE, *arguments)
        assert all(word in message for word in words), message


def test_a_spec_over_other_values_than_the_peoples_is_not_blamed_on_an_option_that_nobody_gave(tmp_path: Path) -> None:
    spec = tmp_path / "five.json"
    spec.write_text(hush.Spec(hush.OUE(k=5, epsilon=1.0), hush.Domain(size=5)).to_json(), encoding="utf-8")
    file = write_csv(tmp_path / "people.csv", {"count": [1, 2, 3]})
    message = refused("simulate", "--spec", spec, "--counts", file)
    assert "--spec must be one of 3 values, as people has, got 5; choose other people" in message
    assert "--k" not in message


def test_one_person_is_one(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "one.csv", {"count": [1, 0]})
    told = run("simulate", "--counts", file, "--mechanism", "GRR", "--epsilon", 1, "--runs", 1, "--seed", 7).stdout
    assert ", 1 person, one run" in told
    assert "1 people" not in told


def test_one_report_is_one(tmp_path: Path) -> None:
    file, reports = write_csv(tmp_path / "v.csv", {"v": [1]}), tmp_path / "r.parquet"
    made = run("privatize", file, "--column", "v", "--k", 4, "--mechanism", "GRR", "--epsilon", 1, "-o", reports)
    assert made.stdout.startswith("1 report of ")
    assert ", 1 report\n" in run("estimate", reports).stdout


def test_rounds_over_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of every round beside the formula; the reports of all rounds are estimated round by round."""
    monkeypatch.chdir(tmp_path)
    said = ("simulate", "--mechanism", "LSMP", "--attributes", "3,4", "--epsilon-permanent", "4", "--epsilon-report",
            "2", "--dataset", "zipf", "--n", "2000", "--rounds", "3", "--change", "0.1", "--runs", "40",
            "--seed", "7")  # fmt: skip
    found = answer(*said, "--png", "p.png", "--reports-out", "r.parquet")
    assert [(each["round"], each["attribute"]) for each in found["rounds"]] == [
        (t, f"attribute {j}") for t in (1, 2, 3) for j in (0, 1)
    ]
    for each in found["rounds"]:
        assert 0.3 < each["mse"] / each["analytic_variance"] < 2.5
    assert 0.02 < found["changed"] < 0.1
    assert answer(*said)["rounds"] == found["rounds"]  # the same seed
    groups = answer("estimate", "r.parquet")["groups"]
    assert [(group["group"], group["n"]) for group in groups] == [("1", 2000), ("2", 2000), ("3", 2000)]
    assert (tmp_path / "p.png").exists()
    one = run("simulate", "--mechanism", "LGRR", "--k", "4", "--epsilon-permanent", "4", "--epsilon-report", "2",
              "--dataset", "zipf", "--n", "500", "--runs", "3", "--seed", "7")  # fmt: skip
    assert one.exit_code == 0
    assert "not independent" in one.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--mechanism GRR --epsilon 1 --rounds 3", "--rounds must be left out for GRR"),
        ("--mechanism GRR --epsilon 1 --change 0.1", "--change must be left out for GRR"),
        ("--mechanism LGRR --epsilon-permanent 2 --epsilon-report 1 --change 1.5", "--change must be a probability"),
        ("--mechanism LGRR --epsilon-permanent 2 --epsilon-report 1 --rounds 0", "--rounds must be a whole number"),
        ("--mechanism LGRR --epsilon-permanent 2 --epsilon 1", "--epsilon must be left out"),
    ],
)
def test_what_rounds_refuse(options: str, words: str) -> None:
    assert words in refused("simulate", "--dataset", "zipf", "--k", "4", "--n", "100", *options.split())
