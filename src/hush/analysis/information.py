"""Fisher information that reports keep about the frequencies, as a share of what the values themselves hold.

With frequencies f, the report y and its probabilities P(y|v) under each value and P(y) in all, the share is

    efficiency = I / (k - 1),    I = E[ sum_v f_v (P(y|v) / P(y) - 1)² ]

I is the trace of the information in a report times the inverse of that in a value, over all directions in which
frequencies can move (they sum to one, so k - 1, where k counts the values that occur). So the efficiency is the mean
over directions, whatever the parameters that describe them, and n reports tell as much as efficiency · n values do on
average. The loss is 1 - efficiency.

There is no best worst case: the loss nears 1 in every corner. If one value has frequency 1 - h, then under a loss of
epsilon P(y|v)/P(y) is at most 1/(1-h) for it and e^epsilon for the others, so I <= h + h (e^epsilon - 1) = h
e^epsilon: where nearly everyone holds one value, reports say nearly nothing, while values would tell who does not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hush.types import Floats

_STEP = 0.25  # of the logarithm of the variable of integration: the error falls like e^(-6/step)
_CELLS = 1 << 20


def subset(k: int, omega: int, p: float) -> float:
    """Efficiency at equal frequencies of a report of omega values, the true one with probability p.

    In a report that supports s values, each r times as likely as the others, I is s (k-s) (r-1)² / (k-s+rs)².

    >>> subset(4, 1, 1.0)
    1.0
    """
    return (k * p - omega) ** 2 / (omega * (k - omega) * (k - 1))


def bits(k: int, p: float, q: float) -> float:
    """Efficiency at equal frequencies of k independent bits, one with probability p for the true value, else q.

    >>> round(bits(10, 0.5, 1 / (1 + math.exp(1.0))), 6)
    0.026259
    """
    return product(k, np.array([1 - q, q]), np.array([1 - p, p]))


def product(k: int, null: Floats, own: Floats) -> float:
    """Efficiency at equal frequencies of k independent coordinates, one of which follows the value's own law.

    With ratios R = own/null, I = (k-1)/2 E[(R_1 - R_2)² / (R_1 + ... + R_k)] under the null law. As 1/x is the
    integral of e^(-tx), and A(t) = E e^(-tR), the efficiency is the integral over t > 0 of A(t)^k times the variance
    of R under the law tilted by e^(-tR). On the scale of log t the trapezoidal rule is exact to ten digits or more.
    An outcome that only the true value can have tells it for certain, and adds its probability.

    Args:
        k: Number of coordinates.
        null: Probability of each outcome of a coordinate that is not the value's own.
        own: Probability of each outcome of the value's own.
    """
    certain = float(own[null == 0].sum())
    sizes, ratios = _levels(null[null > 0], own[null > 0])
    if ratios.size < 2:
        return certain
    slowest = (k - 1) * ratios[0] + ratios[1]  # of the exponentials that the integrand consists of
    start, stop = math.log(1e-16 / (k + ratios[-1])), math.log(50 / slowest)
    times = np.exp(np.arange(start, stop + _STEP, _STEP))
    total = 0.0
    rows = max(1, _CELLS // ratios.size)
    for at in range(0, times.size, rows):
        part = times[at : at + rows]
        # Measured from the smallest ratio, so that nothing underflows.
        tilted = np.exp(-np.multiply.outer(part, ratios - ratios[0])) * sizes
        mass = tilted.sum(axis=1)
        centre = np.einsum("ij,j->i", tilted, ratios) / mass
        spread = (tilted * (ratios - centre[:, None]) ** 2).sum(axis=1) / mass
        total += float((part * spread * np.exp(k * (np.log(mass) - part * ratios[0]))).sum())
    return certain + _STEP * total


def hadamard(k: int, blocks: int, width: int, p: float) -> float:
    """Efficiency at equal frequencies of Hadamard response: value v has row v // blocks + 1 of block v % blocks.

    Args:
        k: Number of values.
        blocks: Number of blocks.
        width: Outputs in a block, a power of two.
        p: Probability that a report lies in the +1 half of its value's row.
    """
    inside, outside = width // 2, blocks * width - width // 2
    high, low = p / inside, (1 - p) / outside
    fewer, fuller = k // blocks, k % blocks
    total = 0.0
    for rows, copies in ((fewer + 1, fuller), (fewer, blocks - fuller)):
        if copies and rows:
            for support, columns in hadamard_supports(width, rows):
                likely = support * high + (k - support) * low
                if likely > 0:
                    total += copies * columns * support * (k - support) * (high - low) ** 2 / (k * likely)
    return total / (k - 1)


def hadamard_supports(width: int, rows: int) -> list[tuple[int, int]]:
    """How many of the rows 1..rows are +1 in a column of a Hadamard matrix, and in how many columns.

    With R = rows + 1, the entries of rows 0..R-1 in a column whose lowest bit is bit z cancel, up to the sign of the
    rest, but for 2^z - (R mod 2^z) of them if bit z of R is set, else R mod 2^z. Bits of R above z make that sign
    plus in one half of such columns and minus in the other.

    >>> hadamard_supports(4, 2)
    [(2, 1), (1, 1), (0, 1), (1, 1)]
    """
    found = [(rows, 1)]
    whole = rows + 1
    for z in range(width.bit_length() - 1):
        below = whole % (1 << z)
        left = (1 << z) - below if whole >> z & 1 else below
        columns = width >> (z + 1)
        both = (whole % width) >> (z + 1) > 0
        signs = [(left, columns // 2), (-left, columns // 2)] if both else [(left, columns)]
        found += [((rows - 1 + sign) // 2, many) for sign, many in signs]
    return found


def two_levels(k: int, supported: Floats, high: float, low: float, outputs: Floats | float = 1.0) -> float:
    """Efficiency at equal frequencies where an output has probability `high` under values that it supports, else `low`.

    Args:
        k: Number of values.
        supported: How many values each kind of output supports.
        high: Probability of an output under a value that it supports.
        low: Probability under another.
        outputs: How many outputs of each kind there are.
    """
    likely = supported * high + (k - supported) * low
    parts = supported * (k - supported) * (high - low) ** 2 / np.where(likely > 0, likely, 1.0)
    return float((outputs * parts).sum() / (k * (k - 1)))


def modular(k: int, m: int, omega: int, p: float) -> float:
    """Efficiency at equal frequencies of a subset of omega residues modulo m, the value's own with probability p.

    k mod m residues have one value more than the others; how many of them a subset holds is hypergeometric.
    """
    from scipy.special import gammaln

    each, fuller = divmod(k, m)
    held = np.arange(max(0, omega - (m - fuller)), min(omega, fuller) + 1, dtype=np.float64)

    def log_choose(n: int, r: Floats | float) -> Any:
        return gammaln(n + 1) - gammaln(r + 1) - gammaln(n - r + 1)

    share = np.exp(log_choose(fuller, held) + log_choose(m - fuller, omega - held) - log_choose(m, omega))
    return two_levels(k, omega * each + held, p * m / omega, (1 - p) * m / (m - omega), share)


def channel(law: Floats, shares: Floats) -> float:
    """Efficiency of a channel with few outputs, from P(y|v) as [y, v], at any frequencies."""
    held = shares > 0
    mean = law @ shares
    rows = mean > 0
    off = law[rows][:, held] / mean[rows, None] - 1
    return float(mean[rows] @ (off**2 @ shares[held]) / (np.count_nonzero(held) - 1))


def from_scores(scores: Floats, shares: Floats) -> Floats:
    """What each report contributes to the efficiency, from its log-likelihoods; reports drawn at these frequencies.

    Their mean estimates the efficiency at any frequencies, of any mechanism.
    """
    held = shares > 0
    chosen = scores[:, held]
    best = chosen.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        # Infinitely likelier than all others: the value is known.
        likelihood = np.where(np.isposinf(best), chosen == best, np.exp(chosen - best))
    weights = shares[held]
    mean = likelihood @ weights
    off = likelihood / mean[:, None] - 1
    return np.asarray(off**2 @ weights / (weights.size - 1), dtype=np.float64)


def _levels(null: Floats, own: Floats) -> tuple[Floats, Floats]:
    """Probabilities and ratios in ascending order; ratios that agree to nine digits are one."""
    ratios = own / null
    with np.errstate(divide="ignore"):
        keys = np.where(ratios > 0, np.round(np.log(ratios), 9), -np.inf)
    _, group = np.unique(keys, return_inverse=True)
    sizes = np.asarray(np.bincount(group, null), np.float64)
    return sizes, np.bincount(group, own) / sizes
