"""1,139,469,767 values over 266 items with local hashing, end to end: the job that a user of pure-LDP asked about.

A person there was told that there is no way around a loop over all reports (pure-LDP, issue 6). Here values lie in a
Parquet file on the disk, of the law of Zipf in steps of 2^-16, in a random order; `hush privatize` and `hush estimate`
run as they would for anybody, each a process of its own, start-up included. The disk's speed is measured in the same
run, with as many bytes. `python -m benchmarks billion --scale 0.01` takes a hundredth; what is required is required of
the whole.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hush
from benchmarks import disk, report
from benchmarks.order import timed
from hush.types import Ints

PEOPLE, K, EPSILON = 1_139_469_767, 266, 1.0
END_TO_END, ESTIMATE, PEAK = 180.0, 60.0, 1e9
"""Seconds and bytes, at full size."""
FALSE_ALARM = 1e-9
_PART = 1 << 22
_STEPS = 1 << 16


@dataclass(frozen=True)
class Disk:
    """Bytes a second."""

    writes: float
    reads: float


def run(quick: bool, scale: float = 0.01) -> list[report.Table]:
    """Both ways of hashing, at some share of the full size."""
    people = max(1, round(PEOPLE * (scale / 10 if quick else scale)))
    table = report.Table(
        f"{people:,} values over {K} items, end to end (OLH, ε = {EPSILON:g})",
        ("stage", "seconds", "processor", "peak", "bytes", "kernels alone", "bytes at the disk's speed", "required"),
        note="Commands as a user runs them, start-up included, kernels compiled before; output shuffled, secure "
        "randomness. Values are read from the disk, nothing of them cached. `privatize` leaves it to the system when "
        "reports go to the disk; the row after it says how long they then took, and end to end counts that. "
        "`estimate` reads what the system cached; the row after it begins with nothing cached.",
    )
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        start = time.perf_counter()
        counts = _values(where / "values.parquet", people)
        size = (where / "values.parquet").stat().st_size
        took = f"{time.perf_counter() - start:.1f}"
        _values(where / "few.parquet", 1000)
        table.add("values, Parquet (not counted)", took, "", "", _bytes(size), "", "", "")
        for options in ({}, {"hash": "family"}):
            _job(table, where, counts, hush.OLH(k=K, epsilon=EPSILON, **options), full=people >= PEOPLE)
    return [table]


def _job(table: report.Table, where: Path, counts: Ints, m: Any, full: bool) -> None:
    """One mechanism, from the values to the estimate; everything that it wrote is gone in the end."""
    values, reports, aggregate = (where / name for name in ("values.parquet", "reports.parquet", "aggregate.hush"))
    n, name = int(counts.sum()), f'hash="{m.hash}"'
    chosen = ("--column", "value", "--k", K, "--mechanism", "OLH", "--epsilon", EPSILON, "--set", f"hash={m.hash}")
    timed("privatize", where / "few.parquet", *map(str, chosen), "-o", reports)  # compiles what is not yet
    timed("estimate", reports)
    reports.unlink()
    disk.forget(values)
    made = timed("privatize", values, *map(str, chosen), "--json", "-o", reports)
    lasting = disk.synced(reports)
    warm = timed("estimate", reports, "--json", "--aggregate-out", aggregate)
    disk.forget(reports)
    cold = timed("estimate", reports, "--json")
    wrong = _wrong(hush.Spec(m), aggregate, counts)
    size = reports.stat().st_size
    reports.unlink()
    speed = _disk(where / "bytes", size)
    privatized, aggregated = _kernels(m)
    codes = n * np.min_scalar_type(K - 1).itemsize
    wrote = size / speed.writes + codes / speed.writes + (values.stat().st_size + codes) / speed.reads
    total = made["seconds"] + lasting + warm["seconds"]

    def add(stage: str, found: dict[str, float] | None, seconds: float, *limits: float, **more: Any) -> None:
        peak = 0.0 if found is None else found["peak"]
        due, most = more.pop("due", ""), more.pop("most", float("inf"))
        missed = f"{seconds:.0f} s" if full and seconds > most else f"{peak / 1e6:,.0f} MB" if peak > PEAK else ""
        table.add(
            f"{name}: {stage}",
            f"{seconds:.1f}",
            "" if found is None else f"{found['processor']:.1f}",
            "" if found is None else f"{peak / 1e6:,.0f} MB",
            more.pop("bytes", ""),
            *(f"{limit:.1f} s" if limit else "" for limit in limits),
            due,
            missed=more.pop("missed", "") or missed,
            n=n,
            **(found or {}),
        )

    least = "≤ 1,000 MB"
    add("privatize", made, made["seconds"], n / privatized, wrote, bytes=_bytes(size), due=least)
    add("reports brought to the disk", None, lasting, 0.0, 0.0)
    add("estimate", warm, warm["seconds"], n / aggregated, 0.0, due=f"{least}, < {ESTIMATE:.0f} s", most=ESTIMATE)
    add("estimate, nothing cached", cold, cold["seconds"], n / aggregated, size / speed.reads, due=least)
    add("end to end", None, total, n / privatized + n / aggregated, 0.0, due=f"< {END_TO_END:.0f} s", most=END_TO_END)
    table.add(
        f"{name}: n, and the {K} frequencies in their exact intervals",
        *[""] * 6,
        "right, but for 1 run in 10⁹",
        missed=wrong,
    )
    table.add(
        "the disk, as many bytes written and read",
        f"{size / speed.writes:.1f} + {size / speed.reads:.1f}",
        *[""] * 2,
        _bytes(size),
        "",
        f"{speed.writes / 1e6:,.0f} and {speed.reads / 1e6:,.0f} MB/s",
        "",
        writes=speed.writes,
        reads=speed.reads,
    )


def _values(path: Path, people: int) -> Ints:
    """Write so many values, and count them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    weights = 1 / np.arange(1, K + 1)
    ends = np.round(_STEPS * np.cumsum(weights) / weights.sum()).astype(int)
    items = np.searchsorted(ends, np.arange(_STEPS), side="right").astype(np.uint16)
    drawing, counts = np.random.default_rng(20261117), np.zeros(K, np.int64)
    schema = pa.schema({"value": pa.uint16()})
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, people, _PART):
            part = items[drawing.integers(0, _STEPS, min(_PART, people - start), np.uint16)]
            counts += np.bincount(part, minlength=K)
            writer.write_table(pa.table([part], schema=schema))
    return counts


