"""Exact laws on 0..k-1 that values are drawn from: uniform, or integer weights out of 2^64."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hush.exact.thresholds import SCALE
from hush.types import Floats, Ints


def uniform(n: int, size: int, rng: np.random.Generator) -> Ints:
    """Uniform integers below `size`."""
    from hush.kernels.words import rejection
    from hush.multidim._kernels import uniform as fill

    out = np.empty(n, np.int64)
    fill(rng, size, rejection(size), out)
    return out


@dataclass(frozen=True)
class Chances:
    """A law on 0..k-1: uniform, or a prior rounded to integers out of 2^64.

    >>> Chances(4, (1.0, 2.0, 0.0, 1.0)).weights == (2**62, 2**63, 0, 2**62)
    True
    """

    k: int
    prior: tuple[float, ...] | None = None

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """Integers in proportion to the chances: ones, or such that they sum to 2^64."""
        if self.prior is None:
            return (1,) * self.k
        whole = [Fraction(share) for share in self.prior]
        scale = SCALE / sum(whole)
        exact = [share * scale for share in whole]
        rounded = [int(share) for share in exact]
        order = sorted(range(self.k), key=lambda v: rounded[v] - exact[v])  # the largest remainder first
        for v in order[: SCALE - sum(rounded)]:
            rounded[v] += 1
        return tuple(rounded)

    @property
    def total(self) -> int:
        """What the weights are divided by."""
        return self.k if self.prior is None else SCALE

    @cached_property
    def shares(self) -> Floats:
        """The probabilities."""
        return np.array([weight / self.total for weight in self.weights])

    @property
    def digest(self) -> str:
        """A hash of the weights, for the spec."""
        return hashlib.sha256(",".join(map(str, self.weights)).encode()).hexdigest()

    @cached_property
    def _alias(self) -> tuple[npt.NDArray[np.uint64], int]:
        from hush.kernels.noise import alias_table

        return alias_table(list(self.weights))

    def draw(self, n: int, rng: np.random.Generator) -> Ints:
        """Values drawn from exactly these weights."""
        if self.prior is None:
            return uniform(n, self.k, rng)
        from hush.multidim._kernels import tabled

        out = np.empty(n, np.int64)
        tabled(rng, *self._alias, out)
        return out
