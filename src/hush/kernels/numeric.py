"""Numbers on a grid: rounding by chance, one coin, and a window that slides with the value.

Words of a report, in order: one rounds the value to a grid point; then, for a coin, one decides it; for a window, one
decides whether to stay inside and `bounded` picks a place; where both are mixed, one word before them chooses.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.compiled import kernel
from hush.kernels.words import HALF, LOW, bounded, word


@kernel
def coin(rng, floors, parts, base, slope, out):
    """Write 1 with probability (base + slope·tick) / 2^64, else 0."""
    source = rng.bit_generator
    for i in range(floors.size):
        tick = floors[i] + np.uint64(word(source) < parts[i])
        out[i] = word(source) < base + slope * tick


@njit(nogil=True)
def _place(source, tick, height, inside, outside, keep, reject_inside, reject_outside):
    start = height * tick
    if word(source) < keep:
        return start + bounded(source, inside, reject_inside)
    place = bounded(source, outside, reject_outside)
    return place + inside if place >= start else place


@kernel
def window(rng, floors, parts, out, height, inside, outside, keep, reject_inside, reject_outside):
    """Write a place: inside the window height·tick .. height·tick + inside - 1 with probability keep / 2^64."""
    source = rng.bit_generator
    for i in range(floors.size):
        tick = floors[i] + np.uint64(word(source) < parts[i])
        out[i] = _place(source, tick, height, inside, outside, keep, reject_inside, reject_outside)


@kernel
def mixed(rng, floors, parts, out, choose, base, slope, height, inside, outside, keep, reject_inside, reject_outside):
    """Write a place of the window with probability choose / 2^64, else inside + outside + the coin."""
    source = rng.bit_generator
    for i in range(floors.size):
        tick = floors[i] + np.uint64(word(source) < parts[i])
        if word(source) < choose:
            out[i] = _place(source, tick, height, inside, outside, keep, reject_inside, reject_outside)
        else:
            out[i] = inside + outside + np.uint64(word(source) < base + slope * tick)


@kernel
def sums(reports, size, tally):
    """Add up places below `size`, and their squares as low and high 32 bits; count the ones among size, size + 1.

    The tally is: places, their sum, low and high parts of their squares, ones. Returns the largest report.
    """
    largest = np.uint64(0)
    limit = np.uint64(size)
    for i in range(reports.size):
        place = np.uint64(reports[i])
        largest = max(largest, place)
        if place < limit:
            square = place * place
            tally[0] += 1
            tally[1] += np.int64(place)
            tally[2] += np.int64(square & LOW)
            tally[3] += np.int64(square >> HALF)
        elif place == limit + np.uint64(1):
            tally[4] += 1
    return largest
