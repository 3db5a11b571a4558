"""Paths that a command was given, checked before any work: nothing that is read is ever written over."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from hush.errors import ParameterError, Unsaid, message
from hush.files.paths import here, quoted, same

ENDINGS: dict[str, str | tuple[str, ...]] = {
    "--output": ".parquet",
    "--reports-out": ".parquet",
    "--aggregate-out": ".hush",
    "--spec-out": ".json",
    "--csv": ".csv",
    "--png": ".png",
    "--html": ".html",
    "--statement": (".md", ".html"),
    "--junit": ".xml",
    "--sarif": ".sarif",
    "--checkpoint": ".json",
}
"""What the file behind each option must be called, so that its name says what it is."""

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def writable(outputs: Mapping[str, Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """Refuse outputs that cannot be written, or that are an input or another output.

    Args:
        outputs: The path given for each option, None where it was left out.
        inputs: Every file that the command reads.
    """
    read = [path for path in inputs if path is not None]
    chosen = {option: path for option, path in outputs.items() if path is not None}
    seen: dict[str, Path] = {}
    for option, path in chosen.items():
        if any(same(path, each) for each in read):
            rule = "must not be a file that this command reads"
            raise ParameterError(message(option, rule, quoted(path), "name another file"))
        for earlier in (name for name, each in seen.items() if same(path, each)):
            raise ParameterError(message(option, f"must differ from {earlier}", quoted(path), "name another file"))
        seen[option] = path
    for option, path in chosen.items():
        _target(option, path)


def outside(outputs: Mapping[str, Path | None], folders: Iterable[Path]) -> None:
    """Refuse outputs in a folder of which all files are read: the next time, they would be read with the others."""
    within = {os.path.realpath(path): path for path in folders}
    for option, path in outputs.items():
        above = () if path is None else Path(os.path.realpath(path)).parents
        for known in (within[str(each)] for each in above if str(each) in within):
            rule = f"must lie outside of {known}, all of which this command reads"
            raise ParameterError(
                message(option, rule, quoted(path or ""), "name another place, or the files themselves")
            )


def folder(option: str, path: Path, names: Iterable[str]) -> None:
    """Refuse a folder that cannot be, or in which something stands in the way of the files to be written there."""
    here(option, path)
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    if str(path) == "-" or not there.is_dir():
        raise ParameterError(message(option, "must be a folder", quoted(path), "name another place"))
    if there == path:
        writable({f"{option}, file {name},": path / name for name in names})


def _target(option: str, path: Path) -> None:
    if str(path) == "-":
        remedy = "name a file; --json prints results on stdout"
        raise ParameterError(message(option, "must be the name of a file", str(path), remedy))
    here(option, path)
    kind = stat.S_IFMT(path.stat().st_mode) if path.exists() else stat.S_IFREG
    if kind != stat.S_IFREG:
        found = Unsaid(f"{_KINDS.get(kind, 'something else')}, {quoted(path)}")
        raise ParameterError(message(option, "must be a file, new or plain", found, "name another file"))
    allowed = ENDINGS.get(option, ())
    endings = (allowed,) if isinstance(allowed, str) else allowed
    if endings and path.suffix.lower() not in endings:
        rule = f"must end in {' or '.join(endings)}"
        raise ParameterError(message(option, rule, quoted(path), f"write e.g. {path.stem}{endings[0]}"))
    if not Path(os.path.realpath(path)).parent.is_dir():
        remedy = f"make {path.parent} first"
        raise ParameterError(message(option, "must lie in a folder that exists", quoted(path), remedy))
    try:
        with tempfile.TemporaryFile(dir=Path(os.path.realpath(path)).parent):
            pass
    except OSError as error:
        remedy = f"{error.strerror or error}; name another place"
        raise ParameterError(
            message(option, "must be a place where files can be written", quoted(path), remedy)
        ) from None
