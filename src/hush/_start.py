"""The first moment of the command: a signal before it has begun, or after it is done, leaves at once.

Nothing is half-written then, and an exception would not do: what is raised inside an import may be printed, dropped or
taken for a missing package by the code that imports.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

_BASE = 128  # by convention, a shell's exit code is this plus the signal's number
_ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")  # not every system has them all


def is_command() -> bool:
    """Whether this process was started as `hush` or as `python -m hush`."""
    program = os.path.basename(sys.argv[0]) if sys.argv else ""
    return program in {"hush", "hush.exe"} or (program == "-m" and "-m hush" in " ".join(sys.orig_argv))


def handle(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    """Let signals that end the command be handled so, unless they are ignored (as under nohup)."""
    for number in _numbers():
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def leave(number: int, frame: FrameType | None = None) -> None:
    """Say what happened, and leave with the code of that signal."""
    try:
        if sys.stderr is not None:
            os.write(2, f"Error: {told(number)}\n".encode())
    finally:
        os._exit(code(number))


def done() -> None:
    """The library is imported: signals are again as Python has them, for whoever imported it."""
    for number in _numbers():
        if signal.getsignal(number) is leave:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def _numbers() -> list[int]:
    return [getattr(signal, name) for name in _ENDINGS if hasattr(signal, name)]


def told(number: int) -> str:
    """What a signal did, in words.

    >>> told(signal.SIGINT)
    'interrupted; no half-written file is left'
    """
    return f"{'interrupted' if number == signal.SIGINT else 'terminated'}; no half-written file is left"


def code(number: int) -> int:
    """The exit code: 130 for an interrupt from the keyboard, 143 for a termination.

    >>> code(signal.SIGINT)
    130
    """
    return _BASE + number


if is_command():
    with suppress(ValueError):  # a thread of another program imports
        handle(leave)  # here, since what comes next is the import of all the rest
