"""The setting of the study (section 5): protocols, budgets, domain sizes, people, and how mechanisms are read."""

from __future__ import annotations

from functools import cache

import numpy as np

from hush import datasets
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.modular.moduli import ANCHORS, Moduli, blocks, valid_moduli
from hush.mechanisms.registry import registry
from hush.types import Ints
from hush_studies.study import Settings

PROTOCOLS = ("GRR", "OUE", "SS", "PGR", "MSS")
PEOPLE = ("zipf", "spike")
N = 10_000
RUNS, FEW = 300, 10
"""Trials of each cell, in full and quick."""

BUDGETS = tuple(i / 2 for i in range(1, 11))
BLOCKS = (3, 6, 9, 12, 15)
"""Numbers of moduli of figure 5."""

SMALL, MIDDLE, LARGE = 100, 1_024, 22_000
_QUICK_LARGE = 2_048
_QUICK_BUDGETS = (0.5, 2.0, 4.5)


def budgets(settings: Settings) -> tuple[float, ...]:
    """All of the paper's, or three."""
    return _QUICK_BUDGETS if settings.quick else BUDGETS


def large(settings: Settings) -> int:
    """The large domain."""
    return _QUICK_LARGE if settings.quick else LARGE


def trials(settings: Settings) -> int:
    """How many collections are drawn."""
    return FEW if settings.quick else RUNS


@cache
def people(name: str, k: int) -> Ints:
    """How many of ten thousand hold each value: Zipf with exponent 3, or everybody the first value.

    >>> people("spike", 100)[:2].tolist(), people("zipf", 100)[:3].tolist()
    ([10000, 0], [8320, 1040, 308])
    """
    if name == "spike":
        return np.asarray(N * np.eye(1, k, dtype=np.int64)[0])
    return datasets.zipf(k, N, exponent=3.0).counts


@cache
def mechanism(name: str, k: int, epsilon: float) -> FrequencyOracle:
    """A protocol as the paper has it, corrected: PGR over the prime closest to e^epsilon + 1."""
    how = {"q": "closest"} if name == "PGR" else {}
    return registry()[name](k=k, epsilon=epsilon, **how)


@cache
def fixed_moduli(k: int, epsilon: float, count: int) -> Moduli | None:
    """So many moduli: the best of what the search finds at the nearest anchor; None if nothing is well conditioned."""
    anchor = min(ANCHORS, key=lambda each: (abs(each - epsilon), each))
    found = list(valid_moduli(k, anchor, count, 10.0, 20.0, np.random.default_rng([0, k, count])))
    return min(found, key=lambda moduli: float(blocks(k, moduli, anchor).flat_variances().mean()), default=None)
