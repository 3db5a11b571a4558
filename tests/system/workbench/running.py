"""`hush workbench` in a process of its own, as people start it, and what a browser sees of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.system.support import heard, words

PHONE = {"width": 390, "height": 844}
ROOT = Path(__file__).resolve().parents[3]
_WITH = "import sys, {module}; from hush.cli import main; sys.argv[0] = 'hush'; main()"


@dataclass
class RunningWorkbench:
    """A workbench that runs.

    Args:
        process: Its own.
        url: Where it is.
        link: What lets in.
        log: What it logs to.
    """

    process: subprocess.Popen[str]
    url: str
    link: str
    log: Path

    def logged(self) -> str:
        """What it has logged so far."""
        return self.log.read_text()

    def workers(self) -> list[int]:
        """The processes of its jobs that have not ended."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        children = [child for each in tasks for child in each.read_text().split()]
        return [int(child) for child in children if _works(child)]

    def hold(self) -> None:
        """Stop all its jobs where they are, so that none ends before it is cancelled."""
        for pid in self.workers():
            os.kill(pid, signal.SIGSTOP)


def _works(pid: str) -> bool:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return b"hush.workbench.jobs.worker" in line and state != "Z"


@contextmanager
def running(folder: Path, *options: object, pages: str = "", **environment: str) -> Iterator[RunningWorkbench]:
    """Start one at a free port; it is stopped in the end.

    Args:
        folder: Where it runs, and where its log is.
        options: Of the command.
        pages: A module of the tests whose pages it has, too.
        environment: Further variables.
    """
    log = folder / "workbench.log"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HUSH_", "PYTEST_"))}
    port = [] if "--port" in options else ["--port", "0"]
    command = words("workbench", *port, "--json", *options)
    if pages:
        inherited["PYTHONPATH"] = os.pathsep.join([str(ROOT), inherited.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        command = [sys.executable, "-c", _WITH.format(module=pages), *command[command.index("workbench") :]]
    with log.open("a") as errors:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=inherited | environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            preexec_fn=heard,
        )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, log.read_text()
        told = json.loads(line)
        yield RunningWorkbench(process, told["url"], told["link"], log)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(60)
        process.stdout.close()


@dataclass
class Seen:
    """A page that is open in a browser, and all that went wrong in it.

    Args:
        page: Playwright's.
        problems: What the console or a failed request said.
        asked: The addresses of all requests.
    """

    page: Any
    problems: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def quiet(self) -> None:
        """See that nothing went wrong, and that nothing was asked of another machine."""
        assert not self.problems
        assert self.asked
        assert not [
            each for each in self.asked if "//127.0.0.1:" not in each and not each.startswith(("data:", "blob:"))
        ]


def opened(context: Any, address: str) -> Seen:
    """Open a page and wait until it can be used: its socket is there, and all that the server sent is shown."""
    page = context.new_page()
    seen = Seen(page)
    page.on("console", lambda said: seen.problems.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: seen.problems.append(str(error)))
    page.on("requestfailed", lambda request: seen.problems.append(f"{request.url}: {request.failure}"))
    page.on("request", lambda request: seen.asked.append(request.url))
    page.on("websocket", lambda socket: seen.asked.append(socket.url.replace("ws://", "http://")))
    page.goto(address)
    ready(page)
    return seen


def ready(page: Any) -> None:
    """Wait until a page can be used."""
    page.wait_for_selector("h1")
    page.wait_for_function("window.socket && window.socket.connected")


def pictured(page: Any, folder: Path, name: str) -> list[Path]:
    """Take a page's picture in light, in dark and at a phone's width; the files."""
    size, made = page.viewport_size, []
    for kind, wanted, viewport in (("light", "light", size), ("dark", "dark", size), ("phone", "light", PHONE)):
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=wanted)
        page.wait_for_timeout(400)
        path = folder / f"{name}-{kind}.png"
        page.screenshot(path=path, full_page=True)
        made.append(path)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(size)
    return made
