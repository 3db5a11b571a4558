"""What confidence intervals share: how much each end may miss, and how many standard errors that is.

A pointwise interval covers each value's frequency at its level. Simultaneous intervals cover all of them together,
by Bonferroni's bound, which needs no assumption on how the estimates depend on one another.

And exact bounds of a probability from independent trials (Clopper and Pearson 1934).
"""

from __future__ import annotations

import numpy as np

from hush.errors import ParameterError, message

METHODS = ("exact", "normal")


def tail(level: float, items: int = 1) -> float:
    """How often each end of an interval may miss, so that `items` intervals cover together at this level.

    >>> round(tail(0.95), 12), round(tail(0.95, 1000), 12)
    (0.025, 2.5e-05)
    """
    return (1.0 - _checked(level)) / (2 * items)


def deviations(tail: float) -> float:
    """How many standard deviations away so little of a normal law is left.

    >>> round(deviations(0.025), 4)
    1.96
    """
    from scipy.special import ndtri

    return float(-ndtri(tail))


def checked_method(method: object) -> None:
    """Refuse what is no method."""
    if method is not None and (not isinstance(method, str) or method not in METHODS):
        remedy = "leave it out, and the better one is taken"
        raise ParameterError(message("method", f"must be {' or '.join(METHODS)}", method, remedy))


def proportion_lower(successes: int, trials: int, tail: float) -> float:
    """The probability that is exceeded with confidence 1 - tail (Clopper-Pearson).

    >>> round(proportion_lower(10, 10, 0.05), 6)
    0.741134
    """
    from scipy.special import betaincinv

    return 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))


def proportion_upper(successes: int, trials: int, tail: float) -> float:
    """The probability that is not reached with confidence 1 - tail (Clopper-Pearson).

    >>> round(proportion_upper(0, 10, 0.05), 6)
    0.258866
    """
    from scipy.special import betainccinv

    return 1.0 if successes == trials else float(betainccinv(successes + 1, trials - successes, tail))


def proportion(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """The two-sided Clopper-Pearson interval.

    >>> low, high = proportion(5, 10)
    >>> round(low, 4), round(high, 4)
    (0.1871, 0.8129)
    """
    half = tail(level)
    return proportion_lower(successes, trials, half), proportion_upper(successes, trials, half)


def _checked(level: object) -> float:
    if not (isinstance(level, (int, float, np.floating)) and 0.0 < level < 1.0):
        raise ParameterError(message("level", "must lie strictly between 0 and 1", level, "use e.g. 0.95"))
    return float(level)
