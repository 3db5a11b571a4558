"""Aggregating a stream of reports holds little memory: peak resident size of a process that does only that.

The peak is VmHWM of /proc/self/status, which belongs to the address space. getrusage's ru_maxrss will not do: a child
starts with its parent's peak, here that of the benchmarks which ran before.
"""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks import report

LIMIT = 1e9  # bytes

STREAM = """
import json, sys, time
import numpy as np
import hush

people, part = int(sys.argv[1]), 1 << 20
mechanism = hush.OUE(k=128, epsilon=1.0)
values = np.random.default_rng(7).integers(0, 128, part)
start = time.perf_counter()

def reports():
    left = people
    while left:
        size = min(part, left)
        yield mechanism.privatize(values[:size])
        left -= size

aggregate = mechanism.aggregate(reports())
taken = time.perf_counter() - start
mechanism.estimate(aggregate)
peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({"n": aggregate.n, "seconds": taken, "peak": peak}))
"""


def run(quick: bool) -> list[report.Table]:
    """10⁸ reports of 128 bits each, made and aggregated as they come."""
    people = 10**7 if quick else 10**8
    done = subprocess.run(
        [sys.executable, "-c", STREAM, str(people)], check=True, capture_output=True, text=True, encoding="utf-8"
    )
    found = json.loads(done.stdout)
    table = report.Table(
        "Memory of a stream of OUE reports (k = 128)",
        ("reports", "peak", "required", "reports/s, both sides"),
        note="Each million is randomized with secure randomness, aggregated and forgotten.",
    )
    table.add(
        f"{found['n']:,}",
        f"{found['peak'] / 1e6:,.0f} MB",
        f"≤ {LIMIT / 1e6:,.0f} MB",
        report.rate(found["n"] / found["seconds"]),
        missed=f"{found['peak'] / 1e6:,.0f} MB" if found["peak"] > LIMIT or found["n"] != people else "",
        **found,
    )
    return [table]
