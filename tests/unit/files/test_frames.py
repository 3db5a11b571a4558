"""Reports and values in frames of other libraries, as they hand their rows over; records of zeros survive all of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hush
from hush.errors import ParameterError, ReportError
from hush.files import ReportFile, fold
from hush.files.reports import column_of

PETS = hush.Domain(labels=["cat", "dog", "emu"], other="other")
SPEC = hush.Spec(hush.OLH(k=4, epsilon=1.0), PETS)
PAIRS = hush.Spec(hush.multidim.SPL(sizes=(4, 2), epsilon=2.0), {"pet": PETS, "sex": hush.Domain(labels=["f", "m"])})
REPORTS = SPEC.mechanism.privatize(np.arange(200) % 4, rng=hush.seeded(3))
REPORTS.view(np.uint8).reshape(200, 9)[:10] = 0  # whole records of zeros
REPORTS.view(np.uint8).reshape(200, 9)[10:20, 4:] = 0  # and some that end in them
DUE = SPEC.aggregate(REPORTS)
CELLS = [bytes(each) for each in REPORTS.view(np.uint8).reshape(200, 9)]
REGIONS = ["north", "south", "west", None] * 50


class Capsules:
    """What has the methods of the interface, and nothing else."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner


class Streamed(Capsules):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._inner.__arrow_c_stream__(requested_schema)


class Batched(Capsules):
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._inner.__arrow_c_array__(requested_schema)


def table(kind: Any = None) -> Any:
    """Two chunks, the second of which starts in the middle of a buffer."""
    whole = pa.table({"region": REGIONS, "report": pa.array(CELLS, kind or pa.binary(9))})
    return pa.concat_tables([whole.slice(0, 70), whole.slice(70)])


def pandas() -> Any:
    frame = pytest.importorskip("pandas").DataFrame({"report": CELLS, "region": REGIONS})
    frame.index = [f"CANARY {i}" for i in range(200)]
    frame.index.name = "name"
    return frame


def polars() -> Any:
    return pytest.importorskip("polars").DataFrame({"report": CELLS, "region": REGIONS})


def duckdb() -> Any:
    library, rows = pytest.importorskip("duckdb"), table()
    return library.connect().from_arrow(rows)


