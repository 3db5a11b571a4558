"""exp and log that every processor agrees on, for numbers from which a parameter is chosen.

A mathematics library is right to about the last bit, and which way that bit falls differs between processors. These
are computed in decimals and rounded once; sums, products, quotients and square roots of doubles are the same
everywhere by themselves. So is what follows from both. They take some ten microseconds, and are for single numbers.
"""

from __future__ import annotations

from decimal import Context, Decimal
from functools import lru_cache

_DIGITS = Context(prec=50)


@lru_cache(maxsize=4096)
def exp(x: float) -> float:
    """e^x, as the nearest double.

    >>> exp(1.0)
    2.718281828459045
    """
    return float(Decimal(x).exp(_DIGITS))


@lru_cache(maxsize=4096)
def expm1(x: float) -> float:
    """e^x - 1, as the nearest double, for x of 10^-16 and more.

    >>> expm1(1e-6)
    1.0000005000001665e-06
    """
    return float(_DIGITS.subtract(Decimal(x).exp(_DIGITS), Decimal(1)))


def log(x: float) -> float:
    """The natural logarithm, as the nearest double.

    >>> log(2.0)
    0.6931471805599453
    """
    return float(Decimal(x).ln(_DIGITS))
