"""Probabilities as integers out of 2^64, rounded so that the loss never exceeds epsilon.

Everything here is exact: e^epsilon is bounded from below by a rational number with sixty digits, thresholds follow
from it by rational arithmetic with directed rounding, and the loss of a sampler is the logarithm of a ratio of
integers, rounded up to the next double. So a stated loss is at most epsilon if and only if the true one is.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

SCALE = 1 << 64
"""Number of 64-bit words: a threshold t stands for the probability t / SCALE."""

_DIGITS = Context(prec=60)


def exponential(x: Fraction) -> Fraction:
    """e^x to more than fifty digits, the same on every machine."""
    with localcontext(_DIGITS):
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


@lru_cache(maxsize=1 << 10)
def exp_below(x: float) -> Fraction:
    """A rational number below e^x by less than one part in 10^58."""
    return Fraction(Decimal(x).exp(_DIGITS)) * (1 - Fraction(1, 10**58))


@lru_cache(maxsize=1 << 12)
def log_ratio(above: int, below: int) -> float:
    """The natural logarithm of a ratio of integers, rounded up.

    >>> log_ratio(3, 1)
    1.0986122886681098
    """
    if below == 0:
        return math.inf
    with localcontext(_DIGITS) as context:
        context.prec = 80
        exact = (Decimal(above) / Decimal(below)).ln()
        nearest = float(exact)
        return nearest if Decimal(nearest) >= exact else math.nextafter(nearest, math.inf)


def clamp(threshold: int) -> int:
    """Keep a threshold strictly inside, so that every output stays possible."""
    return min(max(threshold, 1), SCALE - 1)


def keep(epsilon: float, inside: int, outside: int, delta: float = 0.0) -> int:
    """The largest probability of an output among `inside` favoured ones, against `outside` others.

    With both groups uniform, the loss is ln[keep·outside / ((1-keep)·inside)]; delta (with inside = 1) is how far
    the favoured output may exceed e^epsilon times the others.
    """
    e = exp_below(epsilon)
    return clamp(int(SCALE * (inside * e + Fraction(delta) * outside) / (inside * e + outside)))


def other_bit(epsilon: float, own: int) -> int:
    """The least threshold q of a unary bit such that ln[p(1-q) / (q(1-p))] is at most epsilon."""
    e = exp_below(epsilon)
    exact = SCALE * Fraction(own) / (e * (SCALE - own) + own)
    return clamp(-int(-exact // 1))


def symmetric_bit(epsilon: float, delta: float) -> int:
    """The least threshold q of a unary bit, with p = 1 - q, such that p² is at most e^epsilon q² + delta."""
    if delta == 0.0:
        root = exp_below(epsilon / 2)
        return clamp(-int(-(SCALE / (root + 1)) // 1))
    with localcontext(_DIGITS):
        e, d = Decimal(epsilon).exp(), Decimal(delta)
        guess = int(((e * (1 - d) + d).sqrt() - 1) / (e - 1) * SCALE)
    lower, slack = exp_below(epsilon), Fraction(delta) * SCALE**2
    q = clamp(guess - 2)
    while (SCALE - q) ** 2 > lower * q**2 + slack:
        q += 1
    return q


def shared_bit(epsilon: float, bits: int) -> int:
    """The least threshold q of a bit, with p = 1 - q, such that (p/q)^bits is at most e^epsilon."""
    root = exponential(Fraction(epsilon) / bits) * (1 - Fraction(1, 10**50))
    return clamp(-int(-(SCALE / (root + 1)) // 1))
