"""`hush privatize`: from values to reports, whatever the columns hold."""

from __future__ import annotations

import datetime
import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hush
from hush.people.coding import Coder
from tests.system.support import answer, refused, run, write_csv

GRR = ("--mechanism", "GRR", "--epsilon", 40)
"""At this budget a report is its value, but for one in 10^16."""


def read(path: Path) -> tuple[hush.Spec, Any, pa.Table]:
    table = pq.read_table(path)
    spec = hush.Spec.from_json(table.schema.metadata[b"hush.spec"].decode())
    data = b"".join(table["report"].to_pylist())
    return spec, np.frombuffer(data, spec.mechanism.report_dtype), table


def test_the_file_says_what_it_is(reports: Path) -> None:
    spec, records, table = read(reports)
    assert spec == hush.Spec(hush.OUE(k=4, epsilon=2.0), hush.Domain(labels=["cat", "dog", "fish"], other="other"))
    assert table.schema.metadata[b"hush.randomness"] == b"secure"
    assert table.schema.metadata[b"hush.spec"].decode() == spec.to_json()
    assert table.schema.field("report").type == pa.binary(spec.mechanism.report_dtype.itemsize)
    assert table.column_names == ["report", "region"]
    assert len(records) == 10_000
    assert table.schema.metadata[b"hush.order"] == b"shuffled"
    assert set(table["region"].to_pylist()) == {"north", "south"}


def test_json_and_the_spec_file(pets: Path, labels: Path, tmp_path: Path) -> None:
    common = (pets, "--column", "pet", *GRR, "--domain", labels, "--other", "other")
    told = answer("privatize", *common, "-o", tmp_path / "a.parquet", "--spec-out", tmp_path / "spec.json")
    spec = hush.Spec.from_json((tmp_path / "spec.json").read_text())
    assert (told["reports"], told["bytes_per_report"], told["spec_hash"]) == (10_000, 1, spec.hash)
    again = answer("privatize", pets, "--column", "pet", "--spec", tmp_path / "spec.json", "-o", tmp_path / "b.parquet")
    assert again["spec_hash"] == spec.hash
    once_more = answer(
        "privatize", pets, "--column", "pet", "--spec", tmp_path / "a.parquet", "-o", tmp_path / "c.parquet"
    )
    assert once_more["spec"] == told["spec"]


def test_kept_columns_are_said_to_be_unprotected(pets: Path, tmp_path: Path) -> None:
    write_csv(tmp_path / "numbers.csv", {"v": [0, 1], "where": ["a", "b"]})
    result = run(
        "privatize",
        tmp_path / "numbers.csv",
        "--column",
        "v",
        "--k",
        2,
        *GRR,
        "--keep",
        "where",
        "-o",
        tmp_path / "r.parquet",
    )
    assert "no protection: where" in result.stderr


def test_a_mechanism_without_guarantee_is_said_to_have_none(tmp_path: Path) -> None:
    write_csv(tmp_path / "v.csv", {"v": [0, 1]})
    chosen = ("--mechanism", "LHO", "--set", "g=2", "--k", 2)
    result = run("privatize", tmp_path / "v.csv", "--column", "v", *chosen, "-o", tmp_path / "r.parquet")
    assert "LHO has no privacy guarantee" in result.stderr


