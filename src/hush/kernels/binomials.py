"""The sum of two independent binomials: its tails, to many digits however small, and its exact test inverted.

How many reports support a value is such a sum: of those who hold it with one probability, of the others with another.
A tail is a sum of positive terms over the narrower of the two, so that nothing cancels; it is cut where what is left
is below 1e-15 of it. Where the sum varies much, it is read off its transform, tilted to where the tail begins: a few
dozen frequencies have all of it, for any number of people, with as many digits as those numbers leave.
"""

from __future__ import annotations

import cmath
import math

import numpy as np

from hush.kernels.compiled import kernel
from hush.types import Ints

_FAR = 9.0  # deviations beyond which a tilted binomial has nothing left, with a few places more for a small one
_MORE = 25.0
_LEAST = 1e-300
_CARE = 1e-9  # of a chance: rounding must not reject what the exact test does not
_COARSE = 2e-14  # of it and of the root of n: what rounding does to means of so many
_MANY = 1e5  # a variance from which on frequencies are fewer than people
_TRIES = 12  # of lines, before halves are taken
_WIDE = 10.0  # deviations beyond which such a sum has less left than rounding: by Bernstein's inequality, exp(-49)
_FAINT = -46.0  # the logarithm of a wave that is less than rounding


@kernel
def _remainder(n):
    """log n! less Stirling's formula."""
    if n < 16:
        return math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - 0.9189385332046727 if n > 0 else 0.0
    square = n * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / n


@kernel
def _deviance(x, mean):
    """x log(x / mean) + mean - x, without cancellation."""
    apart = x - mean
    if abs(apart) > 0.1 * (x + mean):
        return x * math.log(x / mean) - apart
    small = apart / (x + mean)
    total, power, j = apart * small, 2 * x * small, 1
    while True:
        power *= small * small
        more = total + power / (2 * j + 1)
        if more == total:
            return total
        total = more
        j += 1


@kernel
def mass(x, n, p):
    """The probability that a binomial is x; relatively precise for all n."""
    if x < 0 or x > n:
        return 0.0
    if p <= 0.0 or p >= 1.0:
        return 1.0 if x == (n if p >= 1.0 else 0) else 0.0
    if x == 0:
        return math.exp(n * math.log1p(-p))
    if x == n:
        return math.exp(n * math.log(p))
    log = _remainder(n) - _remainder(x) - _remainder(n - x) - _deviance(x, n * p) - _deviance(n - x, n * (1 - p))
    return math.exp(log) * math.sqrt(n / (2 * math.pi * x * (n - x)))


@kernel
def at_least(t, one, p, other, q):
    """The probability that Bin(one, p) + Bin(other, q) is t or more."""
    if t <= 0:
        return 1.0
    if t > one + other:
        return 0.0
    if one * p * (1 - p) > other * q * (1 - q):
        one, p, other, q = other, q, one, p
    if p <= 0.0 or p >= 1.0 or one == 0:
        sure = one if p >= 1.0 else 0
        return _binomial_at_least(t - sure, other, q)
    if one * p * (1 - p) + other * q * (1 - q) > _MANY:
        return _by_waves(t, one, p, other, q)
    spread, centre = math.sqrt(one * p * (1 - p)), one * p
    aim = max(centre, _share(t, one, p, other, q))
    tilted = math.sqrt(max(aim * (1 - aim / one), 0.0))
    first = max(0, t - other, math.floor(centre - _FAR * spread - _MORE))
    last = min(one, math.ceil(aim + _FAR * max(spread, tilted) + _MORE))
    if first > last:
        return 0.0
    beyond = _binomial_at_least(t - first, other, q)
    chance, next_chance = mass(first, one, p), mass(t - first, other, q)
    odds, against = p / (1 - p), (1 - q) / q if q > 0 else 0.0
    total = 0.0
    for a in range(first, last + 1):
        total += chance * beyond
        chance = chance * odds * (one - a) / (a + 1) if chance > _LEAST else mass(a + 1, one, p)
        b = t - a - 1
        if b < 0:
            beyond = 1.0
        elif 0.0 < q < 1.0 and next_chance > _LEAST and b < other:
            next_chance *= against * (b + 1) / (other - b)
            beyond = min(1.0, beyond + next_chance)
        else:
            next_chance = mass(b, other, q)
            beyond = min(1.0, beyond + next_chance)
    return min(total, 1.0)


@kernel
def _share(t, one, p, other, q):
    """How much of t the first binomial brings, where the sum is t: by the saddle point."""
    if q <= 0.0 or q >= 1.0:
        return float(min(one, t if q <= 0.0 else t - other))
    first = p / (1 - p)
    tilt = _tilt(t, one, first, other, q / (1 - q))
    return one * (first * tilt / (1 + first * tilt))


@kernel
def _tilt(t, one, first, other, second):
    """By how much odds of both must grow so that the mean of the sum is t: a quadratic equation."""
    a = first * second * (one + other - t)
    b = one * first + other * second - t * (first + second)
    root = math.sqrt(b * b + 4 * a * t)
    return (root - b) / (2 * a) if b < 0 and a > 0 else 2 * t / (root + b) if root + b > 0 else 1e300


