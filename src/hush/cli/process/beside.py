"""A workbench beside a server: a process of its own, which ends with it, and whose faults are its own."""

from __future__ import annotations

import json
import logging
import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

_LOG = logging.getLogger("hush.workbench")
_SECONDS = 10.0
_PROGRAM = "from hush.cli.process.beside import main; main()"


class Beside:
    """A workbench over a collector that runs in this process.

    Args:
        told: Called in a thread with its address, once it is there.
        options: Further options of `hush workbench`.
    """

    def __init__(self, told: Callable[[str], None], *options: str) -> None:
        self._told, self._options = told, options
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._stopping = False

    def start(self, collector: str) -> None:
        """Start it; nothing waits for it, and of the server's own settings, its store included, it is told none."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("HUSH_")}
        own = {name: value for name, value in os.environ.items() if name.startswith("HUSH_WORKBENCH_")}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, "workbench", "--json", "--collector", collector, *self._options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=inherited | own,
            start_new_session=True,  # an interrupt from the keyboard is the server's: it ends both
        )
        self._thread = threading.Thread(target=self._follow, args=(self._process,), name="hush-workbench", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._stopping, process = True, self._process
        if process is None or self._thread is None:
            return
        process.terminate()
        try:
            process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._thread.join()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def _follow(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        line = process.stdout.readline()
        if line:
            self._told(json.loads(line)["url"])
        code = process.wait()
        if not self._stopping:
            _LOG.error("the workbench has ended with %d; the collector goes on. `hush workbench` starts another", code)


def main() -> None:
    """Be that workbench: until told to stop, or until whoever started it is gone."""
    inherited = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    threading.Thread(target=_end_with, args=(inherited,), daemon=True).start()
    sys.argv[0] = "hush"
    runpy.run_module("hush", run_name="__main__")


def _end_with(pipe: int) -> None:
    """End when the other end of a pipe does: nothing ever comes."""
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)
