"""Rows of CSV files, held to their form: what is wrong is told by its line, and never by what stands there."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from hush.errors import ParameterError, Unsaid, message
from hush.files.paths import quoted
from hush.files.places import FilePlace, place_of

_LONGEST = 1 << 22
"""Letters of a field, at most: what is longer lacks the quote at its end."""
_BLANK = re.compile(rb"(?>\r\n|\n|\r)(?=[\r\n])")
"""The end of a line with a blank one after it."""
_PAIRS = (b"\n\n", b"\n\r", b"\r\r")
"""Some of these stand where it does, and are found much faster."""


@contextmanager
def opened(path: PathLike[str], kind: str = "rt") -> Iterator[IO[Any]]:
    """The file as text, or as bytes ("rb"), unpacked; letters that are not UTF-8 become surrogates."""
    place = path if isinstance(path, FilePlace) else place_of(path)
    with ExitStack() as stack:
        here = place.filesystem is None
        file: Any = stack.enter_context(Path(place.path).open("rb") if here else place.open())  # noqa: SIM115 (the stack closes it)
        if place.suffix == ".gz":
            file = stack.enter_context(gzip.open(file))
        if "b" not in kind:
            file = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="")
            stack.callback(file.detach)
        yield file


def rows(option: str, path: PathLike[str]) -> tuple[list[str], list[dict[str, str]]]:
    """The names of all columns, and the cells of every row by name."""
    walked = walk(option, path)
    names = next(walked, [])
    return names, [dict(zip(names, cells, strict=True)) for cells in walked if cells]


def walk(option: str, path: PathLike[str]) -> Iterator[list[str]]:
    """Every row, the first one too; refuses quotes that nothing closes, rows of another length, and other letters.

    A blank line is an empty cell where there is one column; where there are several, it is nobody's, and no cells.
    """
    csv.field_size_limit(_LONGEST)
    with opened(path) as file:
        reader = csv.reader(file, strict=True)
        width = None
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except (EOFError, zlib.error, gzip.BadGzipFile):
                rule, remedy = (
                    "must be a readable whole gzip file",
                    "copy it again, or rename it if it is not compressed",
                )
                raise ParameterError(message(option, rule, quoted(path), remedy)) from None
            except csv.Error:
                rule = "must close every quote, with a comma or the end of the line after it"
                remedy = 'add the quote that lacks, or write "" for one that belongs to a text'
                raise _refused(option, rule, "a row that does not", line, path, remedy) from None
            if not cells and width != 1 and line > 1:
                yield []
                continue
            cells = cells or [""]
            width = width or len(cells)
            if len(cells) != width:
                rule, remedy = (
                    f"must have {width} cells in every row, as in the first",
                    "quote cells with commas in them",
                )
                raise _refused(option, rule, f"{len(cells)}", line, path, remedy)
            if not _spelled(cells):
                raise _refused(option, "must be UTF-8 text", "other bytes", line, path, "save it as UTF-8")
            yield cells


def header(path: PathLike[str]) -> list[str] | None:
    """The names in the first row, none of them in a blank one; None for an empty file."""
    names = next(walk("input", path), None)
    return [] if names == [""] else names


@dataclass(frozen=True)
class Lines:
    """What the lines of a file are like.

    Args:
        blank: How many of them are blank.
        quotes: Whether some quote stands in them, so that a cell may have ends of lines in it.
    """

    blank: int
    quotes: bool


def lines(path: PathLike[str]) -> Lines:
    """What the lines are like, of several columns; refuses a quote that swallows the rows after it."""
    count, held = 0, b""
    with opened(path, "rb") as file:
        for block in iter(lambda: file.read(_LONGEST), b""):
            if b'"' in block:
                return Lines(_blank_among_quotes(path), quotes=True)
            some = held + block
            whole = some.rstrip(b"\r\n")  # more ends of lines may follow those that the block ends with
            count, held = count + _blank(whole), some[len(whole) :]
    return Lines(count + _blank(held), quotes=False)


def _blank_among_quotes(path: PathLike[str]) -> int:
    """As many; what is wrong, if anything, is told by reading the file row by row."""
    from hush.kernels.quotes import BROKEN, LINE, QUOTED, scan

    state, run, count = LINE, 0, 0
    with opened(path, "rb") as file:
        for i, block in enumerate(iter(lambda: file.read(_LONGEST), b"")):
            some = block.removeprefix(codecs.BOM_UTF8) if i == 0 else block
            state, run, blank = scan(np.frombuffer(some, np.uint8), state, run, _LONGEST)
            count += blank
            if state == BROKEN:
                break
    return sum(not cells for cells in walk("input", path)) if state in (BROKEN, QUOTED) else count


def _blank(lines: bytes) -> int:
    return len(_BLANK.findall(lines)) if any(pair in lines for pair in _PAIRS) else 0


def _spelled(cells: list[str]) -> bool:
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        return False
    return True


def _refused(option: str, rule: str, got: str, line: int, path: PathLike[str], remedy: str) -> ParameterError:
    return ParameterError(message(option, rule, Unsaid(f"{got} on line {line} of {path}"), remedy))
