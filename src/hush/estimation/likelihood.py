"""Maximum likelihood by expectation maximisation (iterative Bayesian update), accelerated.

One step multiplies each frequency by its gain: the average, over reports, of how much likelier the report is under
that value than under the current mixture. At the maximum no gain exceeds one, and the largest gain minus one bounds
how far the mean log-likelihood still is from its maximum: that is when to stop. Two steps and an extrapolation from
them (SQUAREM, Varadhan and Roland 2008) replace hundreds of plain steps where noise is heavy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from hush.errors import ConvergenceError, ParameterError, message
from hush.types import Floats

Batches = Callable[[], Iterable[tuple[Floats, Floats]]]


def maximize(batches: Batches, k: int, *, tolerance: float, steps: int) -> Floats:
    """The distribution under which the reports are most likely.

    Args:
        batches: Gives (likelihoods of shape (rows, k), multiplicity of each row) afresh at each call; a row may be
            scaled by any positive constant.
        k: Number of values.
        tolerance: Stop when the mean log-likelihood is provably within this of its maximum.
        steps: Give up after so many passes over the reports, with a ConvergenceError.
    """
    if not tolerance > 0:
        raise ParameterError(message("tolerance", "must be above 0", tolerance, "use e.g. 1e-6"))
    current = np.full(k, 1.0 / k)
    gain, height = _pass(batches, current)
    passes = 1
    while gain.max() - 1 > tolerance:
        if passes >= steps:
            raise ConvergenceError(
                message("steps", f"must suffice to come within {tolerance:g}", steps, "raise steps or tolerance")
            )
        first = _moved(current, gain)
        second = _moved(first, _pass(batches, first)[0])
        passes += 1
        length = _length(current, first, second)
        while True:
            leap = _leap(current, first, second, length)
            gain, reached = _pass(batches, leap)
            passes += 1
            if reached >= height or length == 1.0:
                break
            length = 1 + (length - 1) / 4 if length > 1.01 else 1.0  # the leap went too far
        current, height = leap, reached
    return current


def _pass(batches: Batches, current: Floats) -> tuple[Floats, float]:
    """The gain of every value, and the mean log-likelihood."""
    total, height, n = np.zeros_like(current), 0.0, 0.0
    for likelihoods, multiplicity in batches():
        mixture = likelihoods @ current
        total += (multiplicity / mixture) @ likelihoods
        height += float(multiplicity @ np.log(mixture))
        n += float(multiplicity.sum())
    return total / n, height / n


def _moved(current: Floats, gain: Floats) -> Floats:
    moved = current * gain
    return np.asarray(moved / moved.sum(), dtype=np.float64)


def _length(start: Floats, first: Floats, second: Floats) -> float:
    """How many times as far the two steps would lead if they went on as they began."""
    curve = float(np.linalg.norm(second - 2 * first + start))
    return max(1.0, float(np.linalg.norm(first - start)) / curve) if curve > 0 else 1.0


def _leap(start: Floats, first: Floats, second: Floats, length: float) -> Floats:
    """The extrapolation of two steps; length 1 gives the second. Kept inside the simplex."""
    leap = start + 2 * length * (first - start) + length**2 * (second - 2 * first + start)
    inside = np.where(leap > 0, leap, second / 10)
    return np.asarray(inside / inside.sum(), dtype=np.float64)
