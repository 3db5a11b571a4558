"""A browser with a profile that outlives it, and that can be killed: a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.waiting import wait_for_file, wait_until


class Process:
    """A browser that runs.

    Args:
        popen: Its process, the first of a group.
        context: What opens its pages.
    """

    def __init__(self, popen: subprocess.Popen[bytes], context: Any) -> None:
        self._popen, self.context = popen, context

    def kill(self) -> None:
        """End it at once, as a power cut does."""
        if self._popen.poll() is None:
            os.killpg(self._popen.pid, signal.SIGKILL)
            self._popen.wait()


@contextmanager
def running(playwright: Any, executable: str, switches: Sequence[str], profile: Path) -> Iterator[Process]:
    """A browser over a profile; it is killed in the end, if it was not before."""
    port = profile / "DevToolsActivePort"
    port.unlink(missing_ok=True)
    told = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [executable, "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={profile}", *switches]
    popen = subprocess.Popen([*command, "about:blank"], start_new_session=True, **told)  # type: ignore[call-overload]
    try:
        wait_for_file(port, popen)
        wait_until(lambda: "\n" in port.read_text())
        browser = playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port.read_text().splitlines()[0]}")
        yield Process(popen, browser.contexts[0])
    finally:
        if popen.poll() is None:
            os.killpg(popen.pid, signal.SIGKILL)
        popen.wait()
