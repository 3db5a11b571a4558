"""Post-processing that makes an estimate look like a distribution, each step by name.

Each gives up unbiasedness, and with it the error bars. Names follow Wang et al., "Locally differentially private
frequency estimation with consistency" (NDSS 2020).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hush.errors import ParameterError, message
from hush.types import Floats


def clip(raw: Floats) -> Floats:
    """Each frequency into [0, 1], on its own; the sum is left as it falls.

    >>> clip(np.array([-0.2, 0.5, 1.3])).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.clip(raw, 0.0, 1.0)


def simplex(raw: Floats) -> Floats:
    """The nearest distribution in Euclidean distance: subtract one constant, cut below zero (norm-sub).

    >>> simplex(np.array([0.9, 0.3, -0.1])).round(12).tolist()
    [0.8, 0.2, 0.0]
    """
    raw = raw - raw.max()  # the same distribution, whatever the size of the numbers
    falling = np.sort(raw)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, raw.size + 1)
    return np.maximum(raw - excess[np.nonzero(falling > excess)[0][-1]], 0.0)


def norm_cut(raw: Floats) -> Floats:
    """Cut below zero, then drop the smallest frequencies while the sum exceeds one (norm-cut).

    The frequencies kept are left as they were, so the sum is at most one, and reaches it only by luck.

    >>> norm_cut(np.array([0.7, 0.2, 0.2, -0.1])).tolist()
    [0.7, 0.2, 0.0, 0.0]
    """
    positive = np.maximum(raw, 0.0)
    falling = np.argsort(-positive, kind="stable")
    kept = np.cumsum(positive[falling]) <= 1.0
    kept[0] = True
    result = np.zeros_like(positive)
    result[falling[kept]] = np.minimum(positive[falling[kept]], 1.0)
    return result


METHODS: dict[str, Callable[[Floats], Floats]] = {
    "clip": clip,
    "simplex": simplex,
    "norm-sub": simplex,
    "norm-cut": norm_cut,
}


def method(name: str) -> Callable[[Floats], Floats]:
    """The post-processing of that name."""
    if not isinstance(name, str) or name not in METHODS:
        raise ParameterError(message("method", f"must be one of {', '.join(METHODS)}", name, "use e.g. 'simplex'"))
    return METHODS[name]
