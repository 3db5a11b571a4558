"""The streams of the command: whatever becomes of them, its exit code means what it says.

Where nobody reads standard output any more, the command ends as if the signal had stopped it (141). Where it cannot be
written, that is an error of its own, whoever prints. Notes on standard error that cannot be written are left out, and
a stream that was closed from the beginning takes everything and keeps nothing.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from hush.cli.process import signals
from hush.errors import HushError, Unsaid, message


class _Answers(io.FileIO):
    """Standard output: a failure to write is told apart from all others."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise signals.unread() from None
        except OSError as error:
            got = Unsaid(error.strerror or type(error).__name__)
            remedy = "make space, or send it elsewhere"
            raise HushError(message("standard output", "must take the whole answer", got, remedy)) from None


class _Notes(io.FileIO):
    """Standard error: what cannot be written is left out."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


@contextlib.contextmanager
def dependable() -> Iterator[None]:
    """Replace the streams of this process until the work is done."""
    before = sys.stdin, sys.stdout, sys.stderr
    with contextlib.ExitStack() as opened:
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # else a file would get their numbers
            if getattr(sys, name) is None:
                setattr(sys, name, opened.enter_context(open(os.devnull, mode, encoding="utf-8")))
        sys.stdout, sys.stderr = _over(sys.stdout, _Answers), _over(sys.stderr, _Notes)
        try:
            yield
        finally:
            sys.stderr.flush()
            sys.stdin, sys.stdout, sys.stderr = before


def _over(stream: TextIO, kind: type[io.FileIO]) -> TextIO:
    """The same stream through another kind of file; as it is, if it is no file of the system's."""
    if isinstance(stream, io.TextIOWrapper) and type(getattr(stream.buffer, "raw", stream.buffer)) is io.FileIO:
        return io.TextIOWrapper(
            io.BufferedWriter(kind(stream.fileno(), "wb", closefd=False)),
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.line_buffering or stream.write_through,
        )
    return stream
