"""On one machine: a thread for each core, over pieces of which each takes the next one.

Kernels and readers release the interpreter lock. A thread holds one batch at a time, and what it folds goes into one
aggregate, so memory does not grow with the number of reports.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue

from hush.engine.jobs import Job, Parts, unheard
from hush.engine.pieces import Piece
from hush.kernels import chunks


class _Stopped(Exception):
    """Another thread failed, or the work was interrupted."""


def run(job: Job, pieces: Sequence[Piece], advance: Callable[[float], None] = unheard) -> Parts:
    """Fold pieces on all cores, and merge what comes of them.

    Args:
        job: What is to be known.
        pieces: Of files of its spec.
        advance: Told how many rows were read, on the thread that asks.
    """
    number = min(chunks.threads(), len(pieces))
    if number <= 1:
        return job.merge(job.fold(pieces, advance))
    told: SimpleQueue[float | Parts | BaseException] = SimpleQueue()
    stop, lock, left = threading.Event(), threading.Lock(), iter(pieces)

    def heard(rows: float) -> None:
        if stop.is_set():
            raise _Stopped
        told.put(rows)

    def taken() -> Iterator[Piece]:
        while True:
            with lock:
                piece = next(left, None)
            if piece is None or stop.is_set():
                return
            yield piece

    def work() -> None:
        try:
            told.put(job.fold(taken(), heard))
        except BaseException as error:
            told.put(error)

    threads = [threading.Thread(target=work, name=f"hush-{i}") for i in range(number)]
    found: list[Parts] = []
    try:
        for thread in threads:
            thread.start()
        while len(found) < number:
            match told.get():
                case BaseException() as error:
                    raise error
                case dict() as parts:
                    found.append(parts)
                case rows:
                    advance(rows)
    finally:
        stop.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    return job.merge(*found)
