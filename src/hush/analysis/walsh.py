"""The Walsh-Hadamard transform of many rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def walsh(terms: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The Walsh-Hadamard transform along the last axis, whose length is a power of two.

    >>> walsh(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [10.0, -2.0, -4.0, 0.0]
    """
    out, half = terms, 1
    while half < terms.shape[-1]:
        pairs = out.reshape(*terms.shape[:-1], -1, 2, half)
        left, right = pairs[..., 0, :], pairs[..., 1, :]
        out = np.stack([left + right, left - right], axis=-2).reshape(terms.shape)
        half *= 2
    return out
