"""Seconds since 1970 that never jump: the wall clock's when the process began, and from then on a steady one's.

Whoever sets the clock of a running server moves no period. A server that is started again takes the new time, but
never hands out a period before one that it has handed out.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_BOOT: int | None = getattr(time, "CLOCK_BOOTTIME", None)


def steady() -> float:
    """Seconds since any moment; those in which the machine sleeps count, too, where it can tell."""
    return time.clock_gettime(_BOOT) if _BOOT is not None else time.monotonic()


class Clock:
    """The time of one process.

    Args:
        wall: Seconds since 1970, which may jump.
        steady: Seconds since any moment, which do not.
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = steady) -> None:
        self._steady = steady
        self._start = wall() - steady()

    def now(self) -> float:
        """Seconds since 1970."""
        return self._start + self._steady()
