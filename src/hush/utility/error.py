"""The error of a utility-optimized mechanism as a whole: the number that the document compares them by."""

from __future__ import annotations

import numpy as np

from hush import rules
from hush.utility.oracle import UtilityOracle


def total_error(u: UtilityOracle, theta: float | None = None, n: int = 1) -> float:
    """The sum of the variances of all values, exact; equation 28 for a pure mechanism that sends pairs.

    For those it depends on the frequencies by theta alone; for others the sensitive values are taken to be equally
    frequent, and so are those that are not.

    Args:
        u: The mechanism.
        theta: Share of people whose value is not sensitive; when left out, as if all values were equally frequent.
        n: How many people report.
    """
    others = u.k - u.s
    share = others / u.k if theta is None else rules.share("theta", theta)
    if others == 0:
        share = 0.0
    total = float(u.sensitive_variances(np.full(u.s, (1 - share) / u.s), share).sum())
    if others:
        total += share * (1 - u.z_star) / u.z_star
    return total / n
