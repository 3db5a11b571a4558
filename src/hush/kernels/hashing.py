"""Affine 32-bit hashing of scrambled keys, and the count of supported values.

Value v hashes to a·key(v) + b mod 2^32. The keys come from a bijection of 32-bit integers in which low bits never
depend on high ones, so two keys share exactly as many low bits as their values do: pairs collide at the ideal rate
to within 2^-32 times the largest power of two below k. The squaring rounds destroy the linear relations between
neighbouring values that would make triples collide together.

A bucket is an interval of hashes, so support is one multiplication, one addition and one unsigned comparison.
"""

from __future__ import annotations

import numpy as np
from numba import uint32

from hush.kernels.compiled import kernel
from hush.kernels.words import HALF, LOW, bounded, word

ROUNDS = ((0x9E3779B1, 0x7F4A7C15), (0x85EBCA6B, 0x165667B1), (0xC2B2AE35, 0x27D4EB2F))


def keys(k: int) -> np.ndarray:
    """The fixed pseudo-random key of each value 0..k-1."""
    x = np.arange(k, dtype=np.uint32)
    for factor, offset in ROUNDS:
        x = x * np.uint32(factor) + np.uint32(offset)
        x += x * x | np.uint32(5)
    return x


@kernel
def bucket_reports(rng, values, keys, g, keep, reject, a, b, bucket):
    """Hash each value with its own function, then randomize the bucket.

    Words of a report: one gives a (low half) and b (high half); one decides whether to keep; if not, `bounded`.
    """
    source = rng.bit_generator
    wide = np.uint64(g)
    others = np.uint64(g - 1)
    for i in range(values.size):
        seed = word(source)
        a[i] = uint32(seed & LOW)
        b[i] = uint32(seed >> HALF)
        home = (np.uint64(uint32(a[i] * keys[values[i]] + b[i])) * wide) >> HALF
        if word(source) < keep:
            bucket[i] = home
        else:
            other = bounded(source, others, reject)
            bucket[i] = other + np.uint64(other >= home)


@kernel
def ring_reports(rng, values, keys, arc, keep, reject_in, reject_out, a, b, point):
    """Hash each value to a ring of 2^32 points, then draw a point inside or outside the arc that starts there.

    Words of a report: one gives a (low half) and b (high half); one decides inside or outside; `bounded` places it.
    """
    source = rng.bit_generator
    inside = np.uint64(arc)
    outside = np.uint64(2**32 - arc)
    for i in range(values.size):
        seed = word(source)
        a[i] = uint32(seed & LOW)
        b[i] = uint32(seed >> HALF)
        start = np.uint64(uint32(a[i] * keys[values[i]] + b[i]))
        if word(source) < keep:
            offset = bounded(source, inside, reject_in)
        else:
            offset = inside + bounded(source, outside, reject_out)
        point[i] = uint32((start + offset) & LOW)


@kernel
def support_counts(a, b, length, keys, tally):
    """For each key x, count the reports i with a_i·x + b_i mod 2^32 < length_i.

    Tiled so that eight reports stay in registers while a tile of keys streams through the vector units.
    """
    n = a.size
    whole = n - n % 8
    part = np.zeros(min(keys.size, 2048), np.uint32)
    for start in range(0, keys.size, 2048):
        tile = keys[start : start + 2048]
        part[:] = 0
        for i in range(0, whole, 8):
            a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
            a4, a5, a6, a7 = a[i + 4], a[i + 5], a[i + 6], a[i + 7]
            b0, b1, b2, b3 = b[i], b[i + 1], b[i + 2], b[i + 3]
            b4, b5, b6, b7 = b[i + 4], b[i + 5], b[i + 6], b[i + 7]
            l0, l1, l2, l3 = length[i], length[i + 1], length[i + 2], length[i + 3]
            l4, l5, l6, l7 = length[i + 4], length[i + 5], length[i + 6], length[i + 7]
            for v in range(tile.size):
                x = tile[v]
                count = part[v]
                count += uint32(uint32(a0 * x + b0) < l0)
                count += uint32(uint32(a1 * x + b1) < l1)
                count += uint32(uint32(a2 * x + b2) < l2)
                count += uint32(uint32(a3 * x + b3) < l3)
                count += uint32(uint32(a4 * x + b4) < l4)
                count += uint32(uint32(a5 * x + b5) < l5)
                count += uint32(uint32(a6 * x + b6) < l6)
                count += uint32(uint32(a7 * x + b7) < l7)
                part[v] = count
        for i in range(whole, n):
            for v in range(tile.size):
                part[v] += uint32(uint32(a[i] * tile[v] + b[i]) < length[i])
        for v in range(tile.size):
            tally[start + v] += part[v]


@kernel
def bucket_intervals(records, starts, sizes, a, b, length):
    """The interval of hashes that each record supports, from its bytes: u4 a, u4 b, and the bucket in the rest.

    A hash function is moved by where its bucket starts, so that all intervals begin at zero. Gives the largest bucket;
    what it fills in is of no use if that has no start.
    """
    n, width = records.shape
    most = uint32(0)
    for i in range(n):
        bucket = uint32(0)
        for j in range(width - 8):
            bucket |= uint32(records[i, 8 + j]) << uint32(8 * j)
        most = max(most, bucket)
        known = min(bucket, uint32(starts.size - 1))
        a[i] = (
            uint32(records[i, 0])
            | uint32(records[i, 1]) << uint32(8)
            | uint32(records[i, 2]) << uint32(16)
            | uint32(records[i, 3]) << uint32(24)
        )
        b[i] = (
            uint32(records[i, 4])
            | uint32(records[i, 5]) << uint32(8)
            | uint32(records[i, 6]) << uint32(16)
            | uint32(records[i, 7]) << uint32(24)
        ) - starts[known]
        length[i] = sizes[known]
    return most


@kernel
def support_sizes(a, b, length, keys, out):
    """For each report i, count the keys x with a_i·x + b_i mod 2^32 < length_i."""
    for i in range(a.size):
        factor, offset, end = a[i], b[i], length[i]
        size = uint32(0)
        for v in range(keys.size):
            size += uint32(uint32(factor * keys[v] + offset) < end)
        out[i] = size


@kernel
def bucket_only(rng, values, keys, g, a, b, bucket):
    """Hash each value with its own function, without noise. Words of a report: one gives a and b."""
    source = rng.bit_generator
    for i in range(values.size):
        seed = word(source)
        a[i] = uint32(seed & LOW)
        b[i] = uint32(seed >> HALF)
        bucket[i] = (np.uint64(uint32(a[i] * keys[values[i]] + b[i])) * np.uint64(g)) >> HALF
