"""The range of a mechanism for means, from what its people may have."""

from __future__ import annotations

from typing import Any

import numpy as np

from hush.analysis.capacity import lattice
from hush.errors import ParameterError, message
from hush.types import Floats

_MOST_STEPS = 1 << 16


def range_of(amounts: Floats) -> dict[str, Any]:
    """From the smallest to the largest amount, on the amounts' own grid where it is not too fine.

    >>> range_of(np.array([0.0, 0.5, 2.0]))
    {'low': 0.0, 'high': 2.0, 'steps': 4}
    """
    low, high = float(amounts.min()), float(amounts.max())
    if low == high:
        rule = "must have two different amounts for a mean"
        raise ParameterError(message("domain", rule, low, "use a frequency oracle, or other amounts"))
    step = lattice([low, *amounts.tolist()], from_first=True)
    steps = int(np.rint((high - low) / step)) if step else _MOST_STEPS + 1
    return {"low": low, "high": high, "steps": steps if steps <= _MOST_STEPS else 1024}
