"""Loops that find the worst population of modular subset selection (see `hush.analysis.modular_worst`)."""

from __future__ import annotations

import numpy as np

from hush.kernels.compiled import kernel


@kernel(fastmath=True)
def largest_values(first, rows, begin, sizes, linear, square, centre, level, out):
    """For each value v from `begin` on, the largest sum over blocks of (linear·level - centre)·K + square·K², less 1
    at v itself.

    K is row v of the inverse of N, folded by the block's modulus; `rows` has that of `begin`, one after another, and
    the next ones follow by the formula of Gohberg and Semencul, shifted by one residue, as in `row_squares`.
    """
    k, blocks = first.size, sizes.size
    total, most = sizes.sum(), sizes.max()
    ahead, behind, row = np.zeros(total), np.zeros(total), np.empty(total)
    rise, fall, worth, sums = np.empty(most), np.empty(most), np.empty(most), np.empty(k)
    at = 0
    for j in range(blocks):
        size = sizes[j]
        for v in range(k):
            ahead[at + v % size] += first[v] / first[0]
            behind[at + (v + 1) % size] += first[k - 1 - v] / first[0]
        for r in range(size):
            row[at + r] = rows[at + (r + begin) % size]
        at += size
    for i in range(out.size):
        v = begin + i
        sums[:] = 0.0
        at = 0
        for j in range(blocks):
            size = sizes[j]
            turn = v % size
            here = row[at : at + size]
            if i > 0:
                up, down = first[v], first[k - v]
                rise[: size - turn] = ahead[at + turn : at + size]
                rise[size - turn : size] = ahead[at : at + turn]
                fall[: size - turn] = behind[at + turn : at + size]
                fall[size - turn : size] = behind[at : at + turn]
                for r in range(size):
                    here[r] += up * rise[r] - down * fall[r]
            slope, curve = linear[j] * level[v] - centre[j], square[j]
            for r in range(size):
                worth[r] = here[r] * (slope + curve * here[r])
            start = turn - size  # the value below zero with the same residue as v, where `here` starts
            while start < k:
                skipped = max(0, -start)
                part = sums[start + skipped : min(start + size, k)]
                for r in range(part.size):
                    part[r] += worth[r + skipped]
                start += size
            at += size
        sums[v] -= 1.0
        best = sums[0]
        for u in range(1, k):
            best = max(best, sums[u])
        out[i] = best


@kernel(fastmath=True)
def enclose(points, heights, scale, tolerance, steps, centre):
    """Maximize E[height] + scale·(the sum of the variances of the coordinates) over laws on the points, [axis, point].

    Mass moves from the point with the least slope among those that have some to the one with the most (the pairwise
    steps of Frank and Wolfe). The value reached, and a bound of the maximum: that of the ball about `centre`, the mean.
    """
    axes, k = points.shape
    slopes, mass = np.empty(k), np.zeros(k)
    mass[np.argmax(heights)] = 1.0
    value, bound = -np.inf, np.inf
    best = np.zeros(axes)
    for _ in range(steps):
        for a in range(axes):
            centre[a] = 0.0
            for u in range(k):
                centre[a] += mass[u] * points[a, u]
        slopes[:] = heights
        size, height = 0.0, 0.0
        for a in range(axes):
            size += centre[a] * centre[a]
            double = 2 * scale * centre[a]
            for u in range(k):
                slopes[u] -= double * points[a, u]
        gain, loss = 0, -1
        for u in range(k):
            height += mass[u] * heights[u]
            if slopes[u] > slopes[gain]:
                gain = u
            if mass[u] > 0.0 and (loss < 0 or slopes[u] < slopes[loss]):
                loss = u
        value = max(value, height - scale * size)
        if slopes[gain] + scale * size < bound:
            bound = slopes[gain] + scale * size
            best[:] = centre
        apart = 0.0
        for a in range(axes):
            apart += (points[a, gain] - points[a, loss]) ** 2
        rise = slopes[gain] - slopes[loss]
        if bound - value <= tolerance or rise <= 0.0:
            break
        whole = 2 * scale * apart * mass[loss] <= rise
        moved = mass[loss] if whole else rise / (2 * scale * apart)
        mass[gain] += moved
        mass[loss] = 0.0 if whole else mass[loss] - moved
    centre[:] = best
    return value, bound
