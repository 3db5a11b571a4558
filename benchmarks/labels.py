"""A domain of many labels: what `hush privatize` takes of time and memory, most of which goes into names.

Labels are short texts in a file, a line each; the people are few, and a column of theirs is kept. Peaks are VmHWM, as
in `memory`. `python -m benchmarks.labels 50000000` prints what some other number of labels takes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks import report
from benchmarks.order import command

LIMIT = 1.5e9  # bytes, of the largest
SIZES = 10**6, 10**7
PEOPLE = 1000


def run(quick: bool) -> list[report.Table]:
    """A million labels, and ten million."""
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
    return [table]


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
