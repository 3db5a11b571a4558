"""Multi-pass search (MPass): walk through the range in steps, then around what was found in smaller ones.

Algorithm 4 of Seyedkazemi (2025), corrected: where nothing satisfies in a pass, the largest
budget is tried before the answer is "infeasible", and no pass leaves the range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from hush import rules
from hush.planning.optimus.found import FoundBudget, ThousandRuns, above, settled, smallest
from hush.planning.optimus.trials import BudgetTrials


@dataclass(frozen=True, kw_only=True)
class MPass(ThousandRuns):
    """Multi-pass search.

    Args:
        passes: How many (the thesis's S); the first has steps of 1.
        g: How much smaller the steps are in each pass than in the one before, above 1 and up to 1000.
    """

    passes: int = 5
    g: float = 10.0
    name: ClassVar[str] = "MPass"

    def __post_init__(self) -> None:
        rules.integer("passes", self.passes, 1, 12, "use e.g. 5")
        above("g", self.g, 1.0, "use e.g. 10", 1000.0)

    def search(self, trials: BudgetTrials, runs: int) -> FoundBudget:
        """Every budget of every pass gets the same number of runs; none is tried twice."""
        q, step = trials.question, 1.0
        low, high = q.low, q.high
        attempt, exactly = trials.attempts(runs)
        trials.expected = (high - low) / step + (self.passes - 1) * 2 * self.g + 1
        for _ in range(self.passes):
            known = {round(t.epsilon, 9) for t in trials.evidence}
            for i in range(math.floor((high - low) / step + 1e-9) + 1):
                epsilon = min(max(round(low + i * step, 9), low), high)
                if round(epsilon, 9) not in known:
                    known.add(round(epsilon, 9))
                    attempt(epsilon)
                else:
                    trials.step()
            if smallest(trials.evidence) is None:
                attempt(q.high)
            best = smallest(trials.evidence)
            if best is None:
                break
            low, high = max(best - step, q.low), min(best + step, q.high)
            step /= self.g
        return settled(trials, exactly, self.g ** (1 - self.passes))
