"""Paths of files that are read or written."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from hush.errors import ParameterError, Unsaid, message


def quoted(path: os.PathLike[str] | str) -> Unsaid:
    """A path for a message, at full length."""
    return Unsaid(repr(str(path)))


def existing(option: str, path: Path) -> None:
    """Refuse an input that is not there, or is a folder."""
    if not path.exists() or path.is_dir():
        rule = "must be a file that exists"
        raise ParameterError(message(option, rule, quoted(path), "check the path"))


def here(option: str, path: os.PathLike[str] | str) -> None:
    """Refuse an address as an output: only a path of this machine can appear whole, or not at all."""
    address = re.fullmatch(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", os.fspath(path), re.DOTALL)  # a Path has one slash
    if address is None or os.path.isdir(f"{address[1]}:"):
        return
    shown = Unsaid(f"an address, {f'{address[1]}://{address[2]}'!r}")
    remedy = "name the path alone" if address[1] == "file" else "write it here, and copy it there"
    raise ParameterError(message(option, "must be a path of this machine", shown, remedy))


def distinct(option: str, inputs: Sequence[Path]) -> None:
    """Refuse an input that is given twice, under whatever name: its people would count twice."""
    for i, path in enumerate(inputs):
        for before in inputs[:i]:
            if same(path, before):
                twice = quoted(path) if path == before else Unsaid(f"{quoted(before)} and {quoted(path)}")
                raise ParameterError(message(option, "must be different files", twice, "name each one once"))


def same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, through whatever links."""
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them does not exist yet
        return os.path.realpath(one) == os.path.realpath(other)