def test_secure_randomness_differs_between_runs(pets: Path, labels: Path, tmp_path: Path) -> None:
    for name in "ab":
        chosen = ("--column", "pet", "--mechanism", "OUE", "--epsilon", 1, "--domain", labels, "--other", "other")
        assert run("privatize", pets, *chosen, "-o", tmp_path / f"{name}.parquet").exit_code == 0
    assert (read(tmp_path / "a.parquet")[1] != read(tmp_path / "b.parquet")[1]).any()


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_formats(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"data{suffix}"
    values = [2, 0, 1, 1]
    if suffix == ".parquet":
        pq.write_table(pa.table({"v": pa.array(values, pa.int16()), "day": [datetime.date(2024, 1, 1)] * 4}), path)
    else:
        text = "v,day\n" + "".join(f"{v},2024-01-01\n" for v in values)
        path.write_bytes(text.encode() if suffix == ".csv" else gzip.compress(text.encode()))
    result = run("privatize", path, "--column", "v", "--k", 3, *GRR, "--keep", "day", "-o", tmp_path / "r.parquet")
    assert result.exit_code == 0, result.output
    _, records, table = read(tmp_path / "r.parquet")
    assert sorted(records.tolist()) == sorted(values)
    assert str(table["day"][0].as_py()) == "2024-01-01"


def coded(domain: hush.Domain, cells: list[Any]) -> list[int]:
    return Coder(domain, "column").encode(pa.array(cells), 1).tolist()


def test_numbers_and_texts_meet_by_what_they_say() -> None:
    texts = hush.Domain(labels=["7", "8.5", "x", "true"])
    assert coded(texts, [7, 7]) == [0, 0]
    assert coded(texts, [7.0, 8.5]) == [0, 1]
    assert coded(texts, [Decimal("7"), Decimal("8.5")]) == [0, 1]
    assert coded(texts, [True]) == [3]
    numbers = hush.Domain(labels=[7, 8.5])
    assert coded(numbers, ["7", "8.5", "7.0"]) == [0, 1, 0]
    days = hush.Domain(labels=["2024-01-01", "2024-01-02"])
    assert coded(days, [datetime.date(2024, 1, 2)]) == [1]
    assert coded(hush.Domain(size=300), ["299", "0"]) == [299, 0]


def test_texts_meet_texts_exactly() -> None:
    postal = hush.Domain(labels=["7", "07"], other="other")
    assert coded(postal, ["07", "7", "007", " 7", None]) == [1, 0, 2, 2, 2]
    assert coded(hush.Domain(labels=["NA", "null"]), ["null", "NA"]) == [1, 0]
    assert Coder(postal, "c").encode(pa.array(["07", None]).dictionary_encode(), 1).tolist() == [1, 2]


def clipped(domain: hush.Domain, cells: list[Any]) -> list[int]:
    return Coder(domain, "column", clip=True).encode(pa.array(cells), 1).tolist()


def test_clipping_takes_larger_numbers_for_the_largest() -> None:
    assert clipped(hush.Domain(size=36), ["36", "40", "35", "0", "35.5"]) == [35, 35, 35, 0, 35]
    assert clipped(hush.Domain(size=36), [2**60, 7]) == [35, 7]
    assert clipped(hush.Domain(labels=[10, 5, 2.5]), [5, 11, 99.5]) == [1, 0, 0]
    assert clipped(hush.Domain(labels=["5", "10"], values=[5, 10]), ["11", "5"]) == [1, 0]
    assert clipped(hush.Domain(labels=["5", "10"], other="rest"), ["11", "7", "x", None]) == [1, 2, 2, 2]


@pytest.mark.parametrize("cell", ["-1", "3.5", "x", None, "1" + "0" * 400])
def test_clipping_takes_nothing_else(cell: str | None) -> None:
    with pytest.raises(hush.errors.DomainError, match="column column, row 2"):
        clipped(hush.Domain(size=36), ["1", cell])


def test_clipping_needs_numbers(pets: Path, labels: Path, tmp_path: Path) -> None:
    made = ("privatize", pets, "--column", "pet", *GRR, "--domain", labels, "--clip", "-o", tmp_path / "r.parquet")
    assert "--clip needs values that are numbers" in refused(*made)


def test_a_plan_that_clips_can_be_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(Path("water.csv"), {"value": list(range(6)), "count": [100, 300, 300, 200, 90, 10]})
    write_csv(Path("meters.csv"), {"use": [1, 2, 5, 4]})
    planned = ("capacity", "--mechanism", "GRR", "--counts", "water.csv", "--cap", 1000, "--probability", 0.2)
    assert run(*planned, "--clip-above", 4, "--spec-out", "s.json").exit_code == 0
    made = ("privatize", "meters.csv", "--column", "use", "--spec", "s.json", "-o", "r.parquet")
    message = refused(*made)
    assert "column use, row 3 must be an integer in 0..4" in message
    assert "add --clip, so that a number above 4 counts as that" in message
    assert answer(*made, "--clip")["reports"] == 4


def test_domains_in_json(tmp_path: Path) -> None:
    data = write_csv(tmp_path / "d.csv", {"v": ["b", "zzz"]})
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps(hush.Domain(labels=["a", "b"], other="rest").to_dict()))
    plain = tmp_path / "list.json"
    plain.write_text('["a", "b"]')
    for domain, more in ((whole, ()), (plain, ("--other", "rest"))):
        out = tmp_path / "r.parquet"
        assert run("privatize", data, "--column", "v", *GRR, "--domain", domain, *more, "-o", out).exit_code == 0
        assert sorted(read(out)[1].tolist()) == [1, 2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"source": "nope.csv"}, ["input must be a file that exists", "nope.csv"]),
        ({"source": "labels.txt"}, ["input must end in .csv"]),
        ({"--column": "pat"}, ["--column must be one of the 3 names in the first row of pets.csv", "'pat'"]),
        ({"--domain": None}, ["domain must be given", "itself private", "--domain", "--k"]),
        ({"--domain": "nope.txt"}, ["--domain must be a file that exists", "nope.txt"]),
        ({"--domain": "blank.txt"}, ["--domain must have a label on every line", "blank line 2"]),
        ({"--domain": "twice.txt"}, ["--domain must have each label once", "got the same on lines 1 and 2 of"]),
        ({"--domain": "broken.json"}, ["--domain must be JSON"]),
        ({"--domain": "odd.json"}, ["--domain must be a list or an object"]),
        ({"--other": None}, ["column pet, row 9901", "one of the domain's 3 labels", "got another value", "--other"]),
        ({"--domain": "more.txt", "--other": None}, ["column pet, row 9961", "got a missing value;", "--other"]),
        ({"--domain": None, "--k": 4}, ["--other needs labels"]),
        ({"--domain": None, "--other": None, "--k": 4}, ["column pet, row 1", "integer in 0..3", "got another value"]),
        ({"--k": 9}, ["domain must have k=9 values", "got 4"]),
        ({"--mechanism": None}, ["--mechanism must be given"]),
        ({"--mechanism": "OOE"}, ["--mechanism must be a known name", "OUE"]),
        ({"--mechanism": "AGRR"}, ["delta must be given for AGRR", "--delta"]),
        ({"--delta": 1e-5}, ["delta is no parameter of OUE"]),
        ({"--epsilon": None}, ["epsilon must be given for OUE"]),
        ({"--epsilon": -1}, ["epsilon must be", "got -1.0"]),
        ({"--set": "g=3"}, ["g is no parameter of OUE"]),
        ({"--keep": "pet"}, ["--keep must not be a column to protect"]),
        ({"--keep": "report"}, ["--keep must not take the reports' own name"]),
        ({"--keep": "nope"}, ["--keep must be one of the 3 names in the first row of pets.csv", "nope"]),
        ({"-o": "missing/r.parquet"}, ["--output must lie in a folder that exists", "make missing first"]),
        ({"-o": "pets.csv"}, ["--output must not be a file that this command reads"]),
        ({"-o": "."}, ["--output must be a file", "got a folder"]),
        ({"--spec": "labels.txt"}, ["--domain must not stand beside --spec, got both"]),
        ({"--seed": 7}, ["option must be one that hush privatize takes", "'--seed'"]),
        ({"source": "bad.parquet"}, ["input must be a readable", "bad.parquet"]),
        ({"source": "latin.csv"}, ["input must be UTF-8 text, got other bytes on line 2 of latin.csv"]),
        ({"source": "empty.csv"}, ["input must have a header row", "got an empty file"]),
    ],
)  # fmt: skip
def test_refuses(
    change: dict[str, Any], words: list[str], pets: Path, labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "blank.txt": "a\n\nb\n", "twice.txt": "a\na\n", "broken.json": "[", "odd.json": "7", "bad.parquet": "PAR1",
        "more.txt": "cat\ndog\nfish\naxolotl\n", "empty.csv": "",
    }.items():  # fmt: skip
        Path(name).write_text(text)
    Path("latin.csv").write_bytes("pet\ncafé\n".encode("latin-1"))
    before = sorted(tmp_path.iterdir()), pets.read_bytes()
    options = {
        "--column": "pet", "--mechanism": "OUE", "--epsilon": 1, "--domain": "labels.txt", "--other": "other",
        "-o": "out.parquet", **change,
    }  # fmt: skip
    source = options.pop("source", "pets.csv")
    flat = [word for name, value in options.items() if value is not None for word in (name, value)]
    message = refused("privatize", source, *flat)
    assert all(word in message for word in words), message
    assert (sorted(tmp_path.iterdir()), pets.read_bytes()) == before
