"""Arrow streams that were cut: wherever that was, none is read as if it were a shorter one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import fs

import hush
from hush.errors import HushError, ParameterError
from hush.files.places import place_of
from hush.files.tables import TableFile

SPEC = hush.Spec(hush.GRR(k=4, epsilon=1.0))


def written(path: Path, batches: list[pa.RecordBatch]) -> bytes:
    with pa.ipc.new_stream(str(path), batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return path.read_bytes()


def read(path: Path) -> int:
    return sum(batch.num_rows for batch in TableFile(path, {"v": "--column"}, 1000).batches(lambda size: None))


def test_a_table_that_was_cut_is_refused(tmp_path: Path) -> None:
    """Cells that look like the mark of the end stand before each message, where a reader cannot tell by bytes alone."""
    path = tmp_path / "a.arrows"
    some = pa.record_batch({"v": pa.array([7] * 14 + [-1, 0], pa.int32())})
    whole = written(path, [some] * 4)
    assert whole.count(b"\xff\xff\xff\xff\x00\x00\x00\x00") > 4
    assert read(path) == 64
    for size in range(0, len(whole), 4):
        path.write_bytes(whole[:size])
        with pytest.raises(ParameterError, match="must be a readable"):
            read(path)


def test_reports_that_were_cut_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.arrows"
    reports = SPEC.privatize(np.zeros(300, int)).view(np.uint8).reshape(300, -1)
    schema = pa.schema([pa.field("report", pa.binary(reports.shape[1]))], {b"hush.spec": SPEC.to_json().encode()})
    batch = pa.record_batch([pa.array([bytes(row) for row in reports], schema.types[0])], schema=schema)
    whole = written(path, [batch.slice(at, 100) for at in (0, 100, 200)])
    assert hush.read(path).aggregate().n == 300
    for size in range(0, len(whole), 8):
        path.write_bytes(whole[:size])
        with pytest.raises(HushError):
            hush.read(path).aggregate()


def test_streams_without_rows_with_dictionaries_and_elsewhere_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.arrows"
    one = pa.record_batch({"v": pa.array(["x", "y"]).dictionary_encode()})
    other = pa.record_batch({"v": pa.array(["z", "y"]).dictionary_encode()})
    written(path, [one, other])
    assert read(path) == 4
    there = place_of("a.arrows", fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()))
    assert sum(batch.num_rows for batch in TableFile(there, {"v": "--column"}, 9).batches(lambda size: None)) == 4
    with pa.ipc.new_stream(str(path), one.schema):
        pass
    assert read(path) == 0
