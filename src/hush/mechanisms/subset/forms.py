"""Closed forms of subset selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hush.analysis import adds, capacity, totals
from hush.mechanisms.forms import PureForms
from hush.types import Floats, Ints

if TYPE_CHECKING:
    from hush.mechanisms.subset.mechanism import SS


@dataclass(frozen=True, eq=False)
class SubsetForms(PureForms):
    """Of subset selection."""

    m: SS

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds:
        """The amounts of omega values, one of which is the own one or not."""
        m = self.m
        own, lost = np.zeros(m.k), np.zeros(m.k)
        own[m.omega - 1], lost[m.omega] = m.p_star, 1 - m.p_star
        middle = float(amounts.mean())  # every report supports omega values
        shift = m.omega * middle - m.q_star * float(amounts.sum())
        return adds.members(amounts - middle, own, lost).scaled(m.p_star - m.q_star, shift)

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """That of a sum over people, which counts from all values being the first one."""
        m, step = self.m, capacity.lattice(amounts.tolist(), from_first=True)
        gap = m.p_star - m.q_star
        least = (m.omega * float(amounts[0]) - m.q_star * float(amounts.sum())) / gap
        return self._summed(amounts, counts, self.report_adds(amounts), least=least, step=step / gap)

    def collection_work(self, n: int) -> float:
        """Sets of values, walked value by value."""
        return totals.COLLECTION + 800.0 * self.m.k

    def wrong_guesses_alike(self) -> bool:
        """Nothing tells values apart but their names."""
        return True
