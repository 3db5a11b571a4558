"""What the reports of people in disguise say, on average: moments that the estimate and its variance need.

Let a(y) be what one base report adds to the estimate of each sensitive value: unbiased, so that its mean is 1 for the
true value and 0 for others. A person in disguise sends it with f M(y), of which (1 - z(y)) is protected.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from hush.analysis.walsh import walsh
from hush.errors import ParameterError, message
from hush.exact.thresholds import SCALE
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.hadamard import HR
from hush.mechanisms.pure import PureOracle
from hush.types import Floats
from hush.utility._giving import Giving, Leveled, Silent
from hush.utility._shape import hadamard_sizes


@dataclass(frozen=True)
class Moments:
    """The mean and the mean square of a(y), over people whose value is not sensitive; zero where no y is sent."""

    mean: Floats
    square: Floats


def sent(giving: Giving) -> Moments:
    """Over all base reports of people in disguise, whether their value is revealed beside it or not."""
    base, f = giving.base, giving.hide / SCALE
    if isinstance(giving, Silent):
        p, q = giving.unary.p_star, giving.unary.q_star
        return Moments(np.zeros(base.k), np.full(base.k, q * (1 - q) / (p - q) ** 2))
    even = np.full(base.k, 1 / base.k)
    return Moments(f * even, f * (base.variances(even, 1) + even))


def protected(giving: Giving) -> Moments:
    """Over the protected reports alone."""
    if giving.constant is not None:
        whole, kept = sent(giving), 1 - giving.constant / SCALE
        return Moments(whole.mean * kept, whole.square * kept)
    return _protected(giving.base, giving)


@singledispatch
def _protected(base: FrequencyOracle, giving: Giving) -> Moments:
    """By enumeration, where the outputs are few."""
    base._enumerable()
    mean, square = np.zeros(base.k), np.zeros(base.k)
    for y in base.outputs(None):
        chance = giving.hide * (SCALE - giving.threshold(y)) * giving.mass(y) * base.copies(y) / SCALE**2
        chance /= base.k * base.denominator
        a = base.decode(base.tally(np.asarray(y, base.report_dtype)[None]), 1)
        mean += chance * a
        square += chance * a**2
    return Moments(mean, square)


@_protected.register
def _(base: PureOracle, giving: Giving) -> Moments:
    """Sets of one size are alike, so a report of size c supports a given value c times in s."""
    if not isinstance(giving, Leveled):
        rule = "must be 'pair' for a mechanism whose reports have more than two levels of probability"
        raise ParameterError(message("reveal", rule, "alone", "leave it out, or use z='constant'"))
    p, q = base.p_star, base.q_star
    kept = giving.hide / SCALE * giving.shape.law * (1 - giving.chances)
    supported = float(kept @ np.arange(base.k + 1)) / base.k
    missed = float(kept.sum()) - supported
    mean = (supported * (1 - q) - missed * q) / (p - q)
    square = (supported * (1 - q) ** 2 + missed * q**2) / (p - q) ** 2
    return Moments(np.full(base.k, mean), np.full(base.k, square))


@_protected.register
def _(base: HR, giving: Giving) -> Moments:
    """One transform of the protected outputs' chances; a(y) is +1 or -1 over the gap in a value's own block."""
    kept = protected_outputs(base, giving).reshape(base.blocks, base.width)
    block, row = base._place(np.arange(base.k))
    return Moments(walsh(kept)[block, row] / base._gap, kept.sum(axis=1)[block] / base._gap**2)


def output_chances(base: HR) -> Floats:
    """How likely each output of Hadamard response is, when the value is uniform."""
    sizes = hadamard_sizes(base)
    low, high = (weight / base.denominator for weight in base._weights)
    return np.asarray((sizes * high + (base.k - sizes) * low) / base.k, np.float64)


def protected_outputs(base: HR, giving: Giving) -> Floats:
    """How likely each output is to come, protected, from a person whose value is not sensitive."""
    assert isinstance(giving, Leveled)
    kept = 1 - giving.chances[hadamard_sizes(base)]
    return np.asarray(giving.hide / SCALE * output_chances(base) * kept, np.float64)
