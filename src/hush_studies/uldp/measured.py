"""How far the estimates of so many runs are off: squared and absolute errors, and the most frequent values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from hush.randomness import seeded
from hush.types import Floats
from hush_studies.measure import average
from hush_studies.uldp.people import ALL, people
from hush_studies.uldp.readings import MECHANISMS, made
from hush_studies.uldp.runs import estimates

RUNS, FEW = 50, 10
"""Runs of each cell, in full and quick."""

TOP = 30
"""How many frequent values figure 9 looks for."""

_NONE = (math.nan, math.nan)
_READINGS = ("paper", "ours", "without z")


@dataclass(frozen=True)
class MeasuredUtility:
    """Averages over runs, and their standard errors; F1 and NDCG are NaN where there are no more values than wanted."""

    mse: float
    mse_stderr: float
    mae: float
    mae_stderr: float
    f1: float
    f1_stderr: float
    ndcg: float
    ndcg_stderr: float


@cache
def measured(name: str, reading: str, population: str, epsilon: float, runs: int, seed: int) -> MeasuredUtility:
    """Of one mechanism, one population and one budget."""
    crowd = people(population)
    u = made(name, reading, crowd.setting, epsilon)
    where = [ALL.index(population), list(MECHANISMS).index(name), _READINGS.index(reading), round(100 * epsilon)]
    found = estimates(u, crowd.counts, runs, seeded([seed, *where]))
    off = found - crowd.frequencies
    squares, sizes = np.square(off).sum(axis=1), np.abs(off).sum(axis=1)
    named = [average(each) for each in frequent(found, crowd.frequencies)] if crowd.setting.k > TOP else [_NONE, _NONE]
    return MeasuredUtility(*average(squares), *average(sizes), *named[0], *named[1])


def frequent(found: Floats, truth: Floats, top: int = TOP) -> tuple[Floats, Floats]:
    """F1 and NDCG of the most frequent values, of each run.

    As many values are named as are wanted, so that precision, recall and F1 are one. In NDCG the most frequent value
    is worth `top`, the next one less, and so on; the one named i-th counts 1/log2(i + 1) of its worth.

    >>> truth = np.array([0.5, 0.3, 0.15, 0.05])
    >>> f1, ndcg = frequent(np.array([[0.1, 0.5, 0.0, 0.4]]), truth, top=2)
    >>> f1.tolist(), ndcg.round(4).tolist()
    ([0.5], [0.3801])
    """
    order = np.argsort(-truth, kind="stable")
    worth = np.zeros(truth.size)
    worth[order[:top]] = np.arange(top, 0, -1)
    discount = 1 / np.log2(np.arange(2, top + 2))
    named = np.argsort(-found, axis=1, kind="stable")[:, :top]
    gain = worth[named]
    best = float(worth[order[:top]] @ discount)
    return (gain > 0).mean(axis=1), gain @ discount / best


def expected_mae(sds: Floats) -> float:
    """The mean sum of absolute errors, which are as good as normal."""
    return float(math.sqrt(2 / math.pi) * sds.sum())