FRAMES: dict[str, Callable[[], Any]] = {
    "table": table,
    "binary": lambda: table(pa.binary()),
    "large": lambda: table(pa.large_binary()),
    "view": lambda: table(pa.binary_view()),
    "reader": lambda: table().to_reader(),
    "stream": lambda: Streamed(table()),
    "batch": lambda: table().combine_chunks().to_batches()[0],
    "array": lambda: Batched(table().combine_chunks().to_batches()[0]),
    "pandas": pandas,
    "polars": polars,
    "duckdb": duckdb,
}
COLUMNS: dict[str, Callable[[], Any]] = {
    "arrow": lambda: table()["report"],
    "one": lambda: column_of(REPORTS),
    "stream": lambda: Streamed(table(pa.large_binary())["report"]),
    "array": lambda: Batched(column_of(REPORTS)),
    "polars": lambda: polars()["report"],
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_are_tallied(name: str) -> None:
    assert SPEC.aggregate(FRAMES[name]()) == DUE
    assert fold(SPEC, FRAMES[name]()) == DUE.to_bytes()
    assert fold(SPEC, iter([FRAMES[name](), FRAMES[name]()])) == (DUE + DUE).to_bytes()


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_tallied(name: str) -> None:
    assert SPEC.aggregate(COLUMNS[name]()) == DUE
    assert fold(SPEC, COLUMNS[name]()) == DUE.to_bytes()
    assert SPEC.aggregate([COLUMNS[name](), REPORTS]) == DUE + DUE


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("keep_order", [False, True])
def test_frames_are_written(name: str, keep_order: bool, tmp_path: Path) -> None:
    hush.write(tmp_path / "r.parquet", FRAMES[name](), spec=SPEC, keep_order=keep_order, randomness="simulated")
    found = hush.read(tmp_path / "r.parquet")
    assert isinstance(found, ReportFile)
    assert (found.kept, found.n, found.order) == (("region",), 200, "input" if keep_order else "shuffled")
    assert found.aggregate() == DUE
    rows = pa.Table.from_batches(found.batches("region"))
    pairs = list(zip(rows["report"].to_pylist(), rows["region"].to_pylist(), strict=True))
    due = list(zip(CELLS, REGIONS, strict=True))
    assert (pairs == due) == keep_order
    assert sorted(pairs, key=str) == sorted(due, key=str)
    assert b"CANARY" not in (tmp_path / "r.parquet").read_bytes()  # the index names people


@pytest.mark.parametrize("name", ["table", "stream", "pandas", "polars", "duckdb"])
def test_what_is_kept_may_be_any_frame(name: str, tmp_path: Path) -> None:
    frame = FRAMES[name]()
    kept = {
        "pandas": lambda: frame[["region"]],
        "polars": lambda: frame.select("region"),
        "duckdb": lambda: frame.select("region"),
        "stream": lambda: Streamed(table().select(["region"])),
    }.get(name, lambda: table().select(["region"]))()
    hush.write(tmp_path / "r.parquet", REPORTS, spec=SPEC, kept=kept, keep_order=True)
    found = hush.read(tmp_path / "r.parquet")
    assert isinstance(found, ReportFile)
    assert found.kept == ("region",)
    assert pa.Table.from_batches(found.batches("region"))["region"].to_pylist() == REGIONS


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pa.table({"report": [b"123456789", b"short"]}), "reports must have 9 bytes each, got 5 bytes at position 1"),
        (pa.table({"report": [b"123456789", None]}), "reports must not be missing, got 1 empty cells"),
        (
            pa.table({"report": [1, 2]}),
            r"batch must have one column 'report' of 9-byte .* got 1 column \(int64",
        ),
        (pa.table({"reports": [b"123456789"]}), "batch must have one column 'report'"),
        (pa.table({"report": pa.array([b"12345678"], pa.binary(8))}), "batch must have one column 'report'"),
        (pa.array(["text"]), "batch must have one column 'report'"),
        (pa.table([[b"123456789"], [b"123456789"]], ["report", "report"]), "batch must have one column 'report'"),
    ],
    ids=str,
)
def test_what_holds_no_reports_is_refused(frame: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=f"^{words}"):
        SPEC.aggregate(frame)
    with pytest.raises(ReportError, match=f"^{words}"):
        fold(SPEC, frame)
    with pytest.raises(ReportError, match=f"^{words}"):
        hush.write(tmp_path / "r.parquet", frame, spec=SPEC)
    assert not list(tmp_path.iterdir())


def test_a_bad_report_late_in_a_stream_leaves_nothing_behind(tmp_path: Path) -> None:
    late = pa.concat_tables([table(pa.binary()), pa.table({"region": ["x"], "report": [b"short"]})])
    with pytest.raises(ReportError, match="must have 9 bytes each"):
        hush.write(tmp_path / "r.parquet", late, spec=SPEC)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"^kept must be left out where a frame has the reports"):
        hush.write(tmp_path / "r.parquet", table(), spec=SPEC, kept=table())
    with pytest.raises(ParameterError, match=r"^kept must be a frame"):
        hush.write(tmp_path / "r.parquet", REPORTS, spec=SPEC, kept={"region": REGIONS})
    with pytest.raises(ParameterError, match=r"^kept must be a frame of columns .* got a column alone"):
        hush.write(tmp_path / "r.parquet", REPORTS, spec=SPEC, kept=pa.array(REGIONS))
    with pytest.raises(ParameterError, match=r"^kept must have columns of different names"):
        hush.write(tmp_path / "r.parquet", pa.table([CELLS, REGIONS, REGIONS], ["report", "a", "a"]), spec=SPEC)
    with pytest.raises(ReportError, match=r"^batch must be Arrow record batches, or frames"):
        fold(SPEC, [REPORTS])
    assert not list(tmp_path.iterdir())


def test_a_frame_of_no_rows_is_a_file_of_no_reports(tmp_path: Path) -> None:
    hush.write(tmp_path / "r.parquet", table().slice(0, 0), spec=SPEC)
    assert hush.read(tmp_path / "r.parquet").n == 0  # type: ignore[union-attr]
    assert SPEC.aggregate(table().slice(0, 0)).n == 0


VALUES = ["cat", "dog", None, "ant", "emu"] * 20


def values(name: str) -> Any:
    if name == "arrow":
        return pa.chunked_array([VALUES[:30], VALUES[30:]])
    if name == "stream":
        return Streamed(pa.table({"pet": VALUES}))
    if name == "duckdb":
        library, rows = pytest.importorskip("duckdb"), pa.table({"pet": VALUES})
        return library.connect().from_arrow(rows)
    library = pytest.importorskip(name)
    return library.Series(VALUES)


