"""Disguises of values that are not sensitive, the records they travel in, and ranks of hashes.

Words of a report whose value is not sensitive: one decides whether to disguise it; if so, `bounded` picks a sensitive
value, one word is kept to decide whether the value is revealed all the same, and the base mechanism's own words follow.
A report of a sensitive value has the base mechanism's words alone; `idle` draws as many more for it from another
stream. Reports that are made together take each of these steps together; over unary encoding, each report takes all its
steps by itself. A record is a byte for its kind, the base record, and the value.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint32

from hush.kernels.compiled import kernel
from hush.kernels.subsets import _popcount as popcount
from hush.kernels.unary import sliced
from hush.kernels.words import ONE, ZERO, bounded, word

PROTECTED = np.uint8(0)
ALONE = np.uint8(1)
PAIR = np.uint8(2)
BYTE = np.uint64(8)
LAST_BYTE = np.uint64(255)


@kernel
def disguise(rng, values, table, size, reject, last, kind, inner, hidden, luck):
    """Who sends a base report, of which value, and who of them in disguise.

    `table` gives each value's number among the sensitive, or -1. A value without one is disguised if a word is at most
    `last`, as a number below `size`. `inner` gets the numbers, one for each base report; `hidden` the places of those
    in disguise among them, and `luck` the word that decides whether each of those is revealed. `kind` is 1 where there
    is no base report, 2 where there is one in disguise. Returns how many base reports there are, and how many in
    disguise.
    """
    source = rng.bit_generator
    wide = np.uint64(size)
    others = alone = disguises = 0
    for i in range(values.size):  # nothing branches on whose value is sensitive, which nobody could predict
        number = table[values[i]]
        inner[i] = number
        kind[i] = PROTECTED
        hidden[others] = i
        others += number < 0
    for j in range(others):
        i = hidden[j]
        if word(source) <= last:
            inner[i] = np.int64(bounded(source, wide, reject))
            kind[i] = PAIR
            hidden[disguises] = i - alone
            luck[disguises] = word(source)
            disguises += 1
        else:
            kind[i] = ALONE
            alone += 1
    if alone > 0:
        at = 0
        for i in range(values.size):
            inner[at] = inner[i]
            at += kind[i] != ALONE
    return values.size - alone, disguises


@kernel
def idle(rng, values, table, size, reject):
    """Draw for each sensitive value what a disguise takes, and use none of it: a clock shall not tell them apart."""
    source = rng.bit_generator
    wide = np.uint64(size)
    for i in range(values.size):
        if table[values[i]] >= 0:
            word(source)
            bounded(source, wide, reject)
            word(source)


@kernel
def pack(kind, values, luck, threshold, revealed, rows, out):
    """Write records: rows of base bytes go, in order, to those for whom one was drawn.

    A person in disguise reveals the value if the luck is below the threshold, as a report of the kind `revealed`. If
    that is alone, the base bytes are thrown away.
    """
    width = rows.shape[1]
    at = disguise = 0
    final = threshold.size - 1
    for i in range(kind.size):
        before = kind[i]
        hidden = before == PAIR
        shown = hidden & (luck[disguise] < threshold[min(disguise, final)])
        disguise += hidden
        now = np.uint8(shown) * revealed + np.uint8(before == ALONE)
        if now == ALONE:
            out[i, 1 : 1 + width] = 0
        else:
            for byte in range(width):
                out[i, 1 + byte] = rows[at, byte]
        at += before != ALONE
        _label(out, i, width, now, values[i])


@njit(nogil=True, inline="always")
def _label(out, i, width, kind, value):
    """Write a record's kind and, unless it is protected, the value."""
    out[i, 0] = kind
    shown = ZERO if kind == PROTECTED else np.uint64(value)
    for byte in range(1 + width, out.shape[1]):
        out[i, byte] = shown & LAST_BYTE
        shown >>= BYTE


