"""Whether successive reports of one value are independent of each other, as every bound supposes.

Given how many of a value's reports show an event, independent reports show it in any order with the same probability.
So the number of unbroken runs of hits has a known law, a hypergeometric one: code that answers from memory makes too
few runs, and code that takes turns too many. The test is exact, whatever the event's probability.

Code that gives the same report every time leaves nothing to test: it may remember, or not randomize at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FALSE_ALARM = 1e-9
"""Probability that independent reports are called dependent, at most, in one audit."""


@dataclass
class Runs:
    """Hits in the reports of one value, in the order in which they were made."""

    trials: int = 0
    hits: int = 0
    runs: int = 0
    _last: bool = False

    def add(self, shown: npt.NDArray[np.bool_]) -> None:
        """The next reports: whether each shows the event."""
        if not shown.size:
            return
        self.trials += shown.size
        self.hits += int(np.count_nonzero(shown))
        self.runs += int(np.count_nonzero(shown[1:] & ~shown[:-1])) + int(shown[0] and not self._last)
        self._last = bool(shown[-1])

    @property
    def due(self) -> float:
        """Runs that independent reports make on average."""
        return self.hits * (self.trials - self.hits + 1) / max(self.trials, 1)

    def chance(self) -> float:
        """The probability that independent reports make so few runs, or so many: twice the smaller tail, or a bit more.

        Away from the middle, terms of the law fall faster than a geometric series that starts as they do.

        >>> runs = Runs()
        >>> runs.add(np.array([True] * 10 + [False] * 10))
        >>> round(runs.chance() * 184756)  # in 11 of the 184,756 orders, the ten hits are one run
        22
        """
        if not 0 < self.hits < self.trials:
            return 1.0
        few = self.runs < self.due
        here, next_ = self._log_law(self.runs), self._log_law(self.runs - 1 if few else self.runs + 1)
        fall = math.exp(next_ - here)
        return 1.0 if fall >= 1 else min(1.0, 2 * math.exp(here) / (1 - fall))

    def _log_law(self, runs: int) -> float:
        """The logarithm of the probability of so many runs: hits in runs, runs among the gaps between the others."""
        gaps = self.trials - self.hits + 1
        if not 1 <= runs <= min(self.hits, gaps):
            return -math.inf
        return _log_choose(gaps, runs) + _log_choose(self.hits - 1, runs - 1) - _log_choose(self.trials, self.hits)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def remembers(counted: dict[int, list[Runs]]) -> str | None:
    """What shows that reports depend on each other; None if nothing does.

    Args:
        counted: For each value, the runs of every event that was counted.
    """
    tests = sum(len(runs) for runs in counted.values())
    for value, each in counted.items():
        for runs in each:
            if runs.chance() * tests < FALSE_ALARM:
                seen = (
                    f"{runs.hits:,} hits of {runs.trials:,} came in {runs.runs:,} runs, where {runs.due:,.0f} are due"
                )
                how = "the target seems to remember" if runs.runs < runs.due else "the target seems to take turns"
                return f"The reports of value {value} are not independent of each other ({seen}): {how}."
    return None
