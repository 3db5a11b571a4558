"""Closed forms of subset selection."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from hush.analysis.manipulation import Targets, how_many
from hush.exact.thresholds import SCALE
from hush.mechanisms.fakes import in_rows, members
from hush.mechanisms.forms import PairKind, PureForms, TwoLevelForms
from hush.mechanisms.shape import Shape, fixed
from hush.types import Floats, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.subset.mechanism import SS


@dataclass(frozen=True, eq=False)
class SubsetForms(TwoLevelForms, PureForms):
    """Of subset selection."""

    m: SS

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """As many targets as fit into a subset."""
        return self.supported_sum(targets, min(how_many(targets), self.m.omega))

    def random_sum(self, targets: Targets) -> float:
        """Any value is a member as often as another."""
        return self.supported_sum(targets, how_many(targets) * self.m.omega / self.m.k)

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """As many targets as fit; the other members are random."""
        m = self.m
        inside = min(targets.size, m.omega)
        rest = np.setdiff1d(np.arange(m.k), targets)

        def subsets(rows: int) -> Values:
            chosen = members(targets, inside, rows, rng), members(rest, m.omega - inside, rows, rng)
            return np.sort(np.concatenate(chosen, axis=1), axis=1)

        return in_rows(m, "subset", size, subsets, m.packed)

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Any subset."""
        m = self.m

        def subsets(rows: int) -> Values:
            return np.sort(members(np.arange(m.k), m.omega, rows, rng), axis=1)

        return in_rows(m, "subset", size, subsets, m.packed)

    def telling(self, first: int, second: int) -> tuple[float, float]:
        """Subsets that hold one of the two values."""
        m = self.m
        both = m.p_star * (m.omega - 1) / (m.k - 1)
        return m.p_star - both, m.q_star - both

    def pair_kinds(self) -> list[PairKind]:
        """All pairs are alike."""
        m = self.m
        p = Fraction(m.keep, SCALE)
        return [(p - (m.omega - p) / (m.k - 1), p * (m.omega - 1) / (m.k - 1))]

    def guess_chance(self, reports: Reports, values: Values) -> Floats:
        """Any member is guessed."""
        from hush.kernels import attack

        out = np.empty(values.size)
        attack.of_members(self.m.members(reports), values, out)
        return out

    @property
    def shape(self) -> Shape:
        """A report supports omega values."""
        low, high = self.m._weights
        return fixed(self.m.k, self.m.omega, high, low)

    @property
    def number_of_outputs(self) -> int:
        """One for each subset, counted where that is quick."""
        m = self.m
        return math.comb(m.k, m.omega) if m.k <= 10_000 else super().number_of_outputs

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
