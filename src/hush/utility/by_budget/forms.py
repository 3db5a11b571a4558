"""Closed forms of unary encoding with a budget for every value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hush.analysis.manipulation import Targets
from hush.mechanisms.fakes import fair_bits, largest_sum, with_ones
from hush.mechanisms.forms import Forms
from hush.types import Floats, Ints, Reports, Values

if TYPE_CHECKING:
    from hush.utility.by_budget.mechanism import IDUE


@dataclass(frozen=True, eq=False)
class ByBudgetForms(Forms):
    """Of bits that are independent, each with probabilities of its own."""

    m: IDUE

    about: ClassVar[str] = "Unary encoding: one bit for each category, randomized by how sensitive categories are."

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """Ones for all targets."""
        m = self.m
        return float(largest_sum(m._off[1] / (m.p - m.q), targets))

    def decoded_means(self) -> Floats:
        """Every second bit is one."""
        m = self.m
        return np.asarray((0.5 - m.q) / (m.p - m.q), np.float64)

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """Ones for all targets; the other bits are as in reports of other people."""
        return with_ones(self.m, targets, self.m.q, size, rng)

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Fair bits."""
        return fair_bits(self.m, size, rng)

    def variation(self, first: int, second: int) -> float:
        """Of the two bits of these values; all others are alike."""
        m, pair = self.m, [first, second]
        p, q, off_p, off_q = (law[pair] for law in (m.p, m.q, *m._off))
        mine = np.outer([p[0], off_p[0]], [q[1], off_q[1]])
        theirs = np.outer([q[0], off_q[0]], [p[1], off_p[1]])
        return float(np.maximum(mine - theirs, 0.0).sum())

    def pure_loss(self) -> float:
        return self.m.exact_epsilon()

    def log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """What the two bits tell."""
        score = self.m.scores(reports)
        return np.asarray(score[:, first] - score[:, second], np.float64)

    # What estimates are like.

    @property
    def kinds(self) -> Sequence[int]:
        """One value of each pair of probabilities, and another where there is one: it may be held or not."""
        _, at = self.m._kinds
        found = [np.nonzero(at == kind)[0][:2] for kind in np.unique(at)]
        return [int(v) for v in np.sort(np.concatenate(found))]

    def estimates(self, tallies: Ints, n: int) -> Floats:
        return self.m.decode(tallies, n)
