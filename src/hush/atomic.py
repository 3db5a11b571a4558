"""Files that appear when they are complete: whole, or not at all.

A file that is being written has no name in its folder, where Linux and the filesystem allow that, so it is gone with
the process, however that ends: half a file of reports that stayed would stand beside those of the next run, which are
independent and of the same people. Elsewhere it has a hidden name that tells what it was to become.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

from hush.errors import ParameterError, Unsaid, message

PART = ".part"
"""How the hidden name of a file ends that is being written."""
_LONGEST = 200  # bytes of a name to which others are added: filesystems take 255


@contextmanager
def replacing(path: Path, *, named: bool = False) -> Iterator[Path]:
    """A temporary file that takes the place of `path` when all went well, and vanishes otherwise.

    A link is followed, and a file that was there before keeps its permissions.

    Args:
        path: What it becomes.
        named: Give it a name in any case, for those who ask the system for it.
    """
    target = Path(os.path.realpath(path))
    with naming(path):
        with suppress(FileNotFoundError):
            os.lstat(target)  # a name that cannot be is told before the work, not after it
        unnamed = None if named else _unnamed(target.parent)
    part = hidden(target, PART) if unnamed is None else Path(f"/proc/self/fd/{unnamed}")
    try:
        with naming(path):
            if unnamed is None:
                part.touch(exist_ok=False)
        yield part
        with naming(path):
            if target.exists():
                shutil.copymode(target, part)
            if unnamed is None:
                part.replace(target)
            else:
                _appear(part, target)
    finally:
        if unnamed is not None:
            os.close(unnamed)
        else:
            with suppress(OSError):
                part.unlink()


def _unnamed(folder: Path) -> int | None:
    """A new file without a name in a folder; None where there is no such thing."""
    try:
        file = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
    except (AttributeError, OSError):  # another system, or a filesystem that has names alone
        return None
    if os.path.exists(f"/proc/self/fd/{file}"):
        return file
    os.close(file)
    return None


def _appear(part: Path, target: Path) -> None:
    """Give a file without a name its own: at once if that is free, else by way of another, since links replace none."""
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        with suppress(FileExistsError):
            os.link(part, target.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
            return
        other = hidden(target, PART)
        os.link(part, other.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)
    try:
        other.replace(target)
    except BaseException:
        other.unlink()
        raise


def hidden(target: Path, ending: str) -> Path:
    """A new name beside a place, of which `leftovers` knows later whose it was."""
    return target.with_name(f"{_beginning(target)}{secrets.token_hex(8)}{ending}")


def leftovers(target: Path, ending: str) -> list[Path]:
    """What runs that were cut short, or are not over, have beside a place."""
    name = re.compile(f"{re.escape(_beginning(target))}[0-9a-f]{{16}}{re.escape(ending)}")
    return sorted(path for path in target.parent.iterdir() if name.fullmatch(path.name))


def refuse_leftovers(option: str, target: Path, ending: str) -> None:
    """Refuse to write people's reports beside what is left of others: both are of the same people."""
    for left in leftovers(target, ending):
        rule = "must have nothing beside it of a run that was cut short, or is not over"
        remedy = "remove it, unless another run writes there: its reports are of the same people"
        raise ParameterError(message(option, rule, Unsaid(repr(str(left))), remedy))


def _beginning(target: Path) -> str:
    name = os.fsencode(target.name)
    return f".hush-{target.name if len(name) <= _LONGEST else blake2b(name, digest_size=16).hexdigest()}-"


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
