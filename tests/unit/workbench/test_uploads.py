"""Files that somebody uploads: what is in them is counted, and what cannot be read is said in words."""

from __future__ import annotations

import datetime
import io
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hush.errors import HushError, ParameterError
from hush.workbench.data.apart import columns_apart, counted_apart
from hush.workbench.data.column import CountedColumn, scaled
from hush.workbench.data.held import MEGABYTE, MOST_BYTES, MOST_ROWS, Shelf
from hush.workbench.data.reading import arrived, columns_of, counted, held


def parquet(columns: dict[str, object]) -> bytes:
    """A Parquet file."""
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def test_a_column_of_a_csv_is_counted_as_it_is_written() -> None:
    text = 'id,drink\r\n1,tea\r\n2,"juice, fresh"\r\n3,\r\n4,tea\r\n5, tea\r\n'
    file = held("C:\\people\\drinks.csv", text.encode())
    assert str(file) == "drinks.csv"
    assert columns_of(file) == ["id", "drink"]
    found = counted(file, "drink")
    assert dict(found.counts) == {"tea": 2, " tea": 1, "juice, fresh": 1}
    assert (found.missing, found.rows) == (1, 4)


def test_many_batches_are_counted_together() -> None:
    values = np.random.default_rng(3).integers(0, 30, 200_000)
    file = held("a.csv", ("v\n" + "\n".join(map(str, values)) + "\n").encode())
    found = counted(file, "v")
    assert dict(found.counts) == {str(v): c for v, c in Counter(values.tolist()).items()}
    numbers = list(found.counts.values())
    assert numbers == sorted(numbers, reverse=True)


def test_a_parquet_file_keeps_numbers_truths_and_dates() -> None:
    day = datetime.date(2026, 1, 2)
    file = held(
        "a.parquet",
        parquet(
            {
                "whole": [1, 2, 2, None],
                "real": [1.0, 2.5, float("nan"), 2.5],
                "truth": [True, False, True, None],
                "day": [day, day, None, day],
                "nested": [[1], [2], [3], [4]],
            }
        ),
    )
    assert columns_of(file) == ["whole", "real", "truth", "day"]
    assert "4 columns of plain values. Columns of lists or records cannot be tried." in arrived(file, columns_of(file))
    assert dict(counted(file, "whole").counts) == {2: 2, 1: 1}
    assert dict(counted(file, "real").counts) == {2.5: 2, 1: 1}
    assert counted(file, "real").missing == 1
    assert dict(counted(file, "truth").counts) == {"true": 2, "false": 1}
    assert dict(counted(file, "day").counts) == {"2026-01-02": 3}


SMALL = parquet({"a": [1, 2]})

REFUSED = [
    ("a.xlsx", b"PK\x03\x04", "a name that ends in .xlsx"),
    ("answers", b"a\n1\n", "a name that ends in nothing"),
    (".csv", b"", "an empty file"),
    ("a.csv", b"", "an empty file"),
    ("a.csv", b"PK\x03\x04rest", "a spreadsheet or an archive"),
    ("a.csv", b"\x1f\x8brest", "a compressed file"),
    ("a.csv", SMALL, "rename it to .parquet"),
    ("a.csv", "a,b\n1,2\n".encode("utf-16"), "text in UTF-16"),
    ("a.csv", b"a,b\n\0\0\0\n", "bytes that are no text"),
    ("a.parquet", b"a,b\n1,2\n", "rename it to .csv"),
    ("a.csv", b"x" * (MOST_BYTES + 1), "at most 20 MB"),
]


@pytest.mark.parametrize(("name", "content", "said"), REFUSED, ids=lambda part: str(part)[:20])
def test_a_file_of_another_kind_is_refused_from_outside(name: str, content: bytes, said: str) -> None:
    with pytest.raises(ParameterError, match=r"^The file must") as refused:
        held(name, content)
    assert said in str(refused.value)


BROKEN = [
    ("a.csv", b"a,b\n1,2,3\n", "2 cells in every row"),
    ("a.csv", b"a,b\n\xff\xfe\xfd,1\n", "must be UTF-8 text"),
    ("a.csv", b'a,b\n"x,1\n', "must close every quote"),
    ("a.csv", b"a;b\n1;2\n", "a first row with semicolons"),
    ("a.csv", b"\n\n", "must have a header row"),
    ("a.csv", b"a,a\n1,2\n", "which it has 2 times"),
    ("a.csv", b"b\n1\n", "check its spelling"),
    ("a.csv", b"a,b\n", "no rows"),
    ("a.csv", b"a,b\n,1\n,2\n", "2 empty ones"),
    ("a.csv", b"a,b\nx,1\nx,2\n", "two different values, got one"),
    ("a.csv", b"a\n" + b"x" * 201 + b"\ny\n", "not of texts"),
    ("a.csv", b"a\n" + b"\n".join(b"%d" % i for i in range(1001)), "at most 1,000 different values"),
    ("a.csv", b"a\n" + b"\n".join(b"%d" % i for i in range(100_001)), "not of names"),
    ("a.csv", b"a\n" + b"x\n" * (MOST_ROWS + 1), "at most 1,000,000 rows"),
    ("a.csv", b",".join(b"c%d" % i for i in range(1001)) + b"\n", "at most 1,000 columns"),
    ("a.parquet", SMALL[:-20], "must be a readable"),
    ("a.parquet", b"PAR1" + bytes(100) + b"PAR1", "must be a readable"),
    ("a.parquet", parquet({"a": [b"\xff", b"\xfe"]}), "bytes that are no text"),
    ("a.parquet", parquet({"a": [[1], [2]]}), "a column of plain values"),
    ("a.parquet", parquet({"a": np.zeros(MOST_ROWS + 1, np.int8)}), "at most 1,000,000 rows"),
]


