"""The planner: the command as a person runs it, in a fresh process, imports included; and what shuffling adds."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from itertools import product

import hush
from benchmarks import report, timing
from hush.planning.shuffling import shuffled_epsilon

LIMIT = 2.0  # seconds that a person waits, for ten thousand values, on a machine that does nothing else
ASKED = {
    "13 values": "--k 13 --n 60000 --error 1pp --max-asr 0.3",
    "100 values": "--k 100 --n 100000 --error 1pp --max-asr 0.1",
    "10,000 values": "--k 10000 --n 1000000 --error 1pp",
    "10,000 values, no error": "--k 10000 --n 1000000 --max-epsilon 4 --max-asr 0.01",
    "10,000 values, impossible": "--k 10000 --n 1000000 --error 1pp --max-epsilon 0.1",
    "100 values, eight objectives": "--k 100 --n 100000 --error 1pp "
    "--objectives asr,error,attribute,pools,changes,reidentification,gain,bits --collections 3",
    "1,000,000 values": "--k 1000000 --n 10000000 --error 1pp",
}

ATTACKED = {
    "pools": ("error", "asr", "pools"),
    "attribute, pools and changes": ("error", "asr", "attribute", "pools", "changes"),
}
"""Objectives that ask what attacks over classes of values gain."""
ATTACKED_VALUES, ATTACKED_LIMIT_SECONDS = (1_000, 100_000, 1_000_000), 10.0

SHUFFLED, CROWDS = ("GRR", "SS", "SUE", "OUE", "OLH"), (5, 20, 100, 10_000, 1_000_000)


def run(quick: bool) -> list[report.Table]:
    """Every question beside starting Python and starting the command; and bounds for shuffled reports."""
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
    return [table, _measure_attacked(quick), _shuffled(quick)]


def _measure_attacked(quick: bool) -> report.Table:
    """Measure the processor time of plans that are compared in attacks over classes of values."""
    table = report.Table(
        "`hush.plan` with attacks as objectives, a million people, ε at most 2",
        ("values", "objectives beside error and asr", "processor", "required"),
        note="In one process, after a plan of 20 values, which compiles. The processor's time counts all threads.",
    )
    for k, name in report.progress(tuple(product(ATTACKED_VALUES[: 2 if quick else 3], ATTACKED)), "attacked"):
        for warming in (True, False):
            start = time.process_time()
            hush.plan(k=20 if warming else k, n=10**6, objectives=ATTACKED[name], max_epsilon=2.0)
            taken = time.process_time() - start
        held = k <= 100_000
        missed = f"{k:,} values {taken:.1f} s" if held and taken >= ATTACKED_LIMIT_SECONDS else ""
        required = f"< {ATTACKED_LIMIT_SECONDS:g} s" if held else ""
        table.add(f"{k:,}", name, f"{taken:.2f} s", required, missed=missed, seconds=taken)
    return table


def _shuffled(quick: bool) -> report.Table:
    table = report.Table(
        "What shuffling adds, of one mechanism: ε at δ = 10⁻⁶, local ε = 1, k = 100",
        ("mechanism", "people", "ε", "bound", "time", "required"),
        note="In one process, after a first call, the best of two. Few people are gone through whatever they hold.",
    )
    for name, n in report.progress(tuple(product(SHUFFLED, CROWDS[:: 2 if quick else 1])), "shuffled"):
        m = hush.registry()[name](k=100, epsilon=1.0)
        found = shuffled_epsilon(m, n, 1e-6)
        taken = timing.best([lambda m=m, n=n: shuffled_epsilon(m, n, 1e-6)], 2)[0]
        missed = f"{name} of {n:,} {taken:.2f} s" if taken >= LIMIT else ""
        cells = (f"{n:,}", f"{found.epsilon:.4g}", found.bound, f"{1000 * taken:,.0f} ms", f"< {LIMIT:g} s")
        table.add(name, *cells, missed=missed, seconds=taken)
    return table


def _cold(arguments: list[str]) -> tuple[float, float]:
    """Seconds on the clock and of the processor; nothing that is impossible is an error."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], check=False, capture_output=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in {0, 1}:
        raise RuntimeError(done.stderr.decode())
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
