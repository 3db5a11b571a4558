"""Expected success of the best guess of a user's value from one report (attacker success rate), uniform prior.

For a channel with outputs y it is the sum over y of the largest probability of y, divided by k.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def independent_bits(k: int, p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Equation 21 (and 12): unary encoding, thresholding on the client, and ideal local hashing with q = 1/g.

    >>> round(float(independent_bits(100, 0.5, 1 / (1 + math.exp(4.0)))), 12)
    0.233552099478
    """
    own, other = np.asarray(p, np.float64), np.asarray(q, np.float64)
    silent = k * np.log1p(-other)
    none, some = np.exp(silent), -np.expm1(silent)
    return np.asarray((1 - own) * none / ((1 - other) * k) + own * some / (k * other))


def local_hashing_paper(k: int, epsilon: float, g: int) -> float:
    """Equation 15 as printed, an approximation that is off by up to 1.58 times near g = k; for comparison only."""
    e = math.exp(epsilon)
    return e / ((e + g - 1) * max(k / g, 1.0))


def product(k: int, null: Floats, ratio: Floats) -> float:
    """Any mechanism whose report is k independent coordinates, one of which follows the value's own law.

    The best guess is the coordinate with the largest likelihood ratio, so the success is E[max ratio] / k under
    the null law in every coordinate.

    Args:
        k: Number of coordinates.
        null: Probability of each outcome of a coordinate that is not the value's own.
        ratio: How much likelier each outcome is in the value's own coordinate.
    """
    order = np.argsort(ratio, kind="stable")
    sizes, levels = null[order], ratio[order]
    above = np.minimum(np.cumsum(sizes[::-1])[::-1], 1.0)
    # P(max <= level) by log1p of the probability above it, so that small tails keep their digits.
    strictly_above = np.append(above[1:], 0.0)
    with np.errstate(divide="ignore"):
        at_most = np.exp(k * np.log1p(-strictly_above))
        below = np.exp(k * np.log1p(-above))
    return float((levels * (at_most - below)).sum() / k)


def summed_histogram(k: int, epsilon: float) -> float:
    """Equation 31 in closed form: summation with histogram encoding under continuous Laplace noise.

    >>> round(summed_histogram(100, 4.0), 12)
    0.0738772494
    """
    a = epsilon / 2
    c = math.exp(-a) / 2
    i = np.arange(1, k - 1)
    j = a - float((((1 - c) ** i - 0.5**i) / i).sum())
    first = 0.5**k * math.exp(-a) / k
    second = -math.expm1(k * math.log1p(-c)) / (2 * c * k)
    third = math.exp(-a) / 4 * ((1 - c) ** (k - 1) / c - 2.0 ** (2 - k) - (k - 1) * j)
    return first + second + third
