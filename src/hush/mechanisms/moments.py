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
    m._enumerable()
    mean, square = np.zeros((m.k, m.k)), np.zeros((m.k, m.k))
    for y in m.outputs(None):
        decoded = m.decode(m.tally(np.asarray(y, m.report_dtype)[None]), 1)
        for u in range(m.k):
            share = m.copies(y) * m.weight(y, u) / m.denominator
            mean[u] += share * decoded
            square[u] += share * decoded**2
    return np.asarray(square - mean**2)


def mean_variance(m: FrequencyOracle, n: int, frequency: float) -> float:
    """The mean over example values, where each has this frequency and the others share the rest."""
    found = []
    for value in m._examples:
        shares = np.full(m.k, (1.0 - frequency) / (m.k - 1))
        shares[value] = frequency
        found.append(float(m.variances(shares, n)[value]))
    return math.fsum(found) / len(found)
