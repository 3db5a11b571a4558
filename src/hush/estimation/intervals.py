"""Confidence intervals for frequencies of a fixed population: estimate plus and minus z standard errors.

A pointwise interval covers each value's frequency at its level. Simultaneous intervals cover all of them together,
by Bonferroni's bound, which needs no assumption on how the estimates depend on one another.

And exact bounds of a probability from independent trials (Clopper and Pearson 1934).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, message

Floats = npt.NDArray[np.float64]


def quantile(level: float, items: int = 1) -> float:
    """How many standard errors an interval reaches, to cover `items` frequencies together.

    >>> round(quantile(0.95), 4)
    1.96
    """
    _checked(level)
    from scipy.special import ndtri

    return float(-ndtri((1.0 - level) / (2 * items)))


def around(centre: Floats, stderr: Floats, level: float, items: int) -> tuple[Floats, Floats]:
    """Lower and upper ends."""
    reach = quantile(level, items) * stderr
    return centre - reach, centre + reach


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
    tail = (1.0 - _checked(level)) / 2
    return proportion_lower(successes, trials, tail), proportion_upper(successes, trials, tail)


def _checked(level: object) -> float:
    if not (isinstance(level, (int, float, np.floating)) and 0.0 < level < 1.0):
        raise ParameterError(message("level", "must lie strictly between 0 and 1", level, "use e.g. 0.95"))
    return float(level)
