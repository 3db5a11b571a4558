"""A public family of 65,535 hash functions: the rotations of one sequence.

The sequence holds the powers of 2 in the field of 2^16 elements, s[i+1] = 2·s[i], with 0x1100B taken off (xor) where
that has 17 bits. It meets every nonzero 16-bit number once and starts again. Value v has a fixed pseudo-random place;
member r sends it to the upper bits of s[r + place(v)]. Two elements times the same third share their upper bits where
those of their difference times the third are zero. So any two values collide under exactly 2^16/g - 1 members.

A tally needs the number of reports with each member and bucket, and from there one of two ways: look up every value
under every member, or, since the hash is linear over bits, transform each of g columns by Walsh and Hadamard and look
up every value in each. Both give what counting report by report gives.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numba import njit

from hush.kernels.compiled import kernel
from hush.kernels.words import bounded, rejection, word

MEMBERS = (1 << 16) - 1
POLYNOMIAL = 0x1100B
ROUNDS = ((0x9E37, 7), (0x85EB, 9), (0xC2B3, 8))
OFFSET = 0x7C15
REJECT = rejection(MEMBERS)

_SIDE = 256  # elements are numbered by 16 bits; a transform takes eight of them at a time


@lru_cache(maxsize=1)
def sequence() -> np.ndarray:
    """All nonzero elements, in order of their logarithm, twice over so that no rotation needs a remainder."""
    powers, element = [], 1
    for _ in range(MEMBERS):
        powers.append(element)
        element <<= 1
        element ^= POLYNOMIAL if element >> 16 else 0
    return np.array(powers * 2, np.uint16)


@lru_cache(maxsize=8)
def buckets(g: int) -> np.ndarray:
    """The bucket at each place of the sequence: the upper bits of its element."""
    return (sequence() >> (17 - g.bit_length())).astype(np.uint8)


def places(k: int) -> np.ndarray:
    """The fixed pseudo-random place of each value 0..k-1, all different and below 65,535."""
    x = np.append(np.arange(k, dtype=np.int64), MEMBERS)
    for factor, shift in ROUNDS:
        x = x * factor + OFFSET & 0xFFFF
        x ^= x >> shift
    return x[:-1] ^ x[-1] ^ MEMBERS  # the one number that is no place goes to 65,535 itself


def windows(places: np.ndarray, g: int) -> np.ndarray:
    """Each bit of a value's bucket as a linear function of the member's element, by its 16 coefficients.

    The element whose only bit is i stands at place i of the sequence, so these are 16 consecutive bits from the
    value's place on.
    """
    seen = buckets(g)[places[:, None] + np.arange(16)].astype(np.int64)
    bits = [(seen >> bit & 1) << np.arange(16) for bit in range(g.bit_length() - 1)]
    return np.array([bit.sum(axis=1) for bit in bits], np.uint16)


@kernel
def member_reports(rng, values, places, buckets, g, keep, reject, member, bucket):
    """Hash each value with a member of its own, then randomize the bucket.

    Words of a report: `bounded` draws the member; one decides whether to keep; if not, `bounded` draws another bucket.
    """
    source = rng.bit_generator
    members, others = np.uint64(MEMBERS), np.uint64(g - 1)
    for i in range(values.size):
        rotation = bounded(source, members, REJECT)
        home = np.uint64(buckets[np.int64(rotation) + places[values[i]]])
        member[i] = rotation
        if word(source) < keep:
            bucket[i] = home
        else:
            other = bounded(source, others, reject)
            bucket[i] = other + np.uint64(other >= home)


@kernel
def member_only(rng, values, places, buckets, member, bucket):
    """Hash each value with a member of its own, without noise. Words of a report: `bounded` draws the member."""
    source = rng.bit_generator
    for i in range(values.size):
        rotation = bounded(source, np.uint64(MEMBERS), REJECT)
        member[i] = rotation
        bucket[i] = buckets[np.int64(rotation) + places[values[i]]]


@kernel
def support_matrix(member, bucket, buckets, places, out):
    """Whether each report supports each value."""
    for i in range(member.size):
        rotation, own = np.int64(member[i]), bucket[i]
        for v in range(places.size):
            out[i, v] = buckets[rotation + places[v]] == own


@kernel
def support_sizes(member, bucket, buckets, places, out):
    """How many values each report supports."""
    for i in range(member.size):
        rotation, own = np.int64(member[i]), bucket[i]
        size = np.int64(0)
        for v in range(places.size):
            size += np.int64(buckets[rotation + places[v]] == own)
        out[i] = size


@kernel
def bucket_sizes(buckets, places, start, stop, out):
    """For the members from start to stop, few enough for the cache: how many values each sends to each bucket."""
    for place in places:
        for rotation in range(start, stop):
            out[rotation, buckets[rotation + place]] += 1


# Tallies.


@kernel
def count_directly(member, bucket, buckets, places, tally):
    """Look up every value under the member of every report."""
    for i in range(member.size):
        rotation, own = np.int64(member[i]), bucket[i]
        for v in range(places.size):
            tally[v] += np.int64(buckets[rotation + places[v]] == own)


@kernel
def count_by_member(member, bucket, table):
    """Add each report to a table with a row for each member and a column for each bucket."""
    for i in range(member.size):
        table[member[i], bucket[i]] += 1


@kernel
def count_rows_directly(member, rows, buckets, places, tally):
    """Look up every value under the member of every report, and the bit of its bucket."""
    for i in range(member.size):
        rotation, held = np.int64(member[i]), rows[i]
        for v in range(places.size):
            own = buckets[rotation + places[v]]
            tally[v] += np.int64(held[own >> 3] >> (own & 7) & 1)


@kernel
def count_rows_by_member(member, rows, table):
    """Add each report, which has a bit for each bucket, to a table as that of `count_by_member`."""
    for i in range(member.size):
        row, each = table[member[i]], min(8, table.shape[1])
        for byte in range(rows.shape[1]):
            held = rows[i, byte]
            for bit in range(each):
                row[8 * byte + bit] += np.int32(held >> np.uint8(bit) & np.uint8(1))


@kernel
def look_up(table, buckets, places, start, stop, tally):
    """Look up every value under the members from start to stop."""
    for rotation in range(start, stop):
        for v in range(places.size):
            tally[v] += table[rotation, buckets[rotation + places[v]]]


@kernel
def count_by_bucket(member, bucket, sequence, table):
    """Add each report to a table with a row for each bucket and a column for each element, its two bytes swapped."""
    for i in range(member.size):
        element = sequence[member[i]]
        table[bucket[i], (element & 255) << 8 | element >> 8] += 1


@kernel
def transform_buckets(table, start, stop):
    """Walsh-Hadamard transform of the columns from start to stop, in place, as many at a time as the cache holds."""
    for left in range(start, stop, 512):
        right = min(left + 512, stop)
        half = 1
        while half < table.shape[0]:
            for first in range(0, table.shape[0], 2 * half):
                for row in range(first, first + half):
                    for i in range(left, right):
                        a, b = table[row, i], table[row + half, i]
                        table[row, i] = a + b
                        table[row + half, i] = a - b
            half *= 2


@kernel
def gather(table, windows, start, stop, tally):
    """Add, for each value, g times its support as far as it comes from the transformed rows from start to stop.

    Row c weighs elements by the parity of c and bucket. The parity of c and a value's bucket is a linear function of
    the member's element, so the row's share is its transform over all elements, at the function's coefficients.
    """
    weighed = np.empty(_SIDE * _SIDE, table.dtype)
    coefficients = np.empty(windows.shape[1], np.uint16)
    for c in range(start, stop):
        row = table[c]
        _transform_upper(row)
        for i in range(0, _SIDE, 16):
            for j in range(_SIDE):
                for at in range(i, i + 16):
                    weighed[j * _SIDE + at] = row[at * _SIDE + j]
        _transform_upper(weighed)
        coefficients[:] = 0
        for bit in range(windows.shape[0]):
            if c >> bit & 1:
                coefficients ^= windows[bit]
        for v in range(coefficients.size):
            tally[v] += weighed[coefficients[v]]


@njit(nogil=True)
def _transform_upper(block):
    """Walsh-Hadamard transform over the upper eight of sixteen bits, two at a time, in place."""
    step = _SIDE
    while step < block.size:
        for start in range(0, block.size, 4 * step):
            for i in range(start, start + step):
                a, b, c, d = block[i], block[i + step], block[i + 2 * step], block[i + 3 * step]
                block[i] = a + b + c + d
                block[i + step] = a - b + c - d
                block[i + 2 * step] = a + b - c - d
                block[i + 3 * step] = a - b - c + d
        step *= 4
