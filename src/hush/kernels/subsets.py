"""Uniform subsets, drawn without replacement and written in ascending order.

Candidates go into a bitmap, which is read back in order. Where its words outnumber the members, a summary level above
it marks the words that hold something. When more than half of the others are wanted, those left out are drawn instead.

Words of a report: one decides whether the true value is included; then each word gives two candidates, its upper
half first, each reduced by multiplication with rejection; repeated candidates are ignored.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.words import HALF, LOW, ONE, ZERO, word

SIX = np.uint64(6)
LAST = np.uint64(63)


@njit(nogil=True, inline="always")
def lowest(bits):
    """Index of the lowest set bit."""
    return _popcount((bits & (~bits + ONE)) - ONE)


@njit(nogil=True, inline="always")
def _popcount(x):
    x -= (x >> ONE) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(nogil=True)
def _scatter(source, value, others, reject, wanted, sparse, bitmap, summary):
    """Mark `wanted` distinct values other than `value`, uniformly; nothing branches on what was drawn before."""
    missing = wanted
    while missing > 0:
        both = word(source)
        for _ in range(2):
            product = (both >> HALF) * others
            both = both << HALF
            if missing == 0 or (product & LOW) < reject:
                continue
            drawn = product >> HALF
            drawn += np.uint64(drawn >= value)
            block = drawn >> SIX
            held = bitmap[block]
            now = held | (ONE << (drawn & LAST))
            bitmap[block] = now
            missing -= np.int64(held != now)
            if sparse:
                summary[block >> SIX] |= ONE << (block & LAST)


@njit(nogil=True, inline="always")
def _write_block(bitmap, block, out, i, at):
    """Write the members that one word of the bitmap holds, and clear it."""
    held = bitmap[block]
    bitmap[block] = ZERO
    base = block << SIX
    while held != ZERO:
        out[i, at] = base + lowest(held)
        held &= held - ONE
        at += 1
    return at


@njit(nogil=True)
def _write_marked(bitmap, summary, out, i):
    """Write the members of the words that the summary marks, and clear it."""
    at = 0
    for high in range(summary.size):
        marked = summary[high]
        summary[high] = ZERO
        while marked != ZERO:
            at = _write_block(bitmap, np.uint64(high * 64) + lowest(marked), out, i, at)
            marked &= marked - ONE


@njit(nogil=True, cache=True)
def select(rng, values, k, keep, reject, out):
    """Write one sorted subset of size out.shape[1] per value, holding the value itself when the first word says so."""
    source = rng.bit_generator
    omega = out.shape[1]
    others = np.uint64(k - 1)
    blocks = (k + 63) // 64
    sparse = blocks > omega
    bitmap = np.zeros(blocks, np.uint64)
    valid = np.full(blocks, ~ZERO)
    valid[-1] >>= np.uint64(-k % 64)
    summary = np.zeros((blocks + 63) // 64, np.uint64)
    for i in range(values.size):
        value = np.uint64(values[i])
        included = word(source) < keep
        wanted = omega - 1 if included else omega
        inverted = 2 * wanted > k - 1
        _scatter(source, value, others, reject, k - 1 - wanted if inverted else wanted, sparse, bitmap, summary)
        if inverted:
            for block in range(blocks):
                bitmap[block] = ~bitmap[block] & valid[block]
        home, bit = value >> SIX, ONE << (value & LAST)
        bitmap[home] = (bitmap[home] & ~bit) | (bit if included else ZERO)
        if sparse:
            summary[home >> SIX] |= ONE << (home & LAST)
            _write_marked(bitmap, summary, out, i)
        else:
            at = 0
            for block in range(blocks):
                at = _write_block(bitmap, np.uint64(block), out, i, at)


@njit(nogil=True, cache=True)
def count_members(subsets, k, tally):
    """Count how often each value is a member; False when a subset is not ascending within 0..k-1."""
    for i in range(subsets.shape[0]):
        before = np.int64(-1)
        for j in range(subsets.shape[1]):
            member = np.int64(subsets[i, j])
            if member <= before or member >= k:
                return False
            before = member
            tally[member] += 1
    return True
