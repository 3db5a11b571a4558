"""DuckDB, Polars, Dask and pandas count what Hush counts, bit for bit; and what they write is not taken for more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hush
from hush.errors import ReportError, SpecError
from hush.files import fold, merge
from tests.docs.pages import DOCS, find_blocks
from tests.engines import SPECS, parts, reports

Engine = Callable[[hush.Spec, str], bytes]


def by_duckdb(spec: hush.Spec, files: str) -> bytes:
    return fold(spec, duckdb.sql(f"SELECT report FROM '{files}'"))


def by_polars(spec: hush.Spec, files: str) -> bytes:
    return fold(spec, pl.read_parquet(files))


def by_polars_lazily(spec: hush.Spec, files: str) -> bytes:
    return fold(spec, pl.scan_parquet(files).select("report").collect_batches(chunk_size=64))


def by_dask(spec: hush.Spec, files: str) -> bytes:
    rows = dd.read_parquet(str(Path(files).absolute().parent), columns=["report"], filesystem="arrow")
    folded = [dask.delayed(fold)(spec, partition) for partition in rows.to_delayed()]
    found: bytes = dask.delayed(merge)(spec, *folded).compute(scheduler="threads")
    return found


def by_pandas(spec: hush.Spec, files: str) -> bytes:
    return fold(spec, pa.concat_tables(map(pq.read_table, sorted(Path().glob(files)))).to_pandas())


ENGINES: list[Engine] = [by_duckdb, by_polars, by_polars_lazily, by_dask, by_pandas]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(spec: hush.Spec, n: int, **kept: Any) -> bytes:
    """Files of so many reports in all; the aggregate that Hush reads from them."""
    for i, some in enumerate(parts(spec, n)):
        beside = pa.table({name: make(len(some)) for name, make in kept.items()}) if kept else None
        hush.write(f"part-{i}.parquet", some, spec=spec, kept=beside)
    found = hush.read("part-*.parquet").aggregate().to_bytes()  # type: ignore[union-attr]
    assert found == spec.aggregate(reports(spec, n)).to_bytes()
    return found


def test_reports_of_zero_bytes_are_among_them() -> None:
    """Of most specs some are nothing else, so that an engine which cuts them would be found."""
    zeros = {name for name, spec in SPECS.items() if not any(reports(spec, 300)[0].tobytes())}
    assert zeros >= {"GRR", "OUE, k=10", "OUE, k=17", "HR", "a mean"}
    assert any(each.tobytes()[-1] == 0 for each in reports(SPECS["OLH"], 300))


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
@pytest.mark.parametrize("n", [0, 1, 600])
@pytest.mark.parametrize("name", SPECS)
def test_engines_agree_bit_for_bit(name: str, n: int, engine: Engine) -> None:
    whole = written(SPECS[name], n)
    assert engine(SPECS[name], "part-*.parquet") == whole


@pytest.mark.parametrize("name", SPECS)
def test_groups_are_those_of_the_command(name: str) -> None:
    spec = SPECS[name]
    rng = np.random.default_rng(5)
    whole = written(spec, 600, region=lambda n: rng.integers(0, 3, n))
    due = hush.read("part-*.parquet").merged("region").parts  # type: ignore[union-attr]
    frames = pl.read_parquet("part-*.parquet").partition_by("region", as_dict=True)
    query = "SELECT report FROM 'part-*.parquet' WHERE region = ?"
    for region, part in due.items():
        assert fold(spec, frames[region,]) == part.to_bytes()
        assert fold(spec, duckdb.sql(query, params=[region])) == part.to_bytes()
    assert merge(spec, *(part.to_bytes() for part in due.values())) == whole


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
def test_reports_of_another_spec_are_refused(engine: Engine) -> None:
    written(SPECS["OLH"], 30)
    with pytest.raises(ReportError):
        engine(SPECS["OUE, k=17"], "part-*.parquet")
    alike = hush.Spec(hush.OUE(k=10, epsilon=1.0))
    part = fold(alike, pa.record_batch({"report": pa.array([b"\1\0"], pa.binary())}))
    with pytest.raises(SpecError):
        merge(hush.Spec(hush.OUE(k=10, epsilon=2.0)), part)


def test_what_numpy_cuts_is_refused() -> None:
    """A report that went through dtype S is shorter, unless it did not end in a zero: it is never filled up."""
    spec = SPECS["OUE, k=17"]
    cut = np.array([each.tobytes() for each in reports(spec, 30)])
    assert cut.dtype.kind == "S"
    with pytest.raises(ReportError, match="reports must have 3 bytes each"):
        fold(spec, pl.DataFrame({"report": [bytes(each) for each in cut]}))


@pytest.mark.parametrize("write", ["polars", "duckdb"])
def test_what_an_engine_writes_has_no_spec_and_its_order_is_not_vouched_for(write: str) -> None:
    spec = SPECS["OUE, k=17"]
    whole = written(spec, 300)
    if write == "polars":
        pl.read_parquet("part-*.parquet").write_parquet("out.parquet")
    else:
        duckdb.sql("COPY (SELECT * FROM 'part-*.parquet') TO 'out.parquet'")
    with pytest.raises(SpecError, match="must carry a spec"):
        hush.read("out.parquet")
    found = hush.read("out.parquet", spec=spec)
    assert isinstance(found, hush.files.ReportFile)
    assert (found.order, found.aggregate().to_bytes()) == ("unknown", whole)
    hush.write("again.parquet", pl.read_parquet("out.parquet"), spec=spec)
    again = hush.read("again.parquet")
    assert isinstance(again, hush.files.ReportFile)
    assert (again.order, again.spec, again.aggregate().to_bytes()) == ("shuffled", spec, whole)
    assert (again.reports() != found.reports()).any()


def test_columns_beside_no_reports_are_kept() -> None:
    spec, beside = SPECS["GRR"], pa.table({"region": np.zeros(0, np.int64)})
    hush.write("none.parquet", reports(spec, 0), spec=spec, kept=beside)
    empty = hush.read("none.parquet")
    assert isinstance(empty, hush.files.ReportFile)
    assert (empty.n, empty.kept) == (0, ("region",))


# The two queries of the page.


@pytest.fixture(scope="module")
def queries() -> dict[str, Any]:
    space: dict[str, Any] = {"np": np, "hush": hush, "duckdb": duckdb}
    for block in find_blocks(DOCS / "engines.md"):
        if block.code.startswith(("def unary", "def direct")):
            exec(block.code, space)
    return space


@pytest.mark.parametrize("k", [2, 7, 8, 9, 10, 16, 17, 100])
def test_sql_counts_bits_as_the_aggregate_does(queries: dict[str, Any], k: int) -> None:
    for make in (hush.OUE, hush.SUE):
        spec = hush.Spec(make(k=k, epsilon=1.0))
        for n in (0, 1, 500):
            values = np.random.default_rng(k).integers(0, k, n)
            hush.write("u.parquet", spec.privatize(values, rng=hush.seeded(k)), spec=spec)
            assert queries["unary"](spec, "u.parquet") == hush.read("u.parquet").aggregate()  # type: ignore[union-attr]


@pytest.mark.parametrize("k", [2, 256, 257, 65_536, 65_537, 100_000])
def test_sql_reads_values_of_one_two_and_four_bytes(queries: dict[str, Any], k: int) -> None:
    spec = hush.Spec(hush.GRR(k=k, epsilon=10.0))
    for n in (0, 1, 2000):
        values = np.random.default_rng(k).integers(0, k, n)
        hush.write("g.parquet", spec.privatize(values, rng=hush.seeded(k)), spec=spec)
        found = queries["direct"](spec, "g.parquet")
        assert found == hush.read("g.parquet").aggregate()  # type: ignore[union-attr]
