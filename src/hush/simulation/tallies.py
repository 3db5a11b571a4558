"""Numbers of people, and tallies of randomized response, independent bits and grid sums, drawn from their exact law."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, message
from hush.estimation.possible import total
from hush.people.columns import cells
from hush.types import Floats, Ints

MOST_PEOPLE = 2**53
"""What a simulation takes at most: as many as doubles count one by one."""


def people(counts: npt.ArrayLike, k: int) -> Ints:
    """How many people hold each of k values, if that is what it says."""
    array = cells(counts, "counts")
    if not (array.dtype.kind in "iu" and array.shape == (k,) and (array >= 0).all()):
        rule = f"must be {k} non-negative integers"
        raise ParameterError(message("counts", rule, counts, "count the people of each value"))
    if total(array) > MOST_PEOPLE:
        rule = f"must add up to at most {MOST_PEOPLE}"
        raise ParameterError(message("counts", rule, total(array), "simulate fewer people"))
    return array.astype(np.int64)


def independent_bits(counts: Ints, p: float, q: float, rng: np.random.Generator) -> Ints:
    """Support counts where each report supports its own value with p and each other, independently, with q.

    The law of unary encoding, and of local hashing under an ideal hash family with q = 1/g. O(k).
    """
    own = rng.binomial(counts, p)
    return np.asarray(own + rng.binomial(counts.sum() - counts, q), dtype=np.int64)


def direct(counts: Ints, p: float, q: float, rng: np.random.Generator) -> Ints:
    """Counts of reported values under randomized response. O(k).

    A report is the true value with probability p - q, and else uniform over all k values.
    """
    kept = rng.binomial(counts, p - q)
    spread = rng.multinomial(int(counts.sum() - kept.sum()), np.full(counts.size, 1.0 / counts.size))
    return np.asarray(kept + spread, dtype=np.int64)


def grid_sums(counts: Ints, steps: Ints, weights: Floats, unit: int, rng: np.random.Generator) -> Ints:
    """Sums over people of grid noise, mirrored about unit/2 in each person's own coordinate.

    Draws how many people got each step, by one multinomial for each coordinate and kind. O(k · steps).
    """
    n = int(counts.sum())
    sums = np.empty(counts.size, np.int64)
    for v, own in enumerate(counts):
        mirrored = rng.multinomial(own, weights) @ steps
        sums[v] = rng.multinomial(n - own, weights) @ steps + unit * own - mirrored
    return sums
