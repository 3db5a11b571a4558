"""Confidence intervals for frequencies of a fixed population: estimate plus and minus z standard errors.

A pointwise interval covers each value's frequency at its level. Simultaneous intervals cover all of them together,
by Bonferroni's bound, which needs no assumption on how the estimates depend on one another.
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
    if not (isinstance(level, (int, float, np.floating)) and 0.0 < level < 1.0):
        raise ParameterError(message("level", "must lie strictly between 0 and 1", level, "use e.g. 0.95"))
    from scipy.special import ndtri

    return float(-ndtri((1.0 - level) / (2 * items)))


def around(centre: Floats, stderr: Floats, level: float, items: int) -> tuple[Floats, Floats]:
    """Lower and upper ends."""
    reach = quantile(level, items) * stderr
    return centre - reach, centre + reach
