"""How often the value with the most support over tau reports is the true one, ties broken at random: exact formulas.

Other values are alike. If the true one has c reports behind it, it is guessed with probability 1/(1+j) where j others
have c too and none has more. With A for "less than c" and B for "c or less" of one other value, the sum over j is
(1/k) times the sum over i < k of B^i A^(k-1-i): all terms positive, nothing cancels. Where others are independent, A
and B are numbers; where all counts add up to tau, they are polynomials whose degree is the number of reports.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from hush.types import Floats

_MOST = 300
"""Up to so many reports polynomials are multiplied."""


def independent_votes(k: int, p: float, q: float, tau: int) -> float:
    """Each of tau reports speaks for the true value with probability p, for any other with q, independently."""
    return independent(binomial(tau, p), binomial(tau, q), k)


def binomial(tau: int, chance: float) -> Floats:
    """Probabilities of 0..tau reports."""
    from scipy.stats import binom

    return np.asarray(binom.pmf(np.arange(tau + 1), tau, chance), np.float64)


def independent(own: Floats, other: Floats, k: int) -> float:
    """Counts of all values are independent: probabilities of 0..tau for the true one and for each other."""
    upto = np.cumsum(other)
    shared = _ladder(upto - other, upto, k, np.multiply, np.ones(own.size))
    return float(own @ shared) / k


def direct(k: int, p: float, tau: int) -> float | None:
    """Randomized response: each report names one value, so that counts add up to tau."""
    if tau > _MOST:
        return None
    q = (1 - p) / (k - 1)
    counts = np.arange(1, tau + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(counts))])
    terms = np.exp(np.arange(tau + 1) * np.log(q * tau) - logs)  # (q tau)^i / i!, the factor tau against overflow
    total = 0.0
    for c in range(tau + 1):
        less, upto = (np.where(np.arange(tau + 1) < end, terms, 0.0) for end in (c, c + 1))
        rest = _ladder(less, upto, k, _times, np.eye(1, tau + 1)[0])[tau - c]
        total += np.exp(c * np.log(p) + logs[tau] - logs[c] - (tau - c) * np.log(tau)) * rest
    return float(total) / k


def _times(a: Floats, b: Floats) -> Floats:
    """The product of two polynomials, without what exceeds their degree."""
    return np.convolve(a, b)[: a.size]


def _ladder(
    a: Floats, b: Floats, k: int, times: Callable[[Floats, Floats], npt.NDArray[np.float64]], one: Floats
) -> Floats:
    """The sum over i < k of b^i a^(k-1-i), by doubling."""
    total, a_power, b_power = np.zeros_like(one), one, one  # for k = 0
    for bit in bin(k)[2:]:
        total = times(total, a_power + b_power)
        a_power, b_power = times(a_power, a_power), times(b_power, b_power)
        if bit == "1":
            total = times(total, b) + a_power
            a_power, b_power = times(a_power, a), times(b_power, b)
    return total
