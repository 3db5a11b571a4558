"""What every way of searching is and gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from hush import rules
from hush.errors import ParameterError, message
from hush.planning.optimus.question import BudgetQuestion, Mechanism
from hush.planning.optimus.trials import Attempt, BudgetTrials, Tried
from hush.planning.relax import up


@dataclass(frozen=True)
class FoundBudget:
    """The smallest budget that was found to satisfy, None where none was; and what was shown, how surely."""

    epsilon: float | None
    refuted: float | None = None
    confidence: float | None = None


class ThousandRuns:
    """What the methods of the thesis share."""

    def usual_runs(self, m: Mechanism) -> int:
        """Whatever the mechanism."""
        return 1000


class Method(Protocol):
    """A way of searching."""

    name: ClassVar[str]

    def usual_runs(self, m: Mechanism) -> int:
        """How many runs at a budget where nothing is said."""

    def search(self, trials: BudgetTrials, runs: int) -> FoundBudget:
        """Look for the smallest budget."""


def precision(value: object) -> float:
    """How close two budgets must be for a search to end; doubles are not close enough for less than the least."""
    return rules.number("precision", value, 1e-9, 10.0, "use e.g. 0.01", closed=True)


def enough_runs(runs: object) -> int:
    """A number of runs."""
    return rules.integer("runs", runs, 10, 10**7, "use e.g. 1000")


def above(name: str, value: object, least: float, remedy: str, most: float = float("inf")) -> float:
    """A finite number above a bound, and up to another where a search would take too long beyond."""
    real = rules._real(value)
    if not (least < real <= most and real < float("inf")):
        bound = f" and at most {most:g}" if most < float("inf") else ""
        raise ParameterError(message(name, f"must be a number above {least:g}{bound}", value, remedy))
    return real


def smallest(evidence: list[Tried], least: float = 0.0) -> float | None:
    """The smallest budget that satisfied, from a bound on; where the exact law was asked, it decides."""
    said = {t.epsilon: t.satisfies for t in sorted(evidence, key=lambda t: t.law == "exact")}
    return min((epsilon for epsilon, satisfies in said.items() if satisfies and epsilon >= least), default=None)


def rounded(epsilon: float, q: BudgetQuestion) -> float:
    """A budget of four digits, rounded up, within the range: one that is told as it is."""
    return min(up(epsilon), q.high)


def settled(trials: BudgetTrials, exactly: Attempt, width: float, least: float = 0.0) -> FoundBudget:
    """The smallest budget that satisfied, rounded up and asked of the exact law, which closes in where it disagrees.

    Args:
        trials: What was tried.
        exactly: Tries a budget with the exact law.
        width: How close to what does not satisfy is close enough.
        least: Where to begin.
    """
    q = trials.question
    known = {t.epsilon: t for t in trials.evidence if t.law == "exact"}
    best = smallest(trials.evidence, least)
    high = q.high if best is None else rounded(best, q)
    if (known.get(high) or exactly(high)).satisfies:
        if best is not None:
            return FoundBudget(high)
        low = q.low  # the normal law saw none, and was wrong
    elif best is None:
        return FoundBudget(None)
    else:
        low, step = high, max(width, high / 1000)  # more than the next of four digits
        while low < q.high and not exactly(high := rounded(low + step, q)).satisfies:
            low, step = high, 2 * step
        if low >= q.high:
            return FoundBudget(smallest([t for t in trials.evidence if t.law == "exact"]))
    while high - low > width and low < (middle := rounded((low + high) / 2, q)) < high:
        low, high = (low, middle) if exactly(middle).satisfies else (middle, high)
    return FoundBudget(high)
