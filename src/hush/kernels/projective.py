"""Projective points over finite fields: drawing from hyperplanes, counting over all of them, and the way back.

Points are ranked by a tree: a point with leading digit one, further digits below it, has rank i; the ranks of the q
points with one more digit are 1 + q i + digit. So the last digit of rank i is (i - 1) mod q, and (i - 1) // q is the
rank without it. A value's vector is that of its rank with the coordinates in reverse: its one stands where the digits
of the message are lowest, so a message stays in its canonical form while coordinates are taken away from that end.
A value and a message are incident (the message favours the value) where the sum of products of coordinates is zero.

Words of a report: one decides inside or outside the hyperplane; then `bounded` draws the coordinates other than that
of the value's one, and outside also by how much the remaining one misses.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.compiled import kernel
from hush.kernels.words import ONE, ZERO, bounded, word

# Helpers take arrays, not the tuples that hold them: reading a tuple's array in a loop counts a reference every time.


@njit(nogil=True)
def _minus(q, differences, a, b):
    """The difference of two elements."""
    if differences.size:
        return np.uint64(differences[a, b])
    return a - b if a >= b else a + q - b


@njit(nogil=True, error_model="numpy")
def _less_last(q, block, differences, products, start, a, b):
    """An element less the sum of products of the last digits of two numbers."""
    x, y = a % block, b % block
    return _minus(q, differences, start, np.uint64(products[x, y]) if products.size else x * y % q)


@njit(nogil=True, error_model="numpy")
def _less_product(q, block, differences, products, start, a, b):
    """An element less the sum of products of the digits of two numbers."""
    while a != ZERO and b != ZERO:
        start = _less_last(q, block, differences, products, start, a, b)
        a //= block
        b //= block
    return start


@njit(nogil=True, error_model="numpy")
def _less_products(q, block, blocks, differences, products, start, a, b):
    """The same in so many steps, whatever the numbers: zeros change nothing."""
    for _ in range(blocks):
        start = _less_last(q, block, differences, products, start, a, b)
        a //= block
        b //= block
    return start


@njit(nogil=True)
def _digits(starts, t, rank):
    """How many digits follow the leading one of a point, in as many steps for every point."""
    digits = 0
    for length in range(1, t):
        digits += starts[length] <= rank
    return digits


@njit(nogil=True)
def _after(starts, t, rank):
    """How many digits follow the leading one of a point."""
    digits = t - 1
    while starts[digits] > rank:
        digits -= 1
    return digits


@njit(nogil=True, error_model="numpy")
def _flip(block, together, flips, powers, number, digits):
    """A number of so many digits with these in reverse, a block of digits at a time."""
    flipped = ZERO
    while digits >= together:
        lowest = number % block
        flipped = flipped * block + (np.uint64(flips[lowest]) if flips.size else lowest)
        number //= block
        digits -= together
    if digits > 0:
        flipped = flipped * powers[digits] + np.uint64(flips[number]) // powers[together - digits]
    return flipped


@njit(nogil=True)
def _vector_of_message(starts, powers, t, rank):
    """All t coordinates of a message as one number."""
    digits = _after(starts, t, rank)
    return rank - starts[digits] + powers[digits]


@njit(nogil=True)
def _vector_of_value(q, block, together, flips, starts, powers, t, rank):
    """All t coordinates of a value as one number: those of its rank, in reverse."""
    digits = _after(starts, t, rank)
    flipped = _flip(block, together, flips, powers, rank - starts[digits], digits)
    return powers[t - 1 - digits] * (flipped * q + ONE)


@kernel(error_model="numpy")
def respond(rng, values, space, keep, reject_inside, reject_outside, out):
    """Write a message on the value's hyperplane with probability keep / 2^64, else one off it."""
    source = rng.bit_generator
    (q, differences, products, block, together, flips), t, powers, starts = space
    blocks = (t - 2 + together) // together
    for i in range(values.size):  # the same steps for every value: what is not needed is worked out all the same
        value = np.uint64(values[i])
        digits = _digits(starts, t, value)
        hole = t - 1 - digits  # where the value's one stands; the coordinates below it do not matter
        low_end = powers[hole]
        flipped = _flip(block, together, flips, powers, value - starts[digits], t - 1) // low_end
        miss, leads = ZERO, False
        if word(source) < keep:
            drawn = others = bounded(source, starts[t - 1], reject_inside)
        else:
            drawn = bounded(source, powers[t - 1], reject_outside)
            leads = drawn < low_end  # its leading one stands in the hole
            beyond = ZERO if leads else drawn - low_end
            others = starts[hole] + beyond // (q - ONE)
            miss = ONE + beyond % (q - ONE)
        length = _digits(starts, t, others)
        above = max(length, hole)
        rest = others - starts[length]
        high = rest // low_end
        low = rest - high * low_end
        digit = _less_products(q, block, blocks, differences, products, miss, flipped, high + powers[above - hole])
        joined = starts[above + 1] + low + low_end * (digit + q * high)
        short = others if length < hole else joined  # nothing but zeros above the hole, so zero in it
        out[i] = starts[hole] + drawn if leads else short


@kernel
def incident(reports, values, space, out):
    """Whether each message favours the value beside it."""
    (q, differences, products, block, together, flips), t, powers, starts = space
    for i in range(reports.size):
        message = _vector_of_message(starts, powers, t, np.uint64(reports[i]))
        value = _vector_of_value(q, block, together, flips, starts, powers, t, np.uint64(values[i]))
        out[i] = _less_product(q, block, differences, products, ZERO, value, message) == ZERO