@kernel
def _by_waves(t, one, p, other, q):
    """The chance of t or more, by the transform of the sum, tilted so that its mean is t; for a large variance.

    A transform of `period` places folds the tilted law onto them, exactly. What is folded upon the places from t on is
    `_WIDE` deviations away, and so is what lies beyond them. Waves shrink at least as fast as exp(-2 v sin(x / 2) ** 2)
    does, with the variance v; those below rounding are left out.
    """
    more = max(_tilt(t, one, p / (1 - p), other, q / (1 - q)) - 1, 0.0)
    log = math.log1p(more)
    height = one * math.log1p(p * more) + other * math.log1p(q * more) - log * t
    if height < -745.0:
        return 0.0
    mine, theirs = p * (1 + more) / (1 + p * more), q * (1 + more) / (1 + q * more)
    vary, differ = mine * (1 - mine), theirs * (1 - theirs)
    spread = math.sqrt(one * vary + other * differ)
    apart = one * mine + other * theirs - t  # nothing, or how far t is below the mean
    if apart > _WIDE * spread:
        return 1.0
    places = math.ceil(_WIDE * spread + apart) + 1.0
    period = places + math.ceil(_WIDE * spread - apart) + 1.0
    total, wave = places if log == 0.0 else math.expm1(-log * places) / math.expm1(-log), 0
    while True:
        wave += 1
        x = 2 * math.pi * wave / period
        half, sine, flat = math.sin(x / 2) ** 2, math.sin(x), math.exp(-log)
        size = (one * math.log1p(-4 * vary * half) + other * math.log1p(-4 * differ * half)) / 2
        if size < _FAINT:
            return min(math.exp(height) * total / period, 1.0)
        turn = one * (math.atan2(mine * sine, 1 - 2 * mine * half) - mine * x)
        turn += other * (math.atan2(theirs * sine, 1 - 2 * theirs * half) - theirs * x) + apart * x
        # the sum of exp(-(log + ix) y) over the places y; what it is divided by must not cancel
        sums = (1 - cmath.exp(-(log + 1j * x) * places)) / (2 * flat * half - math.expm1(-log) + 1j * flat * sine)
        total += 2 * (cmath.exp(size + 1j * turn) * sums).real


@kernel
def _binomial_at_least(t, n, p):
    if t <= 0:
        return 1.0
    if t > n or p <= 0.0:
        return 0.0
    if p >= 1.0 or t < n * p - _FAR * math.sqrt(n * p * (1 - p)) - _MORE:
        return 1.0
    if n * p * (1 - p) > _MANY:
        return _by_waves(t, 0, 0.5, n, p)
    term, odds = mass(t, n, p), p / (1 - p)
    if term <= _LEAST and t < n * p:
        return 1.0  # what is below t is less still
    total, x = term, t
    while x < n:
        term *= odds * (n - x) / (x + 1)
        x += 1
        total += term
        if x > n * p and term < 1e-17 * total:
            break
    return min(total, 1.0)


@kernel
def fewest(tallies, n, p, q, tail, reach, out):
    """For each tally, the least number of people with whom that many supports or more have a chance above `tail`.

    Args:
        tallies: Ascending.
        n: People in all.
        p: Probability that somebody who holds the value supports it.
        q: That somebody else does; smaller.
        tail: The chance.
        reach: About how many deviations the tail is out, to begin the search.
        out: Gets the numbers; n where even everybody is not enough.
    """
    limit = tail * (1 - _CARE - _COARSE * math.sqrt(n))
    seen, before = -1, 0
    for i in range(tallies.size):
        t = tallies[i]
        held = min(max((t - n * q) / (p - q), 0.0), float(n))
        spread = math.sqrt(held * p * (1 - p) + (n - held) * q * (1 - q))
        guess = held - reach * spread / (p - q)
        if seen >= 0 and t - seen <= spread:  # a neighbour's end is nearer
            guess = before + (t - seen) / (p - q)
        before = _search(t, n, p, q, limit, int(min(max(guess, float(before)), float(n))), before)
        seen = t
        out[i] = before


@kernel
def _search(t, n, p, q, limit, guess, low):
    """The least x from `low` to n with a chance above the limit, or n; the chance rises with x."""
    if guess > low and at_least(t, low, p, n - low, q) > limit:
        return low
    below, above = low - 1, n  # the chance is not above the limit at the first, and taken to be above at the other
    small, large = -1.0, -1.0  # chances there, where they are known
    at, step, tries = max(guess, low), 1, 0
    while above - below > 1:
        found = at_least(t, at, p, n - at, q)
        if found > limit:
            above, large = at, found
        else:
            below, small = at, found
        if above - below <= 1:
            break
        if small > 0 and large > 0 and tries < _TRIES:  # where a straight line through the logarithms meets the limit
            wide = above - below
            part = wide * (math.log(limit / small) / math.log(large / small))
            if tries % 2:  # and then beyond it, so that both ends come near
                part = 2 * part + 1 if 2 * part < wide else 2 * part - wide - 1
            at = below + int(part)
            tries += 1
        elif large >= 0 and small >= 0:
            at = below + (above - below) // 2
        elif large >= 0:
            at = above - step
            step *= 4
        else:
            at = below + step
            step *= 4
        at = min(max(at, below + 1), above - 1)
    return above


def supported(tallies: Ints, n: int, p: float, q: float, tail: float, reach: float) -> tuple[Ints, Ints]:
    """The fewest and the most people whom a test at `tail` on each side does not reject, for ascending tallies."""
    low, high = np.empty(tallies.size, np.int64), np.empty(tallies.size, np.int64)
    fewest(tallies, n, p, q, tail, reach, low)
    # Those who do not hold the value, and reports that do not support it, mirror the question.
    fewest(np.ascontiguousarray(n - tallies[::-1]), n, 1 - q, 1 - p, tail, reach, high)
    return low, n - high[::-1]
