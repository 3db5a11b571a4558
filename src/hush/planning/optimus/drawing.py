"""Estimates of many simulated collections, drawn from the exact law of any mechanism.

Whoever draws tallies as unary encoding, randomized response, subset selection or Hadamard response do gets the batch
that does the same for all runs at once. Everybody else is simulated run by run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.mechanisms._base import FrequencyOracle
from hush.mechanisms._hashed import Hashed
from hush.mechanisms._pure import PureOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.histogram import ServerTHE
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import UE
from hush.planning.optimus.population import Population
from hush.simulation import batches

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
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
    return np.stack([m.simulate(people[min(run, len(people) - 1)], rng=rng).tally for run in range(runs)])


_BATCHES: dict[Any, Batch] = {
    UE._simulate: _bits,
    Hashed._simulate: _bits,
    ServerTHE._simulate: _bits,
    GRR._simulate: _direct,
    SS._simulate: _subsets,
}
"""By the way a mechanism draws one tally."""


def batch(m: FrequencyOracle) -> Batch:
    """How this mechanism's tallies are drawn."""
    if isinstance(m, HR) and type(m).sample is HR.sample and type(m)._simulate is FrequencyOracle._simulate:
        return _hadamard
    return _BATCHES.get(type(m)._simulate, _one_by_one)


def slow(m: FrequencyOracle) -> bool:
    """Whether it is simulated run by run."""
    return batch(m) is _one_by_one


def costly(m: FrequencyOracle) -> bool:
    """Whether a run takes more than a few draws a value."""
    return batch(m) not in (_bits, _direct)


def estimates(m: FrequencyOracle, people: Population, runs: int, rng: np.random.Generator) -> Floats:
    """Raw estimates of so many collections, one a row."""
    tallies = batch(m)(m, people.people(runs, rng), runs, rng)
    if isinstance(m, PureOracle) and type(m).decode is PureOracle.decode:
        return np.asarray((tallies / people.n - m.q_star) / (m.p_star - m.q_star), np.float64)
    return np.stack([m.decode(tally, people.n) for tally in tallies])
