"""Uniform subsets, drawn without replacement and written in ascending order.

Candidates go into a bitmap, which is read back in order. Where its words outnumber the members, a summary level above
it marks the words that hold something. When more than half of the others are wanted, those left out are drawn instead.

Words of a report: one decides whether the true value is included; then each word gives two candidates, its upper
half first, each reduced by multiplication with rejection; repeated candidates are ignored.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.compiled import kernel
from hush.kernels.words import HALF, LOW, ONE, ZERO, bounded, word

SIX = np.uint64(6)
LAST = np.uint64(63)
TWO = np.uint64(2)
THREE = np.uint64(3)
FOUR = np.uint64(4)
NARROW = 32


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


# Arrays are handed only to functions that are called whatever was drawn, and with one way out: else numba counts
# references to them for every word.


@njit(nogil=True)
def _scatter(source, value, others, reject, wanted, sparse, bitmap, summary):
    """Mark `wanted` distinct values other than `value`, uniformly; nothing branches on what was drawn before."""
    missing = wanted
    while missing > 0:
        both = word(source)
        for _ in range(2):
            product = (both >> HALF) * others
            both = both << HALF
            drawn = product >> HALF
            drawn += np.uint64(drawn >= value)
            taken = np.uint64((missing > 0) & ((product & LOW) >= reject))
            block = drawn >> SIX
            held = bitmap[block]
            now = held | (taken << (drawn & LAST))
            bitmap[block] = now
            missing -= np.int64(held != now)
            if sparse:
                summary[block >> SIX] |= ONE << (block & LAST)


@njit(nogil=True)
def _another(source, value, others, reject):
    """The one value that `_scatter` would mark."""
    while True:
        both = word(source)
        product = (both >> HALF) * others
        if (product & LOW) < reject:
            product = (both & LOW) * others
        if (product & LOW) >= reject:
            drawn = product >> HALF
            return drawn + np.uint64(drawn >= value)


# Members are written two or four at a time, whether or not there are so many: what is too much is overwritten by the
# next word's, and the room has some to spare. So the processor seldom guesses wrong how many a word holds.


@njit(nogil=True, inline="always")
def _write_few(bitmap, block, room, at):
    """Write the members that one word of the bitmap holds, mostly one or two, and clear it; where the next ones go."""
    held = bitmap[block]
    bitmap[block] = ZERO
    base = block << SIX
    end = at + _popcount(held)
    while True:
        room[at] = base + lowest(held)
        held &= held - ONE
        room[at + ONE] = base + lowest(held)
        held &= held - ONE
        at += TWO
        if held == ZERO:
            break
    return end


@njit(nogil=True, inline="always")
def _write_several(bitmap, block, room, at):
    """The same for more members."""
    held = bitmap[block]
    bitmap[block] = ZERO
    base = block << SIX
    end = at + _popcount(held)
    while True:
        room[at] = base + lowest(held)
        held &= held - ONE
        room[at + ONE] = base + lowest(held)
        held &= held - ONE
        room[at + TWO] = base + lowest(held)
        held &= held - ONE
        room[at + THREE] = base + lowest(held)
        held &= held - ONE
        at += FOUR
        if held == ZERO:
            break
    return end


@kernel
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
    width = out.shape[1]
    room = np.zeros(max(omegas.max() + 4, width), np.uint32)
    for i in range(values.size):
        at = np.int64(0)
        value = np.uint64(values[i])
        if several:
            at = np.int64(bounded(source, kinds, turn_away))
            which[i] = at
            value %= np.uint64(sizes[at])
        k, omega = sizes[at], omegas[at]
        included = word(source) < keeps[at]
        if omega == 1 and k > 2:
            if not included:
                value = _another(source, value, np.uint64(k - 1), rejects[at])
            out[i, 0] = value
            for j in range(1, width):
                out[i, j] = 0
            continue
        blocks = (k + 63) >> 6
        sparse = blocks > omega
        wanted = omega - np.int64(included)
        inverted = 2 * wanted > k - 1
        drawn = k - 1 - wanted if inverted else wanted
        _scatter(source, value, np.uint64(k - 1), rejects[at], drawn, sparse, bitmap, summary)
        if inverted:
            for block in range(blocks):
                bitmap[block] = ~bitmap[block]
            bitmap[blocks - 1] &= ~ZERO >> np.uint64(-k & 63)
        home, bit = value >> SIX, ONE << (value & LAST)
        bitmap[home] = (bitmap[home] & ~bit) | (bit if included else ZERO)
        end = ZERO
        if sparse:
            summary[home >> SIX] |= ONE << (home & LAST)
            for high in range((blocks + 63) >> 6):
                marked = summary[high]
                summary[high] = ZERO
                while marked != ZERO:
                    end = _write_few(bitmap, np.uint64(high * 64) + lowest(marked), room, end)
                    marked &= marked - ONE
        else:
            for block in range(blocks):
                end = _write_several(bitmap, np.uint64(block), room, end)
        if width <= NARROW:  # as many steps whatever omega is
            for j in range(width):
                out[i, j] = room[j] if j < omega else 0
        else:
            for j in range(omega):
                out[i, j] = room[j]
            for j in range(omega, width):
                out[i, j] = 0


@kernel
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
