"""Signals that end the command: each takes the way of an interrupt, so that no half-written file is left."""

from __future__ import annotations

import signal
from types import FrameType

_BASE = 128  # by convention, a shell's exit code is this plus the signal's number


class Ended(KeyboardInterrupt):
    """A signal other than an interrupt from the keyboard."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def install() -> None:
    """Turn termination and hang-up into exceptions, unless they are ignored (as under nohup)."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # the files are being cleared away
    raise Ended(number)


def code(stop: KeyboardInterrupt) -> int:
    """The exit code: 130 for the keyboard, 143 for a termination."""
    return _BASE + (stop.number if isinstance(stop, Ended) else signal.SIGINT)


def told(stop: KeyboardInterrupt) -> str:
    """What happened, in words."""
    name = "terminated" if isinstance(stop, Ended) else "interrupted"
    return f"{name}; no half-written file is left"
