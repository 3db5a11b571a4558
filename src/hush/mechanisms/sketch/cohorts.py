"""Bloom filters of cohorts, and least squares over them.

Every cohort has hash functions of its own, which set a few of its bits for each value. Together the bits of all cohorts
are a table of zeros and ones, one column a value; frequencies are found where its columns are linearly independent.
Functions are members of the public family, far apart in its sequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hush.mechanisms.hashing.family import MEMBERS
from hush.mechanisms.sketch.hashed import Functions
from hush.types import Floats, Ints

STEP = 40_507
"""Between two functions, in the sequence; it has no divisor in common with the length of that."""
_SINGULAR = 1e-10  # one over a condition number that least squares do not survive


class Says(NamedTuple):
    """What one report adds to n times an estimate, in units of a bit's gap between one and zero.

    Args:
        squares: Mean over cohorts of the squared mean for value v of a report of u, as [u, v].
        up: The most that a report says, of bits that are as likely one as `other`.
        down: The most below zero.
    """

    squares: Floats
    up: float
    down: float


@dataclass(frozen=True)
class Cohorts:
    """The filters of so many cohorts, for k values, of `width` bits and some hash functions each."""

    k: int
    width: int
    hashes: int
    number: int

    @cached_property
    def homes(self) -> npt.NDArray[np.uint8]:
        """The bit that each function of each cohort sets for each value, shape (cohorts, k, hashes)."""
        members = np.arange(self.number * self.hashes) * STEP % MEMBERS
        found = Functions(self.k, self.width).of(members, np.arange(self.k))
        table = found.reshape(self.number, self.hashes, self.k).transpose(0, 2, 1)
        return np.ascontiguousarray(table, np.uint8)

    @cached_property
    def sizes(self) -> Ints:
        """How many bits each cohort sets for each value: fewer than functions, where two of them agree."""
        return np.asarray([part.sum(axis=0) for part in self.parts], np.int64).reshape(self.number, self.k)

    @cached_property
    def parts(self) -> list[Any]:
        """Of each cohort, which bits are set for which value: sparse, of shape (width, k)."""
        from scipy.sparse import csr_array

        values, out = np.repeat(np.arange(self.k), self.hashes), []
        for homes in self.homes:
            places = np.unique(homes.ravel().astype(np.int64) * self.k + values)
            shape = (self.width, self.k)
            out.append(csr_array((np.ones(places.size), (places // self.k, places % self.k)), shape=shape))
        return out

    @cached_property
    def most_apart(self) -> int:
        """In how many bits two values differ at most, over all pairs and cohorts."""
        from hush.mechanisms.sketch.kernels import most_apart

        words = np.zeros((self.number, self.k, -(-self.width // 64)), np.uint64)
        cohort, value, _ = np.indices(self.homes.shape)
        np.bitwise_or.at(words, (cohort, value, self.homes >> 6), np.uint64(1) << (self.homes & 63).astype(np.uint64))
        return int(most_apart(words, 2 * self.hashes))

    # Least squares.

    @cached_property
    def factor(self) -> Floats | None:
        """Of the normal equations, by Cholesky; None where the cohorts do not tell all values apart."""
        from scipy.linalg.lapack import dpocon, dpotrf

        gram = np.asarray(sum(part.T @ part for part in self.parts).toarray())
        lower, failed = dpotrf(gram, lower=1)
        if failed or dpocon(lower, gram.sum(axis=0).max(), uplo="L")[0] < _SINGULAR:
            return None
        return np.asarray(lower, np.float64)

    @cached_property
    def inverse(self) -> Floats:
        """Of the normal equations, which must have one."""
        from scipy.linalg.lapack import dpotri

        half = np.tril(dpotri(self.factor, lower=1)[0])
        return np.asarray(half + np.tril(half, -1).T, np.float64)

    def fit(self, bits: Floats) -> Floats:
        """The frequencies that explain shares of bits best; the last two axes are cohorts and bits."""
        right = sum((part.T @ bits[..., c, :].reshape(-1, self.width).T).T for c, part in enumerate(self.parts))
        return np.asarray((right @ self.inverse).reshape(*bits.shape[:-2], self.k), np.float64)

    def decoder(self, cohort: int) -> Floats:
        """What each bit of a cohort adds to each value's estimate, shape (k, width)."""
        return np.asarray(self.number * (self.parts[cohort] @ self.inverse).T, np.float64)

    @lru_cache(maxsize=4)  # noqa: B019 - a cohort table is itself kept in a cache
    def says(self, other: float) -> Says:
        """What reports add, where a bit that is not set is one with probability `other`."""
        squares, up, down = np.zeros((self.k, self.k)), 0.0, 0.0
        for cohort, part in enumerate(self.parts):
            bits = self.decoder(cohort)
            squares += (part.T @ bits.T) ** 2 / self.number
            high, low = bits.clip(min=0).sum(axis=1), -bits.clip(max=0).sum(axis=1)
            up = max(up, float(((1 - other) * high + other * low).max()))
            down = max(down, float(((1 - other) * low + other * high).max()))
        return Says(squares, up, down)


@lru_cache(maxsize=8)
def cohorts_of(k: int, width: int, hashes: int, number: int) -> Cohorts:
    """Kept, since mechanisms with other budgets share them."""
    return Cohorts(k, width, hashes, number)
