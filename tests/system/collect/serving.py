"""`hush serve` in a process of its own, and what it said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np

import hush
from hush.collect.sending import sent
from tests.system.support import heard, words


@dataclass
class Running:
    """A server that runs.

    Args:
        process: Its own.
        told: What it printed when it was ready.
        log: What it logs to.
    """

    process: subprocess.Popen[str]
    told: dict[str, Any]
    log: Path

    @property
    def url(self) -> str:
        """Where it is."""
        return str(self.told["url"])

    @property
    def token(self) -> str:
        """Its administrator's, where it was printed."""
        return str(self.told["admin_token"])

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Tell it to stop; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)


@contextmanager
def serving(folder: Path, *options: object, command: str = "serve", **environment: str) -> Iterator[Running]:
    """Start one, with a free port unless told otherwise; `hush relay` where that is the command."""
    port = [] if "--port" in options else ["--port", "0"]
    log = folder / ("log.txt" if command == "serve" else f"{command}.log")
    env = {name: value for name, value in os.environ.items() if not name.startswith("HUSH_")} | environment
    with log.open("a") as errors:
        process = subprocess.Popen(
            words(command, *port, "--json", *options),
            cwd=folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            preexec_fn=heard,
        )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, log.read_text()
        yield Running(process, json.loads(line), log)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(60)
        process.stdout.close()


def send(url: str, view: dict[str, Any], values: Any, *, key: str = "", build: str = "app/1", seed: int = 7) -> int:
    """Send people's values, randomized; how many reports were taken."""
    m = hush.Spec.from_dict(view["spec"]).mechanism
    with httpx.Client(base_url=url, timeout=30) as http:
        reports = m.privatize(np.asarray(values), rng=hush.seeded(seed))
        return sum(sent(http, view, reports, key=key, build=build, size=1000))
