"""Answers to somebody who changes his question faster than it is answered: only the newest counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class Latest(Generic[Answer]):
    """Work in a thread, one piece at a time; whatever was asked for before the newest is left out."""

    def __init__(self) -> None:
        self._number, self._lock = 0, asyncio.Lock()

    async def of(self, work: Callable[[], Answer]) -> Answer | None:
        """What the work gives; None where something newer was asked for meanwhile."""
        self._number += 1
        mine = self._number
        async with self._lock:
            if mine != self._number:
                return None
            found = await asyncio.to_thread(work)
        return found if mine == self._number else None

    def drop(self) -> None:
        """Let what is under way count no more."""
        self._number += 1
