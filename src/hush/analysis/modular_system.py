"""The least squares of modular subset selection: values from their residues modulo several numbers.

The normal matrix N = sum over moduli of w_j A_j'A_j is a symmetric Toeplitz matrix, positive definite when
1 + sum (m_j - 1) >= k. Its products take O(k) for each modulus, and all of its inverse follows from the first column
(Gohberg and Semencul 1972), so the diagonals that variances need are exact without a matrix.

N squares the condition of the design, and has no correct digit left where that is about 1e8: moduli that barely
determine all values are as bad as that, or worse. From `_HARD` on, the design itself is factorized where it has room.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis import toeplitz
from hush.analysis.modular_many import ManyValues
from hush.errors import ConvergenceError
from hush.types import Floats

_DENSE = 64
"""Up to this many values, a dense factorization is quick and works for any conditioning."""
_LISTED = 128
"""Up to this many values, all eigenvalues are quicker than Lanczos' method."""
_POOR = 1e-7
"""Where eigenvalues differ by more, the normal matrix has lost too many digits, and the design itself is factorized."""
_HARD = 1e4
"""Conditions up to which the normal matrix is good for ten digits of variances, and six of their sum and of itself."""
_LOST = 1e6
"""Conditions up to which it tells them to a per cent."""
_ROOM = 1 << 23
"""Entries of a design matrix that is factorized."""
_TOEPLITZ = 30_000
"""Up to this many values, Levinson's recursion steps in where the iteration does not settle."""
_TRANSFORMED = 1 << 15
"""Up to this many values, Fourier transforms are quicker than loading what is compiled."""
_MANY = 1 << 18
"""From so many values on, vectors leave the caches, and steps are made in single precision."""
_STEPS = 2_000
_LANCZOS = 4_096


def rank(k: int, moduli: Sequence[int]) -> int:
    """Rank of the design matrix for pairwise coprime moduli.

    >>> rank(20, (7, 11, 5)), rank(12, (5, 7)), rank(50, (11, 17))
    (20, 11, 27)
    """
    return min(k, 1 + sum(m - 1 for m in moduli))


def _folded(x: Floats, m: int) -> Floats:
    """Sums over each residue."""
    whole = x.size - x.size % m
    sums = x[:whole].reshape(-1, m).sum(axis=0, dtype=np.float64)
    sums[: x.size - whole] += x[whole:]
    return np.asarray(sums)


def _add_copied(out: Floats, part: Floats) -> None:
    """Add to every value what belongs to its residue, in place."""
    whole = out.size - out.size % part.size
    rows = out[:whole].reshape(-1, part.size)  # a view
    rows += part
    out[whole:] += part[: out.size - whole]


