"""What jobs of the tests do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

from hush.errors import ParameterError, message
from hush.workbench.jobs import Progress

REFUSAL = ParameterError(message("k", "must be at least 2", 1, "count again"))


def steps(progress: Progress, n: int) -> int:
    """Counts, and says so."""
    for i in range(n):
        progress(i / n, "counting")
        time.sleep(0.01)
    return sum(range(n))


def forever(progress: Progress) -> None:
    """Never ends."""
    while True:
        time.sleep(1)


def family(progress: Progress, note: str) -> None:
    """Starts another process, notes both, and never ends."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open(note, "w") as file:
        file.write(f"{os.getpid()}\n{child.pid}\n")
    forever(progress)


def refused(progress: Progress) -> None:
    """Breaks a rule."""
    raise REFUSAL


def broken(progress: Progress) -> None:
    """Has a fault."""
    raise KeyError("secret")


def killed(progress: Progress) -> None:
    """Is killed, as for want of memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def talkative(progress: Progress) -> str:
    """Prints, reads, and lets others print."""
    print("a line")
    os.write(1, b"bytes\n")
    assert sys.stdin.read() == ""
    return "still here"


def unpicklable(progress: Progress) -> Any:
    """Returns what no pickle can have."""
    return lambda: None
