"""Run everything in parts, skip parts that have passed on the same files, and print a summary.

    python -m tests.nightly                  # `make nightly`
    python -m tests.nightly system ray       # these parts
    python -m tests.nightly --fresh          # also parts that have passed
    python -m tests.nightly --list

The log of each part and what passed are in `.nightly/`. A part that has passed is skipped until a file of the project
changes, so that an interrupted run resumes. A part that fails does not stop the others. The processes run at low
priority, next to other work. Environments of other versions are installed while the first parts run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from tests.tiers import ROOT

FOLDER = ROOT / ".nightly"
NICENESS = 5
UNIT_GROUPS = {
    "unit-analysis": ("analysis", "estimation", "kernels", "people"),
    "unit-audit": ("audit", "attacks", "testing"),
    "unit-collect": ("collect", "engine", "files"),
    "unit-mechanisms": ("mechanisms", "utility", "longitudinal", "multidim"),
    "unit-planning": ("planning", "studies", "reports"),
}
"""Folders of tests/unit by part; what stands in none of them is the part `unit-rest`."""

NEEDS_ENVIRONMENTS = ("minimum", "newer", "spark")


@dataclass(frozen=True)
class Outcome:
    """How a part ended, and on which files."""

    files: str
    passed: bool
    seconds: float
    counts: str = ""


def _pytest(*paths: str) -> list[str]:
    return ["make", "--no-print-directory", "pytest", f"PATHS={' '.join(paths)}"]


def _make(*words: str) -> list[str]:
    return ["make", "--no-print-directory", *words]


def list_parts() -> dict[str, list[str]]:
    """Return the command of every part, in the order in which they run."""
    grouped = {folder for folders in UNIT_GROUPS.values() for folder in folders}
    entries = sorted((ROOT / "tests" / "unit").glob("*"))
    rest = [f"tests/unit/{entry.name}" for entry in entries if entry.name not in grouped and _has_tests(entry)]
    return {
        "static": _make("lint", "types", "docs"),
        "laws": _pytest("tests/golden", "tests/conformance", "tests/docs"),
        **{name: _pytest(*(f"tests/unit/{each}" for each in folders)) for name, folders in UNIT_GROUPS.items()},
        "unit-rest": _pytest(*rest),
        "statistical": _pytest("tests/statistical"),
        "system": _pytest("tests/system"),
        "portable": _make("portable"),
        "minimum": _make("minimum"),
        "newer": _make("newer"),
        "spark": _make("spark"),
        "fuzz": _make("fuzz", "SECONDS=60"),
        "fuzz-batches": _make("fuzz-batches", "INPUTS=100000"),
        "fuzz-api": _make("fuzz-api", "EXAMPLES=100"),
        "kills": _make("kill-collector", "CYCLES=5"),
    }


def _has_tests(entry: Path) -> bool:
    return entry.match("test_*.py") or (entry.is_dir() and any(entry.rglob("test_*.py")))


def digest_files() -> str | None:
    """Hash the contents of every file that git tracks or would track; None without git."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    digest = sha256()
    for name in sorted(os.fsdecode(each) for each in listed.split(b"\0") if each):
        path = ROOT / name
        if path.is_file():
            digest.update(name.encode() + b"\0" + sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def read_outcomes(folder: Path) -> dict[str, Outcome]:
    """Read how parts ended in earlier runs."""
    path = folder / "outcomes.json"
    if not path.exists():
        return {}
    return {name: Outcome(**each) for name, each in json.loads(path.read_text("utf-8")).items()}


def write_outcomes(outcomes: dict[str, Outcome], folder: Path) -> None:
    """Write how parts ended, for a run that resumes."""
    path = folder / "outcomes.json"
    written = path.with_suffix(".tmp")
    written.write_text(json.dumps({name: asdict(each) for name, each in outcomes.items()}, indent=1), "utf-8")
    written.replace(path)


def counts_of(log: str) -> str:
    """Return pytest's last line of counts in a log, without its time; of several runs, all of them."""
    found = re.findall(r"^=*\s*(\d+ (?:passed|failed|skipped|error)[^\n]*?) in [\d.]+s", log, re.MULTILINE)
    return "; ".join(found)


def _lines(command: list[str]) -> Iterator[str]:
    """Run a command at low priority and yield its output; raise CalledProcessError if it fails."""
    process = subprocess.Popen(
        ["nice", "-n", str(NICENESS), *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    with process:
        yield from process.stdout
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)


def run_part(name: str, command: list[str], files: str | None, folder: Path) -> Outcome:
    """Run a part, print its output and keep it in a log."""
    print(f"nightly: {name}", flush=True)
    start, passed = time.monotonic(), True
    with (folder / f"{name}.log").open("w", encoding="utf-8") as log:
        try:
            for line in _lines(command):
                print(line, end="", flush=True)
                log.write(line)
        except subprocess.CalledProcessError:
            passed = False
    counts = counts_of((folder / f"{name}.log").read_text("utf-8"))
    return Outcome(files or "", passed, round(time.monotonic() - start, 1), counts)


def summary(outcomes: dict[str, Outcome], skipped: set[str]) -> str:
    """Render a line for each part and their total."""
    lines = []
    for name, each in outcomes.items():
        verdict = "passed" if each.passed else "FAILED"
        note = "; passed before on the same files" if name in skipped else ""
        lines.append(f"{name:<16} {verdict}  {each.seconds:7.1f} s  {each.counts}{note}")
    failed = sum(not each.passed for each in outcomes.values())
    total = sum(each.seconds for each in outcomes.values())
    lines.append(f"nightly: {len(outcomes) - failed} parts passed, {failed} failed, {total / 60:.1f} minutes")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Run the parts that are asked for; 1 if one of them fails."""
    parts = list_parts()
    parser = argparse.ArgumentParser(prog="python -m tests.nightly", description="Run every test, in parts.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(parts)} (default: all)")
    parser.add_argument("--fresh", action="store_true", help="run parts that have passed on the same files, too")
    parser.add_argument("--list", action="store_true", help="print the command of each part and stop")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.parts) - parts.keys()):
        parser.error(f"unknown part {unknown[0]}; choose from {', '.join(parts)}")
    if options.list:
        print("\n".join(f"{name:<16} {' '.join(command)}" for name, command in parts.items()))
        return 0
    FOLDER.mkdir(exist_ok=True)
    files, known = digest_files(), read_outcomes(FOLDER)
    chosen = {name: parts[name] for name in options.parts or parts}
    outcomes: dict[str, Outcome] = {}
    skipped: set[str] = set()
    environments = None
    if set(NEEDS_ENVIRONMENTS) & chosen.keys():
        with (FOLDER / "environments.log").open("w") as log:
            environments = subprocess.Popen(_make("environments"), cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
    for name, command in chosen.items():
        before = known.get(name)
        if before and before.passed and files is not None and before.files == files and not options.fresh:
            outcomes[name] = before
            skipped.add(name)
            continue
        if environments and name in NEEDS_ENVIRONMENTS:
            environments.wait()
        known[name] = outcomes[name] = run_part(name, command, files, FOLDER)
        write_outcomes(known, FOLDER)
    if environments:
        environments.wait()
    print(summary(outcomes, skipped))
    return 0 if all(each.passed for each in outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
