# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
"""How often each residue is a member of ten thousand subsets, many times over: exact, and quick for large subsets.

A subset starts as random bits, each set with a chance of some 128ths that is a little less than wanted. Whatever their
number, they are a uniform subset of that size; uniform further members (or removals) make it one of the size wanted.
64 residues share a word, every word has a generator of its own, and members are counted by adders that work on words.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.compiled import kernel

ONE, ZERO = np.uint64(1), np.uint64(0)
SIX, LAST = np.uint64(6), np.uint64(63)
HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
PLANES = 12
DIGITS = 7
PARTS = 1 << DIGITS
_FEW = 24
"""Where a subset holds less than one in so many, all its members are drawn one by one."""


@njit(nogil=True, inline="always")
def _rotated(x, by):
    return (x << np.uint64(by)) | (x >> np.uint64(64 - by))


@njit(nogil=True, inline="always")
def _word(state):
    """The next word of xoshiro256++ (Blackman and Vigna 2021)."""
    found = _rotated(state[0] + state[3], 23) + state[0]
    shifted = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = _rotated(state[3], 45)
    return found


@njit(nogil=True, inline="always")
def _ones(x):
    x -= (x >> ONE) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(nogil=True)
def _random_bits(streams, parts, words, tail, bits):
    """Every bit set with a chance of parts/128; how many are. Generators step as in `_word`, side by side."""
    if parts == 0:
        bits[:words] = ZERO
        return 0
    first = 0
    while not (parts >> first) & 1:
        first += 1
    for digit in range(first, DIGITS):
        union = (parts >> digit) & 1
        for w in range(words):
            a, b, c, d = streams[0, w], streams[1, w], streams[2, w], streams[3, w]
            drawn = _rotated(a + d, 23) + a
            c ^= a
            d ^= b
            streams[1, w] = b ^ c
            streams[0, w] = a ^ d
            streams[2, w] = c ^ (b << np.uint64(17))
            streams[3, w] = _rotated(d, 45)
            held = bits[w] if digit > first else ZERO
            bits[w] = held | drawn if union else held & drawn
    bits[words - 1] &= tail
    number = ZERO
    for w in range(words):
        number += _ones(bits[w])
    return np.int64(number)


@njit(nogil=True)
def _adjust(state, m, reject, apart, missing, bits):
    """Add so many members, or take them away, uniformly; never the one that is kept apart."""
    adding = missing > 0
    left = abs(missing)
    while left > 0:
        both = _word(state)
        for _ in range(2):
            product = (both >> HALF) * m
            both <<= HALF
            if left == 0 or (product & LOW) < reject:
                continue
            at = product >> HALF
            block, bit = at >> SIX, ONE << (at & LAST)
            if at != apart and ((bits[block] & bit) == ZERO) == adding:
                bits[block] ^= bit
                left -= 1


@njit(nogil=True)
def _add(four, words, planes):
    """Add four subsets to the adders: two sums of three, one of their carries, and what is left ripples on."""
    for w in range(words):
        a, b = four[0, w], four[1, w]
        mixed, held = a ^ b, planes[0, w]
        first = (a & b) | (mixed & held)
        held ^= mixed
        a, b = four[2, w], four[3, w]
        mixed = a ^ b
        second = (a & b) | (mixed & held)
        planes[0, w] = held ^ mixed
        mixed, held = first ^ second, planes[1, w]
        carried = (first & second) | (mixed & held)
        planes[1, w] = held ^ mixed
        for h in range(2, PLANES):
            held = planes[h, w]
            planes[h, w] = held ^ carried
            carried &= held


@njit(nogil=True)
def _flush(planes, words, out):
    """Add what the adders hold, and clear them."""
    for w in range(words):
        for h in range(PLANES):
            held = planes[h, w]
            planes[h, w] = ZERO
            while held != ZERO:
                lowest = held & (~held + ONE)
                out[(w << 6) + np.int64(_ones(lowest - ONE))] += 1 << h
                held ^= lowest


@kernel
def subset_sums(streams, counts, omega, p, out):
    """Draw a subset of `omega` for everybody, which holds the person's own residue with probability p.

    Args:
        streams: Four random words for each word of residues, and four more; they change.
        counts: How many people hold each residue.
        omega: Members of a subset.
        p: Probability that it holds its own.
        out: Gets, added, how often each residue is a member.
    """
    m = counts.size
    words = (m + 63) >> 6
    tail = ~ZERO >> np.uint64(-m & 63)
    state = streams[:, words].copy()
    reject = np.uint64((1 << 32) % m)
    parts = PARTS * omega // m if omega * _FEW > m else 0
    chance = (p * m - omega) / (m - omega)  # a uniform subset holds it too, sometimes
    limit = np.uint64(chance * 2.0**63)
    four = np.zeros((4, words), np.uint64)
    planes = np.zeros((PLANES, words), np.uint64)
    drawn, full = 0, 0
    for residue in range(m):
        block, bit = residue >> 6, ONE << (np.uint64(residue) & LAST)
        for _ in range(counts[residue]):
            bits = four[drawn]
            own = (_word(state) >> ONE) < limit
            apart = np.uint64(residue) if own else np.uint64(m)
            found = _random_bits(streams, parts, words, tail, bits)
            if own and bits[block] & bit:
                bits[block] ^= bit
                found -= 1
            _adjust(state, np.uint64(m), reject, apart, omega - np.int64(own) - found, bits)
            if own:
                bits[block] |= bit
            drawn += 1
            if drawn == 4:
                _add(four, words, planes)
                drawn, full = 0, full + 4
            if full > (1 << PLANES) - 8:
                _flush(planes, words, out)
                full = 0
    four[drawn:] = ZERO
    _add(four, words, planes)
    _flush(planes, words, out)
