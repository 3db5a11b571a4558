"""Unary reports: k independent bits, 64 at a time, and their positional counts.

A group of up to 64 bits is drawn by bit-sliced comparison: word j holds bit 63-j of 64 uniform numbers, which are
compared with the threshold from the top until every comparison is decided (about eight words for 64 bits).
Words of a report: the groups in order, each with as many words as it needs; then one word for the true value's bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.words import ONE, ZERO, word


@njit(nogil=True)
def sliced(source, threshold, wanted):
    """Bits that are one with probability threshold / 2^64, at the positions set in `wanted`; zero elsewhere."""
    ones = ZERO
    open_ = wanted
    for level in range(63, -1, -1):
        drawn = word(source)
        if (threshold >> np.uint64(level)) & ONE:
            ones |= open_ & ~drawn
            open_ &= drawn
        else:
            open_ &= ~drawn
        if open_ == ZERO:
            break
    return ones


@njit(nogil=True, cache=True)
def encode(rng, values, k, p, q, out):
    """Write one record of ceil(k/8) bytes per value: bit v is byte v>>3, bit v&7."""
    source = rng.bit_generator
    width = out.shape[1]
    for i in range(values.size):
        for start in range(0, k, 64):
            size = min(64, k - start)
            wanted = ~ZERO if size == 64 else (ONE << np.uint64(size)) - ONE
            group = sliced(source, q, wanted)
            first = start >> 3
            for byte in range(first, min(first + 8, width)):
                out[i, byte] = np.uint8(group & np.uint64(255))
                group >>= np.uint64(8)
        byte = values[i] >> 3
        mask = np.uint8(1 << (values[i] & 7))
        if word(source) < p:
            out[i, byte] |= mask
        else:
            out[i, byte] &= ~mask


LANES = np.uint64(0x0101010101010101)


@njit(nogil=True, cache=True)
def positional(words, lanes, counts):
    """Add up bits by position over rows of 64-bit words.

    `words` has shape (rows, width); `lanes` is scratch of shape (8, width); `counts` has shape (8, width, 8): bit j
    of byte b of word w goes to counts[j, w, b]. Bytes are summed side by side, and emptied before they overflow.
    """
    rows, width = words.shape
    for start in range(0, rows, 255):
        lanes[:] = ZERO
        for row in range(start, min(start + 255, rows)):
            for j in range(8):
                shift = np.uint64(j)
                for w in range(width):
                    lanes[j, w] += (words[row, w] >> shift) & LANES
        for j in range(8):
            for w in range(width):
                held = lanes[j, w]
                for b in range(8):
                    counts[j, w, b] += np.int64(held & np.uint64(255))
                    held >>= np.uint64(8)
