"""Closed forms of utility-optimized mechanisms: how often a value is revealed, and the mean squared error.

`E` is e^epsilon, `s` the number of sensitive values, `theta` the share of people whose value is not sensitive. The
error is that of document 002: the sum over all values of the variance of one report (equation 28); divide it by n.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hush.analysis import portable, success
from hush.mechanisms.base import FrequencyOracle
from hush.types import Floats


def mean_squared_error(
    s: int, theta: float, p: npt.ArrayLike, q: npt.ArrayLike, z_star: npt.ArrayLike, *, n: int = 1
) -> Floats:
    """Equation 28, summed over all values, for a pure mechanism.

    >>> round(float(mean_squared_error(10, 0.77, 0.5, 0.274, 0.3)), 3)
    40.973
    """
    own, other, star = (np.asarray(part, np.float64) for part in (p, q, z_star))
    gap = own - other
    first = (1 - theta) * (1 - own - other) / gap
    return np.asarray((first + s * other * (1 - other) / gap**2 + theta * (1 - star) / star) / n)


def mean_squared_error_alone(
    s: int, epsilon: float, theta: float, p: npt.ArrayLike, q: npt.ArrayLike, z_star: npt.ArrayLike, *, exact: bool
) -> Floats:
    """The same where a revealed value goes alone, for one report: never more, since a pair's base report is noise.

    A person whose value is not sensitive then sends a protected report that supports a given sensitive value with
    probability r = p/E (exact z) or q (1 - z*)/f (constant z), and any revealed value counts as the mean of the rest.

    >>> p, q, star = 0.5, 1 / (1 + math.e), 0.3
    >>> bool(mean_squared_error_alone(25, 1.0, 0.7, p, q, star, exact=True) < mean_squared_error(25, 0.7, p, q, star))
    True
    """
    own, other, star = (np.asarray(part, np.float64) for part in (p, q, z_star))
    gap = own - other
    support = own / portable.exp(epsilon) if exact else other * (1 - star) / disguise_rate(s, own, other)
    mean = support - (1 - star) * other
    square = support * (1 - other) ** 2 + (1 - star - support) * other**2
    saved = other * (1 - other) - square - mean**2 / star
    return np.asarray(mean_squared_error(s, theta, own, other, star) - theta * s * saved / gap**2)


def disguise_rate(s: int, p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Equation 9: f, for which another value's support is that of any sensitive one."""
    own, other = np.asarray(p, np.float64), np.asarray(q, np.float64)
    return np.asarray(s * other / (own + (s - 1) * other))


def z_star_bits(
    s: int, epsilon: float, p: npt.ArrayLike, q: npt.ArrayLike, z: str = "exact", *, hashed: bool = False
) -> Floats:
    """Of unary encoding, or of local hashing and the wheel under an ideal hash (errata 15 to 17).

    >>> g, e = 4, math.e
    >>> round(float(z_star_bits(10, 1.0, e / (e + g - 1), 1 / g)), 3)
    0.325
    """
    own, other = np.asarray(p, np.float64), np.asarray(q, np.float64)
    e = portable.exp(epsilon)
    if z == "exact":
        return np.asarray(1 - s * success.independent_bits(s, own, other) / e)
    f = disguise_rate(s, own, other)
    if z == "none":
        return np.asarray(1 - f)
    if z == "paper" and hashed:
        return np.asarray(1 - f + f * (1 - own / (e * other)))
    return np.asarray(np.full(own.shape, portable.expm1(epsilon) / (e + s - 1)))


def z_star_subset(s: int, epsilon: float, omega: npt.ArrayLike) -> Floats:
    """Of subset selection, where all choices of z but none agree; omega = 1 is randomized response.

    >>> round(float(z_star_subset(25, 1.0, 7)), 6)
    0.324835
    """
    gain = np.asarray(omega, np.float64) * portable.expm1(epsilon)
    return np.asarray(gain / (gain + s))


def z_star_balanced(s: int, epsilon: float, g: npt.ArrayLike) -> Floats:
    """Of local hashing over a balanced family, whose least bucket holds s // g values.

    >>> round(float(z_star_balanced(10, 1.0, 3)), 6)
    0.340145
    """
    gain = (s // np.asarray(g)) * portable.expm1(epsilon)
    return np.asarray(gain / (gain + s))


def z_star_by_attack(base: FrequencyOracle) -> float:
    """The theorem: the largest z* that a base mechanism allows is 1 - s·ASR/E.

    A protected report y must come from another value with probability at least max_i p_i(y) / E, and need not come
    more often. So what is left to reveal is 1 minus the sum of those, and that sum is s times the success of the best
    guess of a sensitive value, under a uniform prior.

    >>> from hush import GRR
    >>> round(z_star_by_attack(GRR(k=10, epsilon=1.0)), 6)
    0.146633
    """
    return 1 - base.k * base.asr() / math.exp(base.epsilon)


def z_star_by_enumeration(base: FrequencyOracle) -> list[float]:
    """The largest z* by looking at every output, for each example of public randomness."""
    found = []
    for public in base.publics():
        total = sum(
            base.copies(y) * max(base.weight(y, value) for value in range(base.k)) for y in base.outputs(public)
        )
        found.append(1 - total / base.denominator / math.exp(base.epsilon))
    return found


def true_loss_hashing(s: int, epsilon: float, g: float) -> float:
    """What local hashing with the printed z really spends, at the hash function that is worst (errata 15).

    >>> round(true_loss_hashing(10, 1.0, 4), 4)
    1.2851
    """
    e = math.exp(epsilon)
    return epsilon + math.log((e * g + (e + g - 1) * (s - 1)) / (g * (e + s - 1)))


def true_loss_wheel(s: int, epsilon: float, coverage: float) -> float:
    """What the wheel with the printed z really spends (errata 16).

    >>> round(true_loss_wheel(10, 1.0, 0.25), 4)
    1.2851
    """
    e = math.exp(epsilon)
    return epsilon + math.log((e + (s - 1) * (coverage * e + 1 - coverage)) / (e + s - 1))
