"""How fast a disk is: bytes written, one after the other, until they lie there, and read when none is cached."""

from __future__ import annotations

import os
import time
from pathlib import Path

_PART = 1 << 22


def written(path: Path, size: int) -> float:
    """Seconds to write a file of so many bytes, all of them on the disk at the end."""
    part = os.urandom(_PART)
    start = time.perf_counter()
    with path.open("wb", buffering=0) as file:
        for at in range(0, size, _PART):
            file.write(part[: size - at])
        os.fsync(file.fileno())
    return time.perf_counter() - start


def read(path: Path) -> float:
    """Seconds to read a file that is not in the cache."""
    forget(path)
    start = time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.read(_PART):
            pass
    return time.perf_counter() - start


def synced(path: Path) -> float:
    """Seconds until what was written to a file lies on the disk."""
    start = time.perf_counter()
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return time.perf_counter() - start


def forget(path: Path) -> None:
    """Bring a file to the disk and take it out of the cache."""
    synced(path)
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
