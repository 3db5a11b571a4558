"""Spark counts what Hush counts, bit for bit; and a task that runs again makes no second report of anyone.

Run by `make spark`, since Spark is large and needs Java; the files of the page are run as they stand there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hush
from hush.files import ReportFile, fold, merge
from tests.engines import SPECS, parts, reports

pyspark = pytest.importorskip("pyspark", reason="Spark is installed by `make spark`")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "engines.md"
SPEC = SPECS["OUE, k=17"]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """On this machine alone, and seen by nobody."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = pyspark.sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for name in ("bindAddress", "host"):
        builder = builder.config(f"spark.driver.{name}", "127.0.0.1")
    made = builder.config("spark.sql.shuffle.partitions", "3").getOrCreate()
    yield made
    made.stop()


def by_spark(spark: Any, spec: hush.Spec, folder: Path) -> bytes:
    def folded(batches: Iterator[Any]) -> Iterator[Any]:
        yield pa.record_batch({"part": pa.array([fold(spec, batches)], pa.binary())})

    rows = spark.read.parquet(str(folder)).select("report").mapInArrow(folded, "part binary").collect()
    return merge(spec, *(bytes(row.part) for row in rows))


@pytest.mark.parametrize("name", SPECS)
def test_spark_agrees_bit_for_bit(spark: Any, tmp_path: Path, name: str) -> None:
    spec = SPECS[name]
    for n in (0, 1, 600):
        folder = tmp_path / str(n)
        folder.mkdir()
        for i, some in enumerate(parts(spec, n)):
            hush.write(folder / f"part-{i}.parquet", some, spec=spec)
        due = spec.aggregate(reports(spec, n)).to_bytes()
        assert hush.read(folder).aggregate().to_bytes() == due  # type: ignore[union-attr]
        assert by_spark(spark, spec, folder) == due


def test_groups_are_those_of_the_command(spark: Any, tmp_path: Path) -> None:
    region = pa.table({"region": np.arange(600) % 3})
    hush.write(tmp_path / "r.parquet", reports(SPEC, 600), spec=SPEC, kept=region)

    def folded(key: tuple[Any, ...], rows: pa.Table) -> pa.Table:
        part = fold(SPEC, rows.select(["report"]))
        return pa.table({"region": pa.array([key[0].as_py()], pa.int64()), "part": pa.array([part], pa.binary())})

    frame = spark.read.parquet(str(tmp_path / "r.parquet")).groupBy("region")
    found = {row.region: bytes(row.part) for row in frame.applyInArrow(folded, "region long, part binary").collect()}
    due = hush.files.datasets.opened(tmp_path / "r.parquet").merged("region").parts
    assert found == {group: part.to_bytes() for group, part in due.items()}


def test_another_spec_is_refused_on_the_workers(spark: Any, tmp_path: Path) -> None:
    hush.write(tmp_path / "r.parquet", reports(SPEC, 10), spec=SPEC)
    with pytest.raises(Exception, match=r"reports must have 9 bytes each"):
        by_spark(spark, SPECS["OLH"], tmp_path)


def test_what_spark_writes_has_no_spec_and_the_same_reports(spark: Any, tmp_path: Path) -> None:
    made = reports(SPEC, 300)
    hush.write(tmp_path / "r.parquet", made, spec=SPEC)
    spark.read.parquet(str(tmp_path / "r.parquet")).write.parquet(str(tmp_path / "out"))
    with pytest.raises(hush.HushError, match="must carry a spec"):
        hush.read(tmp_path / "out")
    again = hush.read(tmp_path / "out", spec=SPEC)
    assert again.aggregate() == SPEC.aggregate(made)  # type: ignore[union-attr]


# The files of the page.


def example(folder: Path, name: str, *changes: tuple[str, str]) -> None:
    """Run a file of the page where there are trips, a spec and people; parts of it may be changed."""
    (code,) = re.findall(rf'^```python title="{name}"\n(.*?)^```$', PAGE.read_text("utf-8"), re.M | re.S)
    for old, new in changes:
        assert code.count(old) == 1
        code = code.replace(old, new)
    (folder / name).write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, name], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    hush.write(tmp_path / "spec.json", SPEC)
    return tmp_path


def test_the_page_counts(folder: Path) -> None:
    (folder / "trips").mkdir()
    for i, some in enumerate(parts(SPEC, 600)):
        hush.write(folder / f"trips/{i}.parquet", some, spec=SPEC)
    example(folder, "spark_count.py")
    assert (folder / "trips.hush").read_bytes() == SPEC.aggregate(reports(SPEC, 600)).to_bytes()


def test_a_task_that_dies_after_its_write_makes_no_second_report(folder: Path) -> None:
    """Each first attempt notes the bytes that it wrote, and fails; the next one finds the file, and leaves it."""
    values = pa.table({"trip": np.arange(900) % 17})
    folder.joinpath("people-values.parquet").mkdir()
    for i in range(3):
        pa.parquet.write_table(values.slice(300 * i, 300), folder / f"people-values.parquet/{i}.parquet")
    dies = """    attempt = TaskContext.get().attemptNumber()
    if rows:
        (out / f".attempt-{attempt}-{path.name}").write_bytes(path.read_bytes())
    if attempt == 0:
        raise OSError("gone, before it could answer")
    yield"""
    example(folder, "spark_privatize.py", ("    yield", dies), ("local[2]", "local[2, 4]"))
    found = hush.read(folder / "private")
    assert isinstance(found, hush.files.ReportDataset)
    assert (found.n, found.spec, found.randomness) == (900, SPEC, ["secure"])
    for file in found.files:
        assert isinstance(file, ReportFile)
        assert file.order == "shuffled"
        path = Path(str(file.path))
        kept = [path.with_name(f".attempt-{attempt}-{path.name}").read_bytes() for attempt in (0, 1)]
        assert kept == [path.read_bytes()] * 2
    assert not list((folder / "private").glob(".hush-*"))
