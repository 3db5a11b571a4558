"""Two rounds of noise, one after the other, in exact integers.

A first, permanent round is drawn once and kept; every report adds a second, fresh round. Laws of one report follow from
both rounds' thresholds by integer arithmetic (S is 2^64), and the second round's threshold is the one with the
least noise for which the loss of one report stays within its budget. The loss of many reports of one value is the
logarithm of a ratio of mixtures over what was kept, computed to a hundred digits and rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction

from hush import rules
from hush.errors import ParameterError, message
from hush.exact.thresholds import SCALE, exp_below
from hush.guarantee import above

MAX_EPSILON = 20.0
"""Up to here a 64-bit threshold is good to one part in a billion."""

_DIGITS = Context(prec=100)
_SLACK = 1e-6  # how far below its budget a report may stay before the parameters are refused

Bits = tuple[int, int]
"""Thresholds of a one, where the bit before was one (or the value's own), and where it was not."""


def permanent(value: object, name: str = "epsilon_permanent") -> float:
    """A budget for all reports of one value together."""
    remedy = "choose the loss of all reports of one value, in nats, e.g. 2.0"
    return rules.number(name, value, rules.MIN_EPSILON, MAX_EPSILON, remedy, closed=True)


def first(value: object, above: float, name: str = "epsilon_report") -> float:
    """A budget for one report, below the permanent one."""
    remedy = "choose less than epsilon_permanent, e.g. half of it; for no second round use Memoized"
    return rules.number(name, value, math.nextafter(rules.MIN_EPSILON, 0.0), above, remedy)


def reports_of(tau: object, *, endless: bool = False) -> int | float:
    """A number of reports; infinity where it makes sense."""
    if endless and tau == math.inf:
        return math.inf
    return rules.integer("tau", tau, 1, 10**9, "count the reports of one person")


def times(epsilon: float, count: int) -> float:
    """A loss, so many times, rounded up.

    >>> times(0.1, 3) >= 3 * Fraction(0.1)
    True
    """
    return above(Fraction(epsilon) * count)


def _least(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least threshold from which on a rule holds; it must hold at `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


# Randomized response twice over `size` values: kept with probability keep / S, else another one, uniformly.


def direct(size: int, keep: int, again: int) -> tuple[int, int]:
    """Weights of a report that is not the value, and of one that is, over S² (size-1)²."""
    lost, lost_again, others = SCALE - keep, SCALE - again, size - 1
    own = others * (others * keep * again + lost * lost_again)
    other = others * (keep * lost_again + lost * again) + (size - 2) * lost * lost_again
    return other, own


def second_keep(size: int, keep: int, epsilon: float) -> int:
    """The largest probability of keeping again for which one report loses at most epsilon."""
    e = exp_below(epsilon)

    def holds(lost: int) -> bool:
        other, own = direct(size, keep, SCALE - lost)
        return own * e.denominator <= other * e.numerator

    return SCALE - _least(holds, 1, SCALE - SCALE // size)


def direct_loss(size: int, keep: int, again: int, tau: float) -> float:
    """Loss of tau reports of one value: the worst sequence names one value every time."""
    with localcontext(_DIGITS):
        others = Decimal(size - 1)
        kept, lost = keep * others, Decimal(SCALE - keep)
        fade = _power(Decimal(SCALE - again) / (again * others), tau)
        return _log_up((kept + others * lost * fade) / (lost + (kept + (others - 1) * lost) * fade))


# Bits: one with probability p / S where the bit before was one, q / S where it was not.


def bits(before: Bits, after: Bits) -> Bits:
    """Weights of a one in the value's own bit, and in another, over S²."""
    (p, q), (p_again, q_again) = before, after
    return p * p_again + (SCALE - p) * q_again, q * p_again + (SCALE - q) * q_again


def pair_ratio(own: int, other: int, unit: int) -> tuple[int, int]:
    """The largest ratio of probabilities of two bits, as a fraction of integers."""
    return own * (unit - other), other * (unit - own)


def second_bits(before: Bits, epsilon: float, *, symmetric: bool) -> Bits:
    """The second round with the least noise for which one report loses at most epsilon.

    Symmetric bits flip with one probability. Otherwise a one stays with probability 1/2.
    """
    e = exp_below(epsilon)

    def after(q: int) -> Bits:
        return (SCALE - q if symmetric else SCALE // 2), q

    def holds(q: int) -> bool:
        above, below = pair_ratio(*bits(before, after(q)), SCALE**2)
        return above * e.denominator <= below * e.numerator

    q = _least(holds, 1, SCALE // 2)
    reach = bit_loss(before, after(1), 1)
    if reach < epsilon - _SLACK:
        rule = f"must be at most {math.floor(reach * 1e6) / 1e6:g} here, since a one is kept with probability 1/2"
        raise ParameterError(
            message("epsilon_report", rule, epsilon, "lower it, or use LOSUE, which has no such limit")
        )
    return after(q)


def bit_loss(before: Bits, after: Bits, tau: float) -> float:
    """Loss of tau reports of one value: the worst sequence has ones in its bit and zeros in another's, every time."""
    with localcontext(_DIGITS):
        p, q, p_again, q_again = (Decimal(t) / SCALE for t in (*before, *after))
        ones = _power(q_again / p_again, tau)
        zeros = _power((1 - p_again) / (1 - q_again), tau)
        above = (p + (1 - p) * ones) * (1 - q + q * zeros)
        below = (q + (1 - q) * ones) * (1 - p + p * zeros)
        return _log_up(above / below)


def _power(base: Decimal, tau: float) -> Decimal:
    return Decimal(0) if tau == math.inf else base ** int(tau)


def _log_up(ratio: Decimal) -> float:
    """The logarithm, rounded up to the next double; the hundredth digit is not trusted."""
    exact = ratio.ln().quantize(Decimal("1e-80"), ROUND_CEILING)
    nearest = float(exact)
    return nearest if Decimal(nearest) >= exact else math.nextafter(nearest, math.inf)
