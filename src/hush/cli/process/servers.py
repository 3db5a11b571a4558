"""A collector of one's own for as long as a command runs: `hush serve` in a process beside it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hush.errors import HushError

_SECONDS = 30.0


@dataclass(frozen=True)
class Started:
    """A server that runs.

    Args:
        url: Where it is.
        token: Its administrator's.
    """

    url: str
    token: str


class ServerError(HushError, RuntimeError):
    """The server did not start."""


@contextmanager
def started() -> Iterator[Started]:
    """Start a server over a store in a folder that goes with it."""
    with tempfile.TemporaryDirectory(prefix="hush-serve-") as folder:
        command = [
            sys.executable,
            "-m",
            "hush",
            "serve",
            "--port",
            "0",
            "--store",
            "store.db",
            "--no-access-log",
            "--json",
        ]
        own = {name: value for name, value in os.environ.items() if not name.startswith("HUSH_")}
        said = Path(folder) / "said"
        with said.open("wb") as errors:
            process = subprocess.Popen(command, cwd=folder, env=own, stdout=subprocess.PIPE, stderr=errors)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                process.wait()
                raise ServerError(f"the server must start, got: {said.read_text(errors='replace').strip()[-2000:]}")
            told = json.loads(line)
            yield Started(told["url"], told["admin_token"])
        finally:
            _ended(process)


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
