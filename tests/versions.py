"""Run the golden tests and quick unit tests with other versions of what Hush needs, or on another Python.

    python -m tests.versions [--few] [arguments of pytest]

`make minimum` and `make newer` start it, each from an environment of its own. It first asks the command and each of its
commands for help, where versions of typer and rich differ. Every golden test runs, so that every mechanism and every
kernel is compiled and compared. Of every other test one case runs: whether a library offers what a line needs does not
depend on the mechanism or the budget. `--few` runs only files marked `boundary`.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys

from tests.tiers import ROOT

SHOWN = ("numpy", "scipy", "numba", "randomgen", "pyarrow", "typer", "rich", "matplotlib", "pandas", "scikit-learn")


def check_help() -> None:
    """Exit with a message unless the command and each of its commands print their help."""
    from hush.cli._app import COMMANDS

    for words in ([], *([name] for name in COMMANDS)):
        done = subprocess.run(
            [sys.executable, "-m", "hush", *words, "--help"], capture_output=True, text=True, check=False
        )
        if done.returncode or "Usage" not in done.stdout:
            sys.exit(f"versions: `hush {' '.join([*words, '--help'])}` exited with {done.returncode}: {done.stderr}")


def main(arguments: list[str]) -> None:
    """Print the versions, check the help, run the tests."""
    shown = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in SHOWN)
    print(f"versions: Python {platform.python_version()} with {shown}", flush=True)
    check_help()
    few, rest = "--few" in arguments, [each for each in arguments if each != "--few"]
    chosen = ["--only", "boundary"] if few else ["--without", "peers"]
    command = [sys.executable, "-m", "pytest", "--tier", "check", "--cases", "1", *chosen, "tests/golden", "tests/unit"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    sys.exit(subprocess.run([*command, *rest], env=environment, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main(sys.argv[1:])
