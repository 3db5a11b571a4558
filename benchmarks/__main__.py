"""The command: `python -m benchmarks [names...] [--quick] [--scale S] [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

from benchmarks import (
    audit,
    billion,
    browser,
    budget,
    cluster,
    collecting,
    family,
    hashing_kernel,
    intervals,
    labels,
    memory,
    modular,
    order,
    planning,
    refined,
    report,
    scaling,
    simulation,
    startup,
    survey,
    test_suite,
    throughput,
    tuples,
    uldp,
    workbench,
)
from benchmarks.collecting import faults

BENCHMARKS = {
    "throughput": throughput.run,
    "hashing": hashing_kernel.run,
    "family": family.run,
    "uldp": uldp.run,
    "simulation": simulation.run,
    "intervals": intervals.run,
    "refined": refined.run,
    "audit": audit.run,
    "modular": modular.run,
    "budget": budget.run,
    "plan": planning.run,
    "memory": memory.run,
    "order": order.run,
    "tuples": tuples.run,
    "labels": labels.run,
    "survey": survey.run,
    "startup": startup.run,
    "collect": collecting.run,
    "browser": browser.run,
    "ray": cluster.run,
}
LONG = {
    "faults": faults.run,
    "billion": billion.run,
    "scaling": scaling.run,
    "workbench": workbench.run,
    "tests": test_suite.run,
}
"""Run only where they are named."""


def main() -> int:
    """Run, print, write RESULTS.md (its tables that were run); the exit code is 1 when something required is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"which to run: {', '.join(BENCHMARKS)} (all), or {', '.join(LONG)}"
    )
    parser.add_argument("--quick", action="store_true", help="a rough look in a minute; RESULTS.md stays as it is")
    parser.add_argument("--scale", type=float, default=0.01, help="the share of a billion values that `billion` takes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything measured to this file")
    asked = parser.parse_args()
    unknown = sorted(set(asked.names) - {*BENCHMARKS, *LONG})
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]}: choose from {', '.join(BENCHMARKS)}")
    warnings.filterwarnings("ignore", module="pure_ldp|multi_freq_ldpy")
    print(", ".join(f"{name} {value}" for name, value in report.machine().items()), flush=True)
    tables: dict[str, list[report.Table]] = {}
    for name in asked.names or BENCHMARKS:
        start = time.perf_counter()
        scaled = {"scale": asked.scale} if name == "billion" else {}
        tables[name] = {**BENCHMARKS, **LONG}[name](asked.quick, **scaled)
        for table in tables[name]:
            report.show(table)
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    if not asked.quick:
        how = f"`python -m benchmarks {' '.join(asked.names)}`"
        report.update(tables, how) if asked.names else report.write(tables, "`make bench`")
        if "scaling" in tables:
            report.into_page(scaling.PAGE, tables["scaling"], "`python -m benchmarks scaling`")
    if asked.json:
        asked.json.write_text(json.dumps(report.as_json(tables), indent=1, ensure_ascii=False))
    misses = [miss for group in tables.values() for table in group for miss in table.misses]
    print("\n".join(["Missed:", *misses]) if misses else "Everything required is reached.")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
