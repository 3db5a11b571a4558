"""Uploads are read in a process of their own, which has little memory, little time, and nothing else to lose.

A damaged Parquet file can abort the whole process that reads it, and a small one may unpack to gigabytes. What is asked
and the bytes go to its standard input, and counts come back: no file is written, and its own words go nowhere.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from hush.errors import HushError, ParameterError, Unsaid, message
from hush.workbench.data.column import CountedColumn
from hush.workbench.data.held import MEGABYTE, HeldFile
from hush.workbench.data.reading import FILE, columns_of, counted, held

SECONDS = 60.0
"""That it may take."""
_MEMORY = 4096 * MEGABYTE
"""Address space that it may have."""


def columns_apart(file: HeldFile) -> list[str]:
    """What `columns_of` says."""
    found: list[str] = _asked(file, None)["columns"]
    return found


def counted_apart(file: HeldFile, column: str) -> CountedColumn:
    """What `counted` says."""
    plain = _asked(file, column)
    return CountedColumn(column, dict(plain["counts"]), plain["missing"])


def _asked(file: HeldFile, column: str | None) -> dict[str, Any]:
    """The answer of a fresh process; what it refuses is refused here, and where it fails, so is the file."""
    question = json.dumps({"name": file.name, "column": column}).encode() + b"\n"
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "hush.workbench.data"],
            input=question + file.content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=True,
        )
        answered: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        rule, got = f"must be readable in {SECONDS:g} seconds", Unsaid("one that takes longer")
        raise ParameterError(message(FILE, rule, got, "keep the column that you want to try, or fewer rows")) from None
    except (subprocess.CalledProcessError, ValueError):
        rule, got = "must be a whole table of its kind", Unsaid("one that cannot be read: it is damaged, or too much")
        raise ParameterError(message(FILE, rule, got, "write it again, e.g. as CSV")) from None
    if "refused" in answered:
        parameter, rule, value, remedy = answered["refused"]
        raise ParameterError(message(parameter, rule, Unsaid(value), remedy))
    return answered


def answer() -> None:
    """Read a question and a file from the standard input, and write the answer to the standard output."""
    _bounded()
    question = json.loads(sys.stdin.buffer.readline())
    try:
        file = held(question["name"], sys.stdin.buffer.read())
        plain = _columns(file) if question["column"] is None else _counts(file, question["column"])
    except HushError as error:
        plain = {"refused": [error.parameter or FILE, error.rule or str(error), error.value, error.remedy]}
    sys.stdout.write(json.dumps(plain))


def _columns(file: HeldFile) -> dict[str, Any]:
    return {"columns": columns_of(file)}


def _counts(file: HeldFile, column: str) -> dict[str, Any]:
    found = counted(file, column)
    return {"counts": list(found.counts.items()), "missing": found.missing}


def _bounded() -> None:
    """Take no more memory than a file needs, where the system can see to that."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
