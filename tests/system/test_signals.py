"""A termination ends the command even where Python drops what a signal's handler raises."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

LOST = """
import os, sys, time
from hush.cli import _guard, _signals

class Finalizer:
    def __del__(self):
        os.kill(os.getpid(), {number})  # raised here, the ending is dropped
        for _ in range(1000):
            pass

def work():
    try:
        Finalizer()
        sys.stdout.write("went on\\n")
        time.sleep(60)
        sys.stdout.write("slept to the end\\n")
    finally:
        time.sleep(1.2)  # longer than the ending waits before it is raised again
        sys.stdout.write("cleared away\\n")

_signals.install()
sys.exit(_guard.guarded(work))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_an_ending_that_python_drops_is_raised_again(number: signal.Signals) -> None:
    program = LOST.format(number=int(number))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert "Exception ignored in" in done.stderr
    assert done.stdout == "went on\ncleared away\n"
    assert "terminated; no half-written file is left" in done.stderr
    assert done.returncode == 128 + number
