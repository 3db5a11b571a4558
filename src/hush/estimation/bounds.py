"""Intervals from bounds of the tails, for estimates whose exact law depends on what the other people hold.

An estimate is a sum over people of what their reports say: one on average of who holds the value, nothing of others.
What is known of a report whoever sent it, its largest variance and how far it can be off, bounds the moment generating
function (Bennett, JASA 1962), and by Chernoff the tails. For bits this is Chernoff's bound of the exact law. All tilts
give bounds, each of them linear in the number of people; the interval keeps what none of them rejects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hush.estimation import laws
from hush.estimation.laws import Floats, Law, Mask

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

    def widest(self, other: Term) -> Term:
        """What holds for both."""
        return Term(max(self.variance, other.variance), max(self.up, other.up), max(self.down, other.down))

    def cumulants(self, theta: Floats) -> Floats:
        """At most the logarithm of the mean of exp(theta x), for positive theta: Bennett's, of two points."""
        if self.variance <= 0 or self.up <= 0:
            return np.zeros(theta.size)
        near = -theta * (self.variance / self.up)  # the one point; the other is `up`
        share = self.variance / (self.variance + self.up**2)
        return np.asarray(near + np.logaddexp(math.log1p(-share), math.log(share) + theta * self.up - near))


@dataclass(frozen=True, eq=False)
class Bounded(Law):
    """Estimates that are sums of bounded terms.

    Args:
        frequencies: The estimates.
        n: Number of reports.
        own: What the report of somebody who holds the value says, less one.
        other: What anybody else's says.
        least: The smallest variance that somebody else's report can have.
        far: What those say who are not near the value, where that is less; others are taken to be near.
        near: The law of how frequent people near each value are, those who hold it included.
        lattice: Whether reports add multiples of one step; else their sums are dense.
    """

    frequencies: Floats
    n: int
    own: Term
    other: Term
    least: float
    far: Term | None = None
    near: Law | None = None
    lattice: bool = True

    word: ClassVar[str] = "bound"

    def normal(self, tail: float) -> Mask:
        """Where the sum varies much, in units of the longest step, whoever the others are."""
        longest = max(self.own.up, self.own.down, self.other.up, self.other.down)
        held = np.clip(self.frequencies, 0.0, 1.0)
        spread = self.n * (held * self.own.variance + (1 - held) * self.least)
        return np.asarray((laws.plain if self.lattice else laws.straight)(spread / (longest**2 or 1.0), tail))

    def ends(self, tail: float, wanted: Mask) -> tuple[Floats, Floats]:
        """The fewest and the most people that no bound rejects."""
        total, crowd, far = self.n * self.frequencies[wanted], np.full(1, float(self.n)), self.far or self.other
        if self.near is not None:
            crowd = self.n * self.near.ends(_SEEN * tail, wanted)[1]
            tail = (1 - _SEEN) * tail
        # Equal sums have equal ends, and few reports give few sums; a pair is sorted as one complex number.
        pairs, where = np.unique(total + 1j * crowd, return_inverse=True)
        ends = np.zeros((2, pairs.size))
        for at in range(0, pairs.size, _ROWS):
            some = slice(at, at + _ROWS)
            ends[:, some] = self._ends(pairs[some].real, pairs[some].imag, far, math.log(tail))
        low, high = np.clip([np.ceil(ends[0] - 1e-9), np.floor(ends[1] + 1e-9)], 0, self.n)[:, where] / self.n
        return low, np.maximum(low, high)

    def _ends(self, total: Floats, crowd: Floats, far: Term, log_tail: float) -> tuple[Floats, Floats]:
        """In people, given how many there are near each value at most."""
        found = []
        for sign in (1, -1):
            own, other, rest = ((t if sign > 0 else t.flipped()) for t in (self.own, self.other, far))
            theta = _TILTS / (max(own.up, other.up) or 1.0)
            mine, theirs, least = (term.cumulants(theta) for term in (own, other, rest))
            everybody = crowd[:, None] * theirs + (self.n - crowd[:, None]) * least
            slope = theta + sign * (mine - theirs)
            good = slope > 0
            people = ((theta * total[:, None] + sign * (log_tail - everybody)) / np.where(good, slope, 1.0))[:, good]
            found.append(people.max(axis=1, initial=0.0) if sign > 0 else people.min(axis=1, initial=float(self.n)))
        return found[0], found[1]


@dataclass(frozen=True, eq=False)
class Summed(Law):
    """Estimates of parts of the people, added up, whoever is in which part.

    Args:
        parts: The number of people in each part, and the law of its own estimate.
    """

    parts: Sequence[tuple[int, Law]]

    word: ClassVar[str] = "bound"

    def normal(self, tail: float) -> Mask:
        """Where it is for every part."""
        return np.asarray(np.logical_and.reduce([law.normal(tail) for _, law in self.parts]))

    def ends(self, tail: float, wanted: Mask) -> tuple[Floats, Floats]:
        """People of all parts, which share what may be missed: a larger part has more to lose, and gets more of it."""
        sizes = np.array([size for size, _ in self.parts], np.float64)
        shares = np.sqrt(sizes) / np.sqrt(sizes).sum()
        found = [law.ends(tail * share, wanted) for share, (_, law) in zip(shares, self.parts, strict=True)]
        low, high = (np.rint(np.einsum("p,pv->v", sizes, ends)) / sizes.sum() for ends in zip(*found, strict=True))
        return low, high
