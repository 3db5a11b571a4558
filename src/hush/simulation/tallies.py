"""Tallies of randomized response, independent bits, and grid sums, drawn from their exact law."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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
