"""Batches that were kept a moment ago, in memory, so that whoever folds them need not read them again.

It is a copy of what the store has, and of no consequence: what is not here is read from there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

from hush.collect.store.intake import Arrival

MOST_BYTES = 1 << 25
_BESIDE = 512
"""Bytes that a batch takes beside its records, about."""


class Recent:
    """Batches by their numbers, within limits: the first go where there are more.

    Args:
        most_bytes: What all of them may take.
    """

    def __init__(self, *, most_bytes: int = MOST_BYTES) -> None:
        self._most, self.bytes_held = most_bytes, 0
        self._held: dict[int, Arrival] = {}
        self._lock = threading.Lock()

    def add(self, kept: Mapping[int, Arrival]) -> None:
        """Hold batches that are in the store."""
        with self._lock:
            self._held.update(kept)
            self.bytes_held += sum(map(_size, kept.values()))
            while self.bytes_held > self._most:
                self._forget(next(iter(self._held)))

    def between(self, first: int, last: int) -> dict[int, Arrival] | None:
        """All batches of these numbers; None where one of them is not held."""
        with self._lock:
            if last - first >= len(self._held):
                return None
            try:
                return {seq: self._held[seq] for seq in range(first, last + 1)}
            except KeyError:
                return None

    def drop(self, seqs: Iterable[int]) -> None:
        """Hold them no longer."""
        with self._lock:
            for seq in seqs:
                self._forget(seq)

    def _forget(self, seq: int) -> None:
        each = self._held.pop(seq, None)
        if each is not None:
            self.bytes_held -= _size(each)


def _size(each: Arrival) -> int:
    return len(each.records) + _BESIDE
