"""What a collector tells now and then, for as long as somebody looks; what goes wrong is told, and asked again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from hush.errors import HushError
from hush.workbench.collections.troubles import Trouble, trouble

T = TypeVar("T")
SECONDS = 4.0
"""Between two looks."""


async def poll(ask: Callable[[], Awaitable[T]], url: str, *, seconds: float = SECONDS) -> AsyncIterator[T | Trouble]:
    """What is answered, again and again, or what keeps it from being known; without an end.

    Args:
        ask: Asks the collector.
        url: Where it is, for words.
        seconds: Between two looks, where nothing is wrong.
    """
    while True:
        try:
            told: T | Trouble = await ask()
            pause = seconds
        except HushError as error:
            told = trouble(error, url)
            pause = max(told.again or seconds, seconds)
        yield told
        await asyncio.sleep(pause)
