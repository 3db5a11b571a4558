"""How far two rankings agree, in O(k log k)."""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.compiled import kernel

_SHORT = 8  # stretches that are sorted by insertion


@njit(nogil=True)
def _sorted_inversions(values, spare):
    """Sort in place by merging, and count the pairs that stood in strictly falling order."""
    n = values.size
    inversions = np.int64(0)
    for start in range(0, n, _SHORT):
        for i in range(start + 1, min(start + _SHORT, n)):
            value, j = values[i], i
            while j > start and value < values[j - 1]:
                values[j] = values[j - 1]
                j -= 1
            values[j] = value
            inversions += i - j
    width = _SHORT
    now, then = values, spare
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            i, j, at = start, middle, start
            while i < middle and j < end:
                if now[j] < now[i]:
                    inversions += middle - i
                    then[at] = now[j]
                    j += 1
                else:
                    then[at] = now[i]
                    i += 1
                at += 1
            while i < middle:
                then[at] = now[i]
                i += 1
                at += 1
            while j < end:
                then[at] = now[j]
                j += 1
                at += 1
        now, then = then, now
        width *= 2
    if width > _SHORT:
        values[:] = now
    return inversions


@njit(nogil=True)
def _tied_pairs(ordered):
    """Pairs of equal numbers in a sorted array."""
    tied, run = 0, 1
    for i in range(1, ordered.size):
        if ordered[i] == ordered[i - 1]:
            tied += run
            run += 1
        else:
            run = 1
    return tied


@kernel
def agreement(order, starts, tied, rows, out):
    """For each row, pairs in the same order as the truth less pairs in the other order; tied in both counts as same.

    `order` sorts the truth, `starts` are the beginnings of its groups of equal numbers, with the end, and `tied` is
    the number of its tied pairs.
    """
    k = order.size
    values, spare, group = np.empty(k), np.empty(k), np.empty(k)
    pairs = np.int64(k) * (k - 1) // 2
    for r in range(rows.shape[0]):
        for i in range(k):
            values[i] = rows[r, order[i]]
        within, both = np.int64(0), np.int64(0)
        for g in range(starts.size - 1):
            size = starts[g + 1] - starts[g]
            if size > 1:
                for i in range(size):
                    group[i] = values[starts[g] + i]
                within += _sorted_inversions(group[:size], spare[:size])
                both += _tied_pairs(group[:size])
        against = _sorted_inversions(values, spare) - within
        apart = pairs - tied - _tied_pairs(values) + both  # pairs that are tied in neither
        out[r] = apart - 2 * against + both
