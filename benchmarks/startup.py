"""Start-up: what `import hush` adds to `import numpy`, and first use with and without a cache of compiled kernels."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import report, timing

IMPORT_LIMIT = 0.3  # seconds
COLD_LIMIT = 10.0
WARM_LIMIT = 1.0  # of the smallest collection, once its kernels are kept

USE = """
import sys
import hush

m = hush.registry()[sys.argv[1]](k=128, epsilon=1.0)
m.estimate(m.aggregate(m.privatize([0, 1, 2, 3] * 100)))
"""
SIMULATE = "simulate --mechanism OLH --epsilon 1 --dataset msnbc --runs 5 --seed 7"
PRIVATIZE = "privatize ten.csv --column page --k 4 --mechanism OUE --epsilon 1 --output ten.parquet"


def run(quick: bool) -> list[report.Table]:
    """Both tables."""
    return [_imports(3 if quick else 7), _first_use(quick)]


def _imports(turns: int) -> report.Table:
    times: dict[str, list[float]] = {"import numpy": [], "import hush": []}
    for _ in range(turns + 1):
        for code, taken in times.items():
            taken.append(timing.seconds(lambda c=code: _python("-c", c)))
    numpy, ours = (statistics.median(taken[1:]) for taken in times.values())  # the first one warms the disk
    loaded = _python("-c", "import hush, sys; print('numba' in sys.modules)").stdout.strip() == "True"
    table = report.Table(
        "Import", ("what", "numpy", "hush", "difference", "required"), note="Median of fresh processes."
    )
    late = f"{ours - numpy:.2f} s" if ours - numpy >= IMPORT_LIMIT else ""
    cells = (f"{numpy:.3f} s", f"{ours:.3f} s", f"{ours - numpy:.3f} s", f"< {IMPORT_LIMIT} s")
    table.add("`import hush`", *cells, missed=late, numpy=numpy, hush=ours)
    table.add("numba is imported", "", "", str(loaded), "False", missed="by `import hush`" if loaded else "")
    return table


def _first_use(quick: bool) -> report.Table:
    table = report.Table(
        "First use in a fresh process, start-up and compilation included",
        ("what", "no cache", "cached", "required"),
        note="Commands as a user runs them; for a mechanism, privatize, aggregate and estimate in Python.",
    )
    names = (
        ("OUE", "OLH") if quick else ("GRR", "SS", "SUE", "OUE", "THE", "BLH", "OLH", "SHE", "ServerTHE", "HR", "Wheel")
    )
    commands = (PRIVATIZE, "mechanisms", SIMULATE, "demo --output page")
    cases = [(f"`hush {line}`", ["-m", "hush", *line.split()]) for line in commands]
    cases += [(name, ["-c", USE, name]) for name in names]
    for name, command in report.progress(cases, "start-up"):
        with tempfile.TemporaryDirectory() as cache:
            Path(cache, "ten.csv").write_text("page\n" + "0\n1\n" * 5)
            cold, warm = (timing.seconds(lambda c=command, d=cache: _python(*c, cache=d)) for _ in range(2))
        soon = PRIVATIZE in name
        late, limit = (warm >= WARM_LIMIT, WARM_LIMIT) if soon else (cold >= COLD_LIMIT, COLD_LIMIT)
        due = f"cached < {WARM_LIMIT:g} s" if soon else f"< {COLD_LIMIT:g} s"
        missed = f"over {limit:g} s" if late else ""
        table.add(name, f"{cold:.2f} s", f"{warm:.2f} s", due, missed=missed, cold=cold, warm=warm)
    return table


def _python(*arguments: str, cache: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if cache else {})}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # people's modules are compiled once
    return subprocess.run(
        [sys.executable, *arguments], check=True, env=environment, cwd=cache, capture_output=True, text=True
    )
