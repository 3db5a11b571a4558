"""A file in memory, for as long as a page is open: it is read as any other, and never has a place on a disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from hush.errors import ParameterError, Unsaid, message
from hush.files.places import FilePlace

MEGABYTE = 1 << 20
MOST_BYTES = 20 * MEGABYTE
"""Of a file."""
MOST_ROWS = 1_000_000
"""Of a file."""


@dataclass(frozen=True)
class HeldFile(FilePlace):
    """A file whose bytes are here.

    Args:
        content: The bytes; they are not part of what it prints as.
    """

    content: bytes = field(default=b"", repr=False)

    @contextmanager
    def open(self) -> Iterator[Any]:
        """The bytes, for reading anywhere in them."""
        import pyarrow as pa

        with pa.BufferReader(self.content) as opened:
            yield opened

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.content)


class Shelf:
    """How much all open pages hold together, so that many uploads do not fill the memory.

    Args:
        most: Bytes.

    >>> shelf = Shelf(100)
    >>> shelf.take(60); shelf.give_back(60); shelf.free
    100
    """

    def __init__(self, most: int = 10 * MOST_BYTES) -> None:
        self._most, self._taken, self._lock = most, 0, Lock()

    @property
    def free(self) -> int:
        """Bytes that are left."""
        return self._most - self._taken

    def take(self, size: int) -> None:
        """Reserve bytes; refused where too few are left."""
        with self._lock:
            if size > self.free:
                rule, got = "must fit beside what others have open", Unsaid(f"{size / MEGABYTE:,.1f} MB")
                raise ParameterError(message("The file", rule, got, "try again in some minutes, or with fewer rows"))
            self._taken += size

    def give_back(self, size: int) -> None:
        """Bytes that are no longer held."""
        with self._lock:
            self._taken = max(0, self._taken - size)


SHELF = Shelf()
"""That of this process."""
