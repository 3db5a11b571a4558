"""Tuples from a file: `hush privatize` over four columns of a CSV, and what it holds in memory.

The whole command is measured, from the file of cells to the file of reports, as in `order`.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import report
from benchmarks.order import LIMIT, command

SIZES = {"age": 7, "region": 10, "income": 12, "health": 20}
_PART = 1 << 18

CASES = {
    "`SMP`": ("--mechanism", "SMP"),
    "`SPL`": ("--mechanism", "SPL"),
    "`RSFD`": ("--mechanism", "RSFD"),
}


def run(quick: bool) -> list[report.Table]:
    """10⁶ rows of four columns of labels, one cell in a hundred missing."""
    people = 10**5 if quick else 10**6
    table = report.Table(
        f"`hush privatize`, four columns ({', '.join(map(str, SIZES.values()))} values) of a CSV of {people:,} rows",
        ("collection", "seconds", "rows/s", "peak", "required"),
        note="The whole command: reading and matching labels, shuffling, randomizing securely, writing.",
    )
    with tempfile.TemporaryDirectory() as folder:
        data, domains = Path(folder, "people.csv"), Path(folder, "domains.json")
        domains.write_text(json.dumps({name: _labels(name) for name in SIZES}))
        _write(data, people)
        columns = [word for name in SIZES for word in ("--column", name)]
        shared = (*columns, "--domain", str(domains), "--other", "unsaid", "--epsilon", "2", "--json")
        for name, options in report.progress(list(CASES.items()), "tuples"):
            found = command("privatize", str(data), *shared, *options, "-o", str(data.with_name("r.parquet")))
            table.add(
                name,
                f"{found['seconds']:.2f}",
                report.rate(people / found["seconds"]),
                f"{found['peak'] / 1e6:,.0f} MB",
                f"≤ {LIMIT / 1e6:,.0f} MB",
                missed=f"{found['peak'] / 1e6:,.0f} MB" if found["peak"] > LIMIT else "",
                **found,
            )
    return [table]


def _labels(name: str) -> list[str]:
    return [f"{name} {i}" for i in range(SIZES[name])]


def _write(path: Path, people: int) -> None:
    """Cells drawn uniformly, some of them missing."""
    rng = np.random.default_rng(1)
    cells = [np.array([*_labels(name), ""]) for name in SIZES]
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(SIZES) + "\n")
        for start in range(0, people, _PART):
            n = min(_PART, people - start)
            drawn = [rng.integers(each.size - 1, size=n) for each in cells]
            held = [np.where(rng.random(n) < 0.01, "", each[i]) for each, i in zip(cells, drawn, strict=True)]
            file.writelines(f"{','.join(row)}\n" for row in zip(*held, strict=True))
