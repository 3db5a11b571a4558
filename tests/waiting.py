"""Wait for events instead of for time: the one polling loop of the tests, and ports that stay free until they are used.

wait_until(lambda: page.exists())                # at most a minute, which a busy machine does not need
wait_for_file(folder / "started", process)       # fails as soon as the process has ended without it
with held_port() as port: ...                    # nobody listens there, and no other program gets it
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAIT_SECONDS = 60.0
"""How long an event may take before a test fails; a hundred times what it takes on a busy machine."""
_PAUSE_SECONDS = 0.01


def wait_until(condition: Callable[[], object], *, seconds: float = WAIT_SECONDS) -> None:
    """Return as soon as a condition is true.

    Args:
        condition: Called again and again; an exception that it raises ends the wait.
        seconds: How long to wait at most.

    Raises:
        AssertionError: The condition is not true by then.
    """
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"the condition is not true after {seconds:g} seconds"
        time.sleep(_PAUSE_SECONDS)


async def wait_until_async(condition: Callable[[], object], *, seconds: float = WAIT_SECONDS) -> None:
    """Return as soon as a condition is true, and let the event loop run meanwhile.

    Args:
        condition: Called again and again; an exception that it raises ends the wait.
        seconds: How long to wait at most.

    Raises:
        TimeoutError: The condition is not true by then.
    """
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.001)


def wait_for_file(path: Path, process: subprocess.Popen[Any], *, seconds: float = WAIT_SECONDS) -> None:
    """Return as soon as a process has made a file.

    Args:
        path: The file.
        process: What makes it.
        seconds: How long to wait at most.

    Raises:
        AssertionError: The process ended without the file, or there is none by then.
    """
    wait_until(lambda: path.exists() or process.poll() is not None, seconds=seconds)
    assert path.exists(), f"the process ended with {process.returncode} before it made {path.name}"


@contextmanager
def held_port() -> Iterator[int]:
    """Hold a free port of the loopback: a server may listen there again and again, and others do not get it.

    A socket that is bound, but does not listen, keeps the port from programs that ask for any free one. A server that
    reuses addresses, as asyncio's do, can listen there all the same; until one does, connections are refused.
    """
    with socket.socket() as holding:
        holding.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holding.bind(("127.0.0.1", 0))
        yield int(holding.getsockname()[1])
