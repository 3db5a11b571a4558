"""Closed forms of projective geometry response."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from hush.analysis.manipulation import Targets, how_many
from hush.exact.thresholds import SCALE
from hush.mechanisms.forms import PairKind, PureForms, TwoLevelForms
from hush.types import Ints, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.projective.mechanism import PGR


@dataclass(frozen=True, eq=False)
class ProjectiveForms(TwoLevelForms, PureForms):
    """Of projective geometry response."""

    m: PGR

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

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