def whole(name: str, content: bytes) -> None:
    """All that a page does with a file."""
    file = held(name, content)
    columns_of(file)
    counted(file, "a").kept()


@pytest.mark.parametrize(("name", "content", "said"), BROKEN, ids=[said for *_, said in BROKEN])
def test_what_is_wrong_inside_is_said_in_words(name: str, content: bytes, said: str) -> None:
    with pytest.raises(HushError) as refused:
        whole(name, content)
    assert said in str(refused.value)
    assert "input" not in str(refused.value)


def test_a_file_that_unpacks_to_too_much_is_refused_by_its_footer() -> None:
    rows = 50_000
    content = parquet({"a": pa.array(["x" * 8000] * 10 + ["y" * 7000] * (rows - 10))})
    assert len(content) < MOST_BYTES
    plain = io.BytesIO()
    table = pa.table({"a": ["x" * 8000] * rows})
    pq.write_table(table, plain, use_dictionary=False, compression="zstd")
    assert len(plain.getvalue()) < MOST_BYTES
    with pytest.raises(ParameterError, match="when it is unpacked"):
        columns_of(held("a.parquet", plain.getvalue()))


def test_a_file_that_would_abort_its_reader_is_refused_in_words() -> None:
    """pyarrow has ended the whole process on these bytes; the page's goes on."""
    content = bytearray(parquet({"a": ["x", "y", "x"] * 50, "b": list(range(150))}))
    for at, byte in ((872, 43), (960, 103), (834, 24), (541, 115), (468, 67)):
        content[at] = byte
    with pytest.raises(ParameterError, match=r"^The file must be"):
        columns_apart(held("a.parquet", bytes(content)))


def test_what_is_read_apart_is_the_same() -> None:
    for file in (
        held("a.csv", b"a,b\nx,1\n,2\nx,3\ny,\n"),
        held("a.parquet", parquet({"a": [1, 2, None, 2], "b": [0.5, 0.5, 1.0, None]})),
    ):
        assert columns_apart(file) == columns_of(file) == ["a", "b"]
        for name in ("a", "b"):
            assert counted_apart(file, name) == counted(file, name)


def test_what_is_refused_apart_is_refused_with_the_same_words() -> None:
    file = held("a.csv", b"a,b\n1,2,3\n")
    with pytest.raises(ParameterError) as here:
        counted(file, "a")
    with pytest.raises(ParameterError) as apart:
        counted_apart(file, "a")
    assert str(apart.value) == str(here.value)


def test_nothing_touches_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    file = held("a.csv", b"a\n" + b"x\ny\n" * 100_000)
    assert columns_of(file) == ["a"]
    assert arrived(file, ["a"]) == "a.csv is here: 1 column."
    assert counted(file, "a").rows == 200_000
    assert list(tmp_path.iterdir()) == []
    assert "x\\ny" not in repr(file)


def test_rare_values_can_be_counted_as_one() -> None:
    column = CountedColumn("a", {"x": 5, "other": 3, "y": 2, "z": 1})
    assert column.kept(2).domain.labels == ("x", "other", "other…")
    assert column.kept(2).counts.tolist() == [5, 3, 3]
    assert column.kept(9).domain.labels == ("x", "other", "y", "z")
    assert column.kept().counts.tolist() == [5, 3, 2, 1]


def test_people_are_scaled_with_their_shares() -> None:
    people = CountedColumn("a", {"x": 50, "y": 30, "z": 20}).kept()
    assert scaled(people, None) is people
    assert scaled(people, 100) is people
    assert scaled(people, 1_000_000).counts.tolist() == [500_000, 300_000, 200_000]
    assert int(scaled(people, 7).counts.sum()) == 7


def test_all_open_pages_share_one_shelf() -> None:
    shelf = Shelf(3 * MEGABYTE)
    shelf.take(2 * MEGABYTE)
    with pytest.raises(ParameterError, match=r"beside what others have open, got 2\.0 MB"):
        shelf.take(2 * MEGABYTE)
    shelf.give_back(2 * MEGABYTE)
    shelf.take(3 * MEGABYTE)
    assert shelf.free == 0
