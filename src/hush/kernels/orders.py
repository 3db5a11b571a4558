"""Cells dealt to buckets, and cells in a uniform order.

Both work on the cells themselves, or on the numbers of rows where a row has more than one. What does not fit the
processor's cache is dealt first, and each bucket is put in order by itself: every order is equally likely that way,
too (see `hush.files.order`), and few places are far from each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from hush.kernels.compiled import kernel
from hush.kernels.words import HALF, LOW, word

_RANGE = np.uint64(1 << 32)
_BYTE = np.uint64(255)
_EIGHT = np.uint64(8)
_NEAR = 1 << 15
"""Cells among which any two are near each other."""


@njit(nogil=True, inline="always")
def _below(source, half, size):
    """A uniform integer below `size` (1..2^32) from half a word, or from words after it where that would leave a bias.

    As `bounded`, but the division is made only where it may matter.
    """
    product = half * size
    if (product & LOW) < size:
        reject = _RANGE % size
        while (product & LOW) < reject:
            product = (word(source) >> HALF) * size
    return product >> HALF


@njit(nogil=True, inline="always")
def _exchange_one(source, half, cells, start, i):
    j = start + np.int64(_below(source, half, np.uint64(i - start + 1)))
    held = cells[i]
    cells[i] = cells[j]
    cells[j] = held


@njit(nogil=True)
def _exchange(source, cells, start, stop):
    """A uniform order of some cells, each exchanged with one in a uniform place among those before it, or itself."""
    for i in range(start, stop - 1, 2):
        drawn = word(source)
        _exchange_one(source, drawn >> HALF, cells, start, i)
        _exchange_one(source, drawn & LOW, cells, start, i + 1)
    if (stop - start) & 1:
        _exchange_one(source, word(source) >> HALF, cells, start, stop - 1)


@njit(nogil=True)
def _deal(source, cells, dealt):
    """Write cells by their bucket, 0..255, which a byte chooses; where each bucket starts, the end last."""
    buckets = np.empty((cells.size + 7) // 8 * 8, np.uint8)
    for i in range(0, cells.size, 8):
        drawn = word(source)
        for j in range(8):
            buckets[i + j] = drawn & _BYTE
            drawn >>= _EIGHT
    starts = np.zeros(257, np.int64)
    for i in range(cells.size):
        starts[np.int64(buckets[i]) + 1] += 1
    for b in range(256):
        starts[b + 1] += starts[b]
    place = starts[:-1].copy()
    for i in range(cells.size):
        bucket = np.int64(buckets[i])
        dealt[place[bucket]] = cells[i]
        place[bucket] += 1
    return starts


@kernel
def deal(source, cells, dealt):
    """Write cells by their bucket, 0..255, which a random byte chooses; where each bucket starts, the end last."""
    return _deal(source, cells, dealt)


@kernel
def shuffle(source, cells, room):
    """Put cells, up to 2^32 of them, in a uniform order, in place; `room` has as many, if they are far apart."""
    if cells.size <= _NEAR:
        _exchange(source, cells, 0, cells.size)
        return
    starts = _deal(source, cells, room)
    for b in range(256):
        _exchange(source, room, starts[b], starts[b + 1])
    cells[:] = room


def permutation(source: Any, size: int) -> np.ndarray:
    """The numbers 0..size-1 (size up to 2^32) in a uniform order."""
    order = np.arange(size, dtype=np.uint32)
    shuffle(source, order, np.empty_like(order))
    return order
