"""Closed forms of the wheel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hush.analysis.manipulation import Targets, how_many
from hush.exact.thresholds import SCALE
from hush.mechanisms.forms import PairKind
from hush.mechanisms.hashing import most_buckets
from hush.mechanisms.hashing.fakes import gathered
from hush.mechanisms.hashing.forms import MOST_BUCKETS, HashedForms
from hush.mechanisms.hashing.hashed import RING
from hush.mechanisms.tunable import Family, Tunable, decimals
from hush.types import Floats, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.wheel.mechanism import Wheel


@dataclass(frozen=True, eq=False)
class WheelForms(HashedForms):
    """Of the wheel."""

    m: Wheel

    about: ClassVar[str] = "The wheel: a point on a ring, more often than not on the arc of the true category."

    # What fakes gain, what tells values apart, and what guesses are worth.

    def random_sum(self, targets: Targets) -> float:
        """A point lies on a value's arc as often as the arc is long."""
        return self.supported_sum(targets, how_many(targets) * self.m.arc / RING)

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """A point on the arcs of all targets; where on the ring does not matter."""
        b = rng.integers(0, RING, size, dtype=np.uint32)
        a, shift = gathered(self.m, self.m.arc, targets, size, rng)
        return self.m._packed([np.uint32(0) - a, b, shift + b])

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Any point, and any hash function."""
        a, b = (rng.integers(0, RING, size, dtype=np.uint32) for _ in range(2))
        return self.m._packed([a, b, rng.integers(0, RING, size, dtype=np.uint64)])

    def pair_kinds(self) -> list[PairKind]:
        """Two arcs start at a multiple of a power of two from each other; points of one outside the other tell."""
        m = self.m
        p = Fraction(m.keep, SCALE)
        most = min(m.arc, RING - m.arc)
        apart = []
        for low in range((m.k - 1).bit_length()):
            step, half = 1 << low, RING >> (low + 1)
            slope = min(most // step, half - 1)
            total = step * slope * (slope + 1) + 2 * (half - 1 - slope) * most + min(step * half, most)
            apart.append(Fraction(total, 2 * half))
        gap = p / m.arc - (1 - p) / (RING - m.arc)
        return [(max(apart) * gap, p * (m.arc - min(apart)) / m.arc)]

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    @classmethod
    def tunable(cls, k: int) -> Sequence[Tunable]:
        from hush.mechanisms.wheel.mechanism import Wheel

        return (Family(Wheel, "coverage", _coverages, _support, _bits),)

    # The law of a total.


def _coverages(k: int) -> Floats:
    return decimals(max(1 / most_buckets(k), 0.1 / MOST_BUCKETS), 0.5)


def _support(k: int, e: Floats, coverage: Floats) -> tuple[Floats, Floats]:
    share = np.round(coverage * RING) / RING  # a whole number of points
    p = share * e / (share * e + 1 - share)
    return p, np.broadcast_to(share, p.shape)


def _bits(k: int, coverage: Floats) -> Floats:
    return np.full(coverage.shape, 96.0)
