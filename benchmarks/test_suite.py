"""Seconds of `make check`, `make test` and `make nightly`, by tier, and what their tests were."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from benchmarks import report, timing

ROOT = Path(__file__).resolve().parents[1]
MAX_SECONDS = {
    "make check": 3 * 60,
    "make test": 8 * 60,
    "make test, from an empty clone": 12 * 60,
    "make nightly": 75 * 60,
}


def run(quick: bool) -> list[report.Table]:
    """Measure every tier, or `make check` alone."""
    table = report.Table(
        "Tests, by tier",
        ("command", "seconds", "tests", "required"),
        note="Wall-clock seconds on all cores. An empty clone installs every package and compiles every kernel first.",
    )
    with tempfile.TemporaryDirectory() as folder:
        places = dict.fromkeys(MAX_SECONDS, ROOT) | {"make test, from an empty clone": Path(folder, "hush")}
        for name in [next(iter(MAX_SECONDS))] if quick else MAX_SECONDS:
            _add(table, name, places[name])
    return [table]


def _add(table: report.Table, name: str, place: Path) -> None:
    """Run a command and add its row; a clone is made first where it is missing, outside of the time."""
    if not place.exists():
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(place)], check=True)
    command = name.partition(",")[0].split() + (["FRESH=1"] if "nightly" in name else [])
    done: list[subprocess.CompletedProcess[str]] = []
    taken = timing.seconds(
        lambda: done.append(subprocess.run(command, cwd=place, capture_output=True, text=True, check=False))
    )
    counts = [int(each) for each in re.findall(r"(\d+) passed[^\n]* in [\d.]+s", done[0].stdout)]
    late = f"over {MAX_SECONDS[name]} s" if taken > MAX_SECONDS[name] else ""
    failed = f"exit code {done[0].returncode}" if done[0].returncode else ""
    cells = (f"{taken:.0f} s", f"{sum(counts):,}", f"≤ {MAX_SECONDS[name]} s")
    table.add(f"`{name}`", *cells, missed=failed or late, seconds=taken)
