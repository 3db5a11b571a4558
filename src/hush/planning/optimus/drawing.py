"""Estimates of many simulated collections, drawn from the exact law of any mechanism.

Whoever draws tallies as a mechanism that is known here does gets the batch that does the same for all runs at once.
Everybody else is simulated run by run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing.hashed import Hashed
from hush.mechanisms.histogram import NoisyHistogram, ServerTHE
from hush.mechanisms.modular import MSS
from hush.mechanisms.projective import PGR
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import UE
from hush.planning.optimus import messages
from hush.planning.optimus.population import Population
from hush.simulation import batches
from hush.simulation.noise import NoiseSums
from hush.types import Floats, Ints
from hush.utility.oracle import UtilityOracle

Batch = Callable[[Any, Ints, int, np.random.Generator], Ints]


def _bits(m: Any, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
    return batches.independent_bits(people, m.p_star, m.q_star, runs, rng)


def _direct(m: Any, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
    return batches.direct(people, m.p_star, m.q_star, runs, rng)


def _subsets(m: Any, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
    return batches.subset_members(people, m.omega, m.p_star, runs, rng)


def _hadamard(m: Any, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
    return batches.hadamard(people, m.blocks, m.width, m.p_star, runs, rng)


def _one_by_one(m: FrequencyOracle, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
    return np.stack([m._simulate(people[min(run, len(people) - 1)], rng) for run in range(runs)])


def _projective(m: PGR, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
    """People are walked through the geometry run by run; compiled, and without a report."""
    return _one_by_one(m, people, runs, rng)


def _sums(m: NoisyHistogram, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
    noise = _noise(m)
    return noise.drawn(people, runs, rng) if noise.takes(people) else _one_by_one(m, people, runs, rng)


@lru_cache(maxsize=4)
def _noise(m: NoisyHistogram) -> NoiseSums:
    return NoiseSums(m.grid.steps, m.grid.probabilities, m.grid.unit)


def _modular(m: MSS, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
    """Subset selection in every block, or randomized response where a subset has one member."""
    rows = batches.residues(people, np.array(m.moduli), runs, rng)
    parts = np.split(rows, m._starts[1:-1], axis=1)
    here = np.stack([part.sum(axis=1) for part in parts], axis=1)
    tallies = []
    for part, size, omega, p in zip(parts, m.moduli, m.omegas, m.blocks.p.tolist(), strict=True):
        if omega == 1:
            tallies.append(batches.direct(part, p, (1 - p) / (size - 1), runs, rng))
        else:
            tallies.append(batches.subset_members(part, omega, p, runs, rng))
    return np.concatenate([*tallies, here], axis=1)


def _utility(m: UtilityOracle, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
    from hush.planning.optimus import disguises

    if not disguises.known(m):
        return _one_by_one(m, people, runs, rng)
    return disguises.tallies(m, batch, people, runs, rng)


_BATCHES: dict[Any, Batch] = {
    UE._simulate: _bits,
    Hashed._simulate: _bits,
    ServerTHE._simulate: _bits,
    GRR._simulate: _direct,
    SS._simulate: _subsets,
    NoisyHistogram._simulate: _sums,
    MSS._simulate: _modular,
    PGR._simulate: _projective,
    UtilityOracle._simulate: _utility,
}
"""By the way a mechanism draws one tally."""

_WALKS: tuple[Batch, ...] = (_subsets, _hadamard, _modular, _projective)
"""Where a run takes more than a few draws a value, and the normal law knows all covariances."""


def batch(m: FrequencyOracle) -> Batch:
    """How this mechanism's tallies are drawn."""
    if isinstance(m, HR) and type(m).sample is HR.sample and type(m)._simulate is FrequencyOracle._simulate:
        return _hadamard
    return _BATCHES.get(type(m)._simulate, _one_by_one)


def slow(m: FrequencyOracle) -> bool:
    """Whether it is simulated run by run."""
    return batch(m) in (_one_by_one, _projective)


def costly(m: FrequencyOracle) -> bool:
    """Whether the normal law may bracket, and only the runs that decide are drawn from the exact one."""
    return batch(m) in _WALKS


def estimates(m: FrequencyOracle, people: Population, runs: int, rng: np.random.Generator) -> Floats:
    """Raw estimates of so many collections, one a row."""
    if people.counts is None and batch(m) in (_hadamard, _projective):
        chances = messages.chances(m, people.truth)  # everybody's report has the same law: one multinomial
        tallies = batches.multinomials(chances, np.full(runs, people.n), rng)
    else:
        tallies = batch(m)(m, people.people(runs, rng), runs, rng)
    if isinstance(m, PureOracle) and type(m).decode is PureOracle.decode:
        return np.asarray((tallies / people.n - m.q_star) / (m.p_star - m.q_star), np.float64)
    if type(m).decode is NoisyHistogram.decode:
        return m.decode(tallies, people.n)
    if isinstance(m, MSS) and type(m).decode is MSS.decode and m.blocks.system.small:
        return _solved(m, tallies, people.n)
    return np.stack([m.decode(tally, people.n) for tally in tallies])


def _solved(m: MSS, tallies: Ints, n: int) -> Floats:
    """`MSS.decode` of few values for all rows at once, by the normal equations; where a block is empty, as it is."""
    whole = tallies[:, m._starts[-1] :].min(axis=1) > 0
    out = np.empty((len(tallies), m.k))
    for i in np.flatnonzero(~whole):
        out[i] = m.decode(tallies[i], n)
    rows = tallies[whole]
    matrix, right = np.zeros((len(rows), m.k, m.k)), np.zeros((len(rows), m.k))
    for j, size in enumerate(m.moduli):
        residue, people = np.arange(m.k) % size, rows[:, m._starts[-1] + j]
        seen = rows[:, m._starts[j] : m._starts[j + 1]] / people[:, None]
        weight = m.blocks.weights[j] * people
        right += weight[:, None] * ((seen - m.blocks.q[j]) / (m.blocks.p[j] - m.blocks.q[j]))[:, residue]
        matrix += weight[:, None, None] * (residue[:, None] == residue)
    out[whole] = np.linalg.solve(matrix, right[:, :, None])[:, :, 0]
    return out
