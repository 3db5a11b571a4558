"""How many people held what, time after time."""

from __future__ import annotations

from dataclasses import dataclass

from hush.types import Ints


@dataclass(frozen=True)
class History:
    """How many people held each amount, time after time.

    Args:
        name: What to call it.
        times: What each time is called, in order.
        amounts: All that occur, rising.
        counts: At each time, how many people held each.
    """

    name: str
    times: tuple[str, ...]
    amounts: tuple[float, ...]
    counts: tuple[Ints, ...]
