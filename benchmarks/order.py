"""Shuffling the rows of a report file: what it costs beside leaving them, and how much memory it holds.

The whole command is measured, from a Parquet file that is sorted by the protected column to the file of reports. Peaks
are VmHWM, as in `memory`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import report

LIMIT = 1e9  # bytes
K = 128
_PART = 1 << 20

COMMAND = """
import json, sys, time
from hush.cli import app

start = time.perf_counter()
try:
    app(sys.argv[1:])
except SystemExit as done:
    assert not done.code, done
peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
spent = {"seconds": time.perf_counter() - start, "processor": time.process_time(), "peak": peak}
print(json.dumps(spent), file=sys.stderr)
"""

CASES = {
    "aligned (`--keep-order`)": ("--keep-order",),
    "shuffled": (),
    "shuffled, a text kept": ("--keep", "region"),
}


def run(quick: bool) -> list[report.Table]:
    """10⁸ rows of 128 values, as OUE reports."""
    people = 10**7 if quick else 10**8
    table = report.Table(
        f"`hush privatize`, OUE (k = {K}), {people:,} rows sorted by their value",
        ("rows are", "seconds", "reports/s", "peak", "required"),
        note="The whole command: reading Parquet, shuffling, randomizing securely, writing 16 bytes a report.",
    )
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "sorted.parquet")
        _write(data, people)
        for name, options in report.progress(list(CASES.items()), "order"):
            found = _measured(data, options)
            table.add(
                name,
                f"{found['seconds']:.1f}",
                report.rate(people / found["seconds"]),
                f"{found['peak'] / 1e6:,.0f} MB",
                f"≤ {LIMIT / 1e6:,.0f} MB",
                missed=f"{found['peak'] / 1e6:,.0f} MB" if found["peak"] > LIMIT else "",
                **found,
            )
    return [table]


def _write(path: Path, people: int) -> None:
    """Values in order, each with one of ten regions beside it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    regions = pa.array([f"region {i}" for i in range(10)])
    schema = pa.schema({"value": pa.uint8(), "region": pa.string()})
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, people, _PART):
            rows = np.arange(start, min(start + _PART, people))
            writer.write_table(
                pa.table([(rows * K // people).astype(np.uint8), regions.take(rows % 10)], schema=schema)
            )


def _measured(data: Path, options: tuple[str, ...]) -> dict[str, float]:
    chosen = ("--column", "value", "--k", str(K), "--mechanism", "OUE", "--epsilon", "1", "--json", *options)
    return command("privatize", str(data), *chosen, "-o", str(data.with_name("r.parquet")))


def command(*words: str | Path) -> dict[str, float]:
    """Run the command in a process of its own: its seconds, those of the processor, and its peak in bytes."""
    whole = [sys.executable, "-c", COMMAND, *map(str, words)]
    done = subprocess.run(whole, check=True, capture_output=True, text=True, encoding="utf-8")
    return dict(json.loads(done.stderr.splitlines()[-1]))


def timed(*words: str | Path) -> dict[str, float]:
    """The same, with the start of the process in its seconds."""
    start = time.perf_counter()
    found = command(*words)
    return {**found, "seconds": time.perf_counter() - start}
