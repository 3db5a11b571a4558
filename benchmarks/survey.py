"""A survey every month: the whole command through the store of devices, and the estimates of all months.

Peaks are VmHWM, as in `memory`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks import report
from benchmarks.order import command

LIMIT = 1e9  # bytes
SIZES = {"health": 7, "work": 10, "sleep": 12, "region": 20}
MONTHS = 12
_TWICE = ("--epsilon-permanent", "4", "--epsilon-report", "2")
CASES = {
    "`SMP`, fresh": ("--mechanism", "SMP", "--epsilon", "2"),
    "`LSMP`, one attribute for good": ("--mechanism", "LSMP", *_TWICE),
    "`LSPL`, all attributes": ("--mechanism", "LSPL", *_TWICE),
}


def run(quick: bool) -> list[report.Table]:
    """10⁵ people, twelve months in one file, four columns."""
    people = 10**4 if quick else 10**5
    rows = people * MONTHS
    table = report.Table(
        f"`hush privatize --clients`, {people:,} people, {MONTHS} months, {len(SIZES)} columns, one file",
        ("protocol", "seconds", "of the processor", "rows/s", "peak", "required", "store", "estimate, s"),
        note="Reading Parquet, shuffling, answers and accounts in a new store, randomizing securely, writing; then "
        "`hush estimate` of all months.",
    )
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "survey.parquet")
        _write(data, people)
        for name, options in report.progress(list(CASES.items()), "survey"):
            reports, store = (data.with_name(f"{options[1]}{end}") for end in (".parquet", ".hushdb"))
            columns = [word for column, k in SIZES.items() for word in ("--column", column, "--k", f"{column}={k}")]
            who = ("--person", "id", "--period", "month", "--clients", str(store), "--json", "-o", str(reports))
            found = command("privatize", str(data), *columns, *options, *who)
            after = command("estimate", str(reports), "--json")
            table.add(
                name,
                f"{found['seconds']:.1f}",
                f"{found['processor']:.1f}",
                report.rate(rows / found["seconds"]),
                f"{found['peak'] / 1e6:,.0f} MB",
                f"≤ {LIMIT / 1e6:,.0f} MB",
                f"{store.stat().st_size / 1e6:,.0f} MB",
                f"{after['seconds']:.1f}",
                missed=f"{found['peak'] / 1e6:,.0f} MB" if found["peak"] > LIMIT else "",
                **found,
                store=store.stat().st_size,
                estimate=after["seconds"],
            )
    return [table]


def _write(path: Path, people: int) -> None:
    """Everybody in every month; one answer in twenty changes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(7)
    held = {name: rng.integers(0, k, people) for name, k in SIZES.items()}
    names = pa.array([f"person {i}" for i in range(people)])
    with pq.ParquetWriter(path, _table(names, "2026-01", held).schema) as writer:
        for month in range(1, MONTHS + 1):
            for name, k in SIZES.items():
                held[name] = np.where(rng.random(people) < 0.05, rng.integers(0, k, people), held[name])
            writer.write_table(_table(names, f"2026-{month:02}", held))


def _table(names: object, month: str, held: dict[str, np.ndarray]) -> object:
    import pyarrow as pa

    months = pa.array([month] * len(names))  # type: ignore[arg-type]
    return pa.table({"id": names, "month": months, **{name: cells.astype(np.uint8) for name, cells in held.items()}})
