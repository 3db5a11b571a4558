"""Unary reports: k independent bits, 64 at a time, and their positional counts.

A group of up to 64 bits is drawn by bit-sliced comparison: word j holds bit 63-j of 64 uniform numbers, which are
compared with the threshold from the top until every comparison is decided (about eight words for 64 bits).
Words of a report: the groups in order, each with as many words as it needs; then one word for the true value's bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.compiled import kernel
from hush.kernels.words import ONE, ZERO, word


@njit(nogil=True, inline="always")
def sliced(source, threshold, wanted):
    """Bits that are one with probability threshold / 2^64, at the positions set in `wanted`; zero elsewhere.

    The threshold's bits, from the top, become masks of all ones or all zeros, so that nothing branches on them.
    """
    ones = ZERO
    undecided = wanted
    left = threshold
    level = 0
    while undecided != ZERO and level < 64:
        drawn = word(source)
        mask = np.uint64(np.int64(left) >> np.int64(63))
        left <<= ONE
        ones |= undecided & ~drawn & mask
        undecided &= drawn ^ ~mask
        level += 1
    return ones


@njit(nogil=True, inline="always")
def settled(source, words, value, own):
    """Draw the bit of the value that is held, which is one with probability own / 2^64, over that of the others."""
    home = value >> 6
    bit = ONE << np.uint64(value & 63)
    words[home] = (words[home] & ~bit) | (bit if word(source) < own else ZERO)


@kernel
def encode(rng, values, k, p, q, out):
    """Write one record of ceil(k/8) bytes per value: bit v is byte v>>3, bit v&7."""
    source = rng.bit_generator
    groups = (k + 63) // 64
    last = ~ZERO >> np.uint64(-k % 64)
    words = np.zeros(groups, np.uint64)
    held = words.view(np.uint8)
    for i in range(values.size):
        for group in range(groups):
            words[group] = sliced(source, q, last if group == groups - 1 else ~ZERO)
        settled(source, words, values[i], p)
        for byte in range(out.shape[1]):
            out[i, byte] = held[byte]


@njit(nogil=True, inline="always")
def sliced_each(source, masks, wanted):
    """As `sliced`, with a threshold for each position: bit v of masks[j] is bit 63-j of that of position v."""
    ones = ZERO
    undecided = wanted
    level = 0
    while undecided != ZERO and level < 64:
        drawn = word(source)
        mask = masks[level]
        ones |= undecided & ~drawn & mask
        undecided &= drawn ^ ~mask
        level += 1
    return ones


@kernel
def encode_each(rng, values, k, own, masks, out):
    """As `encode`, where bits differ: `own` has p of each value, `masks` of shape (groups, 64) all q, bit-sliced."""
    source = rng.bit_generator
    groups = (k + 63) // 64
    last = ~ZERO >> np.uint64(-k % 64)
    words = np.zeros(groups, np.uint64)
    held = words.view(np.uint8)
    for i in range(values.size):
        for group in range(groups):
            words[group] = sliced_each(source, masks[group], last if group == groups - 1 else ~ZERO)
        settled(source, words, values[i], own[values[i]])
        for byte in range(out.shape[1]):
            out[i, byte] = held[byte]


LANES = np.uint64(0x0101010101010101)


@kernel
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
