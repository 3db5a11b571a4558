"""How the time of SS, MSS and PGR grows with the number of values and of reports, and what a million values take.

Each mechanism and k has a process of its own, so that its peak of memory is its own too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from benchmarks import report

NAMES, EPSILON, PEOPLE = ("SS", "MSS", "PGR"), 4.0, 1000
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FIXED, CROWDS = 1024, (1_000, 10_000, 100_000, 1_000_000)

CHILD = """
import json, sys, time
import numpy as np
import hush
from hush.mechanisms.modular.moduli import choose_moduli

name, k, epsilon, crowds, chosen = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), json.loads(sys.argv[4]), []

def timed(work):
    result, taken, busy, start = work(), [], [], time.perf_counter()
    while len(taken) < 3 or (len(taken) < 15 and time.perf_counter() - start < 2):
        begin, before = time.perf_counter(), time.process_time()
        result = work()
        taken.append(time.perf_counter() - begin)
        busy.append(time.process_time() - before)
    return result, [min(taken), min(busy)]

def peak():
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

more = {}
if name == "MSS":
    choose_moduli(200, epsilon)  # compiles
    begin, before = time.perf_counter(), time.process_time()
    more["moduli"] = choose_moduli(k, epsilon)
    chosen = [time.perf_counter() - begin, time.process_time() - before]
m = getattr(hush, name)(k=k, epsilon=epsilon, **more)
few = m.privatize(np.zeros(10, np.int64))
m.decode(m.aggregate(few).tally, 10)
steps, before = [], peak()
for n in crowds:
    values = np.random.default_rng(7).integers(0, k, n)
    reports, client = timed(lambda: m.privatize(values))
    aggregate, tallied = timed(lambda: m.aggregate(reports))
    _, decoded = timed(lambda: m.decode(aggregate.tally, n))
    steps.append({"n": n, "client": client, "aggregate": tallied, "decode": decoded})
    del reports
found = {"steps": steps, "choose": chosen, "bytes": m.report_dtype.itemsize, "before": before, "peak": peak()}
print(json.dumps(found))
"""


def run(quick: bool) -> list[report.Table]:
    """Against k, then against n; the picture is drawn from both."""
    sizes, crowds = (SIZES[:3], CROWDS[:3]) if quick else (SIZES, CROWDS)
    values = _table(
        f"Growth with the number of values: {PEOPLE:,} reports, ε = {EPSILON:g}",
        [(name, k, (PEOPLE,)) for k in sizes for name in NAMES],
    )
    people = _table(
        f"Growth with the number of reports: k = {FIXED:,}, ε = {EPSILON:g}", [(name, FIXED, crowds) for name in NAMES]
    )
    if not quick:
        from benchmarks import modular_plot

        modular_plot.draw(values.data, people.data)
    return [values, people]


def _table(title: str, cases: list[tuple[str, int, tuple[int, ...]]]) -> report.Table:
    table = report.Table(
        title,
        ("mechanism, k, n", "bytes", "client", "aggregate", "decode", "choose moduli", "memory"),
        note="Milliseconds on all cores. Memory is the peak of a process that does only this, its reports included; "
        "one that has imported and compiled everything has taken most of 200 MB.",
    )
    for name, k, crowds in report.progress(cases, title.split(":")[0]):
        found = _child(name, k, crowds)
        for step in found["steps"]:
            parts = [step[part][0] for part in ("client", "aggregate", "decode")]
            table.add(
                f"{name}, {k:,}, {step['n']:,}",
                f"{found['bytes']:,}",
                *(f"{1e3 * part:,.3g}" for part in parts),
                f"{1e3 * found['choose'][0]:,.0f}" if found["choose"] else "",
                f"{found['peak'] / 1e6:,.0f} MB" if step is found["steps"][-1] else "",
                mechanism=name,
                k=k,
                choose=found["choose"],
                peak=found["peak"],
                **step,
            )
    return table


def _child(name: str, k: int, crowds: tuple[int, ...]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, name, str(k), str(EPSILON), json.dumps(crowds)],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found
