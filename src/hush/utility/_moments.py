"""What the reports of people in disguise say, on average: moments that the estimate and its variance need.

Let a(y) be what one base report adds to the estimate of each sensitive value: unbiased, so that its mean is 1 for the
true value and 0 for others. A person in disguise sends it with f M(y), of which (1 - z(y)) is protected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hush.errors import ParameterError, message
from hush.exact.thresholds import SCALE
from hush.mechanisms.pure import PureOracle
from hush.types import Floats
from hush.utility._revelation import Leveled, Revelation, Silent


@dataclass(frozen=True)
class Moments:
    """The mean and the mean square of a(y), over people whose value is not sensitive; zero where no y is sent."""

    mean: Floats
    square: Floats


def sent(revelation: Revelation) -> Moments:
    """Over all base reports of people in disguise, whether their value is revealed beside it or not."""
    base, f = revelation.base, revelation.hide / SCALE
    if isinstance(revelation, Silent):
        p, q = revelation.unary.p_star, revelation.unary.q_star
        return Moments(np.zeros(base.k), np.full(base.k, q * (1 - q) / (p - q) ** 2))
    even = np.full(base.k, 1 / base.k)
    return Moments(f * even, f * (base.variances(even, 1) + even))


def protected(revelation: Revelation) -> Moments:
    """Over the protected reports alone."""
    if revelation.constant is not None:
        whole, kept = sent(revelation), 1 - revelation.constant / SCALE
        return Moments(whole.mean * kept, whole.square * kept)
    base = revelation.base
    if isinstance(revelation, Leveled) and revelation.shape.numbered:
        return Moments(*base.forms.moments(protected_outputs(revelation)))
    if isinstance(base, PureOracle):
        return _by_size(base, revelation)
    listing, unit = base.forms.whole, base.k * base.denominator
    weights = (revelation.hide * (SCALE - revelation.threshold(y)) * revelation.mass(y) for y in listing.reports)
    pairs = zip(weights, listing.copies, strict=True)
    chances = np.array([weight * copies / (SCALE**2 * unit) for weight, copies in pairs])
    return Moments(*base.forms.moments(chances))


def _by_size(base: PureOracle, revelation: Revelation) -> Moments:
    """Sets of one size are alike, so a report of size c supports a given value c times in s."""
    if not isinstance(revelation, Leveled):
        rule = "must be 'pair' for a mechanism whose reports have more than two levels of probability"
        raise ParameterError(message("reveal", rule, "alone", "leave it out, or use z='constant'"))
    p, q = base.p_star, base.q_star
    kept = revelation.hide / SCALE * revelation.shape.law * (1 - revelation.chances)
    supported = float(kept @ np.arange(base.k + 1)) / base.k
    missed = float(kept.sum()) - supported
    mean = (supported * (1 - q) - missed * q) / (p - q)
    square = (supported * (1 - q) ** 2 + missed * q**2) / (p - q) ** 2
    return Moments(np.full(base.k, mean), np.full(base.k, square))


def output_chances(revelation: Leveled) -> Floats:
    """How likely each output is when the value is uniform, where the tally counts outputs."""
    shape = revelation.shape
    assert shape.numbered is not None
    sizes = shape.numbered()
    low, high = (weight / revelation.base.denominator for weight in (shape.low, shape.high))
    return np.asarray((sizes * high + (shape.s - sizes) * low) / shape.s, np.float64)


def revealing_outputs(revelation: Leveled) -> Floats:
    """z of each output."""
    assert revelation.shape.numbered is not None
    return revelation.chances[revelation.shape.numbered()]


def protected_outputs(revelation: Leveled) -> Floats:
    """How likely each output is to come, protected, from a person whose value is not sensitive."""
    return np.asarray(
        revelation.hide / SCALE * output_chances(revelation) * (1 - revealing_outputs(revelation)), np.float64
    )
