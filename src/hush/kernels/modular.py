"""Loops of modular subset selection: counting reports, and products and solutions of its least squares.

The design matrix has a row for every residue of every modulus and a column for every value, one where the value has
the residue. So its product with a vector is a periodic sum, and that of its transpose a periodic copy: no matrix is
made. The normal matrix N = sum of w_j A_j'A_j has entries that depend on the difference of two values alone: it
is Toeplitz.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.compiled import kernel


@kernel
def count_residues(which, subsets, sizes, omegas, starts, tally, people):
    """Count members and reports of every modulus; False when a report is malformed."""
    for i in range(which.size):
        j = np.int64(which[i])
        if j >= sizes.size:
            return False
        before, size, omega = np.int64(-1), sizes[j], omegas[j]
        for a in range(omega):
            member = np.int64(subsets[i, a])
            if member <= before or member >= size:
                return False
            before = member
            tally[starts[j] + member] += 1
        for a in range(omega, subsets.shape[1]):
            if subsets[i, a] != 0:
                return False
        people[j] += 1
    return True


@njit(nogil=True)
def _pour(narrow, tally):
    """Add counts of one byte to those of eight, and clear them."""
    for r in range(tally.size):
        tally[r] += narrow[r]
        narrow[r] = 0


@kernel
def count_long(which, records, row, sizes, omegas, starts, tally, people):
    """`count_residues` for subsets of many members, which end the records, given as bytes; `row` has room for one.

    A record may start anywhere in memory, so it is copied to where its members can be looked at several at a time.
    They are counted in bytes, which stay in the nearest cache.
    """
    raw = row.view(np.uint8)
    before = records.shape[1] - raw.size
    narrow = np.zeros(starts[-1], np.uint8)
    waiting = np.zeros(sizes.size, np.int64)
    for i in range(which.size):
        j = np.int64(which[i])
        if j >= sizes.size:
            return False
        record = records[i, before:]
        for b in range(raw.size):
            raw[b] = record[b]
        omega, start, stop = omegas[j], starts[j], starts[j + 1]
        good = row[omega - 1] < sizes[j]
        for a in range(1, omega):
            good &= row[a] > row[a - 1]
        for a in range(omega, row.size):
            good &= row[a] == 0
        if not good:
            return False
        own = narrow[start:stop]
        for a in range(omega):
            own[row[a]] += np.uint8(1)
        waiting[j] += 1
        if waiting[j] == 255:
            _pour(own, tally[start:stop])
            people[j] += 255
            waiting[j] = 0
    _pour(narrow, tally)
    people += waiting
    return True


@kernel(fastmath=True)
def fold(x, size, out):
    """Sums of x over the values of each residue. Slices let the compiler see that indices are in order."""
    k = x.size
    out[: min(size, k)] = x[:size]
    out[k:size] = 0.0
    for start in range(size, k, size):
        part = x[start : start + size]
        for r in range(part.size):
            out[r] += part[r]


@kernel(fastmath=True)
def unfold(folded, size, weight, out):
    """Add to every value what belongs to its residue, times the weight."""
    for start in range(0, out.size, size):
        part = out[start : start + size]
        for r in range(part.size):
            part[r] += weight * folded[r]


@kernel(fastmath=True)
def _exchange(x, size, weight, out):
    """Where a residue has two values at most: each gets the other's."""
    low, high = out[: x.size - size], out[size:]
    first, second = x[: x.size - size], x[size:]
    for r in range(low.size):
        low[r] += weight * second[r]
        high[r] += weight * first[r]


@kernel(fastmath=True)
def normal_product(x, sizes, weights, ridge, room, out):
    """out = (N + ridge I) x."""
    own = ridge
    for j in range(sizes.size):
        if 2 * sizes[j] >= x.size:
            own += weights[j]
    for v in range(x.size):
        out[v] = own * x[v]
    for j in range(sizes.size):
        if 2 * sizes[j] >= x.size:
            _exchange(x, sizes[j], weights[j], out)
        else:
            fold(x, sizes[j], room)
            unfold(room, sizes[j], weights[j], out)


@kernel(fastmath=True)
def conjugate_gradients(sizes, weights, ridge, b, x, tolerance, steps):
    """Solve (N + ridge I) x = b from the x given; the number of steps taken, or -1 when they did not suffice."""
    k = b.size
    room = np.empty(sizes.max())
    product, residual = np.empty(k), np.empty(k)
    normal_product(x, sizes, weights, ridge, room, product)
    left, whole = 0.0, 0.0
    for v in range(k):
        residual[v] = b[v] - product[v]
        left += residual[v] * residual[v]
        whole += b[v] * b[v]
    goal = tolerance * tolerance * whole
    direction = residual.copy()
    for step in range(steps):
        if left <= goal:
            return step
        normal_product(direction, sizes, weights, ridge, room, product)
        curvature = 0.0
        for v in range(k):
            curvature += direction[v] * product[v]
        if curvature <= 0.0:
            return -1
        length = left / curvature
        before, left = left, 0.0
        for v in range(k):
            x[v] += length * direction[v]
            residual[v] -= length * product[v]
            left += residual[v] * residual[v]
        for v in range(k):
            direction[v] = residual[v] + left / before * direction[v]
    return -1


@kernel(fastmath=True)
def extremes(sizes, weights, current, before, diagonal, beside, first, last, limit):
    """Rows first..last of Lanczos' tridiagonal matrix for N, its diagonal and off-diagonal; how many rows are filled.

    `current` and `before` are its last two vectors, so that more rows can follow. No others are kept to orthogonalize
    against: that repeats eigenvalues that were found already, which does no harm to the outermost.
    """
    k = current.size
    room, product = np.empty(sizes.max()), np.empty(k)
    for step in range(first, last):
        normal_product(current, sizes, weights, 0.0, room, product)
        along = 0.0
        for v in range(k):
            along += current[v] * product[v]
        diagonal[step] = along
        size = 0.0
        link = beside[step - 1] if step > 0 else 0.0
        for v in range(k):
            product[v] -= along * current[v] + link * before[v]
            size += product[v] * product[v]
        beside[step] = np.sqrt(size)
        if beside[step] <= limit:
            return step + 1
        for v in range(k):
            before[v] = current[v]
            current[v] = product[v] / beside[step]
    return last


@kernel(fastmath=True)
def row_squares(first, size, shares, scale, out):
    """Add to out[i] the sum over residues r of scale · shares[r] · K[i, r]², where K is the inverse of N, folded.

    Row i of the inverse follows from row i-1 by the formula of Gohberg and Semencul, from its first column alone; so
    does row i of K, shifted by one residue.
    """
    k = first.size
    ahead, behind = np.zeros(2 * size), np.zeros(2 * size)
    twice = np.concatenate((shares, shares))
    for v in range(k):
        ahead[v % size] += first[v] / first[0]
        behind[(v + 1) % size] += first[k - 1 - v] / first[0]
    ahead[size:] = ahead[:size]
    behind[size:] = behind[:size]
    row = np.zeros(size)
    for i in range(k):
        up = first[i]
        down = first[k - i] if i > 0 else 0.0
        turn = i % size
        rise, fall, share = ahead[turn : turn + size], behind[turn : turn + size], twice[turn : turn + size]
        total = 0.0
        for r in range(size):
            here = row[r] + up * rise[r] - down * fall[r]
            row[r] = here
            total += share[r] * here * here
        out[i] += scale * total
