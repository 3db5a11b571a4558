"""Files with numbers that no reports give, specs whose thresholds are gone, and columns that are there twice."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hush
from hush.estimation import Aggregate
from tests.system.support import refused, run

SPEC = hush.Spec(hush.GRR(k=4, epsilon=1.0))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "spec.json").write_text(SPEC.to_json())
    (tmp_path / "good.hush").write_bytes(SPEC.simulate([20_000] * 4, rng=hush.seeded(1)).to_bytes())
    return tmp_path


def saved(folder: Path, n: int, *tally: int) -> Path:
    path = folder / "bad.hush"
    path.write_bytes(Aggregate(n, np.array(tally), SPEC.hash).to_bytes())
    return path


@pytest.mark.parametrize(
    ("n", "tally", "said"),
    [
        (1800, (-5000, 5000, 900, 900), "must have counts from 0 to 1800, got -5000 at place 0"),
        (20, (800, 800, 800, 800), "must have counts from 0 to 20, got 800 at place 0"),
        (20, (5, 5, 5, 6), "must have counts that add up to 20, got 21"),
        (2**62, (2**62, 2**62, 2**62, 2**62), "must have counts that add up to 4611686018427387904"),
        (0, (1, 0, 0, 0), "must have counts from 0 to 0, got 1"),
    ],
)
def test_an_impossible_aggregate_is_refused_alone_and_among_others(
    folder: Path, n: int, tally: tuple[int, ...], said: str
) -> None:
    bad, good, spec = saved(folder, n, *tally), folder / "good.hush", folder / "spec.json"
    for files in ([bad], [good, bad], [bad, good]):
        told = refused("estimate", *files, "--spec", spec)
        assert f"{bad} cannot be used: aggregate {said}" in told
        assert "fetch it again, or leave it out: no reports of this spec give it" in told
    assert run("estimate", good, "--spec", spec).exit_code == 0


def test_two_that_together_are_too_many(folder: Path) -> None:
    quarter = 2**60
    bad = saved(folder, 4 * quarter, *[quarter] * 4)
    other = folder / "other.hush"
    other.write_bytes(bad.read_bytes())
    assert run("estimate", bad, "--spec", folder / "spec.json").exit_code == 0
    told = refused("estimate", bad, other, "--spec", folder / "spec.json")
    assert "aggregate must count at most 4611686018427387904" in told


def test_an_impossible_mean_is_refused(tmp_path: Path) -> None:
    m = hush.Piecewise(low=0.0, high=1.0, epsilon=1.0)
    (tmp_path / "spec.json").write_text(json.dumps(m.to_dict()))
    (tmp_path / "bad.hush").write_bytes(Aggregate(20, np.array([-5, 5, 0]), m.spec_hash).to_bytes())
    told = refused("estimate", tmp_path / "bad.hush", "--spec", tmp_path / "spec.json")
    assert "aggregate must have sums of places and squares from 0 to" in told


@pytest.mark.parametrize("spec", [SPEC.to_dict(), hush.Duchi(low=0.0, high=1.0, epsilon=1.0).to_dict()])
def test_a_spec_without_thresholds_is_refused(folder: Path, spec: dict[str, object]) -> None:
    inner = spec["mechanism"] if isinstance(spec["mechanism"], dict) else spec
    del inner["thresholds"]
    inner["epsilon"] = 3.0
    path = folder / "changed.json"
    path.write_text(json.dumps(spec))
    told = refused("estimate", folder / "good.hush", "--spec", path)
    assert "thresholds must be written out, got nothing; take the original, or make a new one with --spec-out" in told


def test_counts_that_overflow_are_refused(folder: Path) -> None:
    counts = folder / "counts.csv"
    counts.write_text("value,count\n" + "".join(f"{i},{2**53 - 1}\n" for i in range(4)))
    told = refused("simulate", "--spec", folder / "spec.json", "--counts", counts)
    assert f"counts must add up to at most {2**53}, got {4 * (2**53 - 1)}" in told


def test_nested_specs_and_domains_are_refused(folder: Path) -> None:
    deep = folder / "deep.json"
    deep.write_text("[" * 100_000 + "]" * 100_000)
    assert "spec must be JSON" in refused("estimate", folder / "good.hush", "--spec", deep)
    (folder / "v.csv").write_text("pet\ncat\n")
    where = "--mechanism", "GRR", "--epsilon", 1, "-o", folder / "r.parquet"
    told = refused("privatize", folder / "v.csv", "--column", "pet", "--domain", deep, *where)
    assert "--domain must be JSON" in told
    assert "nested too deeply" in told


@pytest.mark.parametrize("by", [None, "town"])
def test_a_column_that_is_there_twice_is_refused(folder: Path, by: str | None) -> None:
    m = SPEC.mechanism
    reports = pa.array([bytes([i]) for i in range(4)], pa.binary(m.report_dtype.itemsize))
    towns = pa.array(["a", "b", "a", "b"])
    columns = [("report", reports)] * (2 if by is None else 1) + [("town", towns)] * 2
    schema = pa.schema([(name, array.type) for name, array in columns], {b"hush.spec": SPEC.to_json().encode()})
    path, buffer = folder / "twice.parquet", io.BytesIO()
    pq.write_table(pa.table([array for _, array in columns], schema=schema), buffer)
    path.write_bytes(buffer.getvalue())
    told = refused("estimate", path, *([] if by is None else ["--by", by]))
    assert f"input must have one column {by or 'report'!r}, got 2 in {path}; rename or remove the others" in told