@kernel
def incidences(reports, space, out):
    """Which of the first values each message favours."""
    (q, differences, products, block, together, flips), t, powers, starts = space
    vectors = np.empty(out.shape[1], np.uint64)
    for v in range(vectors.size):
        vectors[v] = _vector_of_value(q, block, together, flips, starts, powers, t, np.uint64(v))
    for i in range(reports.size):
        message = _vector_of_message(starts, powers, t, np.uint64(reports[i]))
        for v in range(vectors.size):
            out[i, v] = _less_product(q, block, differences, products, ZERO, vectors[v], message) == ZERO


@kernel
def fold(whole, q, largest):
    """Points without their last digit: the sum, or the largest, over that digit. Rank 0 has none and is left out."""
    out = np.zeros((whole.size - 1) // q, whole.dtype)
    at = 1
    for i in range(out.size):
        for _ in range(q):
            out[i] = max(out[i], whole[at]) if largest else out[i] + whole[at]
            at += 1
    return out


@kernel
def project(parents, space, largest, first, last, start, stop, children):
    """Take one coordinate of the value: what is left of the product joins the lowest digit of the message.

    Node p of `parents` holds counts of messages whose lowest digit z is what the product amounts to so far, and at 0
    those that are nothing but zeros. For the next coordinate w of the value, node q p + w of `children` counts them
    without their next digit y, with z + w y for z. Done for parents first..last, ranks start..stop of what follows y.
    """
    size, differences, products = space.field.q, space.field.differences, space.field.products
    q = np.int64(size)
    for p in range(first, last):
        some = min(q, children.shape[0] - p * q)
        if start == 0:
            for w in range(some):
                opposite = np.int64(_minus(size, differences, ZERO, np.uint64(w)))
                zeros, joined = parents[p, 0], parents[p, 1 + opposite]
                children[p * q + w, 0] = max(zeros, joined) if largest else zeros + joined
        for i in range(start, stop):
            for w in range(some):
                if differences.size:
                    _gather(parents[p], children[p * q + w], differences, products[w], largest, q, i)
                else:
                    _rotate(parents[p], children[p * q + w], w, largest, q, i)


@njit(nogil=True)
def _gather(parent, child, differences, products, largest, q, i):
    """Of one rank and one coordinate w: a block of q, the sum of q blocks, each moved by w y."""
    to = 1 + q * i
    at = 1 + q * to
    for z in range(q):
        child[to + z] = parent[at + z]
    for y in range(1, q):
        at += q
        moved = products[y]
        if largest:
            for z in range(q):
                child[to + z] = max(child[to + z], parent[at + differences[z, moved]])
        else:
            for z in range(q):
                child[to + z] += parent[at + differences[z, moved]]


@njit(nogil=True)
def _rotate(parent, child, w, largest, q, i):
    """The same in a prime field, where a moved block is two runs."""
    to = 1 + q * i
    at = 1 + q * to
    for z in range(q):
        child[to + z] = parent[at + z]
    moved = 0
    for _ in range(1, q):
        at += q
        moved += w
        if moved >= q:
            moved -= q
        left = q - moved
        if largest:
            for z in range(moved):
                child[to + z] = max(child[to + z], parent[at + left + z])
            for z in range(left):
                child[to + moved + z] = max(child[to + moved + z], parent[at + z])
        else:
            for z in range(moved):
                child[to + z] += parent[at + left + z]
            for z in range(left):
                child[to + moved + z] += parent[at + z]


@njit(nogil=True, inline="always")
def _share(rng, count, left):
    """How many of so many people take the first of the ways that are left, all alike."""
    return rng.binomial(count, 1.0 / left) if left > 1 else count


@kernel
def unfold(rng, q, reject, whole, out):
    """The way back from `fold`: each of the people at a point takes a last digit at random."""
    source = rng.bit_generator
    for i in range(whole.size):
        count = whole[i]
        at = 1 + q * i
        if count < q:
            for _ in range(count):
                out[at + np.int64(bounded(source, np.uint64(q), reject))] += 1
            continue
        for z in range(q):
            taken = _share(rng, count, q - z)
            out[at + z] += taken
            count -= taken


@kernel
def retrace(rng, space, reject, zeros, children, parents):
    """The way back from `project`: each of the people at a point takes a digit y at random.

    Those with nothing but zeros get another zero with probability `zeros`, else their leading one.
    """
    source = rng.bit_generator
    size, differences, products, block, _, _ = space.field
    q = np.int64(size)
    for c in range(children.shape[0]):
        p = c // q
        w = np.uint64(c % q)
        kept = rng.binomial(children[c, 0], zeros)
        parents[p, 0] += kept
        parents[p, 1 + np.int64(_minus(size, differences, ZERO, w))] += children[c, 0] - kept
        for j in range(1, children.shape[1]):
            count = children[c, j]
            if count == 0:
                continue
            i, z = (j - 1) // q, np.uint64((j - 1) % q)
            at = 1 + q * (1 + q * i)
            few = count < q
            for step in range(count if few else q):
                y = bounded(source, size, reject) if few else np.uint64(step)
                taken = 1 if few else _share(rng, count, q - step)
                before = _less_product(size, block, differences, products, z, w, y)
                parents[p, at + q * np.int64(y) + np.int64(before)] += taken
                count -= taken
