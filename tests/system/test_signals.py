"""A signal ends the command even where Python drops what its handler raises."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.system.support import heard

LOST = """
import os, sys, time
from hush.cli.process import guard, signals

class Finalizer:
    def __del__(self):
        os.kill(os.getpid(), {number})  # raised here, the ending is dropped
        for _ in range(1000):
            pass

looks, ending = [], signals._ending
signals._ending = lambda: looks.append(None) or ending()

def work():
    try:
        Finalizer()
        sys.stdout.write("went on\\n")
        time.sleep(60)
        sys.stdout.write("slept to the end\\n")
    finally:
        before = len(looks)
        while len(looks) < before + 2:  # until the ending could have been raised again twice
            time.sleep(0.01)
        sys.stdout.write("cleared away\\n")

signals.install()
sys.exit(guard.guarded(work))
"""

TAKEN = """
import os, signal, sys, typer
from hush.cli.process import guard, signals

def work():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        {then}

signals.install()
sys.exit(guard.guarded(work))
"""


def ran(program: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", program]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, preexec_fn=heard)


@pytest.mark.parametrize(
    ("number", "said"),
    [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated"), (signal.SIGHUP, "terminated")],
)
def test_an_ending_that_python_drops_is_raised_again(number: signal.Signals, said: str) -> None:
    program = LOST.format(number=int(number))
    done = ran(program)
    assert done.stdout == "went on\ncleared away\n"
    assert done.stderr == f"Error: {said}; no half-written file is left\n"
    assert done.returncode == 128 + number


@pytest.mark.parametrize("then", ["pass", "raise ImportError('what C code makes of it')", "raise typer.Exit(1)"])
def test_an_ending_that_others_take_is_heard(then: str) -> None:
    program = TAKEN.format(then=then)
    done = ran(program)
    assert (done.returncode, done.stderr) == (130, "Error: interrupted; no half-written file is left\n")
