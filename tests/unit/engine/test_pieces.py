"""However files are cut, and however many threads read them, the bytes are the same."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hush
from hush.engine import Job, Piece, local, merged, opened, pieces, tree
from hush.errors import ParameterError, ReportError, SpecError
from hush.files import reports as report_files
from tests.conftest import NAMES, example

PETS = hush.Domain(labels=["cat", "dog", "emu"], other="other")
SPEC = hush.Spec(hush.OUE(k=4, epsilon=1.0), PETS)


def written(path: Path, reports: Any, spec: hush.Spec = SPEC, rows: int = 100, **kept: Any) -> None:
    """A report file with row groups of so many rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = pa.table(kept).combine_chunks().to_batches()[0] if kept else None
    with report_files.writing(path, spec, "simulated", report_files.AS_READ) as put:
        for at in range(0, len(reports), rows):
            put(reports[at : at + rows], None if beside is None else beside.slice(at, rows))


def made(spec: hush.Spec = SPEC, n: int = 1000, seed: int = 3) -> Any:
    return spec.mechanism.privatize(np.arange(n) % spec.mechanism.k, rng=hush.seeded(seed))


@pytest.mark.parametrize("rows", [1, 99, 100, 101, 350, 10**6, None])
def test_pieces_hold_every_row_group_once(tmp_path: Path, rows: int | None) -> None:
    written(tmp_path / "a.parquet", made())
    written(tmp_path / "b.parquet", made(n=250))
    written(tmp_path / "c.parquet", made(n=0))
    found = opened(tmp_path)
    cut = pieces(found.files, rows)
    assert sum(piece.rows for piece in cut) == found.n == 1250
    groups = [(str(piece.place), unit) for piece in cut for unit in piece.units]
    due = [(str(tmp_path / "a.parquet"), i) for i in range(10)] + [(str(tmp_path / "b.parquet"), i) for i in range(3)]
    assert groups == due
    if rows is not None:
        assert all(piece.rows <= max(rows + 99, 100) for piece in cut)
    assert pickle.loads(pickle.dumps(cut)) == cut
    assert len({*cut}) == len(cut)


@pytest.mark.parametrize("name", NAMES)
def test_every_cutting_and_number_of_threads_gives_the_same_bytes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = hush.Spec(example(name, 6, 1.0))
    reports = made(spec, 700)
    written(tmp_path / "a.parquet", reports[:400], spec)
    written(tmp_path / "b.parquet", reports[400:], spec)
    due = {None: spec.aggregate(reports).to_bytes()}
    files, job = opened(tmp_path).files, Job(spec=spec)
    for rows in (1, 250, None):
        cut = pieces(files, rows)
        for threads in ("1", "2", "5"):
            monkeypatch.setenv("HUSH_THREADS", threads)
            assert local.run(job, cut) == due
        assert tree([job.fold([piece]) for piece in reversed(cut)], job.merge, width=2) == due
        assert job.merge(*(pickle.loads(pickle.dumps(job)).fold([piece]) for piece in cut)) == due


