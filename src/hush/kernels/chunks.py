"""Run a piece of work over chunks of a range, on as many threads as there are cores.

Threads over kernels that release the interpreter lock add no compilation time, unlike numba's own parallel loops.
The pool lives for one call, or for one `team`, so nothing survives a fork.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")


def threads() -> int:
    """How many threads to use: the environment variable HUSH_THREADS, or the cores this process may use."""
    wanted = os.environ.get("HUSH_THREADS", "")
    if wanted.isdigit():
        return max(1, int(wanted))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each(n: int, size: int, work: Callable[[int, int], Result]) -> list[Result]:
    """Call `work(start, stop)` on consecutive chunks of at most `size`, in order of the results."""
    starts = range(0, n, size)
    if len(starts) <= 1 or threads() == 1:
        return [work(start, min(start + size, n)) for start in starts]
    with ThreadPoolExecutor(min(threads(), len(starts))) as pool:
        return list(pool.map(lambda start: work(start, min(start + size, n)), starts))


@contextmanager
def team(n: int, size: int) -> Iterator[Callable[[Callable[[int, int], Result]], list[Result]]]:
    """As `each`, for work that is done again and again over the same chunks: the threads are started once.

    >>> with team(5, 2) as all_of:
    ...     print(all_of(lambda start, stop: stop - start), all_of(lambda start, stop: start))
    [2, 2, 1] [0, 2, 4]
    """
    starts = range(0, n, size)
    if len(starts) <= 1 or threads() == 1:
        yield lambda work: [work(start, min(start + size, n)) for start in starts]
        return
    with ThreadPoolExecutor(min(threads(), len(starts))) as pool:
        yield lambda work: list(pool.map(lambda start: work(start, min(start + size, n)), starts))
