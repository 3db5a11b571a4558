"""Bayesian optimisation of the budget (Bayes): a Gaussian process, and the budget that promises most.

Algorithms 5 and 6 of Seyedkazemi (2025), corrected: what is brought to the threshold is the
quantile of the loss that the probability asks for, not its mean, which would satisfy half of the runs. The process
models the signed gap (quantile - threshold) / (quantile + threshold) over the logarithm of the budget, which is nearly
a straight line there, and expected improvement is that of the gap's absolute value. A budget just too small looks as
good to it as one just large enough, so halving closes what it leaves between the two sides. Budgets that satisfy are
returned, the smallest of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hush import rules
from hush.planning.optimus.found import FoundBudget, ThousandRuns, settled, smallest
from hush.planning.optimus.trials import BudgetTrials, Tried
from hush.planning.process import Process
from hush.types import Floats

_GRID = 500
_CLOSE = 0.02
"""How near the two sides are, in logarithm, when halving ends."""


@dataclass(frozen=True, kw_only=True)
class Bayes(ThousandRuns):
    """Bayesian optimisation; needs scikit-learn.

    Args:
        initial: Budgets drawn at random at first (the thesis's init_points).
        iterations: Budgets chosen by expected improvement (iter_num).
    """

    initial: int = 20
    iterations: int = 20
    name: ClassVar[str] = "Bayes"

    def __post_init__(self) -> None:
        rules.integer("initial", self.initial, 1, 1000, "use e.g. 20")
        rules.integer("iterations", self.iterations, 1, 1000, "use e.g. 20")

    def search(self, trials: BudgetTrials, runs: int) -> FoundBudget:
        """The same number of runs at every budget."""
        process = Process("The method Bayes", 2.5, 1e-4, (1e-8, 1e-1), follows=True)
        attempt, exactly = trials.attempts(runs)
        low, high = math.log(trials.question.low), math.log(trials.question.high)
        trials.expected = self.initial + self.iterations + 1
        for at in trials.rng.uniform(low, high, self.initial):
            attempt(math.exp(at))
        for _ in range(self.iterations):
            attempt(math.exp(self._next(process, trials, low, high)))
        if smallest(trials.evidence) is None:
            attempt(trials.question.high)
        below, over = _sides(trials, low, high)
        while over - below > _CLOSE and smallest(trials.evidence) is not None:
            attempt(math.exp((below + over) / 2))
            below, over = _sides(trials, low, high)
        return settled(trials, exactly, _CLOSE * math.exp(over))

    def _next(self, process: Process, trials: BudgetTrials, low: float, high: float) -> float:
        """Where the improvement to be expected is largest; between the two sides where none is."""
        at = np.log([t.epsilon for t in trials.evidence])
        gaps = np.array([gap(t, trials.question.threshold) for t in trials.evidence])
        below, over = _sides(trials, low, high)
        near = np.linspace(min(below, over) - 0.1, max(below, over) + 0.1, _GRID)
        grid = np.clip(np.concatenate([np.linspace(low, high, _GRID), near]), low, high)
        mean, spread = process.predicted(at, gaps, grid)
        promise = expected_improvement(mean, spread, float(np.abs(gaps).min()))
        best = int(np.argmax(promise))
        seen = bool(np.isclose(grid[best], at, rtol=0, atol=1e-9).any())
        return float((below + over) / 2 if promise[best] < 1e-12 or seen else grid[best])


def _sides(trials: BudgetTrials, low: float, high: float) -> tuple[float, float]:
    """The largest budget that was too small, and the smallest that was enough, in logarithm."""
    at = np.log([t.epsilon for t in trials.evidence])
    satisfied = np.array([bool(t.satisfies) for t in trials.evidence])
    return float(at[~satisfied].max(initial=low)), float(at[satisfied].min(initial=high))


def gap(tried: Tried, threshold: float) -> float:
    """How far the quantile of the loss lies above the threshold, from -1 to 1."""
    if math.isinf(tried.quantile):
        return 1.0
    whole = tried.quantile + threshold
    return (tried.quantile - threshold) / whole if whole > 0 else 0.0


def expected_improvement(mean: Floats, spread: Floats, best: float) -> Floats:
    """Of |x| below the best seen, where x is normal."""
    from scipy.special import ndtr

    s = np.maximum(spread, 1e-12)

    def density(x: Floats) -> Floats:
        return np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)

    low, zero, high = (-best - mean) / s, -mean / s, (best - mean) / s
    rising = (best + mean) * (ndtr(zero) - ndtr(low)) - s * (density(zero) - density(low))
    falling = (best - mean) * (ndtr(high) - ndtr(zero)) + s * (density(high) - density(zero))
    return np.asarray(np.maximum(rising + falling, 0.0), np.float64)
