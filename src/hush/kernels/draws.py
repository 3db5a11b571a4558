"""Binomial numbers inside compiled code, from the bit generator's words.

Sequential inversion where the mean is small, popcount for a few fair coins, else Hörmann's transformed rejection (BTRS,
J. Stat. Comput. Simul. 46, 1993), whose cost does not depend on n. It rejects against the exact probabilities, so the
law is exact up to the rounding of doubles.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hush.kernels.words import ONE, word

_UNIT = 2.0**-53
_SHIFT = np.uint64(11)
_INVERTED = 10.0  # up to this mean, inversion is faster
_TAILS = np.array([math.lgamma(x + 1) - (x + 0.5) * math.log(x + 1) + x + 1 for x in range(10)])
_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


@njit(nogil=True, inline="always")
def uniform(source):
    """A number in [0, 1), of 53 bits."""
    return np.float64(word(source) >> _SHIFT) * _UNIT


@njit(nogil=True)
def _tail(x):
    """What Stirling's (x + 1/2) ln(x + 1) - (x + 1) lacks of ln x!."""
    if x < 10:
        return _TAILS[np.int64(x)]
    y = x + 1.0
    square = y * y
    return _HALF_LOG_TAU + (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / y


@njit(nogil=True)
def _log_factorial(x):
    return (x + 0.5) * math.log(x + 1.0) - (x + 1.0) + _tail(x)


@njit(nogil=True)
def log_choose(n, x):
    """Logarithm of the number of ways to choose x of n."""
    return _log_factorial(n) - _log_factorial(x) - _log_factorial(n - x)


@njit(nogil=True)
def _popcount(x):
    x -= (x >> ONE) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(nogil=True)
def _small_mean(source, n, p):
    """Inversion, from zero upwards, for p up to 1/2."""
    odds = p / (1 - p)
    chance = math.exp(n * math.log1p(-p))
    left = uniform(source)
    x = 0
    while left >= chance and x < n:
        left -= chance
        chance *= odds * (n - x) / (x + 1)
        x += 1
        if chance < 1e-300:
            break
    return x


@njit(nogil=True, inline="always")
def _shape(n, p):
    """The constants of BTRS."""
    spread = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    return b, -0.0873 + 0.0248 * b + 0.01 * p, n * p + 0.5, 0.92 - 4.2 / b, (2.83 + 5.1 / b) * spread


@njit(nogil=True)
def _log_bound(n, p, x):
    """Logarithm of the probability of x, relative to the mode's."""
    odds = p / (1 - p)
    mode = math.floor((n + 1) * p)
    return (
        (mode + 0.5) * math.log((mode + 1) / (odds * (n - mode + 1)))
        + (n + 1) * math.log((n - mode + 1) / (n - x + 1))
        + (x + 0.5) * math.log(odds * (n - x + 1) / (x + 1))
        + _tail(mode)
        + _tail(n - mode)
        - _tail(x)
        - _tail(n - x)
    )


@njit(nogil=True)
def _rejection(source, n, p, shape):
    """BTRS, for p up to 1/2 and a mean of at least ten."""
    b, a, centre, sure, scale = shape
    while True:
        v = uniform(source)
        u = uniform(source) - 0.5
        edge = 0.5 - abs(u)
        if edge <= 0.0:
            continue
        x = math.floor((2 * a / edge + b) * u + centre)
        if edge >= 0.07 and v <= sure:
            return np.int64(x)
        if x < 0 or x > n or v <= 0.0:
            continue
        if math.log(v * scale / (a / (edge * edge) + b)) <= _log_bound(n, p, x):
            return np.int64(x)


@njit(nogil=True)
def binomial(source, n, p):
    """How many of n succeed, each with probability p."""
    if n <= 0 or p <= 0.0:
        return np.int64(0)
    if p >= 1.0:
        return np.int64(n)
    if p == 0.5 and n <= 64:
        return _popcount(word(source) >> np.uint64(64 - n))
    rare = min(p, 1 - p)
    found = _small_mean(source, n, rare) if n * rare < _INVERTED else _rejection(source, n, rare, _shape(n, rare))
    return found if p <= 0.5 else n - found


@njit(nogil=True)
def add_binomials(source, n, p, column):
    """Add such a number to every entry."""
    rare = min(p, 1 - p)
    if n * rare < _INVERTED:
        for i in range(column.size):
            column[i] += binomial(source, n, p)
        return
    shape = _shape(n, rare)
    for i in range(column.size):
        found = _rejection(source, n, rare, shape)
        column[i] += found if p <= 0.5 else n - found
