"""Solutions for a symmetric Toeplitz matrix, with nothing to compile.

From the first column of its inverse the whole of it follows (Gohberg and Semencul 1972): it is the difference of two
products of triangular Toeplitz matrices, so that a solution is six Fourier transforms.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hush.types import Floats

Product = Callable[[Floats], Floats]


class Inverse:
    """Of a positive definite matrix, by the first column of its inverse.

    >>> column = np.array([2.0, -1.0, 0.0])
    >>> first = np.linalg.solve(np.array([[2.0, -1, 0], [-1, 2, -1], [0, -1, 2]]), [1.0, 0, 0])
    >>> Inverse(first).times(np.array([0.0, 1.0, 0.0])).round(12).tolist()
    [0.5, 1.0, 0.5]
    """

    def __init__(self, first: Floats) -> None:
        self._head = float(first[0])
        self._room = _quick(2 * first.size)
        self._falling = np.fft.rfft(first, self._room)
        self._rising = np.fft.rfft(np.concatenate([[0.0], first[:0:-1]]), self._room)

    def times(self, right: Floats) -> Floats:
        """The solution for a right-hand side."""
        k, room = right.size, self._room
        given = np.fft.rfft(right, room)
        total = np.zeros_like(given)
        for factor, sign in ((self._falling, 1.0), (self._rising, -1.0)):
            inner = np.fft.irfft(np.conj(factor) * given, room)[:k]
            total += sign * factor * np.fft.rfft(inner, room)
        return np.asarray(np.fft.irfft(total, room)[:k] / self._head)


def _quick(least: int) -> int:
    """A length that is at least so large and has few and small factors."""
    return min(odd << max(0, (-(-least // odd) - 1).bit_length()) for odd in (1, 3, 5, 9, 15))


def conjugate_gradients(product: Product, right: Floats, tolerance: float, steps: int) -> Floats | None:
    """The solution for a right-hand side, where products with the matrix are quick; None where it does not settle."""
    x, residual = np.zeros_like(right), right.copy()
    direction = residual.copy()
    left, goal = _dot(residual, residual), tolerance**2 * _dot(right, right)
    for _ in range(steps):
        if left <= goal:
            return x
        ahead = product(direction)
        curvature = _dot(direction, ahead)
        if curvature <= 0:
            return None
        x += left / curvature * direction
        residual -= left / curvature * ahead
        before, left = left, _dot(residual, residual)
        direction = residual + left / before * direction
    return None


def _dot(x: Floats, y: Floats) -> float:
    """Without a library's threads."""
    return float((x * y).sum())
