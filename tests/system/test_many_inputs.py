"""Files, folders, patterns and URIs of several kinds become one file of reports: one multiset, whatever lay where."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import hush
from tests.system.support import answer, refused, run

LABELS = [f"label {i}" for i in range(300)]
GRR = ("--mechanism", "GRR", "--epsilon", 40)
"""At this budget a report is its value, but for one in 10^15."""


def table(start: int, stop: int) -> pa.Table:
    """Rows i of a table: a label, and a number to keep."""
    return pa.table({"v": [LABELS[i % 300] for i in range(start, stop)], "id": list(range(start, stop))})


def write(path: Path, rows: pa.Table) -> None:
    """A table in the kind of file that its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(rows, path, row_group_size=70)
    elif path.suffix == ".feather":
        feather.write_feather(rows, str(path))
    elif path.suffix in (".arrow", ".arrows"):
        new = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
        with pa.OSFile(str(path), "wb") as sink, new(sink, rows.schema) as writer:
            writer.write_table(rows, max_chunksize=33)
    else:
        text = "id,v\n" + "".join(f"{i},{v}\n" for v, i in zip(*rows.to_pydict().values(), strict=True))
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("labels.txt").write_text("\n".join(LABELS))
    return tmp_path


def reported(path: str | Path) -> list[int]:
    """The values that were reported, in order."""
    return [int.from_bytes(each, "little") for each in pq.read_table(path)["report"].to_pylist()]


def made(*inputs: str | Path, keep: str | None = None) -> tuple[Any, ...]:
    kept = () if keep is None else ("--keep", keep)
    return ("privatize", *inputs, "--column", "v", "--domain", "labels.txt", *GRR, *kept, "-o", "r.parquet")


KINDS = (".csv", ".csv.gz", ".parquet", ".arrow", ".feather", ".arrows")


@pytest.mark.parametrize("how", ["files", "folder", "pattern", "pattern of folders"])
def test_files_of_all_kinds_are_one_multiset(folder: Path, how: str) -> None:
    names = [folder / "data" / f"part{i}" / f"rows{kind}" for i, kind in enumerate(KINDS)]
    for i, name in enumerate(names):
        write(name, table(100 * i, 100 * (i + 1)))
    inputs = {
        "files": names,
        "folder": ["data"],
        "pattern": ["data/*/rows.*"],
        "pattern of folders": ["data/part[0-4]", "data/part5/rows.arrows"],
    }[how]
    assert answer(*made(*inputs))["reports"] == 600
    expected = [i % 300 for i in range(600)]
    assert reported("r.parquet") != expected
    assert sorted(reported("r.parquet")) == sorted(expected)
    assert not any(set(reported("r.parquet")[at : at + 100]) == set(range(100)) for at in range(0, 600, 100))
    assert answer(*made(*inputs), "--keep-order")["reports"] == 600
    assert reported("r.parquet") == expected


def test_kept_cells_of_all_files_stay_with_their_report(folder: Path) -> None:
    for i, kind in enumerate((".parquet", ".arrow", ".feather", ".arrows")):
        write(folder / "data" / f"{i}{kind}", table(100 * i, 100 * (i + 1)))
    assert answer(*made("data", keep="id"))["smallest_group"] == 1
    ids = pq.read_table("r.parquet")["id"].to_pylist()
    assert ids != sorted(ids)
    assert sorted(zip(ids, reported("r.parquet"), strict=True)) == [(i, i % 300) for i in range(400)]


def test_kept_cells_of_two_types_are_refused(folder: Path) -> None:
    write(folder / "a.parquet", table(0, 10))
    write(folder / "b.csv", table(10, 20))
    assert "--keep must be of one type in all files, got id: int64 and string" in refused(
        *made("a.parquet", "b.csv", keep="id")
    )
    assert not Path("r.parquet").exists()


def test_what_folders_say_is_a_column(folder: Path) -> None:
    write(folder / "d" / "region=north%20east" / "a.parquet", table(0, 100))
    write(folder / "d" / "region=south" / "b.csv", table(100, 300))
    assert answer(*made("d", keep="region"))["smallest_group"] == 100
    found = pq.read_table("r.parquet")["region"].to_pylist()
    assert {name: found.count(name) for name in set(found)} == {"north east": 100, "south": 200}
    north = {value for value, where in zip(reported("r.parquet"), found, strict=True) if where == "north east"}
    assert north == set(range(100))
    write(folder / "e" / "v=label 7" / "a.parquet", table(0, 5).drop_columns("v"))
    assert answer(*made("e"))["reports"] == 5
    assert reported("r.parquet") == [7] * 5


