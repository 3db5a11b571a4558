"""The likeliest of many, with ties broken at random: by position, an attack would favour whoever comes first.

Scores are sums of logarithms, in which equal likelihoods may differ by rounding; so scores within a billionth of a nat
count as equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from hush.kernels import chunks
from hush.randomness import chunk_generator, chunk_keys
from hush.types import Floats, Ints

SAME = 1e-9
"""Scores that differ by no more are equal."""

CELLS = 1 << 21
"""Scores held at a time by one thread."""

_NEVER = -1e18  # in place of the logarithm of zero

Result = TypeVar("Result")


def batches(
    n: int, width: int, work: Callable[[slice, np.random.Generator], Result], rng: np.random.Generator | None
) -> list[Result]:
    """Do the work for batches of people whose rows of scores are so wide, on all cores, each with its own generator."""
    rows = max(1, CELLS // max(1, width))
    keys = chunk_keys(rng, -(-n // rows))
    return chunks.each(n, rows, lambda start, stop: work(slice(start, stop), chunk_generator(keys[start // rows])))


def likeliest(score: Floats, rng: np.random.Generator) -> Ints:
    """The column with the largest score in each row."""
    finite = np.maximum(score, _NEVER)
    best = finite >= finite.max(axis=1, keepdims=True) - SAME
    ties = best.sum(axis=1)
    guess = best.argmax(axis=1).astype(np.int64)
    split = np.nonzero(ties > 1)[0]
    if split.size:
        chosen = (rng.random(split.size) * ties[split]).astype(np.int64) + 1
        guess[split] = (np.cumsum(best[split], axis=1, dtype=np.int32) == chosen[:, None]).argmax(axis=1)
    return guess


def top(score: Floats, count: int, rng: np.random.Generator) -> Ints:
    """The columns with the largest scores in each row, best first."""
    if count == 1:
        return likeliest(score, rng)[:, None]
    finite = np.maximum(score, _NEVER)
    edge = np.partition(finite, -count, axis=1)[:, -count, None]  # the last score that gets in
    lot = rng.random(finite.shape)
    lot[finite > edge + SAME] += 2
    lot[finite < edge - SAME] = -1
    chosen = np.argpartition(lot, -count, axis=1)[:, -count:]
    order = np.lexsort((np.take_along_axis(lot, chosen, axis=1), np.take_along_axis(finite, chosen, axis=1)), axis=1)
    return np.take_along_axis(chosen, order, axis=1)[:, ::-1].astype(np.int64)
