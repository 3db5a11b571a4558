"""The second run of `make portable` sees for itself that nothing goes by the processor."""

from __future__ import annotations

import os
import subprocess
import sys

from tests import portable


def checked(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """What the check says, in a process of its own."""
    command = [sys.executable, "-c", f"from tests.portable import check; check({portable.digest()!r})"]
    return subprocess.run(command, env=environment, cwd=portable.ROOT, capture_output=True, text=True, check=False)


def test_everything_is_off() -> None:
    done = checked(portable.environment())
    assert done.returncode == 0, done.stderr
    assert "numba for generic" in done.stdout


def test_whatever_is_on_is_seen() -> None:
    names = ("NPY_DISABLE_CPU_FEATURES", "GLIBC_TUNABLES", "OPENBLAS_CORETYPE", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")
    done = checked({name: value for name, value in os.environ.items() if name not in names})
    assert done.returncode == 1
    assert "numba compiles for" in done.stderr
    one_left = {name: value for name, value in portable.environment().items() if name != "NUMBA_CPU_NAME"}
    assert checked(one_left).returncode == 1
