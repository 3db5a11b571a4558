"""Who does independent pieces of work: the threads of this process, or an engine in their place.

Results come in the order of the tasks, and a task says by itself all that its result depends on: what is drawn goes by
the number of the chunk or run, never by who works or how often it is tried. So every engine gives the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import Protocol, TypeVar

from hush.kernels import chunks

Task = TypeVar("Task")
Result = TypeVar("Result")

_AHEAD = 4  # tasks for each thread that are begun before their results are asked for


class Workers(Protocol):
    """Whoever does tasks."""

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """What the work makes of each task, in order; few more are begun than were asked for.

        Args:
            work: Depends on its task alone, whatever was done before. It may be sent to other machines, and done again
                there when one of them fails.
            tasks: Small things that can be pickled; they are asked for as they are begun, on the thread that asks.
        """
        ...


class Threads:
    """The threads of this process, as many as `chunks.threads` says."""

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """What the work makes of each task, in order."""
        number, left = chunks.threads(), iter(tasks)
        first = list(islice(left, 2))
        if number == 1 or len(first) < 2:
            yield from map(work, chain(first, left))
            return
        with ThreadPoolExecutor(number) as pool:
            begun: deque[Future[Result]] = deque()
            try:
                for task in chain(first, left):
                    begun.append(pool.submit(work, task))
                    if len(begun) == _AHEAD * number:
                        yield begun.popleft().result()
                while begun:
                    yield begun.popleft().result()
            finally:
                for waiting in begun:
                    waiting.cancel()


THREADS = Threads()
"""This machine."""


def in_turn(engine: Workers, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """Tasks of which each uses all cores by itself: on this machine one after the other, elsewhere side by side."""
    return map(work, tasks) if engine is THREADS else engine.map(work, tasks)
