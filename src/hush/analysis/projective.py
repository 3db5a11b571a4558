"""Projective geometries over finite fields: their sizes, the error of the response built on them, and the best field.

Feldman, Nelson, Nguyen and Talwar (ICML 2022). In t dimensions over the field of order q there are K points; each
hyperplane holds c_set of them, and two hyperplanes share c_int.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hush.analysis import portable
from hush.analysis.choice import first
from hush.analysis.primes import primes
from hush.errors import ParameterError, message
from hush.types import Floats, Ints

MAX_POINTS = 2**27
"""Messages that a server can hold: a gigabyte of counts."""

MAX_TABLE = 2**10
"""Fields that are not prime are tables of products, up to this order."""

_USUAL_POINTS = 2**25
_WORTH_A_BIT = math.log(1.02)
_ROOT = 2**14
"""The square root of the largest number that is looked at."""


def points(q: int, t: int) -> int:
    """Number of points of the projective geometry, (q^t - 1) / (q - 1).

    >>> points(89, 4)
    712980
    """
    return (q**t - 1) // (q - 1)


def dimension(k: int, q: int) -> int:
    """The least t, from 2, with a point for each of k values.

    >>> dimension(22_000, 89)
    4
    """
    t = 2
    while points(q, t) < k:
        t += 1
    return t


def unrank(ranks: npt.ArrayLike, q: int, t: int) -> Ints:
    """Coordinates of points, lowest first, along a new last axis: their highest coordinate that is not zero is one.

    Points are in order of the number of digits below that one, then of these digits, read as a number.

    >>> unrank([0, 1, 2, 3, 4], 3, 3).tolist()
    [[1, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 0], [0, 0, 1]]
    """
    given = np.asarray(ranks, np.int64)
    starts = np.array([points(q, digits) for digits in range(t)])
    digits = np.searchsorted(starts, given, side="right") - 1
    numbers = given - starts[digits] + q**digits
    return np.asarray(numbers[..., None] // q ** np.arange(t) % q, np.int64)


def rank(vectors: npt.ArrayLike, q: int) -> Ints:
    """The ranks of points, from canonical coordinates: the inverse of `unrank`.

    >>> rank([[2, 1, 0], [0, 0, 1]], 3).tolist()
    [3, 4]
    """
    given = np.asarray(vectors, np.int64)
    t = given.shape[-1]
    digits = t - 1 - np.argmax(given[..., ::-1] != 0, axis=-1)
    starts = np.array([points(q, i) for i in range(t)])
    return np.asarray(given @ q ** np.arange(t) - q**digits + starts[digits], np.int64)


def mean_variance(k: int, epsilon: float, q: npt.ArrayLike, t: npt.ArrayLike) -> Floats:
    """Variance of one report, as the mean over the k values: the same for every distribution."""
    order, size = np.asarray(q, np.float64), np.asarray(t, np.float64)
    whole, inside, both = ((order ** (size - less) - 1) / (order - 1) for less in range(3))
    excess = portable.expm1(epsilon)
    low = 1 / (excess * inside + whole)
    other = (excess * both + inside) * low
    gap = low * excess * order ** (size - 2)
    neither = (whole - 2 * inside - excess * both) * low  # 1 - p* - q*, without cancellation
    return np.asarray(other * (1 - other) / gap**2 + neither / (gap * k))


def best_order(k: int, epsilon: float) -> int:
    """The order of the field with the least mean variance, where twice the messages must be worth 2 % of it.

    A field of almost any order near e^epsilon + 1 has nearly the least error, but some need thirty times as many
    messages as there are values: more bits in each report, and more work for the server. So an order with more
    messages is taken only if every further bit of a report lowers the variance by 2 %. Beyond 33 million messages,
    or twice the values where there are more, none is taken.

    >>> best_order(22_000, 4.5), best_order(22_000, 5.0), best_order(1024, 1.0)
    (149, 149, 4)
    """
    orders, sizes, messages = _candidates(k)
    cost = np.log(mean_variance(k, epsilon, orders, sizes)) + _WORTH_A_BIT * np.log2(messages)
    return int(orders[first(np.exp(cost - cost.min()))])


def closest_order(epsilon: float) -> int:
    """The prime closest to e^epsilon + 1, as in the literature; of two, the smaller.

    >>> closest_order(4.5), closest_order(2.0)
    (89, 7)
    """
    goal = portable.exp(epsilon) + 1
    if goal > MAX_POINTS:
        remedy = "leave q out for the order with the least error"
        raise ParameterError(message("q", f"must be at most {MAX_POINTS}", f"a prime near {goal:.4g}", remedy))
    below = next((n for n in range(math.floor(goal), 1, -1) if is_prime(n)), 2)
    above = _next_prime(math.floor(goal) + 1)
    return min(below, above, key=lambda prime: (abs(prime - goal), prime))


def is_prime(n: int) -> bool:
    """Whether n, below 2^28, is a prime.

    >>> [n for n in range(20) if is_prime(n)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    small = primes(_ROOT)
    return n >= 2 and bool((n % small[small.astype(np.int64) ** 2 <= n]).all())


def characteristic(q: int) -> int:
    """The prime whose power q is, or 0 if there is none.

    >>> characteristic(8), characteristic(6)
    (2, 0)
    """
    if is_prime(q):
        return q
    least = next((p for p in primes(_ROOT).tolist() if q % p == 0), q)
    rest = q
    while rest > 1 and rest % least == 0:
        rest //= least
    return least if q > 1 and rest == 1 else 0


@lru_cache(maxsize=256)
def _candidates(k: int) -> tuple[Ints, Ints, Floats]:
    """Orders worth a look, with their dimensions and numbers of messages, the fewest messages first."""
    limit = min(MAX_POINTS, max(_USUAL_POINTS, 2 * k))
    lines = [q for q in _orders() if q + 1 >= k][:1] or [_next_prime(k - 1)]
    found = [(points(q, t), q, t) for q in _orders() if (t := dimension(k, q)) > 2]
    found += [(q + 1, q, 2) for q in lines]  # in two dimensions the fewest messages have the least error
    rows = np.array(sorted(row for row in found if row[0] <= limit), np.int64)
    return rows[:, 1], rows[:, 2], rows[:, 0].astype(np.float64)


@lru_cache(maxsize=1)
def _orders() -> tuple[int, ...]:
    """All orders with a geometry of three dimensions within the limits: primes, and prime powers that have tables."""
    last = math.isqrt(MAX_POINTS)
    small = [p for p in primes(_ROOT).tolist() if points(p, 3) <= MAX_POINTS]
    powers = [p**e for p in small for e in range(2, MAX_TABLE.bit_length()) if p**e <= MAX_TABLE]
    return tuple(sorted(q for q in small + powers if q <= last))


def _next_prime(n: int) -> int:
    """The least prime that is not below n."""
    while not is_prime(n):
        n += 1
    return n
