"""Answers that cost something to make, made once until what they are made of changes, whoever asks how often."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

from starlette.concurrency import run_in_threadpool

T = TypeVar("T")
AT_ONCE = 4
"""Estimates and exports that are made at once for those who have a token: others wait, and nobody else for them."""
FOR_STRANGERS = 2
"""Those that are made at once for anyone else."""
MOST_BYTES = 1 << 26
"""Of answers that are kept."""
MOST_KEPT = 256
LONGEST_KEPT = 10.0
"""Seconds that one is kept: what an answer is made of may be repaired, and have the sizes that it had."""


class Answers:
    """Makes answers, few at once, and keeps the latest.

    Args:
        steady: Seconds since any moment.
    """

    def __init__(self, *, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady = steady
        self._places = {True: asyncio.Semaphore(AT_ONCE), False: asyncio.Semaphore(FOR_STRANGERS)}
        self._kept: OrderedDict[Hashable, tuple[Hashable, float, bytes]] = OrderedDict()
        self._bytes = 0

    async def made(self, work: Callable[[], T], *, known: bool) -> T:
        """What some work gives, in a thread, once there is a place.

        Args:
            work: Makes it.
            known: Whether it is for someone with a token.
        """
        async with self._places[known]:
            return await run_in_threadpool(work)

    async def given(self, name: Hashable, seen: Hashable, work: Callable[[], bytes], *, known: bool) -> bytes:
        """An answer: the one that is kept, or a new one.

        Args:
            name: What is asked for.
            seen: What it is made of, as it is now.
            work: Makes it.
            known: Whether it is for someone with a token.
        """
        found = self._found(name, seen)
        if found is not None:
            return found
        async with self._places[known]:
            found = self._found(name, seen)  # someone else may have made it meanwhile
            if found is None:
                found = await run_in_threadpool(work)
                self._keep(name, seen, found)
            return found

    def _found(self, name: Hashable, seen: Hashable) -> bytes | None:
        kept = self._kept.get(name)
        if kept is None or kept[0] != seen or self._steady() - kept[1] > LONGEST_KEPT:
            return None
        self._kept.move_to_end(name)
        return kept[2]

    def _keep(self, name: Hashable, seen: Hashable, answer: bytes) -> None:
        self._drop(name)
        self._kept[name] = seen, self._steady(), answer
        self._bytes += len(answer)
        while self._bytes > MOST_BYTES or len(self._kept) > MOST_KEPT:
            self._drop(next(iter(self._kept)))

    def _drop(self, name: Hashable) -> None:
        if name in self._kept:
            self._bytes -= len(self._kept.pop(name)[2])
