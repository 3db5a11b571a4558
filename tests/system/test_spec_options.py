"""Options beside a spec, and specs that were changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hush
from hush.files.specs import spec_from
from tests.golden.write_vectors import FILE, OLD_FILE
from tests.system.support import answer, refused, run, write_csv


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_csv(Path("d.csv"), {"v": [0, 1] * 20})
    made = ("privatize", "d.csv", "--column", "v", "--mechanism", "LH", "--k", 4, "--epsilon", 1, "--set", "g=3")
    assert run(*made, "-o", "r.parquet", "--spec-out", "s.json").exit_code == 0
    return tmp_path


WRONG = [
    ("--mechanism OUE", "--mechanism must be LH, the mechanism of"),
    ("--k 5", "--k must be 4, as in"),
    ("--epsilon 2", "--epsilon must be 1.0, as in"),
    ("--delta 0.1", "--delta must be a parameter of LH"),
    ("--set g=4", "--set g must be 3, as in"),
    ("--set w=4", "--set w must be a parameter of LH"),
]


@pytest.mark.parametrize(("option", "words"), WRONG)
@pytest.mark.parametrize("spec", ["s.json", "r.parquet"])
def test_options_must_agree_with_the_spec(folder: Path, spec: str, option: str, words: str) -> None:
    made = ("privatize", "d.csv", "--column", "v", "--spec", spec, "-o", "n.parquet")
    assert f"{words}" in refused(*made, *option.split())
    assert not Path("n.parquet").exists()
    assert words in refused("simulate", "--dataset", "zipf", "--runs", 1, "--spec", spec, *option.split())


def test_options_that_agree_are_fine(folder: Path) -> None:
    same = ("--mechanism", "lh", "--k", 4, "--epsilon", 1, "--set", "g=3", "--spec", "s.json")
    told = answer("privatize", "d.csv", "--column", "v", *same, "-o", "n.parquet")
    assert told["spec_hash"] == answer("estimate", "r.parquet", "--mechanism", "LH")["spec_hash"]


def test_estimate_takes_no_other_mechanism(folder: Path) -> None:
    assert "--mechanism must be LH, the mechanism of r.parquet" in refused(
        "estimate", "r.parquet", "--mechanism", "GRR"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mechanism": {"epsilon": 2.0}}, ["s2.json", "the spec was changed after it was written"]),
        ({"mechanism": {"zap": 2.0}}, ["s2.json", "zap is no parameter of LH"]),
        ({"mechanism": {"epsilon": -1}}, ["s2.json", "epsilon must be"]),
        ({"domain": {"zap": 1}}, ["s2.json", "must have no entries but", "got another one"]),
        ({"domain": {"labels": "abcd"}}, ["s2.json", "must have a list as labels"]),
        ({"hush": 9}, ["s2.json", "version"]),
        ({"mechanism": 7}, ["s2.json", "mechanism must be"]),
        ({"domain": 7}, ["s2.json", "must be a list or an object"]),
    ],
)
def test_broken_specs(folder: Path, change: dict[str, object], words: list[str]) -> None:
    whole = json.loads(Path("s.json").read_text())
    for name, value in change.items():
        whole[name] = {**whole[name], **value} if isinstance(value, dict) else value
    Path("s2.json").write_text(json.dumps(whole))
    message = refused("privatize", "d.csv", "--column", "v", "--spec", "s2.json", "-o", "n.parquet")
    assert all(word in message for word in words), message
    assert not any(word in message for word in ("__init__", "Traceback", "keyword argument", "NoneType"))


SPECS = [
    pytest.param(stored["spec"], id=f"{name}-{file.stem}")
    for file in (FILE, OLD_FILE)
    for name, stored in json.loads(file.read_text(encoding="utf-8")).items()
    if name != "shared"
]


@pytest.mark.parametrize("written", SPECS)
def test_the_command_reads_every_spec_that_python_reads(written: str) -> None:
    assert spec_from(written.encode(), "a file") == hush.Spec.from_json(written)


@pytest.mark.parametrize("mechanism", ["OLH", "AUE", "AGM"])
def test_what_a_mechanism_chose_travels_from_one_command_to_the_next(folder: Path, mechanism: str) -> None:
    more = ("--delta", 1e-5) if mechanism == "AGM" else ()
    made = ("privatize", "d.csv", "--column", "v", "--mechanism", mechanism, "--k", 4, "--epsilon", 1, *more)
    told = answer(*made, "-o", "n.parquet", "--spec-out", "n.json")
    assert answer("estimate", "n.parquet")["spec_hash"] == told["spec_hash"]
    again = answer("privatize", "d.csv", "--column", "v", "--spec", "n.json", "-o", "m.parquet")
    assert again["spec_hash"] == told["spec_hash"]
    plain = json.loads(Path("n.json").read_text())
    plain["mechanism"]["thresholds"] = {}
    Path("n.json").write_text(json.dumps(plain))
    assert "the spec was changed after it was written" in refused("simulate", "--dataset", "zipf", "--spec", "n.json")
