"""Disguises of values that are not sensitive, the records they travel in, and ranks of hashes.

Words of a report whose value is not sensitive: one decides whether to disguise it; if so, `bounded` picks a sensitive
value, the base mechanism's own words follow, and one more decides whether the value is revealed all the same. A report
of a sensitive value has the base mechanism's words alone. Reports that are made together take each of these steps
together. A record is a byte for its kind, the base record, and the value.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint32

from hush.kernels.words import bounded, word

PROTECTED = np.uint8(0)
ALONE = np.uint8(1)
PAIR = np.uint8(2)


@njit(nogil=True, cache=True)
def disguise(rng, values, table, size, reject, last, kind, inner, hidden, who):
    """Who sends a base report, of which value, and who of them in disguise.

    `table` gives each value's number among the sensitive, or -1. A value without one is disguised if a word is at most
    `last`, as a number below `size`. `inner` gets the numbers, one for each base report; `hidden` the places of those
    in disguise among them, and `who` among all people. `kind` is 1 where there is no base report, 2 where there is one
    in disguise. Returns how many base reports there are, and how many in disguise.
    """
    source = rng.bit_generator
    wide = np.uint64(size)
    reports = disguises = 0
    for i in range(values.size):
        number = table[values[i]]
        if number >= 0:
            kind[i] = PROTECTED
        elif word(source) <= last:
            number = np.int64(bounded(source, wide, reject))
            kind[i] = PAIR
            hidden[disguises] = reports
            who[disguises] = i
            disguises += 1
        else:
            kind[i] = ALONE
            continue
        inner[reports] = number
        reports += 1
    return reports, disguises


@njit(nogil=True, cache=True)
def reveal(rng, threshold, who, kind, revealed):
    """A word below the threshold reveals; else the report is protected."""
    source = rng.bit_generator
    one = threshold.size == 1
    for j in range(who.size):
        shown = word(source) < threshold[0 if one else j]
        kind[who[j]] = revealed if shown else PROTECTED


@njit(nogil=True, cache=True)
def pack(kind, drawn, values, rows, out):
    """Write records: rows of base bytes go, in order, to those for whom one was drawn, unless the value goes alone."""
    width = rows.shape[1]
    at = 0
    for i in range(kind.size):
        out[i, 0] = kind[i]
        if kind[i] == ALONE:
            for byte in range(width):
                out[i, 1 + byte] = 0
        else:
            for byte in range(width):
                out[i, 1 + byte] = rows[at, byte]
        at += drawn[i]
        value = np.uint64(0) if kind[i] == PROTECTED else np.uint64(values[i])
        for byte in range(1 + width, out.shape[1]):
            out[i, byte] = value & np.uint64(255)
            value >>= np.uint64(8)


@njit(nogil=True, cache=True)
def unpack(whole, width, most, table, rows, revealed):
    """Take records apart: base bytes to `rows`, in order, and the count of each value that is revealed.

    Returns how many base records there are, or -1 where a record is none of this mechanism's: a kind above `most`, a
    sensitive value revealed, or bytes that are not zero where nothing belongs.
    """
    at = 0
    for i in range(whole.shape[0]):
        kind = whole[i, 0]
        value = np.int64(0)
        for byte in range(whole.shape[1] - 1, width, -1):
            value = (value << 8) | np.int64(whole[i, byte])
        if kind > most or value >= table.size:
            return -1
        if kind == PROTECTED:
            if value != 0:
                return -1
        else:
            if table[value] >= 0:
                return -1
            revealed[value] += 1
        if kind == ALONE:
            for byte in range(width):
                if whole[i, 1 + byte] != 0:
                    return -1
        else:
            for byte in range(width):
                rows[at, byte] = whole[i, 1 + byte]
            at += 1
    return at


@njit(nogil=True, cache=True)
def ones(rows, chosen, sizes):
    """How many bits are one in each of some rows of bytes."""
    for j in range(chosen.size):
        row = rows[chosen[j]]
        total = uint32(0)
        for byte in range(row.size):
            x = row[byte]
            x = np.uint8(x - ((x >> np.uint8(1)) & np.uint8(0x55)))
            x = np.uint8((x & np.uint8(0x33)) + ((x >> np.uint8(2)) & np.uint8(0x33)))
            total += uint32((x + (x >> np.uint8(4))) & np.uint8(0x0F))
        sizes[j] = total


@njit(nogil=True, inline="always")
def _ordered(a, b, keys, held):
    """Hashes with the value's number behind them, so that no two are equal."""
    for v in range(keys.size):
        held[v] = (np.uint64(uint32(a * keys[v] + b)) << np.uint64(32)) | np.uint64(v)


@njit(nogil=True, cache=True)
def ranked_buckets(rng, values, keys, g, keep, reject, a, b, bucket):
    """Each value's bucket is its rank among all hashes, times g over their number; then randomize the bucket.

    Words of a report: one gives a (low half) and b (high half); one decides whether to keep; if not, `bounded`.
    """
    source = rng.bit_generator
    s = keys.size
    others = np.uint64(g - 1)
    for i in range(values.size):
        seed = word(source)
        factor = uint32(seed & np.uint64(0xFFFFFFFF))
        offset = uint32(seed >> np.uint64(32))
        a[i], b[i] = factor, offset
        v = values[i]
        own = uint32(factor * keys[v] + offset)
        rank = 0
        for t in range(s):
            other = uint32(factor * keys[t] + offset)
            rank += other < own
        for t in range(v):
            rank += uint32(factor * keys[t] + offset) == own
        home = np.uint64(rank * g // s)
        if word(source) < keep:
            bucket[i] = home
        else:
            other_bucket = bounded(source, others, reject)
            bucket[i] = other_bucket + np.uint64(other_bucket >= home)


@njit(nogil=True, cache=True)
def ranked_bounds(a, b, first, after, keys, low, high):
    """The hashes (with the value's number behind them) between which the ranks first..after-1 lie, both included."""
    held = np.empty(keys.size, np.uint64)
    for i in range(a.size):
        _ordered(a[i], b[i], keys, held)
        upper = np.partition(held, after[i] - 1)
        high[i] = upper[after[i] - 1]
        low[i] = np.partition(upper[: after[i]], first[i])[first[i]]


@njit(nogil=True, cache=True)
def between(a, b, low, high, keys, tally):
    """For each key, count the reports whose bounds its hash lies between."""
    for i in range(a.size):
        for v in range(keys.size):
            at = (np.uint64(uint32(a[i] * keys[v] + b[i])) << np.uint64(32)) | np.uint64(v)
            tally[v] += (at >= low[i]) & (at <= high[i])
