"""Grid noise from an exact alias table: one word a draw.

The upper bits of a word choose a cell, the lower ones are compared with the cell's threshold: below it the cell's
own outcome, else its alias. Words of a report: one for each coordinate, in order.
"""

from __future__ import annotations

import numpy as np

from hush.kernels.compiled import kernel
from hush.kernels.words import ONE, word


def alias_table(weights: list[int]) -> tuple[np.ndarray, int]:
    """Split integer weights that sum to 2^64 into 2^m cells of equal capacity, exactly.

    Returns one word for each cell, its threshold in the upper 64-m bits and its alias in the lower m, and the number
    64-m of compared bits. A cell that belongs wholly to its own outcome is its own alias.
    """
    m = max(1, (len(weights) - 1).bit_length())
    low_bits = 64 - m
    capacity = 1 << low_bits
    left = list(weights) + [0] * ((1 << m) - len(weights))
    table = np.arange(1 << m, dtype=np.uint64)
    small = [i for i, w in enumerate(left) if w < capacity]
    large = [i for i, w in enumerate(left) if w >= capacity]
    while small:
        needy, donor = small.pop(), large[-1]
        table[needy] = (left[needy] << m) | donor
        left[donor] -= capacity - left[needy]
        if left[donor] < capacity:
            small.append(large.pop())
    return table, low_bits


@kernel
def one_hot(rng, values, table, low_bits, lowest, unit, out):
    """Write k grid steps per value: noise in every coordinate, mirrored about unit/2 in the value's own."""
    source = rng.bit_generator
    shift = np.uint64(low_bits)
    m = np.uint64(64 - low_bits)
    low = (ONE << m) - ONE
    base = np.int32(lowest)
    for i in range(values.size):
        for j in range(out.shape[1]):
            drawn = word(source)
            cell = drawn >> shift
            entry = table[cell]
            # All compared bits at the top, ones below: less than the entry exactly when less than its threshold.
            step = cell if ((drawn << m) | low) < entry else entry & low
            out[i, j] = np.int32(step) + base
        out[i, values[i]] = np.int32(unit) - out[i, values[i]]


@kernel
def column_sums(steps, lowest, highest, tally):
    """Add up steps by coordinate; False when one lies outside lowest..highest.

    Steps are counted from the lowest in 32 bits, in blocks of rows that cannot overflow; the largest is kept.
    """
    rows, k = steps.shape
    low = np.int32(lowest)
    part = np.zeros(k, np.uint32)
    most = np.zeros(k, np.uint32)
    block = (2**32 - 1) // max(1, highest - lowest)
    for start in range(0, rows, block):
        stop = min(start + block, rows)
        part[:] = np.uint32(0)
        for i in range(start, stop):
            for j in range(k):
                up = np.uint32(steps[i, j] - low)
                part[j] += up
                most[j] = max(most[j], up)
        for j in range(k):
            tally[j] += np.int64(part[j]) + np.int64(low) * (stop - start)
    return not (most > np.uint32(highest - lowest)).any()


@kernel
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
