"""The mean error of modular subset selection where all values are equally frequent, exactly and without a matrix.

Residues are then equally frequent but for the remainder of k: the first k mod m of them have one value more. What they
add is a sum of entries of N⁻² on a few of its diagonals. As N⁻¹ does (Gohberg and Semencul 1972), N⁻² differs from
itself shifted by one row and column only by a few products of vectors, so that a diagonal is a running sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hush.analysis.modular_system import System

if TYPE_CHECKING:
    from hush.analysis.modular import Blocks

Floats = npt.NDArray[np.float64]

_DEAR = 8
"""A column of N⁻¹ costs about as much as so many diagonals."""


def mean_variance(law: Blocks) -> float:
    """The mean over the values of their variance, for one report, in a fixed population with equal frequencies."""
    k, system = law.k, law.system
    a, b, c, d = law.moments
    whole = np.array([k // m for m in law.moduli])
    level = system.solve(np.ones(k))
    found = float(system.sandwich_diagonal(law.scales * (a + (d + 1) * whole / k)).sum())
    square = Squared(system)
    for j, m in enumerate(law.moduli):
        more = (np.arange(k) % m < k % m).astype(np.float64)
        seen = (level * whole[j] + system.solve(more)) / k
        rows = b[j] * level**2 + 2 * c[j] * level * seen - seen**2
        found += float(law.scales[j] * (rows.sum() + (d[j] + 1) * square.folded_trace(m, k % m) / k))
    return found / k - 1 / k + 1 / k**2


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
