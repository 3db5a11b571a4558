"""Closed forms of utility-optimized mechanisms, from those of their base, and of two that are made for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hush.analysis import adds, totals
from hush.analysis.waves import expm1i
from hush.mechanisms.forms import Forms, PureForms
from hush.types import Floats, Ints
from hush.utility._simulate import fast
from hush.utility._totals import common_lattice, disguised_adds

if TYPE_CHECKING:
    from hush.utility.balanced import BalancedLH
    from hush.utility.oracle import UtilityOracle
    from hush.utility.single import Single


@dataclass(frozen=True, eq=False)
class UtilityForms(Forms):
    """Of a mechanism that discloses values that are not sensitive, where it can."""

    m: UtilityOracle

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    one_by_one: ClassVar[bool] = False

    def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        from hush.utility import _many

        known = _many.known(self.m)
        return _many.tallies(self.m, people, runs, rng) if known else super().tallies(people, runs, rng)

    @classmethod
    def planned(cls, k: int) -> bool:
        """No: all values are taken to be sensitive there."""
        return False

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds | None:
        """What the base mechanism's report does, or a value that is shown, or a disguise."""
        return disguised_adds(self.m, amounts) or super().report_adds(amounts)

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """The base mechanism's, where all values that people hold are sensitive; else that of a sum over people."""
        held = counts[self.m._sensitive]
        if held.sum() == counts.sum():
            return self.m.base.forms.total_law(amounts[self.m._sensitive], held)
        found = disguised_adds(self.m, amounts)
        if found is None:
            return super().total_law(amounts, counts)
        least, step = common_lattice(self.m, amounts) or (0.0, 0.0)
        return self._summed(amounts, counts, found, least=least, step=step)

    def collection_work(self, n: int) -> float:
        """The base mechanism's, where disguises are drawn without making reports."""
        if self.m._others.size and not fast(self.m._giving):
            return float(n)
        return self.m.base.forms.collection_work(n)


@dataclass(frozen=True, eq=False)
class BalancedForms(PureForms):
    """Of hashing over a balanced family, all balanced assignments being equally likely."""

    m: BalancedLH

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds:
        """The own bucket with probability p, and else another; buckets of one size are alike."""
        m, held = self.m, np.diff(self.m.edges)
        own, lost = np.zeros(m.k), np.zeros(m.k)
        np.add.at(own, held - 1, m.p_star * held / m.k)
        np.add.at(lost, held, (1 - m.p_star) * (1 - held / m.k) / (m.g - 1))
        return adds.members(amounts, own, lost).scaled(m.p_star - m.q_star, -m.q_star * float(amounts.sum()))

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """That of a sum over people, whose buckets hold values."""
        least, step = self._support_lattice(amounts)
        return self._summed(amounts, counts, self.report_adds(amounts), least=least, step=step)

    def collection_work(self, n: int) -> float:
        """Sets of values, walked value by value."""
        return totals.COLLECTION + 800.0 * self.m.k


@dataclass(frozen=True, eq=False)
class SingleForms(Forms):
    """Of a single sensitive value."""

    m: Single

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds:
        """Its amount, for certain."""
        certain = np.zeros(amounts.size)
        return adds.Adds(lambda theta: expm1i(theta[:, None] * amounts), amounts, certain, amounts.size, adds.no_swings)

    def collection_work(self, n: int) -> float:
        """Nothing is drawn."""
        return totals.COLLECTION + 40.0
