"""The least squares of modular subset selection for very many values: conjugate gradients in single precision, refined.

Steps are bound by memory, so numbers of half the size take half the time. What single precision leaves is computed in
double precision and solved for again, until the residual is as small as a solution in double precision has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.kernels import chunks
from hush.types import Floats, Ints

_CHUNK = 1 << 16
"""Values of a chunk; fixed, so that sums do not depend on the number of threads."""
_FEW = 3
"""Up to so many values of a residue are added one by one."""
_COARSE = 3e-6
"""How far one round of steps in single precision goes."""
_ROUNDS = 12
_WORTHWHILE = 0.1
"""What a round must leave at most: else single precision has no digits for these moduli."""

Work = Callable[[int, int], Any]
Team = Callable[[Work], list[Any]]


@dataclass(frozen=True, eq=False)
class ManyValues:
    """N x = b for very many values.

    Args:
        k: Number of values.
        moduli: Pairwise coprime.
        weights: One for each modulus.
        ridge: Added to the diagonal of N.
    """

    k: int
    moduli: tuple[int, ...]
    weights: Floats
    ridge: float = 0.0

    @cached_property
    def _split(self) -> tuple[Ints, Floats, Ints, Floats]:
        """Distances of values that share a residue, with their weights; and moduli that are folded, with theirs."""
        used = [(m, w) for m, w in zip(self.moduli, self.weights.tolist(), strict=True) if w > 0]
        near = [(shift, w) for m, w in used if self.k <= _FEW * m for shift in range(m, self.k, m)]
        far = [(m, w) for m, w in used if self.k > _FEW * m]
        shifts, sizes = (np.array([at for at, _ in part], np.int64) for part in (near, far))
        return shifts, np.array([w for _, w in near]), sizes, np.array([w for _, w in far])

    @property
    def _own(self) -> float:
        """What a value adds to itself beside the sums that are made beforehand."""
        folded = float(self._split[3].sum())
        return self.ridge + float(self.weights.sum()) - folded

    def gathered(self, sums: npt.NDArray[Any], scales: Floats) -> Floats:
        """For every value what belongs to its residues, which stand one modulus after the other, times their scales."""
        from hush.kernels.modular_tiles import tile_product

        sizes, out = np.array(self.moduli, np.int64), np.empty(self.k)
        none, nowhere = np.zeros(0), np.zeros(0, np.int64)
        known = np.zeros(self.k), 0.0, nowhere, none, sizes, scales, np.cumsum(sizes) - sizes, sums

        def work(first: int, last: int) -> None:
            tile_product(*known, first, last, out)

        chunks.each(self.k, _CHUNK, work)
        return out

    def solve(self, right: Floats, start: Floats, tolerance: float) -> Floats | None:
        """The solution to a relative residual; None where single precision does not get there."""
        x, goal = start.copy(), tolerance * float(np.sqrt((right * right).sum()))
        residual, before = np.empty(self.k), np.inf
        with chunks.team(self.k, _CHUNK) as team:
            double = _Product(self._split, self._own, np.float64, self.k)
            single = _Product(self._split, self._own, np.float32, self.k)
            for _ in range(_ROUNDS):
                double.times(x, team)

                def left(first: int, last: int) -> float:
                    here = slice(first, last)
                    np.subtract(right[here], double.out[here], out=residual[here])
                    return float((residual[here] * residual[here]).sum())

                size = float(np.sqrt(sum(team(left))))
                if size <= goal:
                    return x
                if not size <= _WORTHWHILE * before:
                    return None
                before = size
                step = self._rough(residual, size, max(_COARSE, 0.5 * goal / size), single, team)
                if step is None:
                    return None

                def add(first: int, last: int) -> None:
                    x[first:last] += size * step[first:last]  # noqa: B023  done before the next round

                team(add)
        return None

    def _rough(
        self, right: Floats, size: float, tolerance: float, single: _Product, team: Team
    ) -> npt.NDArray[np.float32] | None:
        """The solution for right / size in single precision; None where steps lead nowhere."""
        from hush.kernels.modular_tiles import tile_step

        x, residual = np.zeros(self.k, np.float32), np.empty(self.k, np.float32)
        direction = np.empty(self.k, np.float32)

        def begin(first: int, last: int) -> None:
            residual[first:last] = right[first:last] / size
            direction[first:last] = residual[first:last]

        team(begin)
        left, goal = 1.0, tolerance**2
        for _ in range(2_000):
            if left <= goal:
                return x
            along, square = single.times(direction, team)
            if not along > 0:
                return None
            length = left / along
            turn = max(length**2 * square / left - 1.0, 0.0)  # what will be left, before it is known
            by = np.float32(length), np.float32(turn)

            def work(first: int, last: int) -> float:
                return float(tile_step(x, residual, direction, single.out, *by, first, last))  # noqa: B023

            left = sum(team(work))
        return None


class _Product:
    """Products with N in one precision, and room for them."""

    def __init__(self, split: tuple[Ints, Floats, Ints, Floats], own: float, kind: Any, k: int) -> None:
        shifts, near, sizes, far = split
        self._sizes, self._starts = sizes, np.cumsum(sizes) - sizes
        self._sums = np.empty(int(sizes.sum()), kind)
        self._known = kind(own), shifts, near.astype(kind), sizes, far.astype(kind), self._starts, self._sums
        self.out = np.empty(k, kind)

    def times(self, x: npt.NDArray[Any], team: Team) -> tuple[float, float]:
        """out = N x; and x'out and out'out."""
        from hush.kernels.modular_tiles import tile_product, tile_sums

        def folded(first: int, last: int) -> None:
            tile_sums(x, self._sizes, self._starts, self._sums, first, last)

        if self._sizes.size:
            chunks.each(self._sizes.size, 1, folded)
        parts = team(lambda first, last: tile_product(x, *self._known, first, last, self.out))
        return float(sum(along for along, _ in parts)), float(sum(square for _, square in parts))
