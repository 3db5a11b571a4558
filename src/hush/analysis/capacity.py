"""The estimated total of amounts (ETC): its variance, and bounds on the probability that it is off by a margin.

X_v people hold the value v, whose amount is a_v; the true total is the sum of a_v X_v. A server estimates the X_v and
adds up. Up to a shift and a scale the estimate is S, the sum of a_v times the number of reports that support v. Exact
probabilities follow from its characteristic function: see `waves` and `inversion`.

Variances are those of S; divide by (p - q)² for the total itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from hush.types import Floats, Ints

_MOST_PLACES = 1 << 12  # of a lattice that is looked for

# Variances.


def independent_bits(amounts: Floats, counts: Ints, p: float, q: float) -> float:
    """Of S, where a report supports its own value with p and each other, independently, with q: UE and ideal hashing.

    >>> import numpy as np
    >>> independent_bits(np.array([0.0, 1.0]), np.array([2, 1]), 0.75, 0.25)
    0.5625
    """
    own, others = counts * p * (1 - p), (counts.sum() - counts) * q * (1 - q)
    return float(amounts**2 @ (own + others))


def direct(amounts: Floats, counts: Ints, p: float, q: float) -> float:
    """Of S for randomized response: the true value with probability p, each other with q.

    >>> import numpy as np
    >>> direct(np.array([0.0, 1.0]), np.array([2, 1]), 0.75, 0.25)
    0.5625
    """
    a = amounts - amounts.mean()  # every report supports one value, so a shift changes nothing
    each = (p - q) * a**2 + q * (a @ a) - ((p - q) * a + q * a.sum()) ** 2
    return float(counts @ each)


def subsets(amounts: Floats, counts: Ints, omega: int, p: float) -> float:
    """Of S for subsets of omega values that hold the true one with probability p."""
    k = amounts.size
    q = (omega - p) / (k - 1)
    a = amounts - amounts.mean()  # every report supports omega values
    own_other = p * (omega - 1) / (k - 1) - p * q
    members = p * (omega - 1) * (omega - 2) + (1 - p) * omega * (omega - 1)
    two_others = members / ((k - 1) * (k - 2)) - q * q if k > 2 else 0.0
    rest, squares = a.sum() - a, a @ a - a**2
    each = a**2 * p * (1 - p) + squares * q * (1 - q) + 2 * a * rest * own_other + (rest**2 - squares) * two_others
    return float(counts @ each)


def channel(says: Floats, law: Floats, counts: Ints) -> float:
    """Of a sum of what outputs say, where law[y, x] is the probability of output y for the value x."""
    centred = says[:, None] - says @ law
    return float((law * centred**2).sum(axis=0) @ counts)


# Bounds, and the normal value.


def chebyshev(variance: float, margin: float) -> float:
    """The total is off by the margin |total - cap| or more with at most this probability, in either direction.

    >>> round(chebyshev(6167.32912411, 100.0), 4)
    0.6167
    """
    return variance / margin**2 if margin else math.inf


def cantelli(variance: float, margin: float) -> float:
    """The same in one direction, which is all that a wrong decision needs: always tighter.

    >>> round(cantelli(6167.32912411, 100.0), 4)
    0.3815
    """
    return variance / (variance + margin**2) if variance else 0.0


def normal(variance: float, margin: float) -> float:
    """The same, if the estimate were normally distributed.

    >>> round(normal(1481.76709459, 100.0), 6)
    0.004691
    """
    return 0.5 * math.erfc(margin / math.sqrt(2 * variance)) if variance else 0.0


def binary_epsilon(n: int, margin: float, probability: float) -> float:
    """The budget at which randomized response over {0, 1} decides wrongly with this probability, near enough.

    With z the normal quantile it is 2·asinh(z sqrt(n) / (2·margin)).

    >>> round(binary_epsilon(1000, 100.0, 0.01), 4)
    0.72
    """
    from scipy.special import ndtri

    return 2 * math.asinh(-float(ndtri(probability)) * math.sqrt(n) / (2 * abs(margin)))


# Lattices.


def lattice(numbers: Iterable[float], *, from_first: bool = False) -> float:
    """The largest step of which all numbers are multiples, as they are printed; 0 if there is none to be seen.

    Args:
        numbers: At least one.
        from_first: Whether their distances from the first are to be multiples, not they themselves.

    >>> lattice([0.0, 0.5, 2.0]), lattice([0.1, 19.99, 0.7], from_first=True)
    (0.5, 0.03)
    """
    exact = [Fraction(repr(float(x))) for x in numbers]
    if from_first:
        exact = [x - exact[0] for x in exact]
    exact = [x for x in exact if x]
    if not exact:
        return 0.0
    below = math.lcm(*(x.denominator for x in exact))
    step = Fraction(math.gcd(*(int(x * below) for x in exact)), below)
    return float(step) if step * 10**9 > max(abs(x) for x in exact) else 0.0


def on_lattice(numbers: Floats) -> tuple[float, Ints] | None:
    """A step and the places of the numbers on its lattice, or None if there is none to be seen."""
    span = float(np.ptp(numbers))
    if span == 0:
        return 1.0, np.zeros(numbers.size, np.int64)
    shares = (numbers - numbers.min()) / span
    least = np.diff(np.unique(np.round(shares, 12))).min()
    for parts in range(1, 33):
        places = np.rint(shares * parts / least)
        if places.max() < _MOST_PLACES and np.abs(shares - places / places.max()).max() < 1e-9:
            return span / float(places.max()), places.astype(np.int64)
    return None
