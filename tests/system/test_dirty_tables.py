"""Tables as strangers write them: nobody in one vanishes, and no option is forgotten."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer

import hush
from hush.cli import app
from hush.files import csv_rows
from tests.system.support import answer, refused, run

SURE = ("--mechanism", "GRR", "--epsilon", 40)  # reports are nearly always the truth
PETS = ("--column", "pet", *SURE, "--domain", "l.txt", "-o", "r.parquet")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("l.txt").write_text("cat\ndog\n")
    return tmp_path


def reported() -> list[int]:
    """The values that were reported, smallest first."""
    return sorted(int.from_bytes(each, "little") for each in pq.read_table("r.parquet")["report"].to_pylist())


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz"])
def test_blank_lines_of_one_column_are_missing_values(name: str, end: str) -> None:
    data = end.join(["pet", "cat", "", "dog", "", ""]).encode()
    Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    told = answer("privatize", name, *PETS, "--other", "other")
    assert (told["reports"], told["unmatched"], told["missing"]) == (4, 0, 2)
    assert reported() == [0, 1, 2, 2]
    assert "column pet, row 2 must be one of the domain's 2 labels, got a missing value" in refused(
        "privatize", name, *PETS
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("town", ["x", '"x"', '"x\n\ny"'])
@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz"])
def test_blank_lines_between_several_columns_are_nobodys_and_told(
    name: str, town: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = end.join(["pet,town", f"cat,{town}", "", "", f"dog,{town}", "", ""]).encode()
    Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    for block in (1, 2, 3, 1 << 22):  # wherever a block of the file ends
        monkeypatch.setattr(csv_rows, "_LONGEST", block if town == "x" else 1 << 22)
        assert csv_rows.lines(Path(name)).blank == 3
    told = answer("privatize", name, *PETS)
    assert (told["reports"], told["blank_lines"]) == (2, 3)
    assert "Warning: blank lines: 3. They are nobody's" in run("privatize", name, *PETS).stderr


def test_no_blank_lines_are_told_where_there_are_none() -> None:
    Path("d.csv").write_text("pet,town\r\ncat,x\r\ndog,\r\n")
    assert answer("privatize", "d.csv", *PETS)["blank_lines"] == 0
    assert "blank" not in run("privatize", "d.csv", *PETS).stderr
    Path("d.csv").write_text("pet\n\ncat\n")  # one column: a row without a value
    assert answer("privatize", "d.csv", *PETS, "--other", "other")["blank_lines"] == 0


@pytest.mark.parametrize("domain", ["0\n5\n", None])
def test_numbers_that_are_clipped_are_counted(domain: str | None) -> None:
    Path("l.txt").write_text(domain or "")
    Path("d.csv").write_text("v\n0\n5\n7\n0\n7\n6.5\n")
    over = ("--domain", "l.txt") if domain else ("--k", 6)
    words = ("privatize", "d.csv", "--column", "v", *over, *SURE, "-o", "r.parquet", "--clip")
    assert answer(*words)["clipped"] == 3
    assert "Rows whose number lies beyond the range: 3 of 6. They report its end (--clip)." in run(*words).stderr


def test_amounts_that_are_clipped_are_counted() -> None:
    Path("d.csv").write_text("v\n-1\n5\n7\n0\n10\n10.5\n")
    mean = ("--mechanism", "Duchi", "--low", 0, "--high", 10, "--epsilon", 1)
    words = ("privatize", "d.csv", "--column", "v", *mean, "-o", "r.parquet", "--clip")
    assert answer(*words)["clipped"] == 2
    assert "beyond the range: 2 of 6." in run(*words).stderr


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ((), "add --strip or --ignore-case"),
        (("--strip",), "add --ignore-case"),
        (("--ignore-case",), "add --strip"),
        (("--strip", "--ignore-case"), None),
    ],
)
def test_a_refusal_names_the_options_that_are_left(options: tuple[str, ...], hint: str | None) -> None:
    Path("d.csv").write_text("pet\ncat\nbird\n")
    message = refused("privatize", "d.csv", *PETS, *options)
    assert ("differ" in message) == (hint is not None)
    assert hint is None or message.rstrip(".\n").endswith(f"where only spaces or case differ, {hint}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('pet\n"cat\ndog\nbird\n', 2),
        ('pet\ncat\ndog\n"bird', 4),
        ('pet\n"ca\nt"\n"dog\n\n', 4),
        ('pet\n"cat\ndog\n"bird\n', 2),
        ('town,pet\nx,cat\ny,"dog\nz,cat\n', 3),
        ('"pet\ncat\ndog\n', 1),
    ],
)
@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz"])
def test_a_quote_that_nothing_closes_swallows_nobody(text: str, line: int, name: str) -> None:
    Path(name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    message = refused("privatize", name, *PETS, "--other", "other")
    assert "input must close every quote, with a comma or the end of the line after it" in message
    assert f"got a row that does not on line {line} of {name};" in message
    assert not Path("r.parquet").exists()


def test_quotes_that_close_are_read() -> None:
    Path("d.csv").write_text('"pet",town\n"cat","a\nb"\n"c""at",5" pipe\n"dog",\n')
    told = answer("privatize", "d.csv", *PETS, "--other", "other", "--keep", "town")
    assert (told["reports"], told["unmatched"]) == (3, 1)
    assert sorted(pq.read_table("r.parquet")["town"].to_pylist(), key=str) == ['5" pipe', None, "a\nb"]


def test_rows_of_another_length_are_named_by_their_line() -> None:
    Path("d.csv").write_text('id,pet\n1,"ca\nt"\n2,dog,SECRET-HIV\n')
    message = refused("privatize", "d.csv", *PETS, "--other", "other")
    assert "input must have 2 cells in every row, as in the first, got 3 on line 4 of d.csv" in message
    assert "SECRET" not in message


def test_counts_lose_no_row_either() -> None:
    spec = hush.Spec(hush.GRR(k=3, epsilon=1.0))
    Path("s.json").write_text(spec.to_json())
    for text, words in {
        'count,label\n1,a\n2,"b\n3,c\n': "--counts must close every quote",
        "label,count\na,1\nb,2,000\n": "--counts must have 2 cells in every row, as in the first, got 3 on line 3",
        "count\n1\n\n3\n": "--counts, row 2 must have a whole count",
    }.items():
        Path("c.csv").write_text(text)
        assert words in refused("simulate", *SURE, "--counts", "c.csv")


def test_bytes_in_a_column_are_text() -> None:
    pq.write_table(pa.table({"pet": pa.array([b"cat", b"dog", b"\xff", None])}), "d.parquet")
    told = answer("privatize", "d.parquet", *PETS, "--other", "other")
    assert (reported(), told["unmatched"], told["missing"]) == ([0, 1, 2, 2], 1, 1)


@pytest.mark.parametrize(
    ("options", "unmatched", "missing", "found"),
    [
        ((), 4, 1, [0, 2, 2, 2, 2, 2]),
        (("--strip",), 2, 2, [0, 1, 2, 2, 2, 2]),
        (("--ignore-case",), 3, 1, [0, 0, 2, 2, 2, 2]),
        (("--strip", "--ignore-case"), 1, 2, [0, 0, 1, 2, 2, 2]),
    ],
)
def test_rows_that_match_no_label_are_counted(
    options: tuple[str, ...], unmatched: int, missing: int, found: list[int]
) -> None:
    Path("d.csv").write_text('pet,id\ncat,1\nCAT,2\n dog\t,3\naxolotl,4\n,5\n" ",6\n')
    told = answer("privatize", "d.csv", *PETS, "--other", "other", *options)
    assert (told["reports"], told["unmatched"], told["missing"]) == (6, unmatched, missing)
    assert reported() == found
    said = " ".join(run("privatize", "d.csv", *PETS, "--other", "other", *options).stderr.split())
    assert f"rows that match no label: {unmatched} of 6. They report 'other'." in said
    assert f"Rows without a value: {missing} of 6." in said
    left = [option for option in ("--strip", "--ignore-case") if option not in options]
    assert ("Where only spaces or case differ" in said) == bool(left)
    assert all(option in said for option in left)
    assert "axolotl" not in said


def test_a_clean_table_is_told_nothing() -> None:
    Path("d.csv").write_text("pet,id\ncat,1\ndog,2\n")
    assert "no label" not in run("privatize", "d.csv", *PETS, "--other", "other").stderr


def test_labels_must_stay_different() -> None:
    Path("d.csv").write_text("pet,id\ncat,1\n")
    for labels, option in ((["cat", "Cat"], "--ignore-case"), (["cat", " cat "], "--strip")):
        Path("l.json").write_text(json.dumps(labels))
        words = ("privatize", "d.csv", "--column", "pet", *SURE, "--domain", "l.json", "-o", "r.parquet", option)
        message = refused(*words)
        assert f"{option} must leave all labels different, got labels 1 and 2, which would be the same" in message
    Path("l.json").write_text(json.dumps([" Cat ", "dog", 7]))
    Path("d.csv").write_text("pet,id\ncat,1\nDOG,2\n 7 ,3\n")
    words = ("privatize", "d.csv", "--column", "pet", *SURE, "--domain", "l.json", "-o", "r.parquet")
    answer(*words, "--strip", "--ignore-case")
    assert reported() == [0, 1, 2]


@pytest.mark.parametrize("option", ["--strip", "--ignore-case"])
def test_likeness_needs_labels(option: str) -> None:
    Path("d.csv").write_text("pet,id\n1,1\n")
    for made in (("--mechanism", "GRR", "--k", 3), ("--mechanism", "Duchi", "--low", 0, "--high", 3)):
        words = ("privatize", "d.csv", "--column", "pet", "--epsilon", 1, *made, "-o", "r.parquet", option)
        assert f"{option} needs labels, got numbers" in refused(*words)


def simulated(counts: str, *domain: Any, **more: Any) -> Any:
    spec = hush.Spec(hush.GRR(k=3, epsilon=40.0), hush.Domain(*domain, **more))
    Path("s.json").write_text(spec.to_json())
    Path("c.csv").write_text(counts)
    return "simulate", "--spec", "s.json", "--counts", "c.csv", "--runs", 1, "--seed", 7


def counted() -> list[int]:
    reports = pq.read_table("o.parquet")["report"].to_pylist()
    return np.bincount([int.from_bytes(each, "little") for each in reports], minlength=3).tolist()


@pytest.mark.parametrize(
    ("counts", "domain", "found"),
    [
        ("label,count\nfish,5\ncat,7\ndog,9\n", {"labels": ["cat", "dog", "fish"]}, [7, 9, 5]),
        ("label,count\nfish,5\ncat,7\n", {"labels": ["cat", "dog", "fish"]}, [7, 0, 5]),
        ("label,count\n30,5\n10,7\n20.0,9\n", {"labels": [10, 20, 30]}, [7, 9, 5]),
        ("label,count\n2,5\n0,7\n1,9\n", {"size": 3}, [7, 9, 5]),
        ("count\n5\n7\n9\n", {"labels": ["cat", "dog", "fish"]}, [5, 7, 9]),
    ],
)
def test_counts_meet_a_spec_by_label(counts: str, domain: dict[str, Any], found: list[int]) -> None:
    told = answer(*simulated(counts, **domain), "--reports-out", "o.parquet")
    assert told["n"] == sum(found)
    assert counted() == found


@pytest.mark.parametrize(
    ("counts", "domain", "got"),
    [
        (
            "label,count\nfish,5\ncat,7\nSECRET,9\n",
            {"labels": ["cat", "dog", "fish"]},
            "row 3 {labels}, got another one",
        ),
        ("label,count\nSECRET,9\ncat,5\n", {"labels": ["cat", "dog"], "other": "other"}, "row 1 {labels}"),
        ("label,count\n10,5\n10.0,7\n20,9\n", {"labels": [10, 20, 30]}, "row 2 {labels}, got one again"),
        ("label,count\ncat,5\ndog,7\nfish,9\n", {"size": 3}, "row 1 must have one of the spec's 3 values, once"),
        ("count\n5\n7\n", {"labels": ["cat", "dog", "fish"]}, "--spec must be one of 2 values, as c has, got 3"),
    ],
)
def test_counts_of_others_are_refused(counts: str, domain: dict[str, Any], got: str) -> None:
    message = refused(*simulated(counts, **domain))
    assert got.format(labels="must have one of the spec's 3 labels, once") in message
    assert "SECRET" not in message


def test_datasets_meet_a_spec_by_label() -> None:
    labels = [f"page {i}" for i in range(17)]
    Path("s.json").write_text(hush.Spec(hush.GRR(k=17, epsilon=1.0), hush.Domain(labels=labels)).to_json())
    message = refused("simulate", "--spec", "s.json", "--dataset", "msnbc")
    assert "--dataset msnbc, row 1 must have one of the spec's 17 labels" in message


def _single_valued() -> list[tuple[str, str]]:
    """Every option of every command that takes one value."""
    commands: dict[str, Any] = dict(getattr(typer.main.get_command(app), "commands"))  # noqa: B009 (untyped here)
    return [
        (name, each.opts[0])
        for name, command in commands.items()
        for each in command.params
        if each.param_type_name == "option" and not each.multiple and not each.is_flag
    ]


@pytest.mark.parametrize(("command", "option"), _single_valued())
def test_no_option_is_forgotten(command: str, option: str) -> None:
    required = {"privatize": ["d.csv"], "estimate": ["r.parquet"], "reproduce": ["refined"]}.get(command, [])
    assert f"{option} must be given once, got it 2 times" in refused(command, *required, option, 1, option, 3)
    assert "must be given once" in refused(command, *required, f"{option}=1", f"{option}=1")


def test_short_and_long_names_are_one_option() -> None:
    Path("d.csv").write_text("pet\ncat\n")
    assert "--output must be given once" in refused("privatize", "d.csv", *PETS, "--output", "other.parquet")
    assert run("mechanisms", "--k", 3, "--mechanism", "GRR", "--mechanism", "OUE", "--json", "--json").exit_code == 0
