"""Privacy losses as numbers that anybody can read. What bounds a risk is rounded up, never down."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

from hush.guarantee import LDP, ApproxLDP, Guarantee

_FINE = Context(prec=60, Emax=10**15, Emin=-(10**15))
_ROUNDING = 1e-15
_CLEAR = 3  # significant digits that people are told
_MOST = 15  # and at most, where fewer would tell nothing
_POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def up(value: float | Decimal, digits: int = _CLEAR) -> Decimal:
    """A number with so many significant digits, rounded up.

    >>> up(2.71828), up(1.0), up(0.123456, 4)
    (Decimal('2.72'), Decimal('1'), Decimal('0.1235'))
    """
    return Context(prec=digits, rounding=ROUND_CEILING).plus(Decimal(value))


def down(value: float | Decimal, digits: int = _CLEAR) -> Decimal:
    """A number with so many significant digits, rounded down."""
    return Context(prec=digits, rounding=ROUND_FLOOR).plus(Decimal(value))


def plain(value: Decimal) -> str:
    """A number without needless zeros, in powers of ten where it is huge.

    >>> plain(Decimal("1.10E+3")), plain(Decimal("2.50")), plain(Decimal("3.2E+15"))
    ('1,100', '2.5', '3.2 × 10¹⁵')
    """
    if value.adjusted() < 12:
        return f"{value.normalize():,f}"
    power = value.adjusted()
    return f"{value.scaleb(-power).normalize():f} × 10{str(power).translate(_POWERS)}"


def loss(epsilon: float) -> str:
    """A privacy loss, with six digits, rounded up; one that was written with so few is told as it was written.

    The double that is nearest to 1.1 lies above it by less than anybody could mean.

    >>> loss(1.0), loss(1.4898801256447498), loss(1.1), loss(3 * 2.89)
    ('1', '1.48989', '1.1', '8.67')
    """
    if math.isinf(epsilon):
        return "infinite"
    short = f"{epsilon:.6g}"
    return plain(Decimal(short) if _same(short, epsilon) else up(epsilon, 6))


def declared(epsilon: float) -> str:
    """A declared loss as it was written, where that is short; else rounded up.

    >>> declared(0.5), declared(1.4898801256447498)
    ('0.5', '1.48989')
    """
    short = f"{epsilon:.6g}"
    return short if _same(short, epsilon) else loss(epsilon)


def _same(short: str, epsilon: float) -> bool:
    """Whether a loss is what is written, up to the rounding of doubles: three times 2.89 lies a little above 8.67."""
    return math.isclose(float(short), epsilon, rel_tol=_ROUNDING)


def factor(epsilon: float) -> Decimal:
    """e^epsilon, never less."""
    return _FINE.next_plus(_FINE.exp(Decimal(epsilon)))


def times(epsilon: float) -> str:
    """How many times likelier, at most: e^epsilon, rounded up.

    >>> times(1.0), times(0.0), times(12.0), times(100.0)
    ('2.72', '1', '163,000', '2.69 × 10⁴³')
    """
    return plain(up(factor(epsilon) if epsilon else Decimal(1)))


def _share(part: Decimal, rest: Decimal) -> Decimal:
    """In percent."""
    return _FINE.multiply(Decimal(100), _FINE.divide(part, _FINE.add(part, rest)))


def _short_of_all(share: Decimal) -> Decimal:
    """A share in percent, rounded up, with digits enough that it does not read as certainty."""
    digits = _CLEAR
    while up(share, digits) >= 100 and digits < _MOST:
        digits += 1
    return up(share, digits)


def at_most(before: float, epsilon: float) -> str:
    """How likely a value can seem after a report, in percent, that seemed so likely before it: Bayes, rounded up.

    >>> at_most(0.1, 1.0), at_most(0.5, 1.0), at_most(0.5, 12.0)
    ('23.2', '73.2', '99.9994')
    """
    prior = Decimal(str(before))
    return plain(_short_of_all(_share(factor(epsilon) * prior, 1 - prior)))


def at_least(before: float, epsilon: float) -> str:
    """How unlikely it can seem, in percent, rounded down.

    >>> at_least(0.1, 1.0)
    '3.92'
    """
    prior = Decimal(str(before))
    return plain(down(_share(prior, factor(epsilon) * (1 - prior))))


def told_apart(promise: LDP | ApproxLDP) -> float:
    """How often somebody is right, at most, who knows that one of two equally likely values is held.

    >>> round(told_apart(LDP(1.0)), 3)
    0.731
    """
    delta = Decimal(promise.delta if isinstance(promise, ApproxLDP) else 0)
    ratio = factor(promise.epsilon)
    return float(min(_FINE.divide(_FINE.add(ratio, delta), _FINE.add(ratio, Decimal(1))), Decimal(1)))


def guessed(promise: Guarantee, k: int) -> float | None:
    """How often the best guess of one of k equally likely values is right, at most; None where no promise bounds it.

    >>> round(guessed(LDP(1.0), 4), 3)
    0.475
    """
    if not isinstance(promise, LDP):
        return None
    ratio = factor(promise.epsilon)
    return float(_FINE.divide(ratio, _FINE.add(ratio, Decimal(k - 1))))


def guesses(chance: float, luck: float) -> tuple[str, str, str]:
    """How often a guess is right, how often by luck, and of how many: as counts of a round number.

    >>> guesses(0.3797, 0.25), guesses(0.00171, 0.001)
    (('38', '25', '100'), ('1.71', '1', '1,000'))
    """
    of = Decimal(10) ** max(2, math.ceil(-math.log10(luck) - 1e-9))
    blind = Context(prec=_CLEAR, rounding=ROUND_HALF_EVEN).plus(Decimal(luck) * of)
    return plain(_count(Decimal(chance) * of, of)), plain(blind), plain(of)


def _count(count: Decimal, of: Decimal) -> Decimal:
    """A number of right guesses, rounded up; all of them only where it is all of them."""
    digits = _CLEAR
    while up(count, digits) >= of > count and digits < _MOST:
        digits += 1
    return min(up(count, digits), of)


def share(chance: float) -> str:
    """A probability in percent.

    >>> share(0.47536), share(1.0)
    ('47.5 %', '100 %')
    """
    return f"{plain(Context(prec=_CLEAR).plus(Decimal(chance) * 100))} %"


def small(chance: float) -> str:
    """A small probability in decimals, rounded up; in powers of ten where there are too many zeros.

    >>> small(1e-5), small(1.2e-4), small(1e-30)
    ('0.00001', '0.00012', '1e-30')
    """
    rounded = up(Decimal(str(chance)))
    return f"{rounded.normalize():f}" if rounded.adjusted() > -9 else f"{rounded.normalize():e}"


def one_in(chance: float) -> str:
    """A small probability, as a person would say it.

    >>> one_in(1e-5), one_in(0.25)
    ('1 in 100,000', '1 in 4')
    """
    return f"1 in {plain(down(Decimal(1) / Decimal(str(chance))))}"


def amount(value: float) -> str:
    """An error, rounded up."""
    return plain(up(value))
