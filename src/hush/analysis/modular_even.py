"""The mean error of modular subset selection where all values but one are equally frequent, exactly, without a matrix.

Values are not alike: with moduli that barely determine them, the error of one in the middle can be a hundred times that
of the first. So it is the mean over which value it is that differs. Residues are equally frequent but for its own and
for the remainder of k: the first k mod m of them have one value more. What these add is a sum of entries of N⁻² on a
few of its diagonals. As N⁻¹ does (Gohberg and Semencul 1972), N⁻² differs from itself shifted by one row and column
only by a few products of vectors, so that a diagonal is a running sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hush.analysis.modular_system import System
from hush.types import Floats

if TYPE_CHECKING:
    from hush.analysis.modular import Blocks


_DEAR = 8
"""A column of N⁻¹ costs about as much as so many diagonals."""


def mean_variance(law: Blocks, frequency: float) -> float:
    """The mean over the values of their variance, for one report, in a fixed population where each has this frequency.

    The other values share the rest equally.
    """
    k, system = law.k, law.system
    a, b, c, d = law.moments
    share = (1 - frequency) / (k - 1)
    more = frequency - share
    whole = np.array([k // m for m in law.moduli])
    level = system.solve(np.ones(k))
    found = float(system.sandwich_diagonal(law.scales * (a + (d + 1) * whole * share)).sum())
    square = Squared(system)
    for j, m in enumerate(law.moduli):
        longer = (np.arange(k) % m < k % m).astype(np.float64)
        own = system.own_entries(m)
        seen = share * (level * whole[j] + system.solve(longer)) + more * own
        rows = float((b[j] * level**2 + 2 * c[j] * level * seen - seen**2).sum())
        squares = share * square.folded_trace(m, k % m) + more * float((own**2).sum())
        found += float(law.scales[j]) * (rows + float(d[j] + 1) * squares)
    return found / k - frequency + frequency**2


def dense_mean_variance(law: Blocks, frequency: float) -> float:
    """As `mean_variance`, from the matrix itself: for few values, and for moduli that are badly conditioned."""
    k, system = law.k, law.system
    share = (1 - frequency) / (k - 1)
    more, values = frequency - share, np.arange(k)
    found, at = np.full(k, frequency**2 - frequency), 0
    for j, m in enumerate(law.moduli):
        a, b, c, d = (part[j] for part in law.moments)
        block = system.gain[:, at : at + m] * np.sqrt(system.weights[j] * len(law.moduli))
        own, counts = block[values, values % m], np.bincount(values % m, minlength=m)
        level, seen = block.sum(axis=1), share * (block @ counts) + more * own
        squares = share * (block**2 @ counts) + more * own**2
        found += a * (block**2).sum(axis=1) + b * level**2 + 2 * c * level * seen + (d + 1) * squares - seen**2
        at += m
    return float(found.mean())


class Squared:
    """N⁻², by its diagonals."""

    def __init__(self, system: System) -> None:
        x = system.first
        y = np.concatenate([[0.0], x[:0:-1]])
        xx, xy, yy = (float((u * v).sum()) for u, v in ((x, x), (x, y), (y, y)))
        first = system.solve(x) / x[0] - (xx * x - xy * y) / (2 * x[0] ** 2)
        second = -system.solve(y) / x[0] - (yy * y - xy * x) / (2 * x[0] ** 2) - y / 2
        self._system = system
        self._pairs = (x, first), (y, second)

    def diagonal(self, apart: int) -> Floats:
        """The entries (i, i + apart), for all i."""
        here, there = slice(None, self._system.k - apart), slice(apart, None)
        return np.asarray(np.cumsum(sum(u[here] * v[there] + v[here] * u[there] for u, v in self._pairs)))

    def folded_trace(self, m: int, residues: int) -> float:
        """The sum of its entries whose row and column have the same residue modulo m, one of the first so many."""
        k = self._system.k
        if residues * _DEAR < k // m:
            columns = ((np.arange(k) % m == r).astype(np.float64) for r in range(residues))
            return float(sum((self._system.solve(column) ** 2).sum() for column in columns))
        total = 0.0
        for apart in range(0, k, m) if residues else ():
            inside = np.arange(k - apart) % m < residues
            total += (2 if apart else 1) * float(self.diagonal(apart)[inside].sum())
        return total
