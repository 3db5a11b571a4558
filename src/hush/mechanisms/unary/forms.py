"""Closed forms of unary encoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from hush.analysis import information, most_support
from hush.exact.thresholds import SCALE
from hush.mechanisms.bits import BitForms, lacking
from hush.mechanisms.fakes import in_rows
from hush.mechanisms.forms import PairKind
from hush.mechanisms.independent import IndependentForms
from hush.mechanisms.shape import Shape, bit_sizes
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
        chance = lacking((m.p_star, m.q_star), targets.size, m.k)

        def bits(rows: int) -> npt.NDArray[np.uint8]:
            ones = rng.random((rows, m.k)) < chance
            ones[:, targets] = True
            return np.packbits(ones, axis=1, bitorder="little")

        return in_rows(m, "bits", size, bits)

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Fair bits."""
        m = self.m
        out = np.frombuffer(rng.bytes(size * m.report_dtype.itemsize), m.report_dtype).copy()
        out["bits"][:, -1] &= 0xFF >> (-m.k % 8)
        return out

    def telling(self, first: int, second: int) -> tuple[float, float]:
        """A one for one of the two values, and a zero for the other."""
        p, q = self.m.p_star, self.m.q_star
        return p * (1 - q), q * (1 - p)

    def pair_kinds(self) -> list[PairKind]:
        """All pairs are alike."""
        own, other = (Fraction(ones, self.m.unit) for ones in self.m._ones)
        return [(own - other, own * other)]

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
        return Shape(m.k, high, low, law, lambda: range(m.k + 1), sizes, exact=False)

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
