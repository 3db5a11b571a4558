"""Trials of a mechanism: how often the best attacker names the value behind a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.mechanisms._base import FrequencyOracle

_ATTACKS = 100_000
_CELLS = 200_000_000
_BYTES = 1 << 26


@dataclass(frozen=True)
class Success:
    """Right guesses among attacked reports."""

    attacked: int
    right: int

    @property
    def rate(self) -> float:
        """Share of right guesses."""
        return self.right / self.attacked

    @property
    def stderr(self) -> float:
        """Standard error of the share."""
        return float(np.sqrt(self.rate * (1 - self.rate) / self.attacked))


def success(m: FrequencyOracle, reports: npt.NDArray[Any], values: npt.NDArray[np.int64]) -> Success:
    """Attack reports of known values; the attacker finds all values equally likely beforehand."""
    return Success(reports.size, int((m.attack(reports) == values).sum()))


def attacked(m: FrequencyOracle, rng: np.random.Generator, most: int = _ATTACKS) -> Success:
    """Attack fresh reports of uniformly drawn values, as many as are quick: what `m.asr()` is the expectation of."""
    n = min(most, max(100, _CELLS // m.k))
    step = max(1, _BYTES // m.report_dtype.itemsize)
    right = 0
    for start in range(0, n, step):
        values = rng.integers(m.k, size=min(step, n - start))
        right += int((m.attack(m.privatize(values, rng=rng), rng=rng) == values).sum())
    return Success(n, right)
