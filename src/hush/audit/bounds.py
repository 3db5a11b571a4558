"""What counts prove: Clopper-Pearson bounds of two probabilities, and the privacy loss that they imply.

If an event has probability p1 under one value and p0 under another, a mechanism that is (epsilon, delta)-private has
epsilon >= ln((p1 - delta) / p0). So a lower bound of p1 and an upper bound of p0 give a lower bound of epsilon.
"""

from __future__ import annotations

import math

from hush import rules
from hush.errors import ParameterError, message
from hush.estimation.intervals import proportion_lower, proportion_upper

TAILS = {"paper": 4.0, "one-sided": 2.0}
"""The error rate alpha is divided by this for each of the two bounds.

"paper" is what "Revealing the true cost of LDP protocols" computes: two-sided intervals at level alpha/2, of which one
side is used. One-sided bounds at alpha/2 prove a little more, with the same guarantee: together they fail with
probability at most alpha.
"""


lower = proportion_lower
"""The probability that is exceeded with confidence 1 - tail (Clopper-Pearson)."""

upper = proportion_upper
"""The probability that is not reached with confidence 1 - tail (Clopper-Pearson)."""


def epsilon_lower(
    hits: int,
    trials: int,
    false_hits: int,
    false_trials: int,
    *,
    alpha: float = 0.01,
    delta: float = 0.0,
    bound: str = "paper",
) -> float:
    """The privacy loss that is proved with confidence 1 - alpha; zero where nothing is.

    Args:
        hits: How often the event occurred under the first value.
        trials: Out of how many.
        false_hits: How often it occurred under the other value.
        false_trials: Out of how many.
        alpha: Probability that the statement is wrong, at most.
        delta: Slack of the claim.
        bound: "paper" or "one-sided".
    """
    tail = alpha / TAILS[named(bound)]
    p1, p0 = lower(hits, trials, tail), upper(false_hits, false_trials, tail)
    return max(0.0, math.log((p1 - delta) / p0)) if p1 > delta else 0.0


def best_provable(trials: int, *, alpha: float = 0.01, delta: float = 0.0, bound: str = "paper") -> float:
    """The largest loss that so many trials can prove: the event always occurs under one value, never under the other.

    >>> round(best_provable(10**4), 5), round(best_provable(10**6), 5)
    (7.4197, 12.02517)
    >>> round(best_provable(10**4, bound="one-sided"), 5), round(best_provable(10**6, bound="one-sided"), 5)
    (7.54269, 12.14812)
    """
    rules.integer("trials", trials, 1, 10**18, "use e.g. 10**6")
    rules.number("alpha", alpha, 0.0, 1.0, "use e.g. 0.01")
    return epsilon_lower(trials, trials, 0, trials, alpha=alpha, delta=delta, bound=bound)


def named(bound: str) -> str:
    """A name of `TAILS`, checked."""
    if bound not in TAILS:
        raise ParameterError(message("bound", f"must be one of {', '.join(TAILS)}", bound, "use e.g. 'paper'"))
    return bound
