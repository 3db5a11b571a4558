"""The planner: the command as a person runs it, in a fresh process, imports included."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time

from benchmarks import report

LIMIT = 2.0  # seconds that a person waits, for ten thousand values, on a machine that does nothing else
ASKED = {
    "13 values": "--k 13 --n 60000 --error 1pp --max-asr 0.3",
    "100 values": "--k 100 --n 100000 --error 1pp --max-asr 0.1",
    "10,000 values": "--k 10000 --n 1000000 --error 1pp",
    "10,000 values, no error": "--k 10000 --n 1000000 --max-epsilon 4 --max-asr 0.01",
    "10,000 values, impossible": "--k 10000 --n 1000000 --error 1pp --max-epsilon 0.1",
    "1,000,000 values": "--k 1000000 --n 10000000 --error 1pp",
}


def run(quick: bool) -> list[report.Table]:
    """One table: every question beside starting Python and starting the command."""
    turns = 1 if quick else 3
    works = {"`python -c pass`": ["-c", "pass"], "`hush --version`": ["-m", "hush", "--version"]}
    works |= {f"`hush plan`, {name}": ["-m", "hush", "plan", *line.split()] for name, line in ASKED.items()}
    wall: dict[str, list[float]] = {name: [] for name in works}
    work: dict[str, list[float]] = {name: [] for name in works}
    for turn in report.progress(range(turns + 1), "plan"):
        for name, arguments in works.items():
            seconds, cpu = _cold(arguments)
            if turn:  # the first one warms the disk
                wall[name].append(seconds)
                work[name].append(cpu)
    table = report.Table(
        "`hush plan`, a fresh process each time",
        ("what", "time", "processor", "beside `hush --version`", "required"),
        note=f"Medians of {turns} runs, taken in turn, so that a busy moment hits all alike. What is required is the "
        "time on the clock of a machine that does nothing else; the processor's counts all threads that start.",
    )
    start = statistics.median(work["`hush --version`"])
    for name in works:
        seconds, cpu = statistics.median(wall[name]), statistics.median(work[name])
        held = "10,000 values" in name
        missed = f"{seconds:.2f} s" if held and seconds >= LIMIT else ""
        cells = (f"{seconds:.2f} s", f"{cpu:.2f} s", f"{cpu / start:.1f} ×", f"< {LIMIT:g} s" if held else "")
        table.add(name, *cells, missed=missed, seconds=seconds, processor=cpu)
    return [table]


def _cold(arguments: list[str]) -> tuple[float, float]:
    """Seconds on the clock and of the processor; nothing that is impossible is an error."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], check=False, capture_output=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in {0, 1}:
        raise RuntimeError(done.stderr.decode())
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
