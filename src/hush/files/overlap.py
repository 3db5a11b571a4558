"""Work that overlaps: what comes next is made, and what came before is written, while the one in hand is worked on.

Each has one thread of its own, and few things wait between two of them, so memory stays bounded. Where there is only
one thread to use, everything happens in turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from hush.kernels.chunks import threads

Item = TypeVar("Item")
_DEPTH = 2
"""How many things wait."""
_END: Any = object()


def ahead(items: Iterable[Item], depth: int = _DEPTH) -> Generator[Item, None, None]:
    """The same items, made while whoever takes them is busy; a failure comes when its item would have.

    Whoever stops early closes it, which waits for the item that is being made.
    """
    made = iter(items)
    with _closing(made):
        if threads() == 1:
            yield from made
            return
        waiting: deque[Future[Item]] = deque()
        with _alone(waiting) as pool:
            waiting.extend(pool.submit(next, made, _END) for _ in range(depth))
            while (item := waiting.popleft().result()) is not _END:
                waiting.append(pool.submit(next, made, _END))
                yield item


@contextmanager
def behind(work: Callable[..., None], depth: int = _DEPTH) -> Iterator[Callable[..., None]]:
    """A function that has the work done after it has returned, call by call; at the end, all of it is done.

    A failure comes with one of the next calls, or at the end.
    """
    if threads() == 1:
        yield work
        return
    waiting: deque[Future[None]] = deque()
    with _alone(waiting) as pool:

        def hand_over(*given: Any) -> None:
            while len(waiting) >= depth:
                waiting.popleft().result()
            waiting.append(pool.submit(work, *given))

        yield hand_over
        while waiting:
            waiting.popleft().result()


@contextmanager
def _alone(waiting: deque[Future[Any]]) -> Iterator[ThreadPoolExecutor]:
    """One thread; in the end what it has begun is finished, and what waits is not begun."""
    with ThreadPoolExecutor(1) as pool:
        try:
            yield pool
        finally:
            for each in waiting:
                each.cancel()


@contextmanager
def _closing(made: Iterator[Any]) -> Iterator[None]:
    try:
        yield
    finally:
        if isinstance(made, Generator):
            made.close()
