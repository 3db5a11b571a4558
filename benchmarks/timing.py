"""How time is taken: best of several turns, taken in alternation, so that a busy moment hits everyone alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

Work = Callable[[], Any]


def seconds(work: Work) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best(works: Sequence[Work], turns: int) -> list[float]:
    """The shortest time of each piece of work, over turns in which each has its go."""
    shortest = [float("inf")] * len(works)
    for _ in range(turns):
        for i, work in enumerate(works):
            shortest[i] = min(shortest[i], seconds(work))
    return shortest


def enough(work: Callable[[int], Any], target: float, limit: int = 10**7) -> int:
    """How many items `work` should take so that a call lasts about `target` seconds.

    What a call costs whatever it is given (a server's decoding, say) counts for little: the items take ten times
    as long, and the first call, which may compile, does not count.
    """
    few = 16
    work(few)
    fixed = min(seconds(lambda: work(few)) for _ in range(2))
    wanted, n = max(target, 10 * fixed), few
    while True:
        taken = seconds(lambda n=n: work(n)) - fixed
        if taken > wanted / 8 or n >= limit:
            return max(few, min(limit, int(n * wanted / max(taken, 1e-9))))
        n = min(limit, n * 4)
