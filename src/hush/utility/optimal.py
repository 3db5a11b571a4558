"""Parameters of utility-optimized mechanisms that minimize the exact error, and the document's closed forms by name.

The error is `theory.mean_squared_error_alone` or, for `reveal="pair"` as in the document, `theory.mean_squared_error`,
with the z* that is really used. A parameter is searched for directly: the
closed forms of equations 49 and 63 need s far above the number of buckets; those of 37 and 43 are for a constant z.
Real ones have six digits, and every processor finds the same (`hush.analysis.choice`).
"""

from __future__ import annotations

import math

import numpy as np

from hush.analysis import choice, portable
from hush.mechanisms.hashing import most_buckets
from hush.types import Floats
from hush.utility import theory


def subset_size(s: int, epsilon: float, theta: float, z: str = "exact", reveal: str = "alone") -> int:
    """The subset size with the least error.

    >>> subset_size(230, 0.5, 0.77), subset_size(230, 0.5, 0.77, reveal="pair")
    (97, 87)
    """
    e = portable.exp(epsilon)

    def curve(omega: Floats) -> Floats:
        p = omega * e / (omega * e + s - omega)
        q = omega * ((omega - 1) * e + s - omega) / ((s - 1) * (omega * e + s - omega))  # (omega - p)/(s - 1), above 0
        star = 1 - theory.disguise_rate(s, p, q) if z == "none" else theory.z_star_subset(s, epsilon, omega)
        return _error(s, epsilon, theta, p, q, star, reveal, exact=False)

    return choice.whole(curve, 1, s - 1)


def subset_size_paper(s: int, epsilon: float, theta: float) -> float:
    """Equation 37, as a real number.

    >>> round(subset_size_paper(230, 0.5, 0.77), 2)
    86.8
    """
    e = portable.exp(epsilon)
    root = (s - 1) * (e * (s + theta - 1) - theta) / (e * (portable.expm1(epsilon) * theta + (s - 1) ** 2))
    return s / (e * math.sqrt(root) + 1)


def unary_probability(s: int, epsilon: float, theta: float, z: str = "exact", reveal: str = "alone") -> float:
    """The probability of a one in the true value's bit with the least error."""
    e = portable.exp(epsilon)

    def curve(p: Floats) -> Floats:
        q = p / (e * (1 - p) + p)
        return _error(s, epsilon, theta, p, q, theory.z_star_bits(s, epsilon, p, q, z), reveal, exact=z == "exact")

    ends = np.geomspace(1e-9, 0.3, 500)
    return choice.share(curve, np.unique(np.concatenate([ends, np.linspace(0.3, 0.7, 500), 1 - ends])))


def unary_probability_paper(s: int, epsilon: float, theta: float) -> float:
    """Equation 43, exact for a constant z.

    >>> round(unary_probability_paper(424, 5.0, 0.56), 3)
    0.518
    """
    e, less = portable.exp(epsilon), portable.expm1(epsilon)
    root = (e * s + less * (theta - 1)) / (e * (s - less * (theta - 1)))
    return 1 / (math.sqrt(root) + 1)


def hash_range(
    s: int, epsilon: float, theta: float, z: str = "exact", reveal: str = "alone", *, powers: bool = False
) -> int:
    """The number of buckets with the least error; over a balanced family no more than there are values.

    With `powers`, only the powers of two up to 256 are looked at, as a public family needs.

    >>> hash_range(25, 1.0, 0.77), hash_range(25, 1.0, 0.77, reveal="pair")
    (3, 4)
    """
    e = portable.exp(epsilon)

    def curve(g: Floats) -> Floats:
        p = e / (e + g - 1)
        if z == "balanced":
            held, more = np.divmod(s, g)
            coll = (more * (held + 1) * held + (g - more) * held * (held - 1)) / (s * (s - 1))
            q = (1 + portable.expm1(epsilon) * coll) / (e + g - 1)
            return _error(s, epsilon, theta, p, q, theory.z_star_balanced(s, epsilon, g), reveal, exact=False)
        star = theory.z_star_bits(s, epsilon, p, 1 / g, z, hashed=True)
        return _error(s, epsilon, theta, p, 1 / g, star, reveal, exact=z == "exact")

    if powers:
        grid = np.array([2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0])
        return int(grid[choice.first(curve(grid))])
    return choice.whole(curve, 2, s if z == "balanced" else most_buckets(s))


def hash_range_paper(s: int, epsilon: float, theta: float) -> float:
    """Equation 49, as a real number; it needs s far above g.

    >>> round(hash_range_paper(25, 5.0, 0.95), 1)
    57.5
    """
    e = portable.exp(epsilon)
    return e * math.sqrt((e * (s + theta - 1) - theta + 1) / (e * (e + s - 1))) + 1


def coverage(s: int, epsilon: float, theta: float, z: str = "exact", reveal: str = "alone") -> float:
    """The share of the wheel's ring that an arc covers with the least error."""
    e = portable.exp(epsilon)

    def curve(share: Floats) -> Floats:
        p = share * e / (share * e + 1 - share)
        star = theory.z_star_bits(s, epsilon, p, share, z, hashed=True)
        return _error(s, epsilon, theta, p, share, star, reveal, exact=z == "exact")

    grid = np.geomspace(1 / most_buckets(s), 0.3, 1000)
    return choice.share(curve, np.unique(np.concatenate([grid, np.linspace(0.3, 0.99, 500)])))


def coverage_paper(s: int, epsilon: float, theta: float) -> float:
    """Equation 63; it needs s far above 1/l."""
    return 1 / hash_range_paper(s, epsilon, theta)


def _error(
    s: int, epsilon: float, theta: float, p: Floats, q: Floats, star: Floats, reveal: str, *, exact: bool
) -> Floats:
    if reveal == "alone":
        return theory.mean_squared_error_alone(s, epsilon, theta, p, q, star, exact=exact)
    return theory.mean_squared_error(s, theta, p, q, star)
