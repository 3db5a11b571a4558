"""Tuples in files: read, written, folded and merged, and rows of several columns that stay together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hush
from hush.engine import opened
from hush.errors import DomainError, ParameterError
from hush.files import ReportFile, fold, merge, order
from hush.files.cells import CellReaders
from hush.files.people import read_tuples
from hush.files.randomizing import Rows
from hush.files.reports import BATCH_BYTES, SHUFFLED, column_of
from hush.multidim import RSFD, RSRFD, SMP, SPL
from hush.people.coding import Likeness
from tests.system.support import write_csv

SIZES = (2, 4, 3)
NAMED = {
    "sex": hush.Domain(labels=["f", "m"]),
    "pet": hush.Domain(labels=["cat", "dog", "emu"], other="other"),
    "rooms": hush.Domain(size=3),
}
COLLECTIONS = [
    SPL(sizes=SIZES, epsilon=2.0),
    SMP(sizes=SIZES, epsilon=2.0, mechanism=("GRR", "OUE", "OLH")),
    RSFD(sizes=SIZES, epsilon=2.0),
    RSRFD(sizes=SIZES, epsilon=2.0, priors=[[0.5, 0.5], [0.4, 0.3, 0.2, 0.1], [0.2, 0.3, 0.5]]),
]


def tuples(n: int = 600) -> Any:
    rng = hush.seeded(5)
    return np.stack([rng.integers(k, size=n) for k in SIZES], axis=1)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("m", COLLECTIONS, ids=lambda m: m.name())
def test_files_of_reports_and_aggregates_come_back(m: Any, named: bool, tmp_path: Path) -> None:
    spec = hush.Spec(m, NAMED if named else None)
    reports = m.privatize(tuples(), rng=hush.seeded(3))
    hush.write(tmp_path / "r.parquet", reports, spec=spec, kept=pa.table({"who": np.arange(600)}))
    hush.write(tmp_path / "s.json", spec)
    assert hush.read(tmp_path / "s.json") == spec
    found = hush.read(tmp_path / "r.parquet")
    assert isinstance(found, ReportFile)
    assert (found.spec, found.n, found.order) == (spec, 600, "shuffled")
    who = np.concatenate([each.column("who").to_numpy() for each in found.batches("who")])
    assert sorted(who.tolist()) == list(range(600))
    assert who.tolist() != list(range(600))
    assert (found.reports() == reports[who]).all()
    whole = spec.aggregate(reports)
    assert found.aggregate().to_bytes() == whole.to_bytes()
    hush.write(tmp_path / "a.hush", whole)
    assert hush.read(tmp_path / "a.hush").to_bytes() == whole.to_bytes()  # type: ignore[union-attr]


@pytest.mark.parametrize("m", COLLECTIONS, ids=lambda m: m.name())
def test_parts_fold_and_merge_to_the_whole(m: Any, tmp_path: Path) -> None:
    spec = hush.Spec(m, NAMED)
    reports = m.privatize(tuples(), rng=hush.seeded(3))
    parts = [pa.record_batch([column_of(reports[a:b])], ["report"]) for a, b in ((0, 1), (1, 400), (400, 600))]
    whole = spec.aggregate(reports).to_bytes()
    folded = [fold(spec, each) for each in parts]
    assert fold(spec, parts) == merge(spec, *folded) == merge(spec, *reversed(folded)) == whole
    with pytest.raises(hush.HushError, match="must"):
        merge(hush.Spec(m), *folded)


def test_a_collection_gives_the_estimate_of_each_attribute(tmp_path: Path) -> None:
    spec = hush.Spec(COLLECTIONS[1], NAMED)
    reports = spec.mechanism.privatize(tuples(), rng=hush.seeded(3))
    kept = pa.table({"half": np.arange(600) % 2})
    hush.write(tmp_path / "r.parquet", reports, spec=spec, kept=kept)
    found = opened([tmp_path / "r.parquet"], by="half").merged("half")
    assert found.attributes == ["sex", "pet", "rooms"]
    assert [part.n for part in found.parts.values()] == [300, 300]
    for half, part in found.parts.items():
        due = spec.estimate(spec.aggregate(reports[half::2]))
        told = found.estimates(part)
        assert list(told) == found.attributes
        assert all(told[name].frequencies.tolist() == due[name].frequencies.tolist() for name in due)
        assert list(found.reports_about(part).values()) == np.bincount(reports["attribute"][half::2]).tolist()
    single = hush.Spec(hush.GRR(k=3, epsilon=1.0))
    hush.write(tmp_path / "one.parquet", single.mechanism.privatize([0, 1, 2], rng=hush.seeded(1)), spec=single)
    one = opened([tmp_path / "one.parquet"]).merged()
    assert (one.attributes, list(one.estimates(one.total)), one.reports_about(one.total)) == ([], [None], {None: 3})


def table(path: Path, n: int) -> Path:
    """People whose number of rooms follows from their pet, and their pet from their sex."""
    pets = ["cat", "dog", "emu"]
    kept = {"who": list(range(n)), "sex": ["fm"[i % 2] for i in range(n)], "pet": [pets[i % 2] for i in range(n)]}
    return write_csv(path, {**kept, "rooms": [i % 2 for i in range(n)]})


@pytest.mark.parametrize("memory", [None, 1 << 13])
def test_the_cells_of_a_row_stay_together(memory: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if memory is not None:  # rows wait in a scratch file
        monkeypatch.setattr(order, "MEMORY", memory)
    n = 3_000
    spec = hush.Spec(SPL(sizes=SIZES, epsilon=40.0, mechanism="GRR"), NAMED)
    rows = Rows([table(tmp_path / "t.csv", n)], list(NAMED), ["who"], spec, clip=False)
    written = rows.write(tmp_path / "r.parquet", SHUFFLED, tmp_path)
    assert (written.reports, written.smallest_group) == (n, 1)
    found = hush.read(tmp_path / "r.parquet")
    assert isinstance(found, ReportFile)
    reports = found.reports()
    who = np.concatenate([each.column("who").to_pylist() for each in found.batches("who")]).astype(int)
    assert sorted(who.tolist()) == list(range(n))
    for field in ("a0", "a1", "a2"):  # with 13 nats a report is not its value with a chance of 1e-5, of cells mixed 1/2
        assert (reports[field] == who % 2).mean() > 0.99


def test_readers_count_what_meant_nothing_for_each_column() -> None:
    spec = hush.Spec(COLLECTIONS[0], NAMED)
    readers = CellReaders(spec, list(NAMED), clip=True, alike=Likeness(ignore_case=True))
    batch = pa.record_batch([["F", "m", "f"], ["DOG", None, "yak"], ["0", "7", "2"]], list(NAMED))
    assert readers.values(readers.encode(batch, 1)).tolist() == [[0, 1, 0], [1, 3, 2], [0, 3, 2]]
    assert readers.unmatched == {"sex": 0, "pet": 1, "rooms": 0}
    assert readers.missing == {"sex": 0, "pet": 1, "rooms": 0}
    assert readers.clipped == {"sex": 0, "pet": 0, "rooms": 1}
    with pytest.raises(DomainError, match=r"column sex, row 12 .*got a missing value; .*--other") as refused:
        readers.encode(pa.record_batch([["f", None], ["cat", "cat"], ["0", "0"]], list(NAMED)), 11)
    assert "cat" not in str(refused.value)


def test_what_says_nothing_of_any_column_is_refused() -> None:
    words = hush.Spec(SPL(sizes=(2, 2), epsilon=1.0), [NAMED["sex"], NAMED["sex"]])
    with pytest.raises(ParameterError, match="--clip needs values that are numbers"):
        CellReaders(words, ["a", "b"], clip=True)
    numbers = hush.Spec(SPL(sizes=(2, 2), epsilon=1.0))
    with pytest.raises(ParameterError, match="--strip needs labels"):
        CellReaders(numbers, ["a", "b"], alike=Likeness(strip=True))


def test_many_attributes_are_held_in_bounded_memory() -> None:
    many = CellReaders(hush.Spec(SMP(sizes=(2,) * 1000, epsilon=1.0, mechanism="GRR")), [str(j) for j in range(1000)])
    assert many.rows * 1000 * 8 <= BATCH_BYTES
    assert CellReaders(hush.Spec(hush.GRR(k=2, epsilon=1.0)), ["a"]).rows >= 1 << 18


def test_people_of_a_table_are_tuples(tmp_path: Path) -> None:
    spec = hush.Spec(COLLECTIONS[0], NAMED)
    path = table(tmp_path / "t.csv", 500)
    assert read_tuples(path, spec, list(NAMED)).tolist() == [[i % 2] * 3 for i in range(500)]
    with pytest.raises(ParameterError, match="--people must be one of the 4 names"):
        read_tuples(path, spec, ["sex", "pet", "nope"])
