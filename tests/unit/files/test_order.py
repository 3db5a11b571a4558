"""Rows come out in a uniform order, whole, and wait where nobody reads them."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numba import njit
from scipy.stats import hypergeom

import hush
from hush import statistics
from hush.files.batches import evenly, joined, plain
from hush.files.order import Shuffler
from hush.files.scratch import Place, Scratch
from hush.kernels import orders
from hush.kernels.words import HALF, word

pytestmark = pytest.mark.boundary

SEED = 20261117


def batches(cells: Any, rows: int, beside: bool = False) -> Iterator[pa.RecordBatch]:
    """Cells, alone, or with another column beside them, which is dealt with in another way."""
    whole = pa.record_batch([pa.array(cells)] + [pa.nulls(len(cells))] * beside, ["cell", "beside"][: 1 + beside])
    for start in range(0, max(len(whole), 1), rows):
        yield whole.slice(start, rows)


def shuffled(
    cells: Any, rng: np.random.Generator | None, rows: int, memory: int | None, beside: bool = False
) -> list[Any]:
    with Shuffler(rng, memory=memory) as shuffler:
        for batch in batches(cells, rows, beside):
            shuffler.add(batch)
        assert shuffler.rows == len(cells)
        return [cell for batch in shuffler for cell in batch.column(0).to_pylist()]


# Every order is equally likely.


both = pytest.mark.parametrize("beside", [False, True], ids=["alone", "rows"])


@both
@pytest.mark.parametrize(("size", "memory", "runs"), [(4, None, 6000), (3, 0, 1000)], ids=["held", "dealt"])
def test_all_orders_of_few_rows_are_as_frequent(size: int, memory: int | None, runs: int, beside: bool) -> None:
    """Exact binomial tails, false-alarm rate 1e-9. Rows that are dealt come one by one, each a pile of its own."""
    print("seed", SEED)
    rng = hush.seeded(SEED)
    seen = Counter(tuple(shuffled(range(size), rng, 1, memory, beside)) for _ in range(runs))
    assert set(seen) <= set(permutations(range(size)))
    for order in permutations(range(size)):
        chance = 1 / math.factorial(size)
        assert not statistics.count_alarm(seen[order], runs, chance, comparisons=math.factorial(size))


@both
@pytest.mark.parametrize(
    ("n", "memory"), [(1 << 18, None), (1 << 18, 1 << 20), (1 << 12, 200)], ids=["held", "dealt", "dealt twice"]
)
def test_where_rows_come_from_does_not_show(n: int, memory: int | None, beside: bool) -> None:
    """Rows of each input part among those of each output part: hypergeometric tails, false-alarm rate 1e-9."""
    print("seed", SEED)
    parts = 16
    order = np.array(shuffled(np.arange(n), hush.seeded(SEED), 1000, memory, beside))
    assert (np.sort(order) == np.arange(n)).all()
    size = n // parts
    counts = np.histogram2d(np.arange(n) // size, order // size, bins=parts)[0].astype(int)
    law = hypergeom(n, size, size)
    tails = 2 * np.minimum(law.cdf(counts), law.sf(counts - 1))
    assert tails.min() > statistics.FALSE_ALARM / (3 * parts**2)
    rises = sum(a < b for a, b in pairwise(order.tolist()))  # normal, variance (n+1)/12
    assert abs(rises - (n - 1) / 2) < statistics.sigmas(3) * math.sqrt((n + 1) / 12)
    follow = sum(b - a == 1 for a, b in pairwise(order.tolist()))  # Poisson, mean 1
    assert follow < 15


def test_rejection_leaves_no_bias() -> None:
    """Below 3·2^30 a quarter of all words are thrown away; without that, multiples of three come in half the draws."""

    @njit
    def draw(source, size, n):  # type: ignore[no-untyped-def]
        return np.array([orders._below(source, word(source) >> HALF, size) for _ in range(n)])

    print("seed", SEED)
    drawn = draw(hush.seeded(SEED).bit_generator, np.uint64(3 << 30), 30_000)
    assert drawn.max() < 3 << 30
    for rest in range(3):
        assert not statistics.count_alarm(int((drawn % 3 == rest).sum()), drawn.size, 1 / 3, comparisons=3)


def test_secure_by_default_and_repeatable_with_a_seed() -> None:
    cells = list(range(1000))
    assert shuffled(cells, hush.seeded(7), 100, 4000) == shuffled(cells, hush.seeded(7), 100, 4000)
    assert shuffled(cells, None, 100, None) != shuffled(cells, None, 100, None)
    assert shuffled(cells, None, 100, 4000) != shuffled(cells, None, 100, 4000)


# Whole rows.


@pytest.mark.parametrize("memory", [None, 20_000], ids=["held", "dealt"])
def test_cells_of_any_kind_stay_with_their_row(memory: int | None) -> None:
    n = 4000
    table = pa.table(
        {
            "id": pa.array(range(n), pa.uint16()),
            "text": [None if i % 7 == 0 else f"é{i}" * (i % 5) for i in range(n)],
            "list": [None if i % 3 == 0 else [i, None] for i in range(n)],
            "struct": [{"a": i, "b": str(i)} for i in range(n)],
            "nothing": pa.nulls(n),
            "truth": [i % 3 == 0 for i in range(n)],
        }
    )
    with Shuffler(memory=memory) as shuffler:
        for batch in table.to_batches(max_chunksize=301):
            shuffler.add(batch)
        found = pa.Table.from_batches(list(shuffler))
    assert found["id"].to_pylist() != table["id"].to_pylist()
    assert found.sort_by("id").equals(table.sort_by("id"))


@pytest.mark.parametrize("memory", [None, 3000], ids=["held", "dealt"])
@pytest.mark.parametrize("kind", ["int8", "uint16", "float32", "date32", "timestamp[us, UTC]", "bool", "binary9"])
def test_cells_alone_of_any_kind_are_all_there(kind: str, memory: int | None) -> None:
    """In slices, and with empty cells in one batch of many: each batch goes its own way."""
    numbers = pa.array(np.arange(2000) % 100)
    if kind == "binary9":
        column = pa.array([bytes([i % 100] * 9) for i in range(2000)], pa.binary(9))
    elif kind == "bool":
        column = pa.array([i % 3 == 0 for i in range(2000)])
    else:
        to = {"date32": pa.date32(), "timestamp[us, UTC]": pa.timestamp("us", "UTC")}.get(kind, kind)
        column = numbers.cast("int32" if kind == "date32" else "int64").cast(to)
    for with_empty in (False, True):
        whole = pa.concat_arrays([column, pa.nulls(3 * with_empty, column.type)])
        with Shuffler(memory=memory) as shuffler:
            for start in range(0, len(whole), 301):
                shuffler.add(pa.record_batch([whole.slice(start, 301)], ["cell"]))
            found = pa.Table.from_batches(list(shuffler))["cell"]
        assert found.type == column.type
        assert found.to_pylist() != whole.to_pylist()
        assert sorted(map(str, found.to_pylist())) == sorted(map(str, whole.to_pylist()))


def test_no_rows_keep_their_types() -> None:
    empty = pa.record_batch([pa.array([], pa.string())], ["cell"])
    with Shuffler() as shuffler:
        shuffler.add(empty)
        assert [batch.equals(empty) for batch in shuffler] == [True]
    with Shuffler() as shuffler:
        assert list(shuffler) == []


def test_even_batches() -> None:
    for sizes in ([5], [1, 0, 7, 2], [3, 3], [0], [10]):
        whole = list(range(sum(sizes)))
        ends = np.cumsum(sizes).tolist()
        parts = [
            pa.record_batch([pa.array(whole[e - s : e], pa.int64())], ["v"]) for s, e in zip(sizes, ends, strict=True)
        ]
        found = list(evenly(parts, 3, 1 << 20))
        assert [len(each) for each in found] == [len(whole[i : i + 3]) for i in range(0, max(len(whole), 1), 3)]
        assert joined(found).column(0).to_pylist() == whole


def nested(texts: list[str | None]) -> pa.RecordBatch:
    """The texts, in columns of many kinds."""
    return pa.record_batch(
        [
            pa.array(texts, pa.string()),
            pa.array([None if text is None else [text, "b"] for text in texts], pa.list_(pa.string())),
            pa.array([{"f": text, "g": 1} for text in texts], pa.struct({"f": pa.string(), "g": pa.int8()})),
            pa.array([[("key", text)] for text in texts], pa.map_(pa.string(), pa.string())),
            pa.array([bytes(16) for _ in texts], pa.uuid()),
            pa.nulls(len(texts)),
        ],
        [str(i) for i in range(6)],
    )


def test_batches_of_long_cells_are_small() -> None:
    """A thousand bytes a text and four texts a row: 16 rows of 64 KB each, and a single one that takes more."""
    texts = ["x" * 1000] * 100
    sizes = [len(each) for each in evenly([nested(texts)], 64, 70_000)]
    assert sizes == [16] * 6 + [4]
    whole = evenly([nested([*texts, "x" * 100_000])], 64, 70_000)
    assert [len(each) for each in whole] == [16] * 6 + [4, 1]


def test_batches_that_come_in_do_not_show() -> None:
    """At every size, since Arrow counts bits that say which cells are missing where one that came along is missing."""
    texts = ["x" * (i % 7) for i in range(32)] + [None] * 3

    def sizes(cuts: list[int], size: int) -> list[int]:
        ends = np.cumsum(cuts).tolist()
        parts = [nested(texts[e - s : e]) for s, e in zip(cuts, ends, strict=True)]
        found = list(evenly(parts, 32, size))
        assert joined(found).column(0).to_pylist() == texts
        return [len(each) for each in found]

    for size in range(1000, 4000, 10):
        assert sizes([35], size) == sizes([32, 3], size) == sizes([5, 0, 30], size)
    assert len({tuple(sizes([35], size)) for size in range(1000, 4000, 10)}) > 2


def test_views_become_texts() -> None:
    columns = [
        pa.array(["a", None], pa.string_view()),
        pa.array([b"a", None], pa.binary_view()),
        pa.array([["a"], None], pa.list_(pa.string_view())),
        pa.array([{"f": "a"}, None], pa.struct({"f": pa.string_view()})),
    ]
    batch = pa.record_batch(columns, [str(i) for i in range(len(columns))])
    found = plain(batch)
    assert "view" not in str(found.schema)
    assert found.to_pylist() == batch.to_pylist()
    with Shuffler() as shuffler:
        shuffler.add(found)
        assert sorted(map(str, joined(list(shuffler)).to_pylist())) == sorted(map(str, batch.to_pylist()))


def test_dictionaries_are_taken_away_at_any_depth() -> None:
    codes = pa.array(["b", "a", "b"]).dictionary_encode()
    text, kind = pa.string(), codes.type
    columns = [
        codes,
        pa.StructArray.from_arrays([codes], ["f"]),
        pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), codes),
        pa.LargeListArray.from_arrays(pa.array([0, 1, 2, 3]), codes),
        pa.FixedSizeListArray.from_arrays(codes, 1),
        pa.MapArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), pa.array(["k"] * 3), codes),
        pa.array([1, 2, 3]),
    ]
    batch = pa.record_batch(columns, [str(i) for i in range(len(columns))])
    found = plain(batch)
    assert str(kind) not in str(found.schema)
    assert found.to_pylist() == batch.to_pylist()
    assert found.schema.field("0").type == text
    assert found.schema.field("6").type == pa.int64()


# Where rows wait.


def test_what_waits_is_encrypted_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = []

    def named(dir: Path, buffering: int = -1) -> Any:
        kept.append(tempfile.NamedTemporaryFile(dir=dir, buffering=buffering, delete=False))  # noqa: SIM115 (the scratch closes it)
        return kept[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", named)
    scratch, said = Scratch(tmp_path), [b"CANARY 1" * n for n in (1, 1000, 3, 4)]
    said += [b"CANARY 1" * 200_000 + b"C", b"CAN"]  # more than is encrypted at a time, and no whole words
    places = [scratch.append(data) for data in said]
    assert [scratch.read(place).tobytes() for place in reversed(places)] == said[::-1]
    for start, size in ((0, 1), (1, 15), (15, 2), (17, 4000), (7999, 1), (8000, 0)):
        part = Place(places[1].start + start, size)
        assert scratch.read(part).tobytes() == said[1][start : start + size]
    scratch.close()
    written = Path(kept[0].name).read_bytes()
    assert len(written) >= sum(map(len, said))
    assert b"CANARY" not in written
    words = np.frombuffer(written[: len(written) // 8 * 8], np.uint64)
    assert len(set(words[words != 0].tolist())) == (words != 0).sum()  # no key stream serves twice


def test_every_file_has_a_key_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are dealt again lie at the same places of another file."""
    kept = []

    def named(dir: Path, buffering: int = -1) -> Any:
        kept.append(tempfile.NamedTemporaryFile(dir=dir, buffering=buffering, delete=False))  # noqa: SIM115 (the scratch closes it)
        return kept[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", named)
    with Shuffler(hush.seeded(SEED), temporary=tmp_path, memory=200) as shuffler:
        for batch in batches(np.arange(1 << 10), 100, beside=True):
            shuffler.add(batch)
        assert sum(len(batch) for batch in shuffler) == 1 << 10
    starts = [Path(each.name).read_bytes()[:8] for each in kept]
    assert len(set(starts)) == len(kept) > 3  # every file begins with the same mark of Arrow's


def test_a_file_without_a_name(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    place = scratch.append(bytes(80))
    assert list(tmp_path.iterdir()) == []
    assert scratch.read(place).tobytes() == bytes(80)
    scratch.close()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(hush.errors.ParameterError, match=r"--temporary must be a folder with room .*No such file"):
        Scratch(tmp_path / "no").append(bytes(8))
