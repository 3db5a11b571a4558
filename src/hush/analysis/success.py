"""Expected success of the best guess of a user's value from one report (attacker success rate).

For a channel with outputs y it is the sum over y of the largest product of prior and probability of y: under a uniform
prior, the largest probability divided by k.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hush.types import Floats


def best_guesses(chances: Floats) -> Floats:
    """In each row, all of a guess on the largest number, in equal parts where several are."""
    best = chances >= chances.max(axis=-1, keepdims=True) * (1 - 1e-12)
    return np.asarray(best / best.sum(axis=-1, keepdims=True), np.float64)


def alike(k: int, right: float) -> Floats:
    """The probability of each guess for each value, as [value, guess], where all wrong ones are equally likely."""
    table = np.full((k, k), (1 - right) / max(k - 1, 1))
    np.fill_diagonal(table, right)
    return table


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


def first_supported(prior: Floats, favoured: Floats, plain: Floats, empty: float) -> float:
    """Any prior, where reports have two levels of probability and values are alike to the mechanism.

    The best guess is the likeliest value that the report supports, or the likeliest of all. So only that first member
    matters, with values in order of falling prior.

    Args:
        prior: How likely each value is beforehand.
        favoured: Probability that the j-th value is the first one supported, if it is the true one.
        plain: The same, if the true value is not supported.
        empty: Probability that nothing is supported, if the true value is not.
    """
    falling = np.sort(prior)[::-1]
    return float(np.maximum(favoured * falling, plain * falling[0]).sum() + empty * falling[0])


def first_bit(k: int, p: float, q: float) -> tuple[Floats, Floats, float]:
    """What `first_supported` needs, for independent bits: one with probability p (the value's own) or q."""
    before = np.exp(np.arange(k) * math.log1p(-q))
    return p * before, (1 - p) * q / (1 - q) * before, (1 - p) * math.exp((k - 1) * math.log1p(-q))


def first_member(k: int, omega: int, p: float) -> tuple[Floats, Floats, float]:
    """What `first_supported` needs, for subsets of omega values that hold the true one with probability p."""
    j = np.arange(1, k)
    share = np.cumprod(np.concatenate([[1.0], np.maximum(k - j - omega + 1, 0) / (k - j)]))
    return p * share, (1 - p) * omega / (k - omega) * share, 0.0


def product(prior: Floats, null: Floats, ratio: Floats) -> float:
    """Any mechanism whose report is k independent coordinates, one of which follows the value's own law.

    The best guess is the coordinate with the largest product of prior and likelihood ratio, so the success is the
    mean of the largest product under the null law in every coordinate.

    Args:
        prior: How likely each value is beforehand.
        null: Probability of each outcome of a coordinate that is not the value's own.
        ratio: How much likelier each outcome is in the value's own coordinate.
    """
    levels, sizes = _merged(ratio, null)
    upto = np.cumsum(sizes)
    above = np.append(np.cumsum(sizes[:0:-1])[::-1], 0.0)
    # log P(ratio <= level), by the smaller tail, so that it keeps its digits.
    logs = np.where(upto < 0.5, np.log(upto), np.log1p(-np.minimum(above, 0.5)))
    chances, people = np.unique(prior, return_counts=True)
    least = float(chances[-1] * levels[0])  # the largest product is never below this
    cuts = np.outer(chances, levels[1:]).ravel()
    jumps = np.outer(people, np.diff(logs)).ravel()
    above_least = cuts > least
    order = np.argsort(cuts[above_least])
    cuts, jumps = cuts[above_least][order], jumps[above_least][order]
    # log P(largest product <= cut), summed from the top, where it is zero.
    at_most = np.append(-np.cumsum(jumps[::-1])[::-1], 0.0)
    return float(least * np.exp(at_most[0]) + cuts @ np.diff(np.exp(at_most)))


def _merged(ratio: Floats, null: Floats) -> tuple[Floats, Floats]:
    """Outcomes in order of their ratio, those that differ by rounding alone taken as one."""
    order = np.argsort(ratio, kind="stable")
    levels, sizes = ratio[order], null[order]
    first = np.append(True, np.diff(levels) > 1e-12 * levels[1:])
    return levels[first], np.add.reduceat(sizes, np.nonzero(first)[0])


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
