"""Files that appear when they are complete: whole, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hush.errors import ParameterError, Unsaid, message


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when all went well, and vanishes otherwise.

    A link is followed, and a file that was there before keeps its permissions.
    """
    target = Path(os.path.realpath(path))
    part = target.with_name(f".hush-{secrets.token_hex(8)}.part")
    try:
        with naming(path):
            part.touch(exist_ok=False)
        yield part
        with naming(path):
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)
    finally:
        with suppress(OSError):
            part.unlink()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Speak of the file that was asked for, not of the temporary one."""
    try:
        yield
    except OSError as error:
        reason = f"{error.strerror or error}; choose another place or check its permissions"
        got = Unsaid(repr(str(path)))
        raise ParameterError(message("output", "must be a place where files can be written", got, reason)) from None


def write(path: Path, content: str | bytes) -> None:
    """Write a small file, whole or not at all."""
    with replacing(path) as part, naming(path):
        part.write_bytes(content.encode() if isinstance(content, str) else content)
