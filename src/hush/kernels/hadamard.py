"""Hadamard codewords: drawing from their halves, and the fast Walsh-Hadamard transform.

A block holds `width` outputs (a power of two); value v belongs to block v mod blocks, row v // blocks + 1. Entry
(row, column) of the Hadamard matrix is +1 where row & column has an even number of ones. Words of a report: one
decides inside or outside the codeword's +1 half; inside, the upper half of a word gives a column, its parity mended
at the row's lowest bit; outside, `bounded`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.compiled import kernel
from hush.kernels.words import HALF, ONE, ZERO, bounded, word


@njit(nogil=True, inline="always")
def odd(x):
    """Whether x has an odd number of ones."""
    x ^= x >> np.uint64(32)
    x ^= x >> np.uint64(16)
    x ^= x >> np.uint64(8)
    x ^= x >> np.uint64(4)
    return (np.uint64(0x6996) >> (x & np.uint64(15))) & ONE


@kernel
def respond(rng, values, width, blocks, keep, reject, out):
    """Write an output inside the codeword of the value with probability keep / 2^64, else one outside it."""
    source = rng.bit_generator
    size, wide = np.uint64(width), np.uint64(blocks)
    elsewhere = np.uint64(width * (blocks - 1))
    outside = elsewhere + np.uint64(width // 2)
    for i in range(values.size):
        value = np.uint64(values[i])
        block = value % wide
        row = value // wide + ONE
        lowest = row & (~row + ONE)
        wrong = ZERO
        if word(source) < keep:
            column = (word(source) >> HALF) & (size - ONE)
        else:
            drawn = bounded(source, outside, reject)
            if drawn < elsewhere:
                out[i] = drawn + (size if drawn >= block * size else ZERO)
                continue
            rest = drawn - elsewhere
            column = ((rest & ~(lowest - ONE)) << ONE) | (rest & (lowest - ONE))
            wrong = ONE
        if odd(column & row) != wrong:
            column ^= lowest
        out[i] = block * size + column


@kernel
def walsh_hadamard(block):
    """The transform of one block, in place, unnormalised."""
    half = 1
    while half < block.size:
        for start in range(0, block.size, 2 * half):
            for i in range(start, start + half):
                a, b = block[i], block[i + half]
                block[i] = a + b
                block[i + half] = a - b
        half *= 2
