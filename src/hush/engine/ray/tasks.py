"""What runs on the workers of a cluster: plain functions, which Ray finds by their names."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import hush
from hush.engine.jobs import Job, Parts
from hush.engine.pieces import Piece
from hush.engine.ray.gathering import Gathered, gather
from hush.engine.ray.keys import Bytes
from hush.engine.ray.scattering import TablePiece, scatter
from hush.errors import ParameterError, Unsaid, message
from hush.mechanisms.spec import Spec

_KEPT = 4
_works: dict[bytes, Callable[[Any], Any]] = {}
"""Work that came to this process before; what it has computed for itself, it need not compute again."""


def several(version: str, work: bytes, tasks: Sequence[Any]) -> tuple[list[Any], float]:
    """What some work makes of several tasks, and the seconds that it took.

    Args:
        version: Of Hush, where the work comes from.
        work: A function, pickled.
        tasks: What it is called with, one after the other.
    """
    begin(version)
    start, function = time.perf_counter(), _loaded(work)
    return [function(task) for task in tasks], time.perf_counter() - start


def folded(version: str, job: Job, piece: Piece) -> tuple[int, Parts]:
    """How many rows a piece has, and its aggregates."""
    begin(version)
    rows = 0

    def count(some: float) -> None:
        nonlocal rows
        rows += int(some)

    parts = job.fold([piece], count)
    return rows, parts


def merged(job: Job, *parts: Parts) -> Parts:
    """The aggregates of several parts."""
    return job.merge(*parts)


def begin(version: str) -> None:
    """Refuse to work for another version of Hush, and use the one core that a task has."""
    if version != hush.__version__:
        rule = f"must have the same version of Hush on all nodes ({version})"
        raise ParameterError(message("--address", rule, Unsaid(f"{hush.__version__} on one"), "install one of them"))
    os.environ["HUSH_THREADS"] = "1"


def _loaded(work: bytes) -> Callable[[Any], Any]:
    from ray import cloudpickle

    digest = blake2b(work, digest_size=16).digest()
    if digest not in _works:
        while len(_works) >= _KEPT:
            _works.pop(next(iter(_works)))
        _works[digest] = cloudpickle.loads(work)
    return _works[digest]


def scattered(version: str, piece: TablePiece, buckets: int, key: bytes, seal: bytes) -> Iterator[Any]:
    """What a piece of a table held, and a part for each bucket, one after the other."""
    begin(version)
    return scatter(piece, buckets, key, seal)


def gathered(version: str, spec: Spec, folder: str, key: bytes, seal: bytes, *parts: Bytes) -> Gathered:
    """The file of a bucket, written by this attempt."""
    begin(version)
    return gather(spec, folder, key, seal, *parts)
