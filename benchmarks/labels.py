"""Labels, many of them or on many rows: what `hush privatize` takes of time and memory.

Of many labels, most goes into names; they are short texts in a file, a line each; the people are few, and a column of
theirs is kept. Of many rows, all of 266 labels, most goes into reading, making and writing reports. Peaks are VmHWM, as
in `memory`. `python -m benchmarks.labels 50000000` prints what some other number of labels takes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import report
from benchmarks.order import command, timed

LIMIT = 1.5e9  # bytes, of the largest
SIZES = 10**6, 10**7
PEOPLE = 1000
ITEMS = 266
LIMIT_ROWS = 1e9
CASES: list[tuple[str, str, tuple[str, ...], float | None]] = [
    ("OLH", "parquet", ("--mechanism", "OLH"), 2.0),
    ("OLH", "csv", ("--mechanism", "OLH"), None),
    ("SS, plain", "parquet", ("--mechanism", "SS"), None),
    ("SS, dense", "parquet", ("--mechanism", "SS", "--set", "code=enumerative"), None),
]
"""What is written, from what, and seconds that are required of ten million rows."""


def run(quick: bool) -> list[report.Table]:
    """A million labels, and ten million; then ten million rows."""
    table = report.Table(
        f"`hush privatize`, GRR, {PEOPLE:,} rows, a column kept, many labels",
        ("labels", "seconds", "peak", "bytes a label", "required"),
        note="The whole command, from a text file of labels to a file of reports with its spec.",
    )
    for labels in report.progress(SIZES[:1] if quick else SIZES, "labels"):
        found = _measured(labels)
        table.add(
            f"{labels:,}",
            f"{found['seconds']:.1f}",
            f"{found['peak'] / 1e6:,.0f} MB",
            f"{found['peak'] / labels:,.0f}",
            f"≤ {LIMIT / 1e6:,.0f} MB",
            missed=f"{found['peak'] / 1e6:,.0f} MB" if found["peak"] > LIMIT else "",
            **found,
        )
    return [table, _rows(10**6 if quick else 10**7)]


def _rows(people: int) -> report.Table:
    """Rows of 266 labels, in Parquet and in CSV, and two ways to write subsets."""
    table = report.Table(
        f"`hush privatize`, {people:,} rows, {ITEMS} labels",
        ("reports", "input", "seconds", "processor", "peak", "bytes a report", "file", "`hush estimate`", "required"),
        note="Seconds of the whole commands, the start of their processes included. Rows are shuffled. Plain subsets "
        'are `code="sorted"`, dense ones `code="enumerative"`.',
    )
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        _write_rows(where, people)
        for name, kind, options, most in report.progress(CASES, "labels"):
            data, out = where / f"data.{kind}", where / "r.parquet"
            chosen = ("--column", "value", "--domain", where / "labels.txt", "--epsilon", "1", *options)
            timed("privatize", where / "few.csv", *chosen, "-o", out)  # compiles what is not yet
            made = timed("privatize", data, *chosen, "-o", out)
            read = timed("estimate", out)
            size, due = out.stat().st_size, most is not None and people == 10**7
            table.add(
                name,
                kind,
                f"{made['seconds']:.1f}",
                f"{made['processor']:.1f}",
                f"{made['peak'] / 1e6:,.0f} MB",
                f"{size / people:.0f}",
                f"{size / 1e6:,.0f} MB",
                f"{read['seconds']:.1f} s",
                "" if most is None else f"< {most:g} s, ≤ {LIMIT_ROWS / 1e6:,.0f} MB",
                missed=f"{made['seconds']:.1f} s" if due and made["seconds"] > (most or 0) else _large(made["peak"]),
                bytes=size,
                **made,
            )
    return table


def _large(peak: float) -> str:
    return f"{peak / 1e6:,.0f} MB" if peak > LIMIT_ROWS else ""


def _write_rows(where: Path, people: int) -> None:
    """The same rows, of the law of Zipf, as Parquet and as CSV, and a few of them."""
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    labels = [f"item {i:03d}" for i in range(ITEMS)]
    (where / "labels.txt").write_text("\n".join(labels))
    weights = 1 / np.arange(1, ITEMS + 1)
    drawn = np.random.default_rng(7).choice(ITEMS, people, p=weights / weights.sum())
    rows = pa.table({"value": pa.array(labels).take(pa.array(drawn))})
    pq.write_table(rows, where / "data.parquet")
    csv.write_csv(rows, where / "data.csv")
    csv.write_csv(rows.slice(0, 1000), where / "few.csv")


def _measured(labels: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        named, data, out = (Path(folder, name) for name in ("labels.txt", "data.csv", "reports.parquet"))
        named.write_text("".join(f"label {i:06d}\n" for i in range(labels)))
        rows = (f"label {i * labels // PEOPLE:06d},region {i % 2}\n" for i in range(PEOPLE))
        data.write_text("value,region\n" + "".join(rows))
        chosen = (
            "--column",
            "value",
            "--keep",
            "region",
            "--domain",
            str(named),
            "--mechanism",
            "GRR",
            "--epsilon",
            "1",
        )
        return command("privatize", str(data), *chosen, "-o", str(out))


if __name__ == "__main__":
    for size in map(int, sys.argv[1:]):
        found = _measured(size)
        print(f"{size:,} labels: {found['seconds']:.1f} s, peak {found['peak'] / 1e6:,.0f} MB", flush=True)
