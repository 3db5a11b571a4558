"""What is known of how an estimate is distributed, beyond its standard error: intervals that cover at every n.

An interval is the set of frequencies that a test does not reject, each end with half of what may be missed. Where the
exact law is known, the test is exact; its interval then covers at least as often as it says. The normal law takes over
where it is as good: its interval then misses at most 0.1 point more often than it says, by enumeration
(`docs/estimation.md`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from hush.estimation import intervals
from hush.types import Bools, Floats, Ints

Ends = TypeVar("Ends")

NORMAL = "normal"
_SMOOTH = 4e5  # a variance, in squared steps of a lattice, from which on neither these nor a projection show
_FEW = 1e3  # reports from which on it does not show that their spread is estimated
_STRAIGHT = 25.0  # times the sixth power of how many deviations an interval reaches: then skewness does not show


class Interval(tuple[Ends, Ends]):
    """Lower and upper ends, as a pair, and what they rest on."""

    methods: list[str]

    def __new__(cls, lower: Ends, upper: Ends, methods: Sequence[str]) -> Interval[Ends]:
        """A pair of ends, and for each value a word."""
        made = super().__new__(cls, (lower, upper))
        made.methods = list(methods)
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (*self, self.methods)

    @property
    def lower(self) -> Ends:
        """The lower ends."""
        return self[0]

    @property
    def upper(self) -> Ends:
        """The upper ends."""
        return self[1]

    @property
    def method(self) -> str:
        """In a word: "exact", "bound" or "normal"; several, joined by "and", where values differ in it."""
        return " and ".join(sorted(set(self.methods)))


def straight(size: npt.ArrayLike, tail: float) -> Any:
    """Whether the normal law is good enough for a sum, given one over its squared skewness."""
    return np.asarray(size) >= max(_FEW, _STRAIGHT * intervals.deviations(tail) ** 6)


def plain(spread: npt.ArrayLike, tail: float) -> Any:
    """Whether it is for a sum of steps of a lattice, given its variance in squared steps."""
    return (np.asarray(spread) >= _SMOOTH) & straight(spread, tail)


class EstimateLaw(ABC):
    """How the estimates of some values are distributed."""

    word: ClassVar[str] = "exact"
    """What an interval from it rests on: "exact", or "bound" where a proved bound of the tails takes their place.

    Where it rests on nothing: "no report".
    """

    @abstractmethod
    def normal(self, tail: float) -> Bools:
        """For which values the normal law is as good."""

    @abstractmethod
    def ends(self, tail: float, wanted: Bools) -> tuple[Floats, Floats]:
        """Lower and upper ends for the values wanted, each of which misses with a chance of at most `tail`."""

    def words(self, wanted: Bools) -> list[str]:
        """What the intervals of the values wanted rest on."""
        return [self.word] * int(wanted.sum())


@dataclass(frozen=True, eq=False)
class Supports(EstimateLaw):
    """A tally is the sum of two binomials: of those who hold the value, and of the others.

    Args:
        tally: How many reports support each value.
        n: Number of reports.
        p: Probability that a report supports its own value.
        q: That it supports another given value; smaller.
    """

    tally: Ints
    n: int
    p: float
    q: float

    def normal(self, tail: float) -> Bools:
        """Where the variance of the tally is large."""
        held = np.clip((self.tally - self.n * self.q) / (self.p - self.q), 0.0, self.n)
        spread = held * (self.p * (1 - self.p)) + (self.n - held) * (self.q * (1 - self.q))
        return np.asarray(plain(spread, tail))

    def ends(self, tail: float, wanted: Bools) -> tuple[Floats, Floats]:
        """The fewest and the most people that the two tails do not reject."""
        from hush.kernels.binomials import supported

        # A forged aggregate may hold more supports than reports; it is read as the most there can be.
        seen, where = np.unique(np.clip(self.tally[wanted], 0, self.n), return_inverse=True)
        low, high = supported(seen, self.n, self.p, self.q, tail, intervals.deviations(tail))
        return low[where] / self.n, high[where] / self.n


class DrawnSupports(Supports):
    """Supports among reports of some people, who were drawn at random out of all whose frequencies are asked for.

    How many of those drawn hold a value is a sum of independent bits (Vatutin and Mikhailov, 1982),
    and so is how many reports support it. By Hoeffding's theorem (Ann. Math. Stat. 1956) its tails are at most those of
    the binomial with its mean, up to one step from the mean: the interval is that of Clopper and Pearson.
    """

    word: ClassVar[str] = "bound"

    def normal(self, tail: float) -> Bools:
        """Where the variance of the tally is large."""
        share = np.clip(self.tally / self.n, self.q, self.p)
        return np.asarray(plain(self.n * share * (1 - share), tail))

    def ends(self, tail: float, wanted: Bools) -> tuple[Floats, Floats]:
        """The frequencies whose share of supports the binomial tails do not reject."""
        seen, where = np.unique(np.clip(self.tally[wanted], 0, self.n), return_inverse=True)
        low, high = self._least(seen, tail), 1 - self._least(self.n - seen, tail)
        first, last = (np.clip((share - self.q) / (self.p - self.q), 0.0, 1.0) for share in (low, high))
        return first[where], last[where]

    def _least(self, ones: Ints, tail: float) -> Floats:
        """The smallest share of supports; one of many may have it all, where there is a single one."""
        from scipy.special import betaincinv

        more = np.maximum(ones, 2)
        found = np.minimum(betaincinv(more, np.maximum(self.n - more, 0) + 1, tail), (more - 1) / self.n)
        return np.asarray(np.where(ones < 2, ones * tail / self.n, found))


@dataclass(frozen=True, eq=False)
class Parts(EstimateLaw):
    """Different laws of different values.

    Args:
        size: Number of values.
        parts: Numbers of values, each time with the law of all of them in that order; together, every value once.
    """

    size: int
    parts: Sequence[tuple[Ints, EstimateLaw]]

    def normal(self, tail: float) -> Bools:
        """As each law has it."""
        whole = np.zeros(self.size, np.bool_)
        for at, law in self.parts:
            whole[at] = law.normal(tail)
        return whole

    def ends(self, tail: float, wanted: Bools) -> tuple[Floats, Floats]:
        """Those of each law."""
        low, high = np.zeros(self.size), np.zeros(self.size)
        for at, law in self.parts:
            some = wanted[at]
            if some.any():
                low[at[some]], high[at[some]] = law.ends(tail, some)
        return low[wanted], high[wanted]

    def words(self, wanted: Bools) -> list[str]:
        """Those of each law."""
        whole = np.full(self.size, "", object)
        for at, law in self.parts:
            whole[at[wanted[at]]] = law.words(wanted[at])
        return list(whole[wanted])


@dataclass(frozen=True, eq=False)
class Unknown(EstimateLaw):
    """No report says anything about the values: each frequency may be anything from 0 to 1.

    Args:
        size: Number of values.
    """

    word: ClassVar[str] = "no report"

    size: int

    def normal(self, tail: float) -> Bools:
        """For none."""
        return np.zeros(self.size, np.bool_)

    def ends(self, tail: float, wanted: Bools) -> tuple[Floats, Floats]:
        """From 0 to 1."""
        return np.zeros(int(wanted.sum())), np.ones(int(wanted.sum()))


def by_value(tally: Ints, n: int, p: npt.ArrayLike, q: npt.ArrayLike) -> EstimateLaw:
    """Supports whose probabilities differ between values."""
    chances = np.stack(np.broadcast_arrays(p, q, tally), axis=1)[:, :2]
    kinds, where, sizes = np.unique(chances, axis=0, return_inverse=True, return_counts=True)
    places = np.split(np.argsort(where.ravel(), kind="stable"), np.cumsum(sizes)[:-1])
    parts = [(at, Supports(tally[at], n, float(a), float(b))) for at, (a, b) in zip(places, kinds, strict=True)]
    return Parts(tally.size, parts)
