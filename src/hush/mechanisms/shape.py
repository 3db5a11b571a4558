"""What reports with two levels of probability say about the values: how many each favours, and by how much.

Most mechanisms have two levels of probability: given the public randomness, a report is likelier by one factor for the
values it supports. Then all that matters about a report is how many values it supports, its size. This holds for
randomized response, subsets, unary bits, Hadamard response and, given the hash function, for local hashing and the
wheel, whose sizes have the law of independent bits under an ideal hash; over a public family they are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np

from hush.types import Floats, Ints, Reports


@dataclass(frozen=True)
class Seen:
    """What can come of one value, given one public randomness, by what matters of a report.

    Args:
        cells: Of each kind of report its size, whether it supports the value, and how often the weight `high` or `low`
            that makes.
    """

    cells: Sequence[tuple[int, bool, int]]

    def whole(self, shape: Shape) -> int:
        """The weight of all of it."""
        return sum(times * (shape.high if own else shape.low) for _, own, times in self.cells)


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
        numbered: Gives the sizes of all outputs, where the tally counts them one by one.
        look: Finds `seen`, for a mechanism with a delta; None where that is not known.
    """

    s: int
    high: int
    low: int
    weigh: Callable[[], Floats]
    occur: Callable[[], Sequence[int]]
    sizes: Callable[[Reports, Ints], Ints]
    alike: bool = True
    exact: bool = True
    numbered: Callable[[], Ints] | None = None
    look: Callable[[], Sequence[Seen]] | None = None

    def seen(self) -> Sequence[Seen]:
        """What can come of one value, with the public randomness of every kind that matters to a loss at a delta."""
        return () if self.look is None else self.look()

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
class SupportLaw:
    """How many values a report supports, for one kind of public randomness that a report states.

    Args:
        share: How often the public randomness is of this kind.
        sizes: Possible numbers of supported values.
        chances: How likely each number is where all values are equally likely.
        favor: By which factor a report is likelier for a value that it supports; infinite where others never give it.
    """

    share: float
    sizes: Ints
    chances: Floats
    favor: float


@dataclass(frozen=True)
class NoiseShape(Shape):
    """Disguises that are nothing but noise in every bit: each report weighs the same in them, whatever its size.

    Args:
        each: Its weight.
    """

    each: int = 0

    def mass(self, size: int) -> int:
        """As if all values had it."""
        return self.s * self.each


def fixed(s: int, size: int, high: int, low: int, look: Callable[[], Sequence[Seen]] | None = None) -> Shape:
    """All reports about s values support equally many."""
    law = partial(weighted, np.array([size]), np.ones(1), s + 1)
    return Shape(s, high, low, law, lambda: (size,), lambda reports, places: np.full(places.size, size), look=look)


@lru_cache(maxsize=4)
def seen_bits(s: int, q: int, unit: int) -> Seen:
    """Of s bits, all but the own with the chance q of a one, out of `unit`; weights are of the own and one other."""
    cells, without = [], (unit - q) ** s  # of sets of this size, those without the own value, times their chance
    for size in range(s):
        cells.append((size, False, without))
        into = without * q // (unit - q)  # exact: the chance of one more, which is the own value
        cells.append((size + 1, True, into))
        without = into * (s - 1 - size) // (size + 1)
    return Seen(cells)


def seen_buckets(s: int, g: int) -> list[Seen]:
    """Of g buckets, the own one with 1..s values: the others share one more bucket, and all the rest are empty.

    Values that share a bucket leave most buckets empty, and a report of an empty one is the likeliest to be taken for a
    sensitive value's.
    """
    found = [Seen([(size, True, 1), (s - size, False, 1), (0, False, g - 2)]) for size in range(1, s)]
    return [*found, Seen([(s, True, 1), (0, False, g - 1)])]


def weighted(kinds: Ints, weights: Floats, number: int) -> Floats:
    """The sum of the weights of each kind 0..number-1."""
    return np.asarray(np.bincount(kinds, weights, number), np.float64)


def bit_sizes(s: int, p: float, q: float) -> Floats:
    """How likely 0..s of independent bits are one: one of them with probability p, the others with q."""
    others = bit_counts(s - 1, q)
    return np.asarray(p * np.append(0.0, others) + (1 - p) * np.append(others, 0.0), np.float64)


def bit_counts(n: int, q: float) -> Floats:
    """How likely 0..n of as many independent bits are one, each with probability q."""
    number = np.arange(n + 1)
    choose = np.concatenate([[0.0], np.cumsum(np.log(n + 1 - number[1:]) - np.log(number[1:]))])
    return np.asarray(np.exp(choose + number * np.log(q) + (n - number) * np.log1p(-q)), np.float64)
