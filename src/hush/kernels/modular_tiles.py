"""Loops of the least squares of modular subset selection for very many values, tile by tile.

Vectors of a million numbers do not fit into the nearest caches, and a product with the normal matrix N by one modulus
after the other reads and writes them some fifty times. Here everything that belongs to a tile of the result is added
while that tile stays in the nearest cache, so that it is written once. A modulus whose residues have few values adds
those at its multiples; of one whose residues have many, sums over residues are made beforehand.
"""

from __future__ import annotations

from numba import njit

from hush.kernels.compiled import kernel
from hush.kernels.modular import fold

_TILE = 2048


@njit(nogil=True, fastmath=True)
def _add_neighbours(x, shift, weight, first, last, out):
    """out[v] += weight (x[v - shift] + x[v + shift]) for first <= v < last, where there are such values."""
    low, high = max(first, shift), min(last, x.size - shift)
    middle = min(max(low, high), last)
    if first < min(low, high):  # only above
        part, above = out[first : min(low, high)], x[first + shift :]
        for r in range(part.size):
            part[r] += weight * above[r]
    if low < high:  # on both sides
        part, below, above = out[low:high], x[low - shift :], x[low + shift :]
        for r in range(part.size):
            part[r] += weight * (below[r] + above[r])
    if max(low, high) < last:  # only below
        part, below = out[middle:last], x[middle - shift :]
        for r in range(part.size):
            part[r] += weight * below[r]


@njit(nogil=True, fastmath=True)
def _add_residues(sums, weight, first, last, out):
    """out[v] += weight sums[v mod their number] for first <= v < last."""
    at = first
    while at < last:
        residue = at % sums.size
        part, own = out[at : min(last, at + sums.size - residue)], sums[residue:]
        for r in range(part.size):
            part[r] += weight * own[r]
        at += part.size


@kernel(fastmath=True)
def tile_product(x, own, shifts, shift_weights, sizes, size_weights, starts, sums, first, last, out):
    """out = N x for first <= v < last, with sums over the residues of some moduli; and x'out and out'out there."""
    along, square = 0.0, 0.0
    for begin in range(first, last, _TILE):
        end = min(begin + _TILE, last)
        part, same = out[begin:end], x[begin:end]
        for r in range(part.size):
            part[r] = own * same[r]
        for s in range(shifts.size):
            _add_neighbours(x, shifts[s], shift_weights[s], begin, end, out)
        for j in range(sizes.size):
            _add_residues(sums[starts[j] : starts[j] + sizes[j]], size_weights[j], begin, end, out)
        near, long = x.dtype.type(0), x.dtype.type(0)
        for r in range(part.size):
            near += part[r] * same[r]
            long += part[r] * part[r]
        along += near
        square += long
    return along, square


@kernel(fastmath=True)
def tile_sums(x, sizes, starts, sums, first, last):
    """Sums over the residues of some of the moduli."""
    for j in range(first, last):
        fold(x, sizes[j], sums[starts[j] : starts[j] + sizes[j]])


@kernel(fastmath=True)
def tile_step(x, residual, direction, product, length, turn, first, last):
    """A step of conjugate gradients for first <= v < last, and what is left there; all vectors are read once."""
    square = 0.0
    for begin in range(first, last, _TILE):
        end = min(begin + _TILE, last)
        a, b, c, d = x[begin:end], residual[begin:end], direction[begin:end], product[begin:end]
        part = x.dtype.type(0)
        for r in range(a.size):
            a[r] += length * c[r]
            left = b[r] - length * d[r]
            b[r] = left
            c[r] = left + turn * c[r]
            part += left * left
        square += part
    return square
