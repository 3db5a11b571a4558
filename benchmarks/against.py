"""This version against an earlier one: `python -m benchmarks.against REVISION [names...]`.

The earlier sources are checked out into a folder of their own, and both take turns, a fresh process each. What counts
is the processor's time: other people's work on the machine adds nothing to it. Of the turns the shortest stands. The
table goes to RESULTS.md, and the exit code is 1 where something became slower by more than a tenth.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import report

ROOT = Path(__file__).resolve().parents[1]
SLOWER = 1.10
TURNS = 5

_MANY = "values = np.arange(1 << 17) % m.k"
WORKS = {
    **{
        f"{name}, {what}": f"""
m = hush.{name}(k={k}, epsilon=1.0{more})
{_MANY}
reports = m.privatize(values, rng=hush.seeded(7))
total = m.aggregate(reports)
work = lambda: {work}"""
        for name, k, more in (
            ("GRR", 128, ""),
            ("SS", 128, ""),
            ("OUE", 128, ""),
            ("OLH", 128, ""),
            ("SHE", 32, ""),
            ("HR", 128, ""),
            ("PGR", 128, ""),
            ("MSS", 128, ""),
            ("Wheel", 128, ""),
            ("uRR", 128, ", sensitive=range(40)"),
            ("uSS", 128, ", sensitive=range(40)"),
        )
        for what, work in (
            ("client", "m.privatize(values, rng=hush.seeded(7))"),
            ("server", "m.estimate(m.aggregate(reports))"),
            ("interval", "m.estimate(total).interval(0.95)"),
            ("simulation", "[m.simulate(np.full(m.k, 1000), rng=hush.seeded(i)) for i in range(20)]"),
        )
    },
    "plan, 100 values": "work = lambda: hush.plan(k=100, n=100_000, error=0.01, max_asr=0.1)",
    "plan, 10,000 values": "work = lambda: hush.plan(k=10_000, n=1_000_000, error=0.01)",
    "audit of OUE": "work = lambda: hush.audit.run(hush.OUE(k=16, epsilon=1.0), trials=200_000, rng=hush.seeded(7))",
    "audit of HR": "work = lambda: hush.audit.run(hush.HR(k=16, epsilon=1.0), trials=200_000, rng=hush.seeded(7))",
    "uldp": "work = lambda: hush.uldp(hush.Domain(size=100, sensitive=range(10)), 1.0)",
    "exact loss of HR": "work = lambda: hush.HR(k=64, epsilon=1.0).exact_epsilon()",
}
TIMED = """
import sys, time
import numpy as np
import hush
{work}
def spent(times):
    start = time.process_time()
    for _ in range(times):
        work()
    return time.process_time() - start
work()
times = max(1, int(0.05 / max(spent(1), 1e-6)))
print(min(spent(times) for _ in range(7)) / times)
"""
COMMANDS = {
    "`hush --version`": "--version",
    "`hush mechanisms`": "mechanisms --k 100 --epsilon 1",
    "`hush privatize`, ten rows": "privatize ten.csv --column page --k 4 --mechanism OUE --epsilon 1 "
    "--output ten.parquet",
    "`hush privatize`, 500,000 rows": "privatize many.csv --column page --k 4 --mechanism OUE --epsilon 1 "
    "--output many.parquet",
    "`hush estimate`": "estimate many.parquet",
    "`hush simulate`": "simulate --mechanism OLH --epsilon 1 --dataset msnbc --runs 20 --seed 7",
    "`hush budget`": "budget --mechanism OUE --dataset msnbc --loss max --threshold 0.005 --probability 0.95 --seed 7",
}


def main() -> int:
    """Take turns, print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("revision", help="what to compare with: a commit, a branch or a tag")
    parser.add_argument("names", nargs="*", help="only works whose name has one of these words")
    parser.add_argument("--turns", type=int, default=TURNS)
    asked = parser.parse_args()
    cases: dict[str, list[str]] = {name: ["-c", TIMED.format(work=work)] for name, work in WORKS.items()}
    cases |= {name: ["-m", "hush", *line.split()] for name, line in COMMANDS.items()}
    if asked.names:
        cases = {name: case for name, case in cases.items() if any(word in name for word in asked.names)}
    table = report.Table(
        f"Processor seconds against {asked.revision}",
        ("work", "before", "now", "now over before", "required"),
        note=f"The shortest of {asked.turns} turns, in which both versions have their go.",
    )
    with checked_out(asked.revision) as before, tempfile.TemporaryDirectory() as folder:
        Path(folder, "ten.csv").write_text("page\n" + "0\n1\n" * 5)
        Path(folder, "many.csv").write_text("page\n" + "0\n1\n2\n3\n1\n" * 100_000)
        for name, case in report.progress(list(cases.items()), "against"):
            if any(spent(tree, case, folder) is None for tree in (before, ROOT)):  # the first go may compile
                table.add(name, "", "", "not in both", "")
                continue
            old, new = [], []
            for _ in range(asked.turns):
                for taken, tree in ((old, before), (new, ROOT)):
                    taken.append(float(spent(tree, case, folder) or 0.0))
            was, now = min(old), min(new)
            missed = f"{now / was:.2f} times as long" if now / was > SLOWER else ""
            cells = (f"{was:.3g}", f"{now:.3g}", f"{now / was:.2f}", f"≤ {SLOWER:g}")
            table.add(name, *cells, missed=missed, before=was, now=now)
    report.show(table)
    report.update({"against": [table]}, f"`python -m benchmarks.against {' '.join([asked.revision, *asked.names])}`")
    return 1 if table.misses else 0


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """The sources of a revision, in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "before")
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def spent(tree: Path, arguments: list[str], folder: str) -> float | None:
    """Processor seconds: those that a script measured of its work, or those of a whole command; None if it failed."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OPENBLAS_NUM_THREADS": "1"}
    before = os.times()
    done = subprocess.run(
        [sys.executable, *arguments], check=False, env=environment, cwd=folder, capture_output=True, text=True
    )
    after = os.times()
    if done.returncode:
        return None
    if arguments[0] == "-c":
        return float(done.stdout.splitlines()[-1])
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    sys.exit(main())
