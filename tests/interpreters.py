"""Find the newest of some Pythons that starts here: on the path, or among pyenv's, which need not be active.

    python tests/interpreters.py 3.12 3.13

prints its version and where it is, or nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


def _number(version: str) -> tuple[int, ...]:
    """A version to compare; a part such as 0rc1 comes before all numbers."""
    return tuple(int(part) if part.isdecimal() else -1 for part in version.split("."))


def candidates(version: str) -> Iterator[str]:
    """Where it may be: on the path, or as pyenv keeps them, the latest first."""
    yield f"python{version}"
    kept = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = kept.glob(f"{version}.*/bin/python{version}")
    yield from map(str, sorted(found, key=lambda path: _number(path.parents[1].name), reverse=True))


def starts(path: str, version: str) -> bool:
    """Whether it runs, is what its name says, and can make environments."""
    says = "import ensurepip, sys, venv; print('{}.{}'.format(*sys.version_info))"
    try:
        done = subprocess.run([path, "-c", says], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip() == version


def newest(versions: list[str]) -> tuple[str, str] | None:
    """The version and the path of the newest that starts."""
    for version in sorted(versions, key=_number, reverse=True):
        for path in candidates(version):
            if starts(path, version):
                return version, path
    return None


if __name__ == "__main__":
    print(*(newest(sys.argv[1:]) or ()))
