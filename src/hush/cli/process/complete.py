"""An output that was complete when the command was stopped: whoever runs it again has two reports of each person."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hush.cli.shown import terminal


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Say it, where the work inside is stopped after its output appeared."""
    before = _which(path)
    try:
        yield
    except KeyboardInterrupt:
        if _which(path) not in (None, before):
            terminal.warn(f"{path} is complete: it holds all reports, so do not run this again.")
        raise


def _which(path: Path) -> tuple[int, int] | None:
    """What stands at a place, so that another one there is told from it; None for nothing."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino
