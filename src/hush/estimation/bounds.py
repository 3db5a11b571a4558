"""Intervals from bounds of the tails, for estimates whose exact law depends on what the other people hold.

An estimate is a sum over people of what their reports say: one on average of who holds the value, nothing of others.
What is known of a report whoever sent it bounds its moment generating function, and by Chernoff the tails: the law
itself, or its largest variance and how far it can be off (Bennett, JASA 1962; for bits this is exact, too). All tilts
give bounds, each of them linear in the number of people; the interval keeps what none of them rejects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hush.estimation import laws
from hush.estimation.laws import EstimateLaw
from hush.types import Bools, Floats

_TILTS = np.geomspace(1e-6, 1e3, 1 << 9)
_ROWS = 1 << 11  # values at a time
_SEEN = 0.1  # of what may be missed, spent on how many people are near a value


@dataclass(frozen=True)
class Term:
    """What a report says, less its mean.

    Args:
        variance: At most.
        up: How far it can be above its mean.
        down: How far below.
    """

    variance: float
    up: float
    down: float

    def flipped(self) -> Term:
        """Of the negative."""
        return Term(self.variance, self.down, self.up)

    def cumulants(self, theta: Floats) -> Floats:
        """At most the logarithm of the mean of exp(theta x), for positive theta: Bennett's, of two points."""
        if self.variance <= 0 or self.up <= 0:
            return np.zeros(theta.size)
        near = -theta * (self.variance / self.up)  # the one point; the other is `up`
        share = self.variance / (self.variance + self.up**2)
        return np.asarray(near + np.logaddexp(math.log1p(-share), math.log(share) + theta * self.up - near))


CERTAIN = Term(0.0, 0.0, 0.0)
"""What does not vary."""


@dataclass(frozen=True, eq=False)
class Listed(Term):
    """A term whose law is known, number by number.

    Args:
        points: What it may be.
        chances: How likely each of them is.
    """

    points: Floats
    chances: Floats

    @classmethod
    def of(cls, points: Floats, chances: Floats) -> Listed:
        """The law of some numbers, less their mean."""
        held = chances > 0
        x, law = points[held] - float(points @ chances), chances[held]
        return cls(float(law @ x**2), float(x.max()), float(-x.min()), x, law)

    def flipped(self) -> Term:
        """Of the negative."""
        return Listed(self.variance, self.down, self.up, -self.points, self.chances)

    def cumulants(self, theta: Floats) -> Floats:
        """Exact."""
        return np.asarray([log_sum(np.log(self.chances) + tilt * self.points) for tilt in theta])


@dataclass(frozen=True)
class Either(Term):
    """One of several terms, whichever is worst."""

    terms: tuple[Term, ...]

    @classmethod
    def of(cls, *terms: Term) -> Either:
        """What holds for all of them."""
        return cls(max(t.variance for t in terms), max(t.up for t in terms), max(t.down for t in terms), terms)

    def flipped(self) -> Term:
        """Of the negatives."""
        return Either.of(*(term.flipped() for term in self.terms))

    def cumulants(self, theta: Floats) -> Floats:
        """The largest, at each tilt."""
        return np.asarray(np.max([term.cumulants(theta) for term in self.terms], axis=0))


@dataclass(frozen=True)
class MixturePart:
    """A case of a mixture: with a chance, a level plus so many times a term."""

    chance: float
    level: float
    scale: float = 0.0
    term: Term = CERTAIN


@dataclass(frozen=True)
class Mixed(Term):
    """One of several cases, drawn at random."""

    parts: tuple[MixturePart, ...]

    @classmethod
    def of(cls, *parts: MixturePart) -> Mixed:
        """Cases that happen, whose mean together is nothing."""
        some = tuple(part for part in parts if part.chance > 0)
        square = sum(part.chance * (part.level**2 + part.scale**2 * part.term.variance) for part in some)
        up = max(part.level + part.scale * part.term.up for part in some)
        return cls(square, up, max(part.scale * part.term.down - part.level for part in some), some)

    def flipped(self) -> Term:
        """Of the negatives."""
        return Mixed.of(
            *(MixturePart(part.chance, -part.level, part.scale, part.term.flipped()) for part in self.parts)
        )

    def cumulants(self, theta: Floats) -> Floats:
        """Exact where it is for all cases."""
        logs = [
            math.log(part.chance) + theta * part.level + part.term.cumulants(part.scale * theta) for part in self.parts
        ]
        return np.asarray(np.logaddexp.reduce(logs))


@dataclass(frozen=True)
class Terms:
    """What reports add to n times an estimate.

    Args:
        own: What the report of somebody who holds the value says, less one.
        other: What anybody else's says.
        least: The smallest variance that somebody else's report can have.
        lattice: Whether reports add multiples of one step; else their sums are dense.
    """

    own: Term
    other: Term
    least: float
    lattice: bool = True

    def drawn(self, d: int) -> Terms:
        """Of reports that are about the value once in d times, at random, and then count d times."""
        silent = 1 - 1 / d
        own = Mixed.of(MixturePart(1 / d, d - 1.0, d, self.own), MixturePart(silent, -1.0))
        return Terms(
            own,
            Mixed.of(MixturePart(1 / d, 0.0, d, self.other), MixturePart(silent, 0.0)),
            d * self.least,
            self.lattice,
        )


def log_sum(logs: Floats) -> float:
    """The logarithm of a sum of exponentials."""
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


@dataclass(frozen=True, eq=False)
class Bounded(EstimateLaw):
    """Estimates that are sums of bounded terms.

    Args:
        frequencies: The estimates.
        n: Number of reports.
        terms: What reports add.
        far: What those say who are not near the value, where that is less; others are taken to be near.
        near: The law of how frequent people near each value are, those who hold it included.
    """

    frequencies: Floats
    n: int
    terms: Terms
    far: Term | None = None
    near: EstimateLaw | None = None

    word: ClassVar[str] = "bound"

    def normal(self, tail: float) -> Bools:
        """Where the sum varies much, in units of the longest step, whoever the others are."""
        own, other = self.terms.own, self.terms.other
        longest = max(own.up, own.down, other.up, other.down)
        held = np.clip(self.frequencies, 0.0, 1.0)
        spread = self.n * (held * own.variance + (1 - held) * self.terms.least)
        return np.asarray((laws.plain if self.terms.lattice else laws.straight)(spread / (longest**2 or 1.0), tail))

    def ends(self, tail: float, wanted: Bools) -> tuple[Floats, Floats]:
        """The fewest and the most people that no bound rejects."""
        total, crowd, far = self.n * self.frequencies[wanted], np.full(1, float(self.n)), self.far or self.terms.other
        if self.near is not None:
            crowd = self.n * self.near.ends(_SEEN * tail, wanted)[1]
            tail = (1 - _SEEN) * tail
        # Equal sums have equal ends, and few reports give few sums; a pair is sorted as one complex number.
        pairs, where = np.unique(total + 1j * crowd, return_inverse=True)
        ends, tilted = np.zeros((2, pairs.size)), (self._tilted(far), self._tilted(far, flipped=True))
        for at in range(0, pairs.size, _ROWS):
            some = slice(at, at + _ROWS)
            for end, (sign, bounds) in enumerate(zip((1, -1), tilted, strict=True)):
                ends[end, some] = self._end(sign, bounds, pairs[some].real, pairs[some].imag, math.log(tail))
        low, high = np.clip([np.ceil(ends[0] - 1e-9), np.floor(ends[1] + 1e-9)], 0, self.n)[:, where] / self.n
        return low, np.maximum(low, high)

    def _tilted(self, far: Term, *, flipped: bool = False) -> tuple[Floats, Floats, Floats, Floats]:
        """Tilts, and bounds at each of them of what those add who hold the value, are near it, or far from it."""
        terms = self.terms.own, self.terms.other, far
        own, other, rest = (term.flipped() for term in terms) if flipped else terms
        theta = _TILTS / (max(own.up, other.up) or 1.0)
        theirs = other.cumulants(theta)
        return theta, own.cumulants(theta), theirs, theirs if far is self.terms.other else rest.cumulants(theta)

    def _end(self, sign: int, tilted: tuple[Floats, ...], total: Floats, crowd: Floats, log_tail: float) -> Floats:
        """Lower ends or, with a negative sign, upper ones, in people, given how many are near each value at most."""
        theta, mine, theirs, least = tilted
        everybody = crowd[:, None] * theirs + (self.n - crowd[:, None]) * least
        slope = theta + sign * (mine - theirs)
        good = slope > 0
        people = ((theta * total[:, None] + sign * (log_tail - everybody)) / np.where(good, slope, 1.0))[:, good]
        return people.max(axis=1, initial=0.0) if sign > 0 else people.min(axis=1, initial=float(self.n))


@dataclass(frozen=True, eq=False)
class Summed(EstimateLaw):
    """Estimates of parts of the people, added up, whoever is in which part.

    Args:
        parts: The number of people in each part, and the law of its own estimate.
    """

    parts: Sequence[tuple[int, EstimateLaw]]

    word: ClassVar[str] = "bound"

    def normal(self, tail: float) -> Bools:
        """Where it is for every part."""
        return np.asarray(np.logical_and.reduce([law.normal(tail) for _, law in self.parts]))

    def ends(self, tail: float, wanted: Bools) -> tuple[Floats, Floats]:
        """People of all parts, which share what may be missed: a larger part has more to lose, and gets more of it."""
        sizes = np.array([size for size, _ in self.parts], np.float64)
        shares = np.sqrt(sizes) / np.sqrt(sizes).sum()
        found = [law.ends(tail * share, wanted) for share, (_, law) in zip(shares, self.parts, strict=True)]
        low, high = (np.rint(np.einsum("p,pv->v", sizes, ends)) / sizes.sum() for ends in zip(*found, strict=True))
        return low, high
