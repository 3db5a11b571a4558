"""What is written is read; what is folded in parts is the whole, bit for bit; and no message tells a value."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hush
from hush.errors import ParameterError, ReportError, SpecError
from hush.files import ReportFile, fold, merge
from hush.files.reports import column_of
from hush.files.tables import TableFile
from hush.people.arrow import to_arrow, to_numpy
from tests.conftest import NAMES, example

PETS = hush.Domain(labels=["cat", "dog", "emu"], other="other")
SPEC = hush.Spec(hush.OUE(k=4, epsilon=1.0), PETS)
MEANS = hush.Spec(hush.Piecewise(low=0, high=10, epsilon=1.0))
PAIR = hush.multidim.SPL(sizes=(2, 4), epsilon=2.0)
PAIRS = hush.Spec(PAIR, {"sex": hush.Domain(labels=["f", "m"]), "pet": PETS})
YEAR = hush.longitudinal.LGRR(k=4, epsilon_permanent=3.0, epsilon_report=2.0)
YEARS = hush.Spec(YEAR, PETS)


def batch(reports: Any) -> Any:
    return pa.record_batch([column_of(reports)], ["report"])


def people(m: hush.FrequencyOracle, n: int = 500) -> Any:
    return m.privatize(np.arange(n) % m.k, rng=hush.seeded(3))


@pytest.mark.parametrize(
    "thing",
    [SPEC, MEANS, PAIRS, hush.Spec(PAIR), YEARS, hush.Spec(YEAR), PETS, hush.Domain(size=3, sensitive=[1])],
    ids=str,
)
def test_specs_and_domains_come_back(thing: Any, tmp_path: Path) -> None:
    hush.write(tmp_path / "any name", thing)
    assert hush.read(str(tmp_path / "any name")) == thing


def test_labels_alone_are_a_domain(tmp_path: Path) -> None:
    (tmp_path / "l.json").write_text('["cat", "dog"]')
    assert hush.read(tmp_path / "l.json") == hush.Domain(labels=["cat", "dog"])


def test_aggregates_come_back(tmp_path: Path) -> None:
    whole = SPEC.aggregate(people(SPEC.mechanism))
    hush.write(tmp_path / "a.hush", whole)
    found = hush.read(tmp_path / "a.hush")
    assert isinstance(found, hush.Aggregate)
    assert SPEC.check(found).to_bytes() == whole.to_bytes() == (tmp_path / "a.hush").read_bytes()


@pytest.mark.parametrize("keep_order", [False, True])
def test_reports_come_back_with_their_spec(tmp_path: Path, keep_order: bool) -> None:
    reports, kept = people(SPEC.mechanism), pa.table({"who": np.arange(500)})
    path = tmp_path / "r.parquet"
    hush.write(path, reports, spec=SPEC, kept=kept, keep_order=keep_order, randomness="simulated")
    found = hush.read(path)
    assert isinstance(found, ReportFile)
    assert (found.spec, found.n, found.randomness, found.kept) == (SPEC, 500, "simulated", ("who",))
    assert found.order == ("input" if keep_order else "shuffled")
    who = np.concatenate([each.column("who").to_numpy() for each in found.batches("who")])
    assert (who == np.arange(500)).all() == keep_order
    assert (found.reports() == reports[who]).all()
    assert found.aggregate().to_bytes() == SPEC.aggregate(reports).to_bytes()


def test_no_reports_are_a_file_too(tmp_path: Path) -> None:
    hush.write(tmp_path / "r.parquet", people(SPEC.mechanism, 0), spec=SPEC)
    found = hush.read(tmp_path / "r.parquet")
    assert isinstance(found, ReportFile)
    assert (found.n, found.reports().size, found.randomness) == (0, 0, "unknown")


@pytest.mark.parametrize(
    ("thing", "more", "rule"),
    [
        (people(SPEC.mechanism), {}, "spec must be given beside reports"),
        (people(SPEC.mechanism), {"spec": "OUE"}, "spec must be given beside reports"),
        (SPEC, {"spec": SPEC}, "spec must stand beside reports"),
        ("OUE", {}, "thing must be a Spec, a Domain, an Aggregate or an array of reports"),
        (np.zeros(3), {"spec": SPEC}, "reports must be records of OUE"),
        (people(SPEC.mechanism, 3), {"spec": SPEC, "kept": pa.table({"a": [1]})}, "kept must have 3 rows"),
        (
            people(SPEC.mechanism, 1),
            {"spec": SPEC, "kept": pa.table({"report": [1]})},
            "kept must be a frame of columns that are not called",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_written_is_named(thing: Any, more: dict[str, Any], rule: str, tmp_path: Path) -> None:
    with pytest.raises(hush.HushError, match=f"^{rule}"):
        hush.write(tmp_path / "x", thing, **more)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", ParameterError),
        (b"CANARY\n1\n", ParameterError),
        (b"PAR1CANARY", ParameterError),
        (b"HUSHCANARY", SpecError),
        (b'{"CANARY": 1}', ParameterError),
        (b'{"hush": 1, "mechanism": {"mechanism": "GRR"}, "domain": {"labels": ["CANARY", "CANARY"]}}', SpecError),
        (b'["CANARY", "CANARY"]', ParameterError),
    ],
)
def test_a_file_that_is_none_of_these_is_refused_and_not_told(
    content: bytes, error: type[Exception], tmp_path: Path
) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(error) as caught:
        hush.read(tmp_path / "x")
    assert "CANARY" not in str(caught.value)
    with pytest.raises(ParameterError, match=r"^path must be a file that exists"):
        hush.read(tmp_path / "y")


@pytest.mark.parametrize("name", NAMES)
def test_parts_that_are_folded_anywhere_are_the_whole(name: str) -> None:
    m = example(name, 6, 1.0)
    spec, reports = hush.Spec(m), people(m)
    whole = fold(spec, batch(reports))
    assert whole == spec.aggregate(reports).to_bytes()
    cuts = [0, 1, 1, 137, 400, 500]
    parts = [fold(spec, batch(reports[a:b])) for a, b in pairwise(cuts)]
    assert merge(spec, *parts) == whole
    assert merge(spec, *parts[::-1]) == whole
    assert merge(spec, parts[4], merge(spec, *parts[:2]), merge(spec, parts[3], parts[2])) == whole
    assert fold(spec, (batch(reports[a:b]) for a, b in pairwise(cuts))) == whole
    assert fold(spec, batch(reports).slice(137, 263)) == parts[3]


NUMBERS = np.linspace(0, 10, 300)
TUPLES = [("fm"[i % 2], ["cat", "dog", "emu"][i % 3]) for i in range(300)]


@pytest.mark.parametrize(("spec", "values"), [(MEANS, NUMBERS), (PAIRS, TUPLES)], ids=["means", "tuples"])
def test_means_and_tuples_are_folded_in_the_same_way(spec: hush.Spec, values: Any, tmp_path: Path) -> None:
    reports = spec.privatize(values, rng=hush.seeded(2))
    whole = spec.aggregate(reports)
    parts = [fold(spec, batch(reports[:100])), fold(spec, batch(reports[100:]))]
    assert merge(spec, *parts) == fold(spec, batch(reports)) == whole.to_bytes()
    hush.write(tmp_path / "r.parquet", reports, spec=spec)
    found = hush.read(tmp_path / "r.parquet")
    assert isinstance(found, ReportFile)
    assert (found.spec, found.aggregate()) == (spec, whole)


@pytest.mark.parametrize("spec", [YEARS, hush.Spec(YEAR)], ids=["labels", "none"])
def test_over_time_each_round_is_folded(spec: hush.Spec, tmp_path: Path) -> None:
    values = [[spec.domain.label(each % 4) for each in (i, i + i // 200)] for i in range(300)]
    reports = spec.privatize(values, rng=hush.seeded(2))
    rounds = spec.aggregate(reports)
    for t, due in enumerate(rounds):
        column = reports[:, t]
        parts = [fold(spec, batch(column[a:b])) for a, b in ((0, 100), (100, 300))]
        assert merge(spec, *parts) == fold(spec, batch(column)) == due.to_bytes()
        hush.write(tmp_path / f"{t}.parquet", column, spec=spec)
        found = hush.read(tmp_path / f"{t}.parquet")
        assert isinstance(found, ReportFile)
        assert (found.spec, found.aggregate()) == (spec, due)
    assert spec.check([hush.Aggregate.from_bytes(merge(spec, each.to_bytes())) for each in rounds]) == rounds
    with pytest.raises(SpecError, match="must come from the spec"):
        merge(spec, fold(SPEC, batch(people(SPEC.mechanism))))
    with pytest.raises(ReportError, match="over time, one round of it"):
        hush.write(tmp_path / "all.parquet", reports, spec=spec)


def test_what_lies_in_files_is_read_by_a_program_that_has_imported_nothing_else(tmp_path: Path) -> None:
    for name, spec in {"pairs": PAIRS, "pair": hush.Spec(PAIR), "years": YEARS, "year": hush.Spec(YEAR)}.items():
        hush.write(tmp_path / name, spec)
        code = f"import hush; print(hush.read({str(tmp_path / name)!r}).hash)"
        shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert shown.stdout.strip() == spec.hash


def test_nothing_is_folded_into_nothing() -> None:
    empty = merge(SPEC)
    assert empty == fold(SPEC, batch(people(SPEC.mechanism, 0))) == fold(SPEC, [])
    assert hush.Aggregate.from_bytes(empty).n == 0


def test_only_reports_of_the_spec_are_folded_and_merged() -> None:
    m = SPEC.mechanism
    reports = people(m)
    for bad in (
        pa.record_batch([pa.array([1, 2])], ["report"]),
        pa.record_batch([column_of(reports)], ["reports"]),
        pa.record_batch([column_of(reports), column_of(reports)], ["report", "report"]),
        pa.record_batch([pa.array([b"1", None], pa.binary(m.report_dtype.itemsize))], ["report"]),
    ):
        with pytest.raises(ReportError):
            fold(SPEC, bad)
    other = hush.Spec(hush.OUE(k=4, epsilon=1.5), PETS)
    with pytest.raises(SpecError, match="must come from the spec"):
        merge(SPEC, fold(SPEC, batch(reports)), fold(other, batch(people(other.mechanism))))
    with pytest.raises(SpecError):
        merge(SPEC, b"HUSH, they said")
    impossible = hush.Aggregate(1, np.array([5, 0, 0, 0]), SPEC.hash).to_bytes()
    with pytest.raises(hush.HushError):
        merge(SPEC, impossible)


def test_engines_read_batches_of_a_file_that_hush_wrote(tmp_path: Path) -> None:
    reports = people(SPEC.mechanism)
    hush.write(tmp_path / "r.parquet", reports, spec=SPEC)
    table = pq.read_table(tmp_path / "r.parquet", columns=["report"])
    parts = [fold(SPEC, each) for each in table.to_batches(max_chunksize=77)]
    assert merge(SPEC, *parts) == SPEC.aggregate(reports).to_bytes()


@settings(max_examples=50)
@given(st.lists(st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1)), max_size=40), st.integers(0, 5))
def test_numbers_go_between_numpy_and_arrow(numbers: list[int | None], start: int) -> None:
    arrow = pa.array(numbers, pa.int32()).slice(start)
    due = [-7 if each is None else each for each in numbers[start:]]
    assert to_numpy(arrow, -7).tolist() == due
    assert to_arrow(np.array(due, np.int32)).to_pylist() == due


def test_tables_are_read_in_batches(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,\n3,z\n")
    rows = list(TableFile(tmp_path / "t.csv", {"b": "column"}, 2).batches(lambda amount: None))
    assert [each.to_pydict() for each in rows] == [{"b": ["x", None]}, {"b": ["z"]}]
