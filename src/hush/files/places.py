"""Where files lie that are read: on this machine, or on any filesystem that pyarrow knows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hush.errors import ParameterError, Unsaid, message

Source = str | os.PathLike[str]
"""A path or a URI, as a person gives it."""


@dataclass(frozen=True)
class FilePlace:
    """A file or a folder.

    Args:
        name: As a person knows it: a path on this machine, or a URI.
        path: Inside of the filesystem.
        filesystem: One of `pyarrow.fs`; None is that of this machine.
        values: What the folders above it say, such as `period=3`, by name.
    """

    name: str
    path: str
    filesystem: Any = field(default=None, hash=False)
    values: tuple[tuple[str, str | None], ...] = ()

    def __str__(self) -> str:
        return self.name

    def __fspath__(self) -> str:
        return self.name

    @property
    def suffix(self) -> str:
        """How its name ends, in small letters."""
        return Path(self.path).suffix.lower()

    @property
    def system(self) -> Any:
        """Its filesystem."""
        from pyarrow import fs

        return fs.LocalFileSystem() if self.filesystem is None else self.filesystem

    @contextmanager
    def open(self) -> Iterator[Any]:
        """The file, for reading anywhere in it."""
        import pyarrow as pa

        with reachable(self.name):
            opened = pa.OSFile(self.path) if self.filesystem is None else self.filesystem.open_input_file(self.path)
        with opened:
            yield opened

    @property
    def title(self) -> str:
        """Its name without the folders."""
        return self.path.rpartition("/")[2]

    @property
    def size(self) -> int:
        """Its bytes."""
        with reachable(self.name):
            return int(self.system.get_file_info(self.path).size or 0)

    def read(self) -> bytes:
        """All of it, where it is small."""
        with self.open() as file:
            found: bytes = file.read()
        return found


def place_of(source: Source, filesystem: Any = None) -> FilePlace:
    """The place of a path or a URI; a path is on this machine, unless a filesystem is given.

    Args:
        source: A path, `file://`, `s3://`, `gs://`, `abfs://`, `hdfs://`, or what fsspec knows, where it is installed.
        filesystem: Of `pyarrow.fs` or of fsspec, in which the source is a path.
    """
    name = os.fspath(source)
    if filesystem is not None:
        known = _known(filesystem)
        return FilePlace(name, name.partition("://")[2] if known is None and "://" in name else name, known)
    if "://" not in name:
        return FilePlace(name, name)
    from pyarrow import fs

    with reachable(name):
        try:
            found, path = fs.FileSystem.from_uri(name)
        except ValueError:  # none of pyarrow's own
            found, path = _of_fsspec(name)
    is_local = found is None or isinstance(found, fs.LocalFileSystem)
    return FilePlace(path, path) if is_local else FilePlace(name, path, found)


@contextmanager
def reachable(name: str) -> Iterator[None]:
    """Name the place where a filesystem says that it cannot be reached or read."""
    try:
        yield
    except (OSError, ImportError, ValueError) as error:
        if isinstance(error, ParameterError):
            raise
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error).strip() or type(error).__name__
        rule, remedy = "must be a file or folder that can be read", f"the filesystem says: {reason.splitlines()[0]}"
        raise ParameterError(message("reports", rule, Unsaid(repr(name)), remedy)) from None


def _known(filesystem: Any) -> Any:
    """A filesystem as pyarrow knows it; None for that of this machine, whoever wraps it: only then links are seen."""
    from pyarrow import fs

    inner = getattr(getattr(filesystem, "handler", None), "fs", filesystem)
    if isinstance(filesystem, fs.LocalFileSystem) or "file" in _protocols(inner):
        return None
    if isinstance(filesystem, fs.FileSystem):
        return filesystem
    if hasattr(filesystem, "protocol") and hasattr(filesystem, "open"):  # one of fsspec's
        return fs.PyFileSystem(fs.FSSpecHandler(filesystem))
    rule, remedy = "must be one of pyarrow.fs or of fsspec", "leave it out for files of this machine and for URIs"
    raise ParameterError(message("filesystem", rule, type(filesystem), remedy))


def _protocols(filesystem: Any) -> tuple[str, ...]:
    """What URIs of a filesystem of fsspec begin with."""
    named = getattr(filesystem, "protocol", ())
    return (named,) if isinstance(named, str) else tuple(named)


def _of_fsspec(uri: str) -> tuple[Any, str]:
    """The filesystem and the path of a URI that only fsspec knows, and only if it is installed."""
    scheme = uri.partition("://")[0]
    try:
        from fsspec.core import url_to_fs  # type: ignore[import-untyped, unused-ignore]

        found, path = url_to_fs(uri)
    except ImportError:
        found, path = None, ""
    except ValueError:
        found, path = None, ""
    if found is None:
        rule = "must begin with file://, s3://, gs://, abfs://, hdfs://, or what an installed fsspec package knows"
        raise ParameterError(message("reports", rule, Unsaid(f"{scheme}://"), "check the address"))
    return _known(found), path