@kernel
def unary_reports(rng, values, table, size, reject, last, own, masked, other, thresholds, revealed, out):
    """Records over unary encoding, all steps of a report together: its bits are counted while they are at hand.

    Bits are those of `hush.kernels.unary.encode`: the value's is one with probability `own`, or `masked` if it is a
    disguise, any other with `other`. `thresholds` has an entry for each number of ones.
    """
    source = rng.bit_generator
    wide = np.uint64(size)
    width = (size + 7) // 8
    groups = (size + 63) // 64
    end = ~ZERO >> np.uint64(-size % 64)
    words = np.zeros(groups, np.uint64)
    held = words.view(np.uint8)
    for i in range(values.size):
        number = table[values[i]]
        luck = ZERO
        hidden = number < 0
        if hidden:
            if word(source) > last:
                out[i, 1 : 1 + width] = 0
                _label(out, i, width, ALONE, values[i])
                continue
            number = np.int64(bounded(source, wide, reject))
            luck = word(source)
        for group in range(groups):
            words[group] = sliced(source, other, end if group == groups - 1 else ~ZERO)
        home, bit = number >> 6, ONE << np.uint64(number & 63)
        words[home] = (words[home] & ~bit) | (bit if word(source) < (masked if hidden else own) else ZERO)
        ones = ZERO
        for group in range(groups):
            ones += popcount(words[group])
        shown = hidden & (luck < thresholds[ones])
        now = revealed if shown else PROTECTED
        if now == ALONE:
            out[i, 1 : 1 + width] = 0
        else:
            for byte in range(width):
                out[i, 1 + byte] = held[byte]
        _label(out, i, width, now, values[i])


@kernel
def revealed_values(kinds, shown, whole, known, width, most, table, revealed):
    """Count how often each value is revealed, and how many records hold nothing else.

    `kinds` and `shown` are the first and the last field of the records, whose bytes are `whole`. The answer is -1 where
    a record is none of this mechanism's: a kind above `most`, a sensitive value revealed, or bytes that are not zero
    where nothing belongs. Beside a value that is sent alone, the first `known` bytes of a base record may be anything.
    """
    alone = 0
    wrong = False
    for i in range(kinds.size):
        kind = kinds[i]
        value = np.uint64(shown[i])
        if value >= np.uint64(table.size):
            return -1
        told = kind != PROTECTED
        wrong |= (kind > most) | (told & (table[value] >= 0)) | ((not told) & (value != ZERO))
        revealed[value] += told
        if kind == ALONE:
            alone += 1
            for byte in range(1 + known, 1 + width):
                wrong |= whole[i, byte] != 0
    return -1 if wrong else alone


@kernel
def unpack(whole, rows):
    """Copy base bytes to `rows`, in order, from the records that hold some."""
    at = 0
    for i in range(whole.shape[0]):
        if at == rows.shape[0]:
            break
        for byte in range(rows.shape[1]):
            rows[at, byte] = whole[i, 1 + byte]
        at += whole[i, 0] != ALONE


@kernel
def hash_intervals(kinds, a, b, bucket, starts, sizes, factor, offset, length):
    """What the count of supported values takes, from the records that hold a base report: how many, -1 if malformed.

    `starts` and `sizes` say where a bucket of hashes starts and how many it holds.
    """
    at = 0
    for i in range(kinds.size):
        place = np.uint64(bucket[i])
        if place >= np.uint64(starts.size):
            return -1
        factor[at], offset[at], length[at] = a[i], b[i] - starts[place], sizes[place]
        at += kinds[i] != ALONE
    return at


@kernel
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


@kernel
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


@kernel
def ranked_bounds(a, b, first, after, keys, low, high):
    """The hashes (with the value's number behind them) between which the ranks first..after-1 lie, both included."""
    held = np.empty(keys.size, np.uint64)
    for i in range(a.size):
        _ordered(a[i], b[i], keys, held)
        upper = np.partition(held, after[i] - 1)
        high[i] = upper[after[i] - 1]
        low[i] = np.partition(upper[: after[i]], first[i])[first[i]]


@kernel
def between(a, b, low, high, keys, tally):
    """For each key, count the reports whose bounds its hash lies between."""
    for i in range(a.size):
        for v in range(keys.size):
            at = (np.uint64(uint32(a[i] * keys[v] + b[i])) << np.uint64(32)) | np.uint64(v)
            tally[v] += (at >= low[i]) & (at <= high[i])
