"""Measured on real reports: how often the best attacker is right, and how far estimates are off.

A run randomizes everybody, tallies the reports and attacks each of them. Where that has been done for five million
reports, the attack's success is known to a few parts in ten thousand, and further runs draw the tally from its exact
law. Runs share the cores; within a run people come in blocks, so that memory stays small. What is drawn depends on the
seed alone, not on the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hush.kernels import chunks
from hush.mechanisms.base import FrequencyOracle
from hush.randomness import CHUNK, seeded
from hush.types import Floats

_ENOUGH = 5_000_000


def average(values: Floats) -> tuple[float, float]:
    """The mean, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


@dataclass(frozen=True)
class Measured:
    """Averages over all runs, with their standard errors."""

    asr: float
    asr_stderr: float
    mse: float
    mse_stderr: float


def repeated(m: FrequencyOracle, counts: npt.NDArray[np.int64], runs: int, seed: Sequence[int]) -> Measured:
    """Randomize, tally and attack everybody, so many times; beyond five million reports, only simulate the tally.

    Args:
        m: What randomizes.
        counts: How many people hold each value.
        runs: How many times, at least 2.
        seed: Run i draws from `seeded([*seed, i])`.
    """
    people = np.repeat(np.arange(m.k, dtype=np.int64), counts)
    n, truth = people.size, counts / people.size
    m.decode(m.tally(m.privatize(people[:1])), 1)  # compiles, and fills caches, before threads start

    def error(tally: npt.NDArray[np.int64]) -> float:
        return float(np.mean((m.decode(tally, n) - truth) ** 2))

    real = min(runs, -(-_ENOUGH // n))

    def run(start: int, stop: int) -> tuple[float, float, float]:
        rng = seeded([*seed, start])
        if start >= real:
            return error(m.simulate(counts, rng=rng).tally), 0.0, 0.0
        tally, right, squares = m._empty(), 0.0, 0.0
        for at in range(0, n, CHUNK):
            values = people[at : at + CHUNK]
            reports = m.privatize(values, rng=rng)
            tally += m.tally(reports)
            found = m.forms.guess_chance(reports, values)
            right += float(found.sum())
            squares += float(np.square(found).sum())  # not a dot product, which would start threads of its own
        return error(tally), right, squares

    errors, right, squares = np.array(chunks.each(runs, 1, run)).T
    attacked = n * real
    asr = float(right.sum()) / attacked
    spread = max(float(squares.sum()) / attacked - asr**2, 0.0)
    return Measured(asr, float(np.sqrt(spread / attacked)), *average(errors))
