"""Closed forms of unary encoding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hush.analysis import information, most_support
from hush.analysis.crowd import CrowdLaw
from hush.exact.thresholds import SCALE
from hush.mechanisms.bits import BitForms, lacking
from hush.mechanisms.fakes import fair_bits, with_ones
from hush.mechanisms.forms import PairKind
from hush.mechanisms.independent import IndependentForms
from hush.mechanisms.shape import Shape, bit_sizes, seen_bits
from hush.mechanisms.tunable import Family, Tunable
from hush.types import Floats, Ints, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.unary.mechanism import UE


@dataclass(frozen=True, eq=False)
class UnaryForms(BitForms, IndependentForms):
    """Of unary encoding."""

    m: UE

    about: ClassVar[str] = "Unary encoding: one bit for each category, every bit randomized."

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """Ones for all targets; the other bits make up for the number of ones that a genuine report has on average."""
        m = self.m
        return with_ones(m, targets, lacking((m.p_star, m.q_star), targets.size, m.k), size, rng)

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Fair bits."""
        return fair_bits(self.m, size, rng)

    def telling(self, first: int, second: int) -> tuple[float, float]:
        """A one for one of the two values, and a zero for the other."""
        p, q = self.m.p_star, self.m.q_star
        return p * (1 - q), q * (1 - p)

    def pair_kinds(self) -> list[PairKind]:
        """All pairs are alike."""
        own, other = (Fraction(ones, self.m.unit) for ones in self.m._ones)
        return [(own - other, own * other)]

    def crowds(self) -> list[CrowdLaw]:
        """All bits are independent, and those of others' values are as likely as each other."""
        own, other = (Fraction(ones, self.m.unit) for ones in self.m._ones)
        if not 0 < other < own < 1:
            return []
        patterns = {
            bits: Fraction(math.prod(other if bit else 1 - other for bit in bits))
            for bits in product((True, False), repeat=min(self.m.k, 3))
        }
        return [CrowdLaw.of_levels(patterns, own / other, (1 - own) / (1 - other))]

    def pure_loss(self) -> float:
        """Of a one for one of the two values, and a zero for the other."""
        return self.m._pair_loss()

    def guess_chance(self, reports: Reports, values: Values) -> Floats:
        """Any one is guessed; without a one, any value."""
        from hush.kernels import attack

        out = np.empty(values.size)
        attack.of_bits(np.ascontiguousarray(reports["bits"]), values, self.m.k, out)
        return out

    def most_voted(self, tau: int) -> float:
        """Votes for all values are independent."""
        return most_support.independent_votes(self.m.k, self.m.p_star, self.m.q_star, tau)

    @property
    def bit_thresholds(self) -> tuple[int, int] | None:
        """Of bits that are drawn once."""
        return self.m._ones if self.m.unit == SCALE else None

    @property
    def shape(self) -> Shape:
        """A report supports as many values as it has ones."""
        m = self.m
        p, q = m._ones

        def sizes(reports: Reports, places: Ints) -> Ints:
            from hush.kernels.utility import ones

            found = np.empty(places.size, np.int64)
            ones(np.ascontiguousarray(reports)["bits"], places, found)
            return found

        high, low = p * (m.unit - q), q * (m.unit - p)
        law = partial(bit_sizes, m.k, m.p_star, m.q_star)
        look = lambda: [seen_bits(m.k, q, m.unit)]  # noqa: E731
        return Shape(m.k, high, low, law, lambda: range(m.k + 1), sizes, exact=False, look=look)

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    def even_information(self) -> float:
        return information.product(self.m.k, *self.m.coordinate_law())

    @classmethod
    def tunable(cls, k: int) -> Sequence[Tunable]:
        from hush.mechanisms.unary.mechanism import UE

        return (Family(UE, "p", _probabilities, _support, _bits),)

    # The law of a total.


def _probabilities(k: int) -> Floats:
    """From 0.3 up by thousandths, and on towards one."""
    near = [1 - digit / 10**places for places in (4, 5, 6) for digit in range(9, 0, -1)]
    return np.round(np.append(np.arange(300, 1000) / 1000, near), 6)


def _support(k: int, e: Floats, p: Floats) -> tuple[Floats, Floats]:
    own = np.broadcast_to(p, np.broadcast_shapes(p.shape, e.shape))
    return own, own / (e * (1 - own) + own)


def _bits(k: int, p: Floats) -> Floats:
    return np.full(p.shape, float(k))
