"""Closed forms of projective geometry response."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush.analysis import adds, information, totals
from hush.analysis.manipulation import Targets, how_many
from hush.analysis.projective import dimension, points
from hush.analysis.waves import expm1i
from hush.exact.thresholds import SCALE
from hush.mechanisms.forms import PairKind, PureForms, TwoLevelForms
from hush.mechanisms.messages import MessageForms
from hush.mechanisms.projective.counts import hyperplane_sizes, over_hyperplanes
from hush.mechanisms.shape import SupportLaw
from hush.mechanisms.tunable import Choices, Tunable
from hush.simulation.normals import by_rows
from hush.types import Complexes, Floats, Ints, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.projective.mechanism import PGR

_TABLE = 1 << 20  # messages times values that are kept in a table


_ORDERS = (2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 19, 23, 27, 32, 37, 43, 49, 59, 64, 73, 81, 97, 121, 149, 181, 223, 256)
"""Fields that are tried; others are between them."""


@dataclass(frozen=True, eq=False)
class ProjectiveForms(MessageForms, TwoLevelForms, PureForms):
    """Of projective geometry response."""

    m: PGR

    about: ClassVar[str] = "Projective geometry: a point that many categories share, mostly the true one."
    compared_with: ClassVar[str] = "SS"

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """The first values fill a hyperplane, so a message can favour as many as messages favour a value."""
        if isinstance(targets, int):
            return self.supported_sum(targets, min(targets, self.m.favoured))
        return self.supported_sum(targets, int(self._favoured(targets).max()))

    def random_sum(self, targets: Targets) -> float:
        """Every value is favoured as often."""
        return self.supported_sum(targets, how_many(targets) * self.m.favoured / self.m.size)

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """Messages that favour the most targets share the fakes."""
        held = self._favoured(targets)
        return rng.choice(np.flatnonzero(held == held.max()), size).astype(self.m.report_dtype)

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Any message."""
        return rng.integers(0, self.m.size, size, dtype=self.m.report_dtype)

    def _favoured(self, targets: Values) -> Ints:
        """How many targets each message favours."""
        wanted = np.zeros(self.m.k, np.int32)
        wanted[targets] = 1
        return self.m.favoured_sums(wanted)

    def telling(self, first: int, second: int) -> tuple[float, float]:
        """Messages on one of two hyperplanes."""
        m = self.m
        both = m.p_star * m.shared / m.favoured
        return m.p_star - both, m.q_star - both

    def pair_kinds(self) -> list[PairKind]:
        """Any two hyperplanes share equally many messages."""
        m = self.m
        p = Fraction(m.keep, SCALE)
        return [(p - m._other, p * Fraction(m.shared, m.favoured))]

    @property
    def support_laws(self) -> list[SupportLaw]:
        """Messages favor as many values as their hyperplanes have among the first k points."""
        m = self.m
        sizes, messages = hyperplane_sizes(m.q, m.t, m.k)
        low, high = m._weights
        chances = messages * (sizes * (high / m.denominator) + (m.k - sizes) * (low / m.denominator)) / m.k
        return [SupportLaw(1.0, sizes, chances, high / low if low else math.inf)]

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    def even_information(self) -> float:
        high, low = self.m.p_star / self.m.favoured, (1 - self.m.p_star) / (self.m.size - self.m.favoured)
        return information.two_levels(self.m.k, self.m.favoured_sums(np.ones(self.m.k)), high, low)

    def held(self, frequencies: Floats) -> Floats:
        return self.m.favoured_sums(frequencies)

    def decoded_noise(self, noise: Floats) -> Floats:
        """Summed over hyperplanes."""
        return by_rows(noise, lambda row: over_hyperplanes(row, self.m.k, self.m._space)) / self.m._gap

    @classmethod
    def tunable(cls, k: int) -> Sequence[Tunable]:
        from hush.mechanisms.projective.mechanism import PGR

        orders = (q for q in _ORDERS if q <= k and points(q, dimension(k, q)) <= 64 * k)
        return (Choices(PGR, "q", tuple(orders)),)

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds:
        """A message adds the amounts of the values that it favours."""
        m = self.m
        inside, outside = m._sizes
        high, low = m.p_star / inside, (1 - m.p_star) / outside
        says = m.favoured_sums(amounts)
        favours = m.support_matrix(m.outputs()).astype(np.float64) if m.size * m.k <= _TABLE else None

        def means(terms: Floats) -> Floats:
            """For each value, the mean of a term of the message."""
            if favours is not None:
                return np.asarray(low * terms.sum(axis=-1, keepdims=True) + (high - low) * (terms @ favours))
            rows = [over_hyperplanes(np.ascontiguousarray(row), m.k, m._space) for row in np.atleast_2d(terms)]
            found = low * terms.sum(axis=-1, keepdims=True) + (high - low) * np.array(rows)
            return np.asarray(found.reshape(*terms.shape[:-1], m.k))

        def phi_less_one(theta: npt.NDArray[Any]) -> Complexes:
            turn = expm1i(theta[:, None] * says)
            return np.asarray(means(turn.real) + 1j * means(turn.imag))

        mean = means(says)
        variance = adds.spread(mean, means(says**2))
        plain = adds.Adds(phi_less_one, mean, variance, m.size * m.t, adds.outputs_swings(says, low))
        return plain.scaled(m._gap, -m.q_star * float(amounts.sum()))

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """That of a sum over people, whose messages favour values."""
        least, step = self._support_lattice(amounts)
        return self._summed(amounts, counts, self.report_adds(amounts), least=least, step=step)

    def collection_work(self, n: int) -> float:
        """Messages, drawn for all people of a value at a time."""
        return totals.COLLECTION + 40.0 * self.m.k
