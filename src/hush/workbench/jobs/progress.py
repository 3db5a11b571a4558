"""How a job says how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable

_SECONDS = 0.1


class Progress:
    """Called by a job with the share that is done, from 0 to 1, and, where that helps, what it is doing.

    Calls cost nothing to speak of: what comes too soon after another is left out.

    Args:
        tell: Takes a share and a note.
        clock: Tells the time.
    """

    def __init__(self, tell: Callable[[float, str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._clock = tell, clock
        self._at, self._note = -_SECONDS, ""

    def __call__(self, fraction: float, note: str | None = None) -> None:
        """Say it."""
        changed = note is not None and note != self._note
        self._note = self._note if note is None else note
        if changed or fraction >= 1 or self._clock() - self._at >= _SECONDS:
            self._at = self._clock()
            self._tell(min(1.0, max(0.0, float(fraction))), self._note)
