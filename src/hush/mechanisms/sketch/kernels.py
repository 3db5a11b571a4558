"""Reports of sketches, compiled: of buckets, of coefficients, of Bloom filters."""

from __future__ import annotations

import numpy as np

from hush.kernels.compiled import kernel
from hush.kernels.family import MEMBERS, REJECT
from hush.kernels.hadamard import odd
from hush.kernels.unary import sliced
from hush.kernels.words import HALF, ONE, ZERO, bounded, word


@kernel
def sketch(rng, values, buckets, places, width, p, q, member, bits):
    """Hash each value with a member of its own, then randomize one bit for each bucket.

    Words of a report: `bounded` draws the member; then as for unary encoding over the buckets, the groups of bits in
    order, and one word for the bit of the value's own bucket.
    """
    source = rng.bit_generator
    groups = (width + 63) // 64
    last = ~ZERO >> np.uint64(-width % 64)
    words = np.zeros(groups, np.uint64)
    held = words.view(np.uint8)
    for i in range(values.size):
        rotation = bounded(source, np.uint64(MEMBERS), REJECT)
        home = np.int64(buckets[np.int64(rotation) + places[values[i]]])
        for group in range(groups):
            words[group] = sliced(source, q, last if group == groups - 1 else ~ZERO)
        bit = ONE << np.uint64(home & 63)
        words[home >> 6] = (words[home >> 6] & ~bit) | (bit if word(source) < p else ZERO)
        member[i] = rotation
        for byte in range(bits.shape[1]):
            bits[i, byte] = held[byte]


@kernel
def transformed(rng, values, buckets, places, width, keep, member, coefficient, bit):
    """Hash each value with a member of its own, and randomize one coefficient of its bucket's row.

    Words of a report: `bounded` draws the member; the upper half of one gives the coefficient; one decides whether to
    keep its sign.
    """
    source = rng.bit_generator
    for i in range(values.size):
        rotation = bounded(source, np.uint64(MEMBERS), REJECT)
        column = (word(source) >> HALF) & np.uint64(width - 1)
        home = np.uint64(buckets[np.int64(rotation) + places[values[i]]])
        sign = odd(home & column)
        member[i] = rotation
        coefficient[i] = column
        bit[i] = sign if word(source) < keep else sign ^ ONE


@kernel
def as_binary(member, coefficient, bit, shifts, members, bits):
    """The reports of binary local hashing that say the same, and how many there are.

    Returned beside it: how many of the others, whose coefficient is the first, support every value.
    """
    at = everything = 0
    for i in range(member.size):
        if coefficient[i]:
            rotation = np.int64(member[i]) + shifts[coefficient[i]]
            members[at] = rotation - MEMBERS if rotation >= MEMBERS else rotation
            bits[at] = bit[i]
            at += 1
        elif not bit[i]:
            everything += 1
    return at, everything


@kernel
def filtered(rng, values, homes, width, p, q, reject, cohort, bits):
    """Draw a cohort for each value, then randomize its Bloom filter.

    Words of a report: `bounded` draws the cohort; then as for unary encoding over the filter, the groups of bits in
    order; then one word for each bit that is set, in the order of the functions, and none where one sets it again.
    """
    source = rng.bit_generator
    groups = (width + 63) // 64
    last = ~ZERO >> np.uint64(-width % 64)
    words = np.zeros(groups, np.uint64)
    held = words.view(np.uint8)
    for i in range(values.size):
        own = bounded(source, np.uint64(homes.shape[0]), reject)
        places = homes[np.int64(own), values[i]]
        for group in range(groups):
            words[group] = sliced(source, q, last if group == groups - 1 else ~ZERO)
        for j in range(places.size):
            place = np.int64(places[j])
            again = False
            for before in range(j):
                again |= places[before] == places[j]
            if not again:
                bit = ONE << np.uint64(place & 63)
                words[place >> 6] = (words[place >> 6] & ~bit) | (bit if word(source) < p else ZERO)
        cohort[i] = own
        for byte in range(bits.shape[1]):
            bits[i, byte] = held[byte]


@kernel
def count_bits(cohort, rows, width, counts, people):
    """Add up the bits of every cohort, and its reports."""
    for i in range(rows.shape[0]):
        own = np.int64(cohort[i])
        people[own] += 1
        for byte in range(rows.shape[1]):
            held = rows[i, byte]
            for bit in range(min(8, width)):
                counts[own, 8 * byte + bit] += np.int64(held >> np.uint8(bit) & np.uint8(1))


@kernel
def most_apart(words, most):
    """The largest number of bits in which two rows of one cohort differ; no more than `most`, where it stops."""
    worst = 0
    for c in range(words.shape[0]):
        for u in range(words.shape[1]):
            for v in range(u):
                apart = 0
                for w in range(words.shape[2]):
                    left = words[c, u, w] ^ words[c, v, w]
                    while left:
                        left &= left - ONE
                        apart += 1
                if apart > worst:
                    worst = apart
                    if worst >= most:
                        return worst
    return worst
