"""What becomes of an error: one message on stderr, and an exit code.

An error that a person can mend, in an option, a file or a mechanism of their own, is exit code 2. One that nobody
foresaw is exit code 70, so that nobody takes it for an answer: 1 is the code of a command whose answer is no.
HUSH_TRACEBACK=1 in the environment shows the traceback of either.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import typer

from hush.cli import _console, _faults, _signals, _streams, _usage
from hush.errors import HushError

_OURS = 70
_DETAIL = "HUSH_TRACEBACK=1 shows where"


def guarded(work: Callable[[], Any]) -> int:
    """Run something; give its exit code, whatever it raises."""
    with _streams.dependable():
        _print_anything()
        try:
            try:
                work()
            finally:
                sys.stdout.flush()
                _signals.hear()
        except typer.Exit as done:
            return int(done.exit_code)
        except KeyboardInterrupt as stop:
            said = _signals.told(stop)
            if said is not None:
                _console.error(said)
            return _signals.code(stop)
        except BaseException as error:  # SystemExit too, which a user's own module may raise
            return _told(error)
    return 0


def _told(error: BaseException) -> int:
    if os.environ.get("HUSH_TRACEBACK", "0") not in {"", "0"}:
        sys.stderr.write(_trace(error, private=_faults.saw_people(error)))
    if _usage.asks_for_help(error):
        return 2
    if isinstance(error, SystemExit) and _faults.told(error) is None:
        return error.code if isinstance(error.code, int) else 1
    said, code = _verdict(error)
    _console.error(said)
    return code


def _trace(error: BaseException, *, private: bool) -> str:
    """Where an error and those before it came up; not what they say, where that may be of people."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if private and not isinstance(error, HushError):
        lines = ["Traceback (most recent call last):\n", *traceback.format_tb(error.__traceback__)]
        lines.append(f"{type(error).__name__}\n")
    else:
        lines = traceback.format_exception(error, chain=False)
    return ("" if before is None else f"{_trace(before, private=private)}\n") + "".join(lines)


def _verdict(error: BaseException) -> tuple[str, int]:
    if isinstance(error, HushError):
        return str(error), 2
    usage = _usage.told(error)
    if usage is not None:
        return usage, 2
    fault = _faults.told(error)
    if fault is not None:
        return f"{fault}; {_DETAIL}", 2
    if isinstance(error, OSError):
        return _file(error), 2
    if isinstance(error, UnicodeEncodeError):
        remedy = "rename it, or set PYTHONUTF8=1"
        return f"a file's name must be readable in this locale, got {error.object!a}; {remedy}", 2
    if isinstance(error, MemoryError):
        return f"memory must hold the work, got {error or 'too little'}; use a smaller domain or fewer runs", 2
    return f"internal error: {_faults.cause(error)}; please report it; {_DETAIL}", _OURS


def _file(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename is None:
        return f"a file or a stream cannot be used: {reason}; check the space left and the permissions"
    return f"file {str(error.filename)!r} cannot be used: {reason}; check the path and its permissions"


def _print_anything() -> None:
    """What a terminal cannot show becomes a question mark, not an error, and a width of nothing is no width."""
    for stream in (sys.stdout, sys.stderr):
        change = getattr(stream, "reconfigure", None)
        if change is not None:
            change(errors="replace")
    if not os.environ.get("COLUMNS", "").strip("0"):
        os.environ.pop("COLUMNS", None)
