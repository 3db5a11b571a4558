"""The hypergeometric law in logarithms, for arrays and for large populations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hush.types import Floats


def log_hypergeometric(inside: npt.ArrayLike, first: int, second: int, drawn: int) -> Floats:
    """Return the logarithm of the chance that so many of the drawn are of the first kind.

    Args:
        inside: How many of the drawn are of the first kind; each must be possible.
        first: How many there are of the first kind.
        second: How many there are of the second kind.
        drawn: How many are drawn, of either kind.

    >>> log_hypergeometric([0, 1], 1, 3, 2).round(6).tolist()
    [-0.693147, -0.693147]
    """
    chosen = np.asarray(inside, np.float64)
    ways = _log_choose(first, chosen) + _log_choose(second, drawn - chosen) - _log_choose(first + second, drawn)
    return np.asarray(ways, np.float64)


def _log_choose(n: int, chosen: npt.ArrayLike) -> npt.NDArray[np.float64]:
    from scipy.special import gammaln

    some = np.asarray(chosen, np.float64)
    return np.asarray(gammaln(n + 1.0) - gammaln(some + 1) - gammaln(n - some + 1), np.float64)
