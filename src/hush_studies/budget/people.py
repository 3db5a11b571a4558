"""The people of the study: visitors of msnbc.com, and made-up ones with the numbers that the thesis prints.

Of its emojis the thesis prints budgets only; a Zipf domain of 200 values and 400,000 people needs about these. Of its
water meters it prints the number of clients, the range of amounts and the total; here they are met exactly, and the
shape is ours: some use nothing, most a little, few much. Its synthetic clients are not described at all.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from hush import datasets
from hush.people import Population
from hush.people.population import apportioned
from hush.planning import capri
from hush.types import Ints
from hush_studies.given import GivenData, given

MOST = 40
"""Larger amounts of water are cut."""

_EMOJI_PEOPLE = {"Emoji": 400_000, "Few emojis": 60_000}
"""How many people answer, which the thesis does not print."""

CLIENTS, TOTAL = 98_511, 1_598_489
"""Of the water meters, as printed."""

FEW_TOTAL = 15_620
"""The total of figure 5.9, which the thesis calls 10 % of the data."""


def crowd(name: str) -> Population:
    """Those whose ranking matters, by name: counted, or drawn anew in every run, from a file's shares if it was given.

    >>> crowd("MSNBC").n, crowd("Emoji").n, crowd("Emoji").k
    (989818, 400000, 200)
    """
    found = None if name == "MSNBC" else given("Emoji")
    return _made_crowd(name) if found is None else _read_crowd(found, _EMOJI_PEOPLE[name])


@cache
def _read_crowd(found: GivenData, n: int) -> Population:
    shares = np.sort(np.array(found.counts, np.float64))[::-1]
    return Population(shares / shares.sum(), drawn=n)


@cache
def _made_crowd(name: str) -> Population:
    if name == "MSNBC":
        return datasets.msnbc()
    k, n = (200, 400_000) if name == "Emoji" else (50, 60_000)
    return Population(1.0 / np.arange(1, k + 1), drawn=n)


def clients(name: str) -> Population:
    """Those whose total matters, by name; the water meters of the file that was given, if there is one.

    >>> water, few = clients("Water"), clients("Few")
    >>> water.n, int(water.total), int(few.total), few.n
    (98511, 1598489, 15620, 963)
    """
    found = given("AguaH") if name == "Water" else None
    return _made_clients(name) if found is None else _read_clients(found)


@cache
def _read_clients(found: GivenData) -> Population:
    return capri.population(np.array(found.counts, np.int64))


@cache
def _made_clients(name: str) -> Population:
    if name == "Water":
        return capri.population(_with_total(CLIENTS, TOTAL))
    if name == "Few":
        return capri.population(_with_total(round(CLIENTS * FEW_TOTAL / TOTAL), FEW_TOTAL))
    half = datasets.normal(MOST + 1, 5_000, spread=0.18).counts
    bell = half + half[::-1]
    return capri.population(bell if name == "Synthetic" else 10 * bell)


def called(name: str) -> str:
    """A name for a panel; that of data which it only resembles, marked."""
    real = {"Emoji": "Emoji", "Few emojis": "Emoji", "Water": "AguaH"}.get(name)
    if real is not None and given(real) is not None:
        return real
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
    counts = apportioned(shares, n)
    short = total - int(counts @ amounts)
    for _ in range(abs(short)):  # rounding left a few units over: one client each moves by one
        here = 10 if short > 0 else 11
        counts[here] -= 1
        counts[here + np.sign(short)] += 1
    return counts
