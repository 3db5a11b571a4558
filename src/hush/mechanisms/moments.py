"""Variances of any mechanism: by enumeration of its outputs, and in the mean over values that are not alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hush.types import Floats

if TYPE_CHECKING:
    from hush.mechanisms.base import FrequencyOracle


def enumerated(m: FrequencyOracle) -> Floats:
    """Variance of the estimate of v from one report of u, as [u, v]."""
    law = m.forms.whole
    rows = zip(law.weights, law.copies, strict=True)
    chances = np.array([[copies * weight / m.denominator for weight in row] for row, copies in rows])
    mean, square = chances.T @ law.decoded, chances.T @ law.decoded**2
    return np.asarray(square - mean**2, np.float64)


def mean_variance(m: FrequencyOracle, n: int, frequency: float) -> float:
    """The mean over example values, where each has this frequency and the others share the rest."""
    found = []
    for value in m._examples:
        shares = np.full(m.k, (1.0 - frequency) / (m.k - 1))
        shares[value] = frequency
        found.append(float(m.variances(shares, n)[value]))
    return math.fsum(found) / len(found)