def folded_rows(matrix: Floats, moduli: Sequence[int]) -> list[Floats]:
    """Sums of a matrix's columns over each residue, by modulus."""
    rows, k = matrix.shape
    parts = []
    for m in moduli:
        padded = np.zeros((rows, -(-k // m) * m))
        padded[:, :k] = matrix
        parts.append(np.asarray(padded.reshape(rows, -1, m).sum(axis=1)))
    return parts


@dataclass(frozen=True, eq=False)
class System:
    """Weighted least squares for k values, from their residues.

    Args:
        k: Number of values.
        moduli: Pairwise coprime.
        weights: One for each modulus; zero leaves it out.
        ridge: Added to the diagonal of the normal matrix.
    """

    k: int
    moduli: tuple[int, ...]
    weights: Floats
    ridge: float = 0.0

    @cached_property
    def _sizes(self) -> npt.NDArray[np.int64]:
        return np.array(self.moduli, np.int64)

    def folded(self, x: Floats) -> list[Floats]:
        """A x: sums over each residue, by modulus."""
        return [_folded(x, m) for m in self.moduli]

    def unfolded(self, parts: Sequence[Floats]) -> Floats:
        """A'W y: every value gets what belongs to its residues, times their weights."""
        return self.gathered(np.concatenate(parts), self.weights)

    def gathered(self, sums: npt.NDArray[Any], scales: Floats) -> Floats:
        """As `unfolded`, for residues that stand one modulus after the other, times other numbers than the weights."""
        if self.k >= _MANY:
            return self._many.gathered(sums, scales)
        out, at = np.zeros(self.k), 0
        for m, scale in zip(self.moduli, scales, strict=True):
            _add_copied(out, scale * sums[at : at + m])
            at += m
        return out

    @cached_property
    def _many(self) -> ManyValues:
        return ManyValues(self.k, self.moduli, self.weights, self.ridge)

    def product(self, x: Floats) -> Floats:
        """N x."""
        out = self.ridge * x
        for m, weight in zip(self.moduli, self.weights, strict=True):
            _add_copied(out, weight * _folded(x, m))
        return np.asarray(out)

    def dense(self) -> Floats:
        """The weighted design matrix itself, for small k and for tests."""
        values = np.arange(self.k)
        blocks = [
            (values % m == np.arange(m)[:, None]) * math.sqrt(weight)
            for m, weight in zip(self.moduli, self.weights, strict=True)
        ]
        if self.ridge > 0:
            blocks.append(math.sqrt(self.ridge) * np.eye(self.k))
        return np.concatenate(blocks)

    def normal(self) -> Floats:
        """N itself, for small k."""
        apart = np.arange(self.k)
        column = np.zeros(self.k)
        for m, weight in zip(self.moduli, self.weights, strict=True):
            column[::m] += weight
        column[0] += self.ridge
        return np.asarray(column[np.abs(apart[:, None] - apart)])

    @cached_property
    def _used(self) -> tuple[int, ...]:
        """The moduli that weigh something."""
        return tuple(m for m, weight in zip(self.moduli, self.weights, strict=True) if weight > 0)

    @property
    def _rank(self) -> int:
        return self.k if self.ridge > 0 else rank(self.k, self._used) if self._used else 0

    @cached_property
    def small(self) -> bool:
        """Whether dense matrices are used: for few values, and where the normal matrix is not good enough."""
        return self.k <= _DENSE or (self._determined and self._fits and _hard(self.k, self._used))

    @property
    def _determined(self) -> bool:
        """Whether the residues alone determine all values."""
        return self.ridge == 0 and self._rank == self.k

    @property
    def _fits(self) -> bool:
        return self.k * sum(self._used) <= _ROOM

    def fit(self, parts: Sequence[Floats]) -> Floats:
        """The values whose residues are nearest to these, in weighted squares; the smallest if there are several."""
        if self.small:
            seen = [math.sqrt(weight) * part for weight, part in zip(self.weights, parts, strict=True)]
            return np.asarray(self.gain @ np.concatenate(seen))
        return self.fitted(self.unfolded(parts))

    def fitted(self, right: Floats) -> Floats:
        """The values whose normal equations have this right-hand side, where matrices are not dense."""
        # Colliding values add about one number, their mean, to each of a value's own residues.
        total = float(self.weights.sum())
        near = (right - right.mean()) / total + 1.0 / self.k
        return self.solve(right, near)

    @cached_property
    def gain(self) -> Floats:
        """For dense matrices, the pseudo-inverse of the weighted design: what turns weighted residues into values.

        From the eigenvectors of N, by a method that needs one thread, and the rank, which is known; or from the design
        itself, where N has lost too many digits.
        """
        from scipy.linalg import eigh, qr, solve_triangular

        rows, kept = sum(self.moduli), self._rank
        if kept == 0:
            return np.zeros((self.k, rows))
        if self.k > _DENSE:
            orthogonal, upper = qr(self.dense(), mode="economic")
            return np.asarray(solve_triangular(upper, orthogonal.T))
        values, vectors = eigh(self.normal(), driver="ev")
        if values[-kept] > _POOR * values[-1]:
            values, vectors = values[-kept:], vectors[:, -kept:]
            inverse = (vectors / values) @ vectors.T
            parts = zip(self.weights, folded_rows(inverse, self.moduli), strict=True)
            return np.concatenate([math.sqrt(weight) * part for weight, part in parts], axis=1)
        left, singular, right = np.linalg.svd(self.dense(), full_matrices=False)
        return np.asarray((right[:kept].T / singular[:kept]) @ left[:rows, :kept].T)

    def solve(self, right: Floats, start: Floats | None = None, tolerance: float = 1e-11) -> Floats:
        """N⁻¹ times a vector: from its first column, or by conjugate gradients from a start or for many values."""
        if self.small and self.ridge == 0:
            return np.asarray(self.gain @ (self.gain.T @ right))
        if start is None and self.k <= _TRANSFORMED:
            x = self._inverse.times(right)
            for _ in range(2):
                left = right - self.product(x)
                if (left * left).sum() <= tolerance**2 * (right * right).sum():
                    return x
                x += self._inverse.times(left)
        return self._iterated(right, start, tolerance)

    def _iterated(self, right: Floats, start: Floats | None, tolerance: float) -> Floats:
        """By conjugate gradients, or Levinson's recursion where they do not settle."""
        from hush.kernels.modular import conjugate_gradients

        x = np.zeros(self.k) if start is None else start.copy()
        quick = self._many.solve(right, x, tolerance) if self.k >= _MANY else None
        if quick is not None:
            return quick
        taken = conjugate_gradients(self._sizes, self.weights, self.ridge, right, x, tolerance, _STEPS)
        if taken >= 0:
            return x
        if self.k > _TOEPLITZ or self.condition(_LOST, digits=1) >= _LOST:
            if len(self._used) < len(self.moduli):
                raise ConvergenceError("too few of the moduli have reports to tell values apart; collect more reports")
            raise ConvergenceError("the moduli are too badly conditioned to calculate with; choose others")
        from scipy.linalg import solve_toeplitz

        return np.asarray(solve_toeplitz(self.product(np.eye(1, self.k)[0]), right))

    @cached_property
    def first(self) -> Floats:
        """The first column of the inverse of N."""
        unit = np.zeros(self.k)
        unit[0] = 1.0
        if self.small and self.ridge == 0:
            return self.solve(unit)
        quick = toeplitz.conjugate_gradients(self.product, unit, 1e-13, _STEPS) if self.k <= _TRANSFORMED else None
        return self._iterated(unit, None, 1e-13) if quick is None else quick

    @cached_property
    def _inverse(self) -> toeplitz.Inverse:
        return toeplitz.Inverse(self.first)

    def own_entries(self, m: int) -> Floats:
        """Every value's own entry of N⁻¹ folded by a modulus: as a row follows from the one before, a running sum."""
        first, residue = self.first, np.arange(self.k) % m
        ahead = np.bincount(residue, first, m) / first[0]
        behind = np.bincount((np.arange(self.k) + 1) % m, first[::-1], m) / first[0]
        down = np.concatenate([[0.0], first[:0:-1]])
        return np.asarray(np.cumsum(first * ahead[residue] - down * behind[residue]))

    def sandwich_diagonal(self, weights: Floats) -> Floats:
        """diag N⁻¹ M N⁻¹ for M = sum of weights_j A_j'A_j: minus the derivative of diag (N + tM)⁻¹."""
        x = self.first
        slope = -self.solve(System(self.k, self.moduli, weights).product(x))
        y, tilt = (np.concatenate([[0.0], part[:0:-1]]) for part in (x, slope))
        levels, slopes = np.cumsum(x * x - y * y), 2 * np.cumsum(x * slope - y * tilt)
        return np.asarray(levels * slope[0] / x[0] ** 2 - slopes / x[0])

    def condition(self, most: float = math.inf, *, digits: int = 9) -> float:
        """The ratio of the largest to the smallest singular value of the weighted design, by Lanczos' method.

        Ritz values lie inside the spectrum, so what is found grows towards the truth, and the search stops early,
        with a number that is too small, once it exceeds `most`. Else it settles to so many digits, but no more than
        the normal matrix has: from 1e4 on the design is factorized, if it has at most 2^23 entries. If not, the answer
        is right to a per cent up to 1e6, and 1e6 says at least that.

        >>> round(System(100, (29, 31, 37, 41), np.ones(4)).condition())
        104
        """
        if self._rank < self.k:
            return math.inf
        if self.k <= _LISTED:
            values = np.linalg.eigvalsh(self.normal())
            if values[0] > _POOR * values[-1]:
                return math.sqrt(values[-1] / values[0])
            singular = np.linalg.svd(self.dense(), compute_uv=False)
            return float(singular[0] / singular[-1])
        found, largest = self._lanczos(min(most, _LOST), digits)
        if found <= _HARD or found > most:
            return found
        return math.sqrt(largest) / self._smallest() if self._fits else min(found, _LOST)

    def _lanczos(self, most: float, digits: int) -> tuple[float, float]:
        """The condition, and the largest eigenvalue of N, both from below; stops early beyond `most`."""
        from scipy.linalg import eigvalsh_tridiagonal

        from hush.kernels.modular import extremes

        current, before = np.random.default_rng(0).standard_normal(self.k), np.zeros(self.k)
        current /= math.sqrt((current * current).sum())
        diagonal, beside = np.zeros(_LANCZOS), np.zeros(_LANCZOS)
        known = self._sizes, self.weights, current, before, diagonal, beside
        least, found, filled, steps = 1e-12 * self.weights.sum(), 0.0, 0, 16
        while True:
            filled = extremes(*known, filled, steps, least)
            ritz = eigvalsh_tridiagonal(diagonal[:filled], beside[: filled - 1])
            last, found = found, math.sqrt(max(ritz[-1], 0.0) / max(ritz[0], 1e-300 * ritz[-1]))
            if found > most or filled < steps or abs(found - last) <= 10**-digits * found or steps >= _LANCZOS:
                return found, float(ritz[-1])
            steps *= 2

    def _smallest(self) -> float:
        """The smallest singular value of the design: Lanczos' method for the inverse, from triangular factors."""
        from scipy.linalg import qr, solve_triangular
        from scipy.sparse.linalg import LinearOperator, eigsh

        (upper,) = qr(self.dense(), mode="r")
        upper = upper[: self.k]

        def inverse(x: Floats) -> Floats:
            return np.asarray(solve_triangular(upper, solve_triangular(upper, x, trans=1)))

        start = np.random.default_rng(0).standard_normal(self.k)
        operator = LinearOperator((self.k, self.k), matvec=inverse, dtype=np.float64)
        (largest,) = eigsh(operator, k=1, which="LA", v0=start, tol=1e-12, return_eigenvectors=False)
        return float(largest**-0.5)


@lru_cache(maxsize=1024)
def _hard(k: int, moduli: tuple[int, ...]) -> bool:
    """Whether the normal matrix of these moduli, which determine all values, is too badly conditioned."""
    return System(k, moduli, np.ones(len(moduli))).condition(_HARD, digits=2) > _HARD
