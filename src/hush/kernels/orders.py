"""Uniform orders of rows, and rows sorted by their bucket."""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.compiled import kernel
from hush.kernels.words import HALF, LOW, word

_RANGE = np.uint64(1 << 32)


@njit(nogil=True, inline="always")
def _below(source, size):
    """A uniform integer below `size` (1..2^32): as `bounded`, but the division is made only where it may matter."""
    product = (word(source) >> HALF) * size
    if (product & LOW) < size:
        reject = _RANGE % size
        while (product & LOW) < reject:
            product = (word(source) >> HALF) * size
    return product >> HALF


@kernel
def permutation(source, size):
    """The numbers 0..size-1 (size up to 2^32) in a uniform order, each put in a uniform place among those before it."""
    order = np.empty(size, np.uint32)
    for i in range(size):
        j = np.int64(_below(source, np.uint64(i + 1)))
        order[i] = order[j]
        order[j] = i
    return order


@kernel
def dealt(buckets):
    """Rows by their bucket 0..255: the order that sorts them, and where each bucket starts in it, the end last."""
    starts = np.zeros(257, np.int64)
    for i in range(buckets.size):
        starts[np.int64(buckets[i]) + 1] += 1
    for b in range(256):
        starts[b + 1] += starts[b]
    place = starts[:-1].copy()
    order = np.empty(buckets.size, np.uint32)
    for i in range(buckets.size):
        bucket = np.int64(buckets[i])
        order[place[bucket]] = i
        place[bucket] += 1
    return order, starts
