"""The people of the study: visitors of msnbc.com, and made-up ones with the numbers that the thesis prints.

Of its emojis the thesis prints budgets only; a Zipf domain of 200 values and 400,000 people needs about these. Of its
water meters it prints the number of clients, the range of amounts and the total; here they are met exactly, and the
shape is ours: some use nothing, most a little, few much. Its synthetic clients are not described at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from hush import datasets
from hush.planning import capri
from hush.planning.optimus.population import Population, population
from hush.types import Floats, Ints

MOST = 40
"""Larger amounts of water are cut."""

CLIENTS, TOTAL = 98_511, 1_598_489
"""Of the water meters, as printed."""

FEW_TOTAL = 15_620
"""The total of figure 5.9, which the thesis calls 10 % of the data."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """Who reports, where rankings matter: counts, or weights from which people are drawn anew in every run.

    Args:
        name: What it is called.
        weights: Counts, or weights.
        n: How many are drawn; None where counts are given.
    """

    name: str
    weights: npt.NDArray[np.int64] | Floats
    n: int | None = None

    @property
    def k(self) -> int:
        """Number of values."""
        return self.weights.size

    @property
    def people(self) -> int:
        """How many report."""
        return int(self.weights.sum()) if self.n is None else self.n

    @property
    def frequencies(self) -> Floats:
        """The truth."""
        return np.asarray(self.weights / self.weights.sum(), np.float64)

    def counts(self, rng: np.random.Generator) -> Ints:
        """The people of one collection."""
        if self.n is None:
            return self.weights.astype(np.int64)
        return rng.multinomial(self.n, self.frequencies).astype(np.int64)


@cache
def crowd(name: str) -> Crowd:
    """By name.

    >>> crowd("MSNBC").people, crowd("Emoji").people, crowd("Emoji").k
    (989818, 400000, 200)
    """
    if name == "MSNBC":
        return Crowd(name, datasets.msnbc().counts)
    k, n = (200, 400_000) if name == "Emoji" else (50, 60_000)
    return Crowd(name, 1.0 / np.arange(1, k + 1), n)


@cache
def clients(name: str) -> capri.Population:
    """Those whose total matters, by name.

    >>> water, few = clients("Water"), clients("Few")
    >>> water.n, int(water.total), int(few.total), few.n
    (98511, 1598489, 15620, 963)
    """
    if name == "Water":
        return capri.population(_with_total(CLIENTS, TOTAL))
    if name == "Few":
        return capri.population(_with_total(round(CLIENTS * FEW_TOTAL / TOTAL), FEW_TOTAL))
    half = datasets.normal(MOST + 1, 5_000, spread=0.18).counts
    bell = half + half[::-1]
    return capri.population(bell if name == "Synthetic" else 10 * bell)


def called(name: str) -> str:
    """A name for a panel; that of data which it only resembles, marked."""
    return {
        "Emoji": "Emoji-like",
        "Few emojis": "Few emojis",
        "Water": "Water-like",
        "Few": "Water-like, 963 clients",
    }.get(name, name)


def _with_total(n: int, total: int) -> Ints:
    """So many clients with this total: a gamma shape with some at nothing, tilted until the mean fits."""
    amounts = np.arange(MOST + 1)
    base = np.where(amounts == 0, 0.04, 0.96 * amounts * np.exp(-amounts / 9.0) / 81)
    low, high = -1.0, 1.0
    for _ in range(60):
        tilt = (low + high) / 2
        shares = base * np.exp(tilt * amounts)
        shares /= shares.sum()
        low, high = (tilt, high) if shares @ amounts < total / n else (low, tilt)
    counts = datasets._largest_remainder(shares, n)
    short = total - int(counts @ amounts)
    for _ in range(abs(short)):  # rounding left a few units over: one client each moves by one
        here = 10 if short > 0 else 11
        counts[here] -= 1
        counts[here + np.sign(short)] += 1
    return counts


def shaped(name: str) -> Population:
    """What the search of a budget makes of a crowd."""
    found = crowd(name)
    return population(found.weights, found.n)
