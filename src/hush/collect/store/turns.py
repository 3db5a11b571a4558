"""Whose turn it is, among the threads of a process: whoever only tries lets those go first who wait."""

from __future__ import annotations

import threading


class Turns:
    """One thread at a time has the turn."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._counting = threading.Lock()
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """How many wait."""
        return self._waiting

    def tried(self) -> bool:
        """Whether the turn was to be had at once; not where another thread has it, or waits for it."""
        return self._waiting == 0 and self._turn.acquire(blocking=False)

    def wait(self) -> None:
        """Have the turn, after all who have it."""
        self._count(1)
        try:
            self._turn.acquire()
        finally:
            self._count(-1)

    def end(self) -> None:
        """Let others have it."""
        self._turn.release()

    def _count(self, more: int) -> None:
        with self._counting:
            self._waiting += more
