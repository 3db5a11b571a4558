"""Files and options that are not what they should be: each message names the one to mend."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hush.mechanisms.names import full_name
from hush.mechanisms.registry import registry
from tests.system.support import answer, refused, run, write_csv

OUE = ("--mechanism", "OUE", "--epsilon", 1)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_csv(Path("d.csv"), {"v": ["a", "b"] * 3, "w": [1] * 6})
    Path("l.txt").write_text("a\nb\n")
    return tmp_path


def privatized(source: str = "d.csv", domain: str = "l.txt", *more: object) -> tuple[object, ...]:
    return "privatize", source, "--column", "v", *OUE, "--domain", domain, "-o", "r.parquet", *more


def zipped(change: Any) -> None:
    draw = random.Random(7)
    whole = bytearray(gzip.compress(b"v\n" + b"".join(draw.choice([b"a\n", b"b\n"]) for _ in range(50_000))))
    Path("z.csv.gz").write_bytes(bytes(change(whole)))


def flipped(data: bytearray) -> bytearray:
    data[len(data) // 2] ^= 255
    return data


@pytest.mark.parametrize(
    "change",
    [lambda b: b[: len(b) // 2], lambda b: b[:-4], lambda b: b[:12], lambda b: b"v\na\n", flipped],
    ids=["half", "no trailer", "head only", "not compressed", "damaged"],
)
def test_broken_gzip_files_are_named(change: Any) -> None:
    zipped(change)
    message = refused(*privatized("z.csv.gz"))
    assert "input must be a readable whole gzip file, got 'z.csv.gz'; copy it again" in message
    assert not list(Path().glob("*.parquet"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "input must have a header row that names its columns, got an empty file, 'x.csv'"),
        ("\nv\na\n", "input must have a header row that names its columns, got a blank first row"),
        ("v,v\na,b\n", "--column must be a column that x.csv has once, got 'v', which it has 2 times"),
        ("w\na\n", "--column must be one of the 1 names in the first row of x.csv, got 'v'"),
    ],
)
def test_headers(text: str, words: str) -> None:
    Path("x.csv").write_text(text)
    assert words in refused(*privatized("x.csv"))


def test_kept_columns_are_named_as_such() -> None:
    assert "--keep must be one of the 2 names in the first row of d.csv, got 'nope'" in refused(
        *privatized("d.csv", "l.txt", "--keep", "nope")
    )
    Path("x.csv").write_text("v,w,w\na,1,2\n")
    assert "--keep must be a column that x.csv has once" in refused(*privatized("x.csv", "l.txt", "--keep", "w"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_input_without_rows_is_said_to_have_none(suffix: str) -> None:
    if suffix == ".csv":
        Path("x.csv").write_text("v,w\n")
    else:
        pq.write_table(pa.table({"v": pa.array([], pa.string()), "w": pa.array([], pa.int8())}), "x.parquet")
    result = run(*privatized(f"x{suffix}", "l.txt", "--keep", "w"))
    assert result.exit_code == 0, result.output
    assert "the input has no rows: r.parquet holds no reports" in result.stderr
    assert (pq.read_table("r.parquet").num_rows, pq.read_table("r.parquet").column_names) == (0, ["report", "w"])


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.txt", "", "--domain must name at least two labels, got an empty file, 'x.txt'"),
        ("x.txt", "a\n", "--domain must name at least two labels, got 1 in x.txt"),
        (
            "x.txt",
            "a\n b\n",
            "--domain must have labels without spaces at their ends, got such a one on line 2 of x.txt",
        ),
        ("x.txt", "a\nb\t\n", "--domain must have labels without spaces at their ends"),
        ("x.json", {"labels": ["a", "b"], "zap": 1}, "--domain must have no entries but size, labels"),
        ("x.json", {"labels": "ab"}, "--domain must have a list as labels in x.json, got <class 'str'>"),
        ("x.json", {"other": "a"}, "--domain must have labels or a size"),
        ("x.json", ["a"], "--domain must name at least two labels, got 1 in x.json"),
        ("x.json", {"size": 2, "sensitive": ["x"]}, "sensitive must be values in 0..1"),
        ("x.json", {"size": 2, "sensitive": 1}, "--domain must have a list as sensitive"),
        ("x.json", {"size": "2"}, "--domain must have a plain value as size"),
    ],
)
def test_domains(name: str, content: Any, words: str) -> None:
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content))
    message = refused(*privatized("d.csv", name))
    assert words in message, message
    assert "__init__" not in message


def test_labels_with_spaces_may_be_quoted() -> None:
    Path("x.json").write_text('["a", "b", " c "]')
    assert run(*privatized("d.csv", "x.json")).exit_code == 0


@pytest.mark.parametrize(("other", "words"), [("", "must not be empty"), (" ", "must not be empty"), (" x", "spaces")])
def test_the_other_label(other: str, words: str) -> None:
    message = refused(*privatized("d.csv", "l.txt", "--other", other))
    assert message.startswith("Error: --other must")
    assert words in message


def test_counts_have_two_rows_and_one_column_each() -> None:
    for text, words in {
        "count\n5\n": "--counts must have at least two rows, got 1",
        "count,count\n5,6\n": "--counts must have one column count, got 2",
        "": "--counts must have a column count, got an empty file",
        "label,count\na,1\na,2\n": "labels must be distinct",
    }.items():
        Path("c.csv").write_text(text)
        assert words in refused("simulate", *OUE, "--counts", "c.csv")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("mechanisms --epsilon abc", "--epsilon must be a number, got 'abc'; write e.g. --epsilon 1.0"),
        ("mechanisms --k x", "--k must be a whole number, got 'x'; write e.g. --k 100"),
        ("mechanisms --k 1.5", "--k must be a whole number, got '1.5'"),
        ("mechanisms --delta=", "--delta must be a number, got ''"),
        ("estimate r.parquet --top 0", "--top must be a whole number of at least 1, got 0; write e.g. --top 10"),
        ("estimate r.parquet --level x", "--level must be a number, got 'x'"),
        ("simulate --n 0", "--n must be a whole number of at least 1, got 0"),
        ("simulate --n 99999999999999999999", "--n must be at most 9007199254740992"),
        ("simulate --runs 0", "--runs must be a whole number of at least 1, got 0"),
        ("simulate --seed -1", "--seed must be a whole number of at least 0, got -1; write e.g. --seed 7"),
        ("simulate --zap", "option must be one that hush simulate takes, got '--zap'"),
        ("simulate --dataste zipf", "did you mean --dataset"),
        ("simulate --n", "--n must have a value after it, got nothing"),
        ("simulate --json=1", "--json must stand alone, got a value"),
        ("simulate zap", "arguments must be those that hush simulate takes, got 'zap'"),
        ("privatize", "INPUT… must be given, got nothing"),
        ("privatize d.csv --column v", "--output must be given, got nothing"),
        (
            "simulat",
            "command must be one of plan, budget, capacity, uldp, mechanisms, privatize, estimate, combine, serve, "
            "collection, relay, workbench, simulate, audit, demo, reproduce",
        ),
    ],
)
def test_options_in_one_line(arguments: str, words: str) -> None:
    message = refused(*arguments.split(" "))
    assert words in message, message
    assert message.startswith("Error: ")
    assert "Usage" not in message


@pytest.mark.parametrize(
    ("setting", "who"), [("g=abc", "LH or LHO"), ("g=1", "LH or LHO"), ("p=2", "UE"), ("q=6", "PGR")]
)
def test_a_setting_that_suits_no_mechanism(setting: str, who: str) -> None:
    for more in ([], ["--json"]):
        message = refused("mechanisms", "--set", setting, *more)
        assert f"--set must suit {who}, got {setting};" in message
        assert message.count(f"{setting[0]} must be") == 1
    assert run("mechanisms", "--set", "g=8").exit_code == 0


def test_a_setting_of_another_mechanism_is_answered_with_its_own() -> None:
    message = refused("mechanisms", "--mechanism", "PGR", "--set", "code=enumerative")
    assert "got code=enumerative; PGR takes q" in message
    assert "GRR takes none" in refused("mechanisms", "--mechanism", "GRR", "--set", "q=3")


@pytest.mark.parametrize("written", ["7,11,13", "[7,11,13]", "(7, 11, 13)", "7,11,13,"])
def test_moduli_from_the_shell(written: str, tmp_path: Path) -> None:
    mss, spec = ("--mechanism", "MSS", "--k", 20, "--epsilon", 1, "--set", f"moduli={written}"), tmp_path / "s.json"
    assert answer("mechanisms", "--k", 20, "--mechanism", "MSS", "--set", f"moduli={written}")["mechanisms"][0][
        "parameters"
    ] == {"moduli": [7, 11, 13]}
    Path("n.csv").write_text("v\n" + "3\n19\n" * 5)
    assert run("privatize", "n.csv", "--column", "v", *mss, "-o", "n.parquet", "--spec-out", spec).exit_code == 0
    people = ("--dataset", "zipf", "--n", 1000, "--runs", 2, "--seed", 7)
    assert run("simulate", *mss, *people).exit_code == 0
    assert run("simulate", "--spec", spec, "--set", f"moduli={written}", *people).exit_code == 0
    assert "must be [7, 11, 13], as in" in refused("simulate", "--spec", spec, "--set", "moduli=7,11,5", *people)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("7,x", "--set moduli must be whole numbers with commas between them, got '7,x'; write e.g. --set moduli=7,11"),
        ("[]", "--set moduli must be whole numbers"),
        ("6,10", "moduli must have no common factors, got 6 and 10, both multiples of 2"),
        ("7,7,19", "moduli must have no common factors, got 7 twice"),
        ("-7,19", "every modulus must be an integer in 2..20, got -7"),
        ("7", "moduli must have a product of at least k=20, so that no two values have the same residues"),
        ("7,11", "1 + sum (m - 1) is at least k=20"),
    ],
)
def test_wrong_moduli_from_the_shell(written: str, words: str) -> None:
    mss = ("--mechanism", "MSS", "--set", f"moduli={written}", "--k", 20)
    for command in (("mechanisms",), ("simulate", "--epsilon", 1, "--dataset", "zipf", "--n", 10)):
        assert words in refused(*command, *mss)


@pytest.mark.parametrize(("mechanism", "entry"), [("MSS", "moduli"), ("PGR", "q"), ("SS", "omega")])
def test_a_spec_is_complete(mechanism: str, entry: str, tmp_path: Path) -> None:
    spec = tmp_path / "s.json"
    Path("n.csv").write_text("v\n" + "3\n19\n" * 5)
    made = ("--column", "v", "--mechanism", mechanism, "--k", 20, "--epsilon", 1, "-o", "n.parquet")
    assert run("privatize", "n.csv", *made, "--spec-out", spec).exit_code == 0
    plain = json.loads(spec.read_text())
    for change in ("gone", "null"):
        if change == "gone":
            del plain["mechanism"][entry]
        else:
            plain["mechanism"][entry] = None
        spec.write_text(json.dumps(plain))
        message = refused("simulate", "--spec", spec, "--dataset", "zipf", "--n", 10)
        assert f"{entry} must be written out in a spec of {mechanism}, got nothing" in message


@pytest.mark.parametrize(
    ("given", "meant"),
    [("ModularSubsetSelection", "MSS, modular"), ("projective-geometry", "PGR, proj"), ("randomized response", "GRR")],
)
def test_full_names_are_understood(given: str, meant: str) -> None:
    assert f"did you mean {meant}" in refused("mechanisms", "--mechanism", given)


def test_every_mechanism_has_a_full_name() -> None:
    names = {name: full_name(cls) for name, cls in registry().items()}
    assert len(set(names.values())) == len(names)
    assert not [name for name, full in names.items() if name == full]
