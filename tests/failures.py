"""Failures on demand in the workers of a cluster under test.

A file in a folder says what is to fail; the worker that takes it away fails, once. `install` runs in every worker
before its first task.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.waiting import wait_until

FOLDER = "HUSH_TEST_FAILURES"


def ordered(what: str) -> Path:
    """The file that orders a failure."""
    return Path(os.environ[FOLDER]) / what


def order(what: str) -> None:
    """Let the next worker that comes by fail."""
    ordered(what).touch()


def taken(what: str) -> bool:
    """Whether it is this worker's turn to fail."""
    try:
        ordered(what).unlink()
    except FileNotFoundError:
        return False
    return True


def die() -> None:
    """As the system's killer of processes would have it."""
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()  # until then


def install() -> None:
    """Wrap what tasks do."""
    from hush.engine.jobs import Job
    from hush.engine.ray import gathering, tasks

    folding, scattering, gathered = Job.fold, tasks.scatter, tasks.gather
    writing = gathering.report_files.writing

    def fold(self: Job, *arguments: Any, **more: Any) -> Any:
        found = folding(self, *arguments, **more)
        if taken("fold"):
            die()
        return found

    def scatter(*arguments: Any) -> Iterator[Any]:
        with ordered("scattered").open("a") as seen:
            seen.write(f"{arguments[0].before}\n")
        yield from scattering(*arguments)
        if taken("scatter"):
            die()

    def gather(spec: Any, folder: str, *arguments: Any) -> Any:
        found = gathered(spec, folder, *arguments)
        if taken("after the write"):  # and before the answer
            shutil.copy(Path(folder) / found.name, ordered("left"))
            die()
        wait_until(lambda: not ordered("wait").exists(), seconds=600)
        return found

    def torn(*arguments: Any) -> Any:
        if taken("before the write"):
            _tear(arguments[0])
        return writing(*arguments)

    Job.fold = fold  # type: ignore[method-assign]
    tasks.scatter, tasks.gather = scatter, gather
    gathering.report_files.writing = torn  # type: ignore[assignment]


def _tear(path: Path) -> None:
    """Leave half of a file."""
    path.with_name(".hush-torn.part").write_bytes(b"PAR1 and then")
    ordered("torn").touch()
    die()
