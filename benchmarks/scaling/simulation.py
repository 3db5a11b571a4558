"""A job over many files, simulated event by event: workers, disks, and what only one can do at a time.

A job is cut into pieces. A worker takes the next piece, has the machine's disk read it, does what only one worker of a
machine can do at a time (`serial`), computes (`parallel`), and leaves what came out to the system. That brings it to
the disk after some time, as Linux does after half a minute, or when the job waits for it at its end; the job is over
when all of it lies there. Between machines there is a driver, which hands out pieces one by one. Whoever finds
something taken waits in line.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from itertools import count

LAZY_SECONDS = 30.0
"""After which the system writes what was left to it."""


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What a job takes.

    Args:
        start: Seconds before the first row, whatever their number.
        serial: Seconds a row that only one worker of a machine can spend at a time.
        parallel: Seconds a row of a core.
        reads: Bytes a row that the disk reads.
        writes: Bytes a row that it writes.
    """

    start: float = 0.0
    serial: float = 0.0
    parallel: float = 0.0
    reads: float = 0.0
    writes: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Machines:
    """Where a job runs.

    Args:
        number: Of machines, all alike.
        cores: Workers of each.
        reads: Bytes a second that the disk of each reads.
        writes: Bytes a second that it writes.
        task: Seconds of the driver for each piece, where there are several machines.
    """

    number: int = 1
    cores: int = 1
    reads: float = float("inf")
    writes: float = float("inf")
    task: float = 0.0


def bound(costs: Costs, rows: int, on: Machines) -> float:
    """The model on paper: no job is faster than what its busiest resource has to do."""
    each = rows / on.number
    processor = each * (costs.serial + costs.parallel) / on.cores
    return costs.start + max(
        processor, each * costs.serial, each * costs.reads / on.reads, each * costs.writes / on.writes
    )


@dataclass
class _Resource:
    """Something that serves one at a time, first come, first served."""

    waiting: deque[tuple[_Worker, float]] = field(default_factory=deque)
    busy: bool = False


_Left = list[tuple[float, float]]
"""What was left to the system to write: when, and how many seconds of the disk it takes."""
_Worker = Generator[tuple[_Resource | _Left | None, float], None, None]
"""Yields what it needs next, and for how many seconds; None for a core of its own."""


def simulated(costs: Costs, rows: int, on: Machines, *, piece: int) -> float:
    """Seconds until the last of so many rows is done.

    Args:
        costs: Of the job.
        rows: How many.
        on: Where.
        piece: Rows of a piece.
    """
    pieces, driver = iter([min(piece, rows - at) for at in range(0, rows, piece)]), _Resource()
    queue: list[tuple[float, int, _Worker, _Resource | None]] = []
    order = count()

    def worker(reading: _Resource, alone: _Resource, left: _Left) -> _Worker:
        for some in pieces:
            yield driver, on.task if on.number > 1 else 0.0
            yield reading, some * costs.reads / on.reads
            yield alone, some * costs.serial
            yield None, some * costs.parallel
            yield left, some * costs.writes / on.writes

    def begin(one: _Worker, resource: _Resource | None, seconds: float, now: float) -> None:
        if resource is not None and resource.busy:
            resource.waiting.append((one, seconds))
            return
        if resource is not None:
            resource.busy = True
        heapq.heappush(queue, (now + seconds, next(order), one, resource))

    def step(one: _Worker, now: float) -> None:
        for needed, seconds in one:
            if not isinstance(needed, list):
                return begin(one, needed, seconds, now)
            needed.append((now, seconds))
        return None

    machines: list[_Left] = [[] for _ in range(on.number)]
    for left in machines:
        shared = _Resource(), _Resource()
        for _ in range(on.cores):
            step(worker(*shared, left), costs.start)
    now = costs.start
    while queue:
        now, _, one, resource = heapq.heappop(queue)
        if resource is not None:
            resource.busy = False
            if resource.waiting:
                begin(*_next(resource), now)
        step(one, now)
    return max([now, *(_written(left, now) for left in machines)])


def _written(left: _Left, end: float) -> float:
    """When all that was left to the system lies on the disk, where nothing more comes from some moment on."""
    done = 0.0
    for when, seconds in left:
        done = max(done, min(when + LAZY_SECONDS, end)) + seconds
    return done


def _next(resource: _Resource) -> tuple[_Worker, _Resource, float]:
    one, seconds = resource.waiting.popleft()
    return one, resource, seconds
