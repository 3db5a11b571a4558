"""Grid noise from an exact alias table: one word a draw.

The upper bits of a word choose a cell, the lower ones are compared with the cell's threshold: below it the cell's
own outcome, else its alias. Words of a report: one for each coordinate, in order.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.words import word


def alias_table(weights: list[int]) -> tuple[np.ndarray, np.ndarray, int]:
    """Split integer weights that sum to 2^64 into 2^m cells of equal capacity, exactly.

    Returns the thresholds, the aliases, and the number of low bits that are compared. A cell that belongs wholly
    to its own outcome is its own alias, since its threshold does not fit in the compared bits.
    """
    m = max(1, (len(weights) - 1).bit_length())
    low_bits = 64 - m
    capacity = 1 << low_bits
    left = list(weights) + [0] * ((1 << m) - len(weights))
    threshold = np.zeros(1 << m, np.uint64)
    alias = np.arange(1 << m, dtype=np.int32)
    small = [i for i, w in enumerate(left) if w < capacity]
    large = [i for i, w in enumerate(left) if w >= capacity]
    while small:
        needy, donor = small.pop(), large[-1]
        threshold[needy] = left[needy]
        alias[needy] = donor
        left[donor] -= capacity - left[needy]
        if left[donor] < capacity:
            small.append(large.pop())
    return threshold, alias, low_bits


@njit(nogil=True, cache=True)
def one_hot(rng, values, threshold, alias, low_bits, lowest, unit, out):
    """Write k grid steps per value: noise in every coordinate, mirrored about unit/2 in the value's own."""
    source = rng.bit_generator
    shift = np.uint64(low_bits)
    mask = (np.uint64(1) << shift) - np.uint64(1)
    for i in range(values.size):
        for j in range(out.shape[1]):
            drawn = word(source)
            cell = np.int64(drawn >> shift)
            step = (cell if (drawn & mask) < threshold[cell] else np.int64(alias[cell])) + lowest
            out[i, j] = unit - step if j == values[i] else step


@njit(nogil=True, cache=True)
def column_sums(steps, lowest, highest, tally):
    """Add up steps by coordinate; False when one lies outside lowest..highest."""
    part = np.zeros(steps.shape[1], np.int64)
    bad = np.zeros(steps.shape[1], np.uint8)
    for i in range(steps.shape[0]):
        for j in range(steps.shape[1]):
            step = steps[i, j]
            part[j] += step
            bad[j] |= np.uint8(step < lowest) | np.uint8(step > highest)
    tally += part
    return not bad.any()


@njit(nogil=True, cache=True)
def column_exceeds(steps, limit, lowest, highest, tally):
    """Count steps above a limit by coordinate; False when one lies outside lowest..highest."""
    part = np.zeros(steps.shape[1], np.int32)
    bad = np.zeros(steps.shape[1], np.uint8)
    for i in range(steps.shape[0]):
        for j in range(steps.shape[1]):
            step = steps[i, j]
            part[j] += step > limit
            bad[j] |= np.uint8(step < lowest) | np.uint8(step > highest)
    tally += part
    return not bad.any()