@pytest.mark.parametrize("name", ["arrow", "stream", "pandas", "polars", "duckdb"])
def test_values_in_a_column_are_privatized_through_the_spec(name: str) -> None:
    due = SPEC.privatize(VALUES, rng=hush.seeded(7))
    assert (SPEC.privatize(values(name), rng=hush.seeded(7)) == due).all()


@pytest.mark.parametrize("name", ["arrow", "stream", "pandas", "polars", "duckdb"])
def test_tuples_in_a_frame_are_privatized_through_the_spec(name: str) -> None:
    columns = {"sex": ["f", "m"] * 50, "pet": VALUES, "more": [1] * 100}
    due = PAIRS.privatize(columns, rng=hush.seeded(7))
    rows = pa.table(columns)
    if name == "duckdb":
        frame: Any = pytest.importorskip("duckdb").connect().from_arrow(rows)
    elif name in ("pandas", "polars"):
        frame = pytest.importorskip(name).DataFrame(columns)
    else:
        frame = rows if name == "arrow" else Streamed(rows)
    assert (PAIRS.privatize(frame, rng=hush.seeded(7)) == due).all()


def test_over_time_a_frame_holds_one_round() -> None:
    spec = hush.Spec(hush.longitudinal.LGRR(k=4, epsilon_permanent=3.0, epsilon_report=2.0), PETS)
    reports = spec.privatize([["cat", "dog"]] * 50, rng=hush.seeded(3))
    frame = pa.table({"report": column_of(np.ascontiguousarray(reports[:, 1]))})
    assert fold(spec, frame) == spec.aggregate(reports)[1].to_bytes()
    with pytest.raises(hush.HushError):
        spec.aggregate(frame)


class Once(Streamed):
    """Hands its rows over a single time, as a cursor of a database does."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        inner, self._inner = self._inner, None
        return inner.__arrow_c_stream__(requested_schema)


def test_what_is_handed_over_once_is_asked_for_once(tmp_path: Path) -> None:
    assert SPEC.aggregate(Once(table())) == DUE
    assert SPEC.aggregate(Once(table()["report"])) == DUE
    assert SPEC.aggregate(Once(table(pa.large_binary())["report"])) == DUE
    hush.write(tmp_path / "r.parquet", Once(table()), spec=SPEC)
    assert hush.read(tmp_path / "r.parquet").aggregate() == DUE  # type: ignore[union-attr]
    assert SPEC.privatize(Once(pa.chunked_array([["cat", "dog"], ["emu"]]))).size == 3


def empties() -> dict[str, Callable[[], Any]]:
    nothing = pa.table({"region": pa.array([], pa.string()), "report": pa.array([], pa.binary(9))})
    return {
        "Arrow": lambda: nothing,
        "a stream": lambda: Once(nothing),
        "pandas": lambda: pandas().iloc[:0],
        "Polars": lambda: polars().head(0),
    }


@pytest.mark.parametrize("library", empties())
def test_a_frame_without_rows_keeps_its_columns(library: str, tmp_path: Path) -> None:
    frame = empties()[library]
    assert SPEC.aggregate(frame()).n == 0
    hush.write(tmp_path / "r.parquet", frame(), spec=SPEC)
    found = hush.read(tmp_path / "r.parquet")
    assert isinstance(found, ReportFile)
    assert (found.n, found.kept) == (0, ("region",))


@pytest.mark.parametrize("columns", [{"foo": pa.string()}, {"report": pa.string()}, {"report": pa.binary(8)}])
def test_a_frame_without_rows_must_have_the_columns_of_reports(columns: dict[str, Any], tmp_path: Path) -> None:
    frame = pa.table({name: pa.array([], kind) for name, kind in columns.items()})
    with pytest.raises(ReportError, match="must have one column 'report' of 9-byte binaries"):
        SPEC.aggregate(frame)
    with pytest.raises(ReportError, match="must have one column 'report' of 9-byte binaries"):
        hush.write(tmp_path / "r.parquet", frame, spec=SPEC)
    assert list(tmp_path.iterdir()) == []


def test_a_lazy_frame_is_to_be_collected() -> None:
    with pytest.raises(ReportError, match=r"^reports must be an array .* collect a lazy one"):
        SPEC.aggregate(polars().lazy())
