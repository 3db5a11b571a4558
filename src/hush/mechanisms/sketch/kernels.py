"""Reports of a count-mean sketch, compiled."""

from __future__ import annotations

import numpy as np

from hush.kernels.compiled import kernel
from hush.kernels.family import MEMBERS, REJECT
from hush.kernels.unary import sliced
from hush.kernels.words import ONE, ZERO, bounded, word


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
def pairs(rows, width, member, members, buckets):
    """Every bucket whose bit is one, with its report's member; how many there are."""
    at = 0
    for i in range(rows.shape[0]):
        for bucket in range(width):
            if rows[i, bucket >> 3] >> np.uint8(bucket & 7) & 1:
                members[at] = member[i]
                buckets[at] = bucket
                at += 1
    return at