def _wrong(spec: hush.Spec, aggregate: Path, counts: Ints) -> str:
    """What the estimate gets wrong, if anything; by chance once in a billion runs."""
    found = hush.read(aggregate)
    assert isinstance(found, hush.Aggregate)
    if found.n != counts.sum():
        return f"n is {found.n:,}"
    low, high = spec.estimate(found).interval(1 - FALSE_ALARM / K)
    outside = int(((counts / found.n < low) | (counts / found.n > high)).sum())
    return f"{outside} frequencies lie outside" if outside else ""


def _disk(path: Path, size: int) -> Disk:
    try:
        return Disk(size / disk.written(path, size), size / disk.read(path))
    finally:
        path.unlink(missing_ok=True)


def _kernels(m: Any) -> tuple[float, float]:
    """Values privatized and reports aggregated in a second, on all cores, in memory; the best of three."""
    values = np.arange(_PART) % K
    reports = m.privatize(values)
    m.aggregate(reports[:1000])
    privatized, aggregated = [], []
    for _ in range(3):
        start = time.perf_counter()
        m.privatize(values)
        middle = time.perf_counter()
        m.aggregate(reports)
        privatized.append(middle - start)
        aggregated.append(time.perf_counter() - middle)
    return _PART / min(privatized), _PART / min(aggregated)


def _bytes(size: float) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