@pytest.mark.parametrize("kind", KINDS)
def test_files_on_another_filesystem(folder: Path, kind: str) -> None:
    fsspec = pytest.importorskip("fsspec")
    write(folder / f"here{kind}", table(0, 100))
    with fsspec.open(f"memory://{folder.name}/there{kind}", "wb") as there:
        there.write((folder / f"here{kind}").read_bytes())
    for given in (f"memory://{folder.name}/there{kind}", f"memory://{folder.name}"):
        assert answer(*made(given))["reports"] == 100
        assert sorted(reported("r.parquet")) == list(range(100))


def test_files_with_no_rows_and_with_one(folder: Path) -> None:
    for i, kind in enumerate(KINDS):
        write(folder / "none" / f"n{kind}", table(0, 0))
        write(folder / "one" / f"o{kind}", table(i, i + 1))
    assert answer(*made("one", "none"))["reports"] == 6
    assert sorted(reported("r.parquet")) == list(range(6))
    found = run(*made("none"))
    assert found.exit_code == 0
    assert "the input has no rows" in found.stderr
    assert hush.read("r.parquet").n == 0  # type: ignore[union-attr]
    for kind in KINDS:
        assert answer(*made(f"one/o{kind}"))["reports"] == 1
        assert answer(*made(f"none/n{kind}"))["reports"] == 0


@pytest.mark.parametrize("kind", [".csv.gz", ".parquet", ".arrow", ".feather", ".arrows"])
def test_a_torn_file_among_others_leaves_nothing(folder: Path, kind: str) -> None:
    write(folder / "a.csv", table(0, 10))
    write(folder / f"torn{kind}", table(0, 30_000))
    whole = (folder / f"torn{kind}").read_bytes()
    before = sorted(path.name for path in folder.iterdir())
    for size in (0, 4, len(whole) // 2, len(whole) - 9):
        (folder / f"torn{kind}").write_bytes(whole[:size])
        said = refused(*made("a.csv", f"torn{kind}"))
        assert f"'torn{kind}'" in said
        assert "label" not in said.replace("labels.txt", "")
        assert sorted(path.name for path in folder.iterdir()) == before


def test_codes_that_point_nowhere_are_refused(folder: Path) -> None:
    """Arrow's own format may say anything; readers that trust it read whatever lies there."""
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 77, -3], pa.int32()), pa.array(LABELS[:2]), safe=False)
    write(folder / "bad.arrow", pa.table({"v": codes}))
    assert "input must be a readable CSV (UTF-8), Parquet or Arrow file, got 'bad.arrow'" in refused(*made("bad.arrow"))


def test_what_is_wrong_names_its_file(folder: Path) -> None:
    write(folder / "a.csv", table(0, 10))
    Path("b.csv").write_text("v\nlabel 1\nmeans nothing\n")
    said = refused(*made("a.csv", "b.csv"))
    assert "b.csv: column v, row 2 must be one of the domain's 300 labels" in said
    assert "means nothing" not in said
    assert "input must be different files" in refused(*made("a.csv", "./a.csv"))
    assert "input must be a file that exists" in refused(*made("a.csv", "nowhere.csv"))
    assert "input must match at least one file" in refused(*made("*.orc"))
    Path("c.txt").write_text("v\n")
    assert "input must end in .csv, .csv.gz, .parquet, .arrow, .feather or .arrows" in refused(*made("c.txt"))
    write(folder / "d" / "r.parquet", table(0, 10))
    words = ("privatize", "d", "--column", "v", "--domain", "labels.txt", *GRR, "-o", "d/r.parquet")
    assert "--output must not be a file that this command reads" in refused(*words)
    assert "--output must lie outside of d, all of which this command reads" in refused(*words[:-1], "d/new.parquet")
    assert sorted(path.name for path in Path("d").iterdir()) == ["r.parquet"]
    assert "--column must be one of v, id" in refused(
        "privatize", "d", "--column", "w", "--k", 2, *GRR, "-o", "r.parquet"
    )