@pytest.mark.parametrize("threads", ["1", "3"])
def test_groups_of_a_column_are_those_of_the_rows(
    threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUSH_THREADS", threads)
    reports = made()
    names = [["north", "south", None, "1", "01"][i * 7 // 3 % 5] for i in range(1000)]
    numbers = [[2.5, float("nan"), None, 7.0][i % 4] for i in range(1000)]
    written(tmp_path / "a.parquet", reports[:600], name=names[:600], number=numbers[:600])
    written(tmp_path / "b.parquet", reports[600:], name=names[600:], number=numbers[600:])
    dataset = opened(tmp_path)
    for by, cells in (("name", names), ("number", [None if cell != cell else cell for cell in numbers])):
        for rows in (1, 300, None):
            parts = local.run(Job(spec=SPEC, by=by), pieces(dataset.files, rows))
            at = {cell: [i for i, each in enumerate(cells) if each == cell] for cell in {*cells}}
            assert parts == {cell: SPEC.aggregate(reports[rows]).to_bytes() for cell, rows in at.items()}
    assert [*merged(dataset, "name").parts] == ["01", "1", "north", "south", None]
    assert merged(dataset, "name").total == SPEC.aggregate(reports)


def test_groups_that_are_held_are_settled_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hush.engine.jobs.BATCH_BYTES", 64)
    reports = made()
    written(tmp_path / "a.parquet", reports, half=np.arange(1000) % 2)
    parts = Job(spec=SPEC, by="half").fold(pieces(opened(tmp_path).files))
    assert parts == {half: SPEC.aggregate(reports[half::2]).to_bytes() for half in (0, 1)}


def test_a_folder_says_the_group_and_no_column_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = made()
    for i in range(4):
        written(tmp_path / f"period={i % 3}" / f"part-{i}.parquet", reports[i * 250 : (i + 1) * 250])
    dataset = opened(tmp_path)
    asked: list[Any] = []
    real = report_files.forms.batches

    def watched(*given: Any) -> Any:
        asked.append(given[3])
        return real(*given)

    monkeypatch.setattr(report_files.forms, "batches", watched)
    found = dataset.merged("period")
    assert asked
    assert all(columns == ["report"] for columns in asked)
    assert [*found.parts] == ["0", "1", "2"]
    assert found.parts["0"] == SPEC.aggregate(np.concatenate([reports[:250], reports[750:]]))
    asked.clear()
    one = dataset.of_period("1").merged()
    assert len(asked) == 1  # files of other periods are not opened for reading
    assert one.parts == {None: SPEC.aggregate(reports[250:500])}
    with pytest.raises(ParameterError, match="must be a period that there are reports of"):
        dataset.of_period("9").merged()


def test_one_period_of_a_column_is_taken_from_files_that_hold_several(tmp_path: Path) -> None:
    reports, when = made(), np.array(["2026-01", "2026-02"])[np.arange(1000) % 2]
    written(tmp_path / "a.parquet", reports, period=when, half=np.arange(1000) // 500)
    dataset = opened(tmp_path / "a.parquet").of_period("2026-02")
    assert dataset.aggregate() == SPEC.aggregate(reports[1::2])
    assert dataset.merged("half").parts[1] == SPEC.aggregate(reports[501::2])
    assert dataset.merged("period").parts == {"2026-02": SPEC.aggregate(reports[1::2])}


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_bad_report_names_its_file_and_stops_all_threads(
    threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUSH_THREADS", threads)
    for i in range(6):
        reports = made()
        if i == 3:
            reports[777] = 255
        written(tmp_path / f"{i}.parquet", reports, half=np.arange(1000) % 2)
    dataset = opened(tmp_path)
    for by in (None, "half"):
        with pytest.raises(ReportError, match=r"^reports in .*/3\.parquet must have zeros after bit 3"):
            local.run(Job(spec=SPEC, by=by), pieces(dataset.files, 100))
    assert threading.active_count() == 1 or not any(each.name.startswith("hush-") for each in threading.enumerate())


def test_an_interrupt_ends_all_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUSH_THREADS", "2")
    written(tmp_path / "a.parquet", made(n=5000))
    seen: list[float] = []

    def pressed(rows: float) -> None:
        assert threading.current_thread() is threading.main_thread()
        seen.append(rows)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        local.run(Job(spec=SPEC), pieces(opened(tmp_path).files, 100), pressed)
    assert len(seen) == 1
    assert not any(each.name.startswith("hush-") for each in threading.enumerate())


@pytest.mark.parametrize("threads", ["1", "2"])
def test_progress_adds_up(threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUSH_THREADS", threads)
    written(tmp_path / "period=1" / "a.parquet", made())
    written(tmp_path / "period=2" / "a.parquet", made())
    for period in (None, "2"):
        seen: list[float] = []
        local.run(Job(spec=SPEC, period=period), pieces(opened(tmp_path).files, 100), seen.append)
        assert sum(seen) == 2000


def test_too_many_groups_are_refused_wherever_they_come_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hush.engine.jobs.MOST_GROUPS", 6)
    for i in range(2):
        written(tmp_path / f"{i}.parquet", made(n=10), who=np.arange(10) // 2 + 5 * i)
    job, cut = Job(spec=SPEC, by="who"), pieces(opened(tmp_path).files)
    parts = [job.fold([piece]) for piece in cut]
    assert [len(part) for part in parts] == [5, 5]
    for work in (lambda: job.merge(*parts), lambda: job.fold(cut), lambda: local.run(job, cut)):
        with pytest.raises(ParameterError, match=r"^by must have at most 6 groups where each has 4 values"):
            work()


def test_nothing_is_the_aggregate_of_nothing(tmp_path: Path) -> None:
    written(tmp_path / "a.parquet", made(n=0))
    nothing = {None: SPEC.aggregate(made(n=0)).to_bytes()}
    files = opened(tmp_path).files
    assert pieces(files) == []
    for job in (Job(spec=SPEC), Job(spec=SPEC, by="report")):
        assert job.fold([]) == job.merge() == local.run(job, []) == (nothing if job.by is None else {})
    assert tree([], Job(spec=SPEC).merge) is None
    assert merged(opened(tmp_path)).parts == {None: SPEC.aggregate(made(n=0))}


def test_strangers_are_not_merged() -> None:
    other = hush.Spec(hush.OUE(k=4, epsilon=1.5), PETS)
    with pytest.raises(SpecError, match="must come from the spec"):
        Job(spec=SPEC).merge({None: other.aggregate(made(other)).to_bytes()})


def test_an_engine_of_ones_own_is_asked(tmp_path: Path) -> None:
    written(tmp_path / "a.parquet", made())
    heard: list[Any] = []

    def elsewhere(job: Job, cut: Any, advance: Callable[[float], None]) -> Any:
        heard.extend(cut)
        advance(sum(piece.rows for piece in cut))
        return job.merge(*(job.fold([piece]) for piece in cut))

    assert opened(tmp_path).aggregate(engine=elsewhere) == SPEC.aggregate(made())
    assert all(isinstance(piece, Piece) for piece in heard)
    assert sum(piece.rows for piece in heard) == 1000


def test_long_row_groups_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hush.files.forms._BUFFER", 1 << 10)
    reports = made(n=50_000)
    written(tmp_path / "a.parquet", reports, rows=50_000, half=np.arange(50_000) % 2)
    dataset = opened(tmp_path)
    assert dataset.aggregate() == SPEC.aggregate(reports)
    assert dataset.merged("half").parts[1] == SPEC.aggregate(reports[1::2])
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    data[30_000] ^= 4
    (tmp_path / "a.parquet").write_bytes(data)
    with pytest.raises(ParameterError, match="CRC"):
        opened(tmp_path).aggregate()
