"""Binary search for the budget: BS, relaxed (RBS) and dynamic (DBS).

Algorithms 1 to 3 of Seyedkazemi (2025), corrected: the constraint is that of section 3.4
alone, without the mean; a budget is only returned where it was tried; RBS needs g above 2, since with 2 its range never
shrinks; DBS runs what it divides by, between its least and its largest number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from hush import rules
from hush.planning.optimus.found import FoundBudget, ThousandRuns, above, precision, settled, smallest
from hush.planning.optimus.trials import Attempt, BudgetTrials
from hush.types import Floats


def halved(trials: BudgetTrials, width: float, attempt: Attempt, exactly: Attempt, g: float = math.inf) -> FoundBudget:
    """Halve the range until it is narrower than a width, keeping 1/g of it beyond the middle."""
    low, high = trials.question.low, trials.question.high
    trials.expected = 1 + max(math.ceil(math.log((high - low) / width) / -math.log(0.5 + 1 / g)), 1)
    while high - low >= width:
        middle, step = (low + high) / 2, (high - low) / g
        if attempt(middle).satisfies:
            high = middle + step
        else:
            low = middle - step
    if all(t.epsilon != high for t in trials.evidence):
        attempt(high)
    if smallest(trials.evidence, high) is None and high < trials.question.high:
        attempt(trials.question.high)
    return settled(trials, exactly, width, high)


@dataclass(frozen=True, kw_only=True)
class BS(ThousandRuns):
    """Binary search.

    Args:
        precision: Ends when the range is narrower than this (the thesis's phi).
    """

    precision: float = 0.01
    name: ClassVar[str] = "BS"

    def __post_init__(self) -> None:
        precision(self.precision)

    def search(self, trials: BudgetTrials, runs: int) -> FoundBudget:
        """The same number of runs at every budget."""
        return halved(trials, self.precision, *trials.attempts(runs))


@dataclass(frozen=True, kw_only=True)
class RBS(ThousandRuns):
    """Relaxed binary search: a part of the range beyond the middle stays, so that a wrong turn can be mended.

    Args:
        precision: Ends when the range is narrower than this (phi).
        g: One over the part that stays, above 2.01.
    """

    precision: float = 0.01
    g: float = 4.0
    name: ClassVar[str] = "RBS"

    def __post_init__(self) -> None:
        precision(self.precision)
        above("g", self.g, 2.01, "use e.g. 4; with 2 the range would never shrink")

    def search(self, trials: BudgetTrials, runs: int) -> FoundBudget:
        """The same number of runs at every budget."""
        return halved(trials, self.precision, *trials.attempts(runs), self.g)


@dataclass(frozen=True, kw_only=True)
class DBS(ThousandRuns):
    """Dynamic binary search: more runs where the average loss is close to the threshold.

    Args:
        precision: Ends when the range is narrower than this (phi).
        c: Runs are c / |average loss - threshold|, but no fewer than the least and no more than were asked for.
        least: Runs at every budget.
    """

    precision: float = 0.01
    c: float = 1.0
    least: int = 100
    name: ClassVar[str] = "DBS"

    def __post_init__(self) -> None:
        precision(self.precision)
        above("c", self.c, 0.0, "use e.g. 1")
        rules.integer("least", self.least, 1, 10**7, "use e.g. 100")

    def wanted(self, losses: Floats, threshold: float, most: int) -> int:
        """How many runs, from the losses of the first ones."""
        gap = abs(float(losses.mean()) - threshold)
        desired = most if gap * most <= self.c else math.floor(self.c / gap)
        return min(max(desired, self.least), most)

    def search(self, trials: BudgetTrials, runs: int) -> FoundBudget:
        """Between `least` and `runs` runs at a budget."""
        threshold, first = trials.question.threshold, min(self.least, runs)
        wanted = trials.attempts(first, lambda losses: self.wanted(losses, threshold, runs))
        return halved(trials, self.precision, *wanted)
