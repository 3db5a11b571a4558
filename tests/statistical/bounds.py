"""Bounds of statistical tests. Each test states its false-alarm rate; seeds are fixed, so a failure repeats.

The rate is 1e-9 a test, and 1e-6 for the whole run.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import chi2

FALSE_ALARM = 1e-9


def z_limit(comparisons: int = 1) -> float:
    """How many standard deviations all of some comparisons may be off together."""
    return float(-ndtri(FALSE_ALARM / (2 * comparisons))) * 1.05


def chi_square_p(expected: np.ndarray, observed: np.ndarray, least: float = 20.0) -> float:
    """P-value of observed counts, with rare cells joined."""
    order = np.argsort(expected)
    cells: list[list[float]] = [[0.0, 0.0]]
    for e, o in zip(np.asarray(expected)[order], np.asarray(observed)[order], strict=True):
        if cells[-1][0] >= least:
            cells.append([0.0, 0.0])
        cells[-1][0] += e
        cells[-1][1] += o
    statistic = sum((o - e) ** 2 / e for e, o in cells)
    return float(chi2.sf(statistic, max(len(cells) - 1, 1)))
