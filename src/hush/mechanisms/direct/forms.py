"""Closed forms of randomized response."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from hush.analysis import most_support
from hush.analysis.manipulation import Targets, how_many
from hush.mechanisms.forms import PairKind, PureForms, TwoLevelForms
from hush.mechanisms.shape import Shape, fixed
from hush.types import Floats, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.direct.mechanism import GRR


@dataclass(frozen=True, eq=False)
class DirectForms(TwoLevelForms, PureForms):
    """Of randomized response."""

    m: GRR

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """A report supports one value."""
        return self.supported_sum(targets, 1)

    def random_sum(self, targets: Targets) -> float:
        """Any value is as likely."""
        return self.supported_sum(targets, how_many(targets) / self.m.k)

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """Any target."""
        return rng.choice(targets, size).astype(self.m.report_dtype)

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Any value."""
        return rng.integers(0, self.m.k, size, dtype=self.m.report_dtype)

    def telling(self, first: int, second: int) -> tuple[float, float]:
        """The value itself, and the other."""
        return self.m.p_star, self.m.q_star

    def pair_kinds(self) -> list[PairKind]:
        """No report favours two values."""
        low, high = (Fraction(weight, self.m.denominator) for weight in self.m._weights)
        return [(high - low, Fraction(0))]

    def guess_chance(self, reports: Reports, values: Values) -> Floats:
        """The report itself is guessed."""
        return (reports == values).astype(np.float64)

    def most_voted(self, tau: int) -> float | None:
        """Votes add up to tau."""
        return most_support.direct(self.m.k, self.m.p_star, tau)

    @property
    def shape(self) -> Shape:
        """A report supports one value."""
        low, high = self.m._weights
        return fixed(self.m.k, 1, high, low)

    @property
    def number_of_outputs(self) -> int:
        """One for each value."""
        return self.m.k

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
