"""What guesses from a Bloom filter are worth, where hash functions set bits independently of each other."""

from __future__ import annotations

import numpy as np

from hush.types import Floats


def scores_of(width: int, ones: int, hashes: int) -> Floats:
    """How likely a value's bits say -hashes..hashes, each of them one more or less, in a filter with so many ones.

    Functions draw bits of the filter one after another; a bit that is drawn again says nothing more.
    """
    law = np.zeros((hashes + 1, hashes + 1))  # bits so far that are one, and that are zero
    law[0, 0] = 1.0
    seen = np.arange(hashes + 1)
    for _ in range(hashes):
        up = law * np.maximum(ones - seen[:, None], 0) / width
        down = law * np.maximum(width - ones - seen[None, :], 0) / width
        law = law * (seen[:, None] + seen[None, :]) / width
        law[1:] += up[:-1]
        law[:, 1:] += down[:, :-1]
    return np.asarray([np.trace(law, offset=-s) for s in range(-hashes, hashes + 1)], np.float64)


def ideal_success(prior: Floats, filters: Floats, hashes: int, step: float) -> float:
    """How often the best guess is right: the mean of the largest of what all values are worth, given the ones.

    Args:
        prior: How likely each value is beforehand.
        filters: How likely a filter of noise alone has 0..width ones.
        hashes: Functions of a cohort.
        step: By how much a bit makes a value likelier, or less likely, in logarithm.
    """
    kinds, many = np.unique(prior[prior > 0], return_counts=True)
    worth = kinds[:, None] * np.exp(step * np.arange(-hashes, hashes + 1))
    levels, where = np.unique(worth, return_inverse=True)
    where = where.reshape(worth.shape)
    total = 0.0
    for ones, chance in enumerate(filters):
        law = scores_of(filters.size - 1, ones, hashes)
        below = np.zeros(levels.size)  # logarithm of the probability that no value is worth more than a level
        for row, number in zip(where, many, strict=True):
            reached = np.searchsorted(row, np.arange(levels.size), side="right")
            with np.errstate(divide="ignore"):
                below += number * np.log(np.append(0.0, np.cumsum(law).clip(max=1.0))[reached])
        total += chance * float(levels @ np.diff(np.exp(below), prepend=0.0))
    return total
