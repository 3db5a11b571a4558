"""Signals that end the command: each is raised as an interrupt, so that no half-written file is left."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from hush import _start

_AGAIN = 0.5  # seconds until an ending that was lost is asked for again
_UNREAD = 13  # SIGPIPE, which not every system names

_asked: list[int] = []
"""The signals that asked for the end."""


class Ended(KeyboardInterrupt):
    """A signal asks for the end, or nobody reads the answer."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def unread() -> Ended:
    """What ends the command where nobody reads its answer, as the signal would that other programs get."""
    return Ended(_UNREAD)


def install() -> None:
    """Turn an interrupt, a termination and a hang-up into exceptions, unless they are ignored."""
    _start.handle(_end)
    sys.unraisablehook = _dropped


def instead(name: str, work: Callable[[], None]) -> None:
    """Let a signal do something else, where there is one of that name, unless it is ignored (as under nohup)."""
    number = getattr(signal, name, None)
    if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, lambda *_: work())


def _end(number: int, frame: FrameType | None) -> None:
    """End the command. Python drops what is raised in a finalizer or in a callback: then it is raised again."""
    signal.signal(number, signal.SIG_IGN)  # the files are being cleared away
    _asked.append(number)
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


def _dropped(what: Any) -> None:
    """What Python drops is told, except for an ending, which comes again."""
    if not isinstance(what.exc_value, Ended):
        sys.__unraisablehook__(what)


def hear() -> None:
    """Raise the ending that was asked for, whatever became of it inside the work."""
    if _asked:
        raise Ended(_asked[-1])


def code(stop: KeyboardInterrupt) -> int:
    """The exit code of an ending, which is not asked for again."""
    if isinstance(stop, Ended) and hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    return _start.code(number(stop))


def number(stop: KeyboardInterrupt) -> int:
    """The signal's number."""
    return stop.number if isinstance(stop, Ended) else signal.SIGINT


def told(stop: KeyboardInterrupt) -> str | None:
    """What happened, in words; nothing, where nobody reads."""
    return None if number(stop) == _UNREAD else _start.told(number(stop))
