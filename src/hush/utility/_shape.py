"""What a base mechanism's reports say about the sensitive values: how many each favours, and by how much.

Most mechanisms have two levels of probability: given the public randomness, a report is likelier by one factor for the
values it supports. Then all that matters about a report is how many values it supports, its size. This holds for
randomized response, subsets, unary bits, Hadamard response and, given the hash function, for local hashing and the
wheel, whose sizes have the law of independent bits under an ideal hash; over a public family they are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial, singledispatch

import numpy as np
import numpy.typing as npt

from hush.analysis.walsh import walsh
from hush.exact.thresholds import SCALE
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing.family import MEMBERS
from hush.mechanisms.hashing.hashed import Hashed
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import UE
from hush.types import Floats, Ints, Reports


@dataclass(frozen=True)
class Shape:
    """Reports with two levels of probability.

    Args:
        s: Number of values.
        high: Weight of a report for a value that it supports.
        low: Weight for one that it does not, in the same unit.
        weigh: Calculates `law`, when it is asked for.
        occur: Finds `possible`, when it is asked for.
        sizes: The size of each of some reports, given all of them and the places of those asked for.
        alike: Whether all sets of one size are equally likely, when the value is uniform.
        exact: Whether the weights are those that the mechanism states, and not only in their proportion.
    """

    s: int
    high: int
    low: int
    weigh: Callable[[], Floats]
    occur: Callable[[], Sequence[int]]
    sizes: Callable[[Reports, Ints], Ints]
    alike: bool = True
    exact: bool = True

    @cached_property
    def law(self) -> Floats:
        """How likely each size 0..s is, when the value is uniform."""
        return self.weigh()

    @cached_property
    def possible(self) -> Sequence[int]:
        """The sizes that occur, whatever the public randomness, in ascending order."""
        return self.occur()

    def mass(self, size: int) -> int:
        """Weights of a report of this size, summed over all values."""
        return size * self.high + (self.s - size) * self.low

    def most(self, size: int) -> int:
        """The largest weight of a report of this size."""
        return self.high if size else self.low

    def least(self, size: int) -> int:
        """The smallest weight of a report of this size."""
        return self.low if size < self.s else self.high


@dataclass(frozen=True)
class Noise(Shape):
    """Disguises that are nothing but noise in every bit: each report weighs the same in them, whatever its size.

    Args:
        each: Its weight.
    """

    each: int = 0

    def mass(self, size: int) -> int:
        """As if all values had it."""
        return self.s * self.each


@singledispatch
def shape_of(base: FrequencyOracle) -> Shape | None:
    """None for a mechanism with more levels of probability than two, or an unknown one."""
    return None


def fixed(base: FrequencyOracle, size: int, high: int, low: int) -> Shape:
    """All reports support equally many values."""
    law = partial(weighted, np.array([size]), np.ones(1), base.k + 1)
    return Shape(base.k, high, low, law, lambda: (size,), lambda reports, places: np.full(places.size, size))


@shape_of.register
def _(base: GRR) -> Shape:
    low, high = base._weights
    return fixed(base, 1, high, low)


@shape_of.register
def _(base: SS) -> Shape:
    low, high = base._weights
    return fixed(base, base.omega, high, low)


@shape_of.register
def _(base: UE) -> Shape:
    p, q = base._ones

    def sizes(reports: Reports, places: Ints) -> Ints:
        from hush.kernels.utility import ones

        found = np.empty(places.size, np.int64)
        ones(np.ascontiguousarray(reports)["bits"], places, found)
        return found

    high, low = p * (SCALE - q), q * (SCALE - p)
    law = partial(bit_sizes, base.k, base.p_star, base.q_star)
    return Shape(base.k, high, low, law, lambda: range(base.k + 1), sizes, exact=False)


@shape_of.register
def _(base: Hashed) -> Shape:
    low, high = base._weights
    law = partial(hash_sizes, base) if base._family else partial(bit_sizes, base.k, base.p_star, base.q_star)
    return Shape(base.k, high, low, law, lambda: range(base.k + 1), lambda r, at: base.support_sizes(r[at]))


def hash_sizes(base: Hashed) -> Floats:
    """How likely a report supports 0..s values, counted over all members of a public family and all their buckets."""
    assert base._family is not None
    inside, outside = (weight / base.denominator for weight in reversed(base._weights))
    sizes = np.arange(base.k + 1)
    cells = np.bincount(base._family.sizes.ravel(), minlength=base.k + 1)
    return np.asarray(cells * (sizes * inside + (base.k - sizes) * outside) / (base.k * MEMBERS), np.float64)


@shape_of.register
def _(base: HR) -> Shape:
    low, high = base._weights
    table = cache(partial(hadamard_sizes, base))

    def law() -> Floats:
        inside, outside = (weight / base.denominator for weight in (high, low))
        return weighted(table(), (table() * inside + (base.k - table()) * outside) / base.k, base.k + 1)

    def possible() -> list[int]:
        return np.unique(table()).tolist()

    return Shape(base.k, high, low, law, possible, lambda r, at: table()[r[at]], alike=False)


def hadamard_sizes(base: HR) -> Ints:
    """How many values each output of Hadamard response supports: half of a transform of the rows in use."""
    rows = np.zeros((base.blocks, base.width), np.int64)
    rows[base._place(np.arange(base.k))] = 1
    return np.asarray((walsh(rows) + rows.sum(axis=1, keepdims=True)) // 2, np.int64).ravel()


def weighted(kinds: Ints, weights: Floats, number: int) -> Floats:
    """The sum of the weights of each kind 0..number-1."""
    return np.asarray(np.bincount(kinds, weights, number), np.float64)


def bit_sizes(s: int, p: float, q: float) -> Floats:
    """How likely 0..s of independent bits are one: one of them with probability p, the others with q."""
    number = np.arange(s)
    choose = np.concatenate([[0.0], np.cumsum(np.log(s - number[1:]) - np.log(number[1:]))])
    others: npt.NDArray[np.float64] = np.exp(choose + number * np.log(q) + (s - 1 - number) * np.log1p(-q))
    return np.asarray(p * np.append(0.0, others) + (1 - p) * np.append(others, 0.0), np.float64)
