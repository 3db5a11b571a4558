"""Uniform subsets, drawn without replacement and written in ascending order.

Candidates go into a bitmap, which is read back in order. Where its words outnumber the members, a summary level above
it marks the words that hold something. When more than half of the others are wanted, those left out are drawn instead.

Words of a report: one decides whether the true value is included; then each word gives two candidates, its upper
half first, each reduced by multiplication with rejection; repeated candidates are ignored.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.words import HALF, LOW, ONE, ZERO, bounded, word

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
def _write_marked(bitmap, blocks, summary, out, i):
    """Write the members of the words that the summary marks, and clear it."""
    at = 0
    for high in range((blocks + 63) >> 6):
        marked = summary[high]
        summary[high] = ZERO
        while marked != ZERO:
            at = _write_block(bitmap, np.uint64(high * 64) + lowest(marked), out, i, at)
            marked &= marked - ONE


@njit(nogil=True, cache=True)
def select(rng, values, sizes, omegas, keeps, rejects, which, out):
    """Write one sorted subset per value, of its residue modulo one of the sizes, holding it when a word says so.

    With one size nothing is drawn to choose it, and `which` is not used; with several, the first word of a report
    chooses, each with the same probability, and `which` gets the choice. Rows of shorter subsets end in zeros.
    """
    source = rng.bit_generator
    several = sizes.size > 1
    kinds = np.uint64(sizes.size)
    turn_away = np.uint64((1 << 32) % sizes.size)
    most = (sizes.max() + 63) // 64
    bitmap = np.zeros(most, np.uint64)
    summary = np.zeros((most + 63) // 64, np.uint64)
    for i in range(values.size):
        at = np.int64(0)
        value = np.uint64(values[i])
        if several:
            at = np.int64(bounded(source, kinds, turn_away))
            which[i] = at
            value %= np.uint64(sizes[at])
        k, omega = sizes[at], omegas[at]
        blocks = (k + 63) >> 6
        sparse = blocks > omega
        included = word(source) < keeps[at]
        wanted = omega - 1 if included else omega
        inverted = 2 * wanted > k - 1
        drawn = k - 1 - wanted if inverted else wanted
        _scatter(source, value, np.uint64(k - 1), rejects[at], drawn, sparse, bitmap, summary)
        if inverted:
            for block in range(blocks):
                bitmap[block] = ~bitmap[block]
            bitmap[blocks - 1] &= ~ZERO >> np.uint64(-k & 63)
        home, bit = value >> SIX, ONE << (value & LAST)
        bitmap[home] = (bitmap[home] & ~bit) | (bit if included else ZERO)
        if sparse:
            summary[home >> SIX] |= ONE << (home & LAST)
            _write_marked(bitmap, blocks, summary, out, i)
        else:
            end = 0
            for block in range(blocks):
                end = _write_block(bitmap, np.uint64(block), out, i, end)
        for rest in range(omega, out.shape[1]):
            out[i, rest] = 0


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
