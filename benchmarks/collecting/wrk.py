"""Load by `wrk`, a generator of HTTP requests that Debian has: `apt-get install wrk`."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.collecting.servers import Batch

_SCRIPT = Path(__file__).with_name("load.lua")


@dataclass(frozen=True)
class Load:
    """What became of a load."""

    requests: int
    seconds: float
    refused: int
    failed: int
    p50: float
    p99: float

    @property
    def rate(self) -> float:
        """Acknowledged batches a second."""
        return (self.requests - self.refused) / self.seconds


def there() -> bool:
    """Whether it is installed."""
    return shutil.which("wrk") is not None


def load(url: str, batch: Batch, *, connections: int, seconds: float, pause: float = 0) -> Load:
    """Send a batch again and again, each time with another id.

    Args:
        url: Of the server.
        batch: What to send.
        connections: How many at once.
        seconds: How long.
        pause: Milliseconds that each connection waits between two requests, on average.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("before", "after")]
        for file, content in zip(files, (batch.before, batch.after), strict=True):
            file.write_bytes(content)
        command = [
            "wrk",
            "-t1",
            f"-c{connections}",
            f"-d{seconds:g}s",
            "--timeout",
            "30s",
            "--latency",
            "-s",
            str(_SCRIPT),
        ]
        done = subprocess.run(
            [*command, url + batch.path, "--", *map(str, files), str(pause)], capture_output=True, text=True, check=True
        )
    return Load(**json.loads(done.stdout.splitlines()[-1]))
