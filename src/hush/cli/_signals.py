"""Signals that end the command: each takes the way of an interrupt, so that no half-written file is left."""

from __future__ import annotations

import signal
import sys
from types import FrameType

_BASE = 128  # by convention, a shell's exit code is this plus the signal's number
_AGAIN = 0.5  # seconds until an ending that was lost is asked for again


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
    """End the command. Python drops what is raised in a finalizer or in a callback: then it is raised again."""
    signal.signal(number, signal.SIG_IGN)  # the files are being cleared away
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: None if _ending() else _end(number, None))
        signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
    raise Ended(number)


def _ending() -> bool:
    """Whether an ending is already on its way out, through the blocks that clear files away."""
    on_its_way: BaseException | None = sys.exc_info()[1]
    while on_its_way is not None and not isinstance(on_its_way, Ended):
        on_its_way = on_its_way.__context__
    return on_its_way is not None


def code(stop: KeyboardInterrupt) -> int:
    """The exit code: 130 for the keyboard, 143 for a termination, which is not asked for again."""
    if isinstance(stop, Ended) and hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    return _BASE + (stop.number if isinstance(stop, Ended) else signal.SIGINT)


def told(stop: KeyboardInterrupt) -> str:
    """What happened, in words."""
    name = "terminated" if isinstance(stop, Ended) else "interrupted"
    return f"{name}; no half-written file is left"
