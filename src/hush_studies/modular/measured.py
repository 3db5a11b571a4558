"""Errors of many collections: all reports are drawn from their exact law, tallied and decoded; trials share the cores.

Subsets, of values or of residues, are drawn one by one; reports of the other protocols by the mechanisms themselves.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from hush.kernels import chunks
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.modular import MSS
from hush.mechanisms.modular.moduli import Moduli
from hush.mechanisms.subset import SS
from hush.randomness import seeded
from hush.simulation.subsets import drawn_members
from hush.types import Floats, Ints
from hush_studies.modular.settings import PEOPLE, PROTOCOLS, mechanism, people


@cache
def errors(name: str, k: int, crowd: str, epsilon: float, runs: int, seed: int) -> Floats:
    """The mean squared error of each trial of a protocol: the figures share them."""
    where = [PROTOCOLS.index(name), PEOPLE.index(crowd), k, round(100 * epsilon)]
    return trials(mechanism(name, k, epsilon), people(crowd, k), runs, [seed, *where])


@cache
def errors_of(moduli: Moduli, k: int, crowd: str, epsilon: float, runs: int, seed: int) -> Floats:
    """As `errors`, for given moduli."""
    m = MSS(k=k, epsilon=epsilon, moduli=moduli)
    return trials(m, people(crowd, k), runs, [seed, PEOPLE.index(crowd), k, round(100 * epsilon), len(moduli)])


def trials(m: FrequencyOracle, counts: Ints, runs: int, seed: list[int]) -> Floats:
    """Mean squared errors of the raw, unbiased estimates; trial i draws from `seeded([*seed, i])`."""
    n = int(counts.sum())
    truth = counts / n
    m.decode(tally(m, counts // max(int(counts.max()), 1), seeded(seed)), 1)  # compiles before threads start

    def run(start: int, stop: int) -> float:
        return float(np.mean((m.decode(tally(m, counts, seeded([*seed, start])), n) - truth) ** 2))

    return np.array(chunks.each(runs, 1, run))


def tally(m: FrequencyOracle, counts: Ints, rng: np.random.Generator) -> Ints:
    """What a server counts, from everybody's report."""
    if isinstance(m, SS):
        return drawn_members(counts, m.omega, m.p_star, rng)
    if not isinstance(m, MSS):
        return m.simulate(counts, rng=rng).tally
    blocks = len(m.moduli)
    split = rng.multinomial(counts, np.full(blocks, 1 / blocks)).astype(np.int64)
    parts = []
    for j, (size, omega) in enumerate(zip(m.moduli, m.omegas, strict=True)):
        here = np.bincount(np.arange(m.k) % size, split[:, j], size).astype(np.int64)
        parts.append(drawn_members(here, omega, float(m.blocks.p[j]), rng))
    return np.concatenate([*parts, split.sum(axis=0)])
