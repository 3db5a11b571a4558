"""Run the golden tests and the quick unit tests with other versions of what Hush needs, or on another Python.

    python -m tests.versions [--few] [arguments of pytest]

`make minimum` and `make newer` start it, each from an environment of its own; --few leaves the unit tests to those of
what a Python itself may change: reading, refusing and writing. Every golden test is run, so that every mechanism and
kernel is compiled and compared; of other tests one case each (`tests.cases`): whether a library has what a line asks
for, another mechanism or budget does not tell. The command must offer its help first:
that is where versions of typer and rich differ. Compiled kernels are kept in the environment, since every numba throws
away those of another.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SLOW = ("audit_foreign", "audit_pipe", "audit_power", "audit_screening", "budget", "budget_losses", "budget_mechanisms")
SLOW += ("budget_noise", "capacity", "capacity_adds", "combinadic", "plan", "plan_wishes", "poisoning", "shuffle")
SLOW += ("reproduce_audit", "reproduce_budget", "reproduce_modular", "reproduce_uldp")
"""Unit tests that take minutes, of parts that are Hush's own rather than a library's."""

PEERS = ("docs", "multidim_law", "peers")
"""Those that need other libraries for local differential privacy, and the pages that do."""

OUTSIDE = ("collect_openapi",)
"""Those that look at a running server with a tool that is not asked for its least version."""

FEW = (
    "claims",
    "collect_client",
    "collect_sqlite",
    "columns",
    "domain",
    "errors",
    "foreign",
    "order",
    "parameters",
    "small_files",
)
"""Those of what meets Python's own types, texts, files, databases and messages."""

SHOWN = ("numpy", "scipy", "numba", "randomgen", "pyarrow", "typer", "rich", "matplotlib", "pandas", "scikit-learn")


def unit() -> dict[str, str]:
    """The files of unit tests, by what they are about, wherever below tests/unit they lie."""
    found = sorted((ROOT / "tests" / "unit").rglob("test_*.py"))
    return {path.stem.removeprefix("test_"): path.relative_to(ROOT).as_posix() for path in found}


def tests(*, few: bool) -> list[str]:
    """The files to run."""
    files = unit()
    if gone := {*SLOW, *PEERS, *OUTSIDE, *FEW} - files.keys():
        sys.exit(f"versions: tests/unit has no {', '.join(sorted(gone))} any more. See tests/versions.py")
    chosen = FEW if few else sorted(files.keys() - {*SLOW, *PEERS, *OUTSIDE})
    return ["tests/golden", *(files[name] for name in chosen)]


def helps() -> None:
    """See that the command and every one of its commands say what they do."""
    from hush.cli._app import COMMANDS

    for words in ([], *([name] for name in COMMANDS)):
        done = subprocess.run(
            [sys.executable, "-m", "hush", *words, "--help"], capture_output=True, text=True, check=False
        )
        if done.returncode or "Usage" not in done.stdout:
            sys.exit(f"versions: `hush {' '.join([*words, '--help'])}` left with {done.returncode}: {done.stderr}")


def main(arguments: list[str]) -> None:
    """Say what is here, then run."""
    shown = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in SHOWN)
    print(f"versions: Python {platform.python_version()} with {shown}", flush=True)
    helps()
    kept = {"OPENBLAS_NUM_THREADS": "1", "NUMBA_CACHE_DIR": str(Path(sys.prefix) / "numba")}
    few, rest = arguments[:1] == ["--few"], [each for each in arguments if each != "--few"]
    command = [sys.executable, "-m", "pytest", "-p", "tests.cases", "--cases", "1", *tests(few=few), *rest]
    sys.exit(subprocess.run(command, env={**os.environ, **kept}, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main(sys.argv[1:])
