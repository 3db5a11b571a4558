"""Estimates of many collections, drawn from the exact law of the reports.

Where people in disguise can be counted among the sensitive ones, or their tally drawn apart, subsets, balanced buckets
and Hadamard response are drawn for all runs at once. Everybody else is simulated run by run.
"""

from __future__ import annotations

import numpy as np

from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.hadamard import HR
from hush.mechanisms.subset import SS
from hush.simulation import batches
from hush.types import Floats, Ints
from hush.utility import BalancedLH, UtilityOracle
from hush.utility.simulating import disguised, revealing


def estimates(u: UtilityOracle, counts: Ints, runs: int, rng: np.random.Generator) -> Floats:
    """Raw estimates, a run a row."""
    n = int(counts.sum())
    return np.stack([u.decode(tally, n) for tally in _tallies(u, counts, runs, rng)])


def _tallies(u: UtilityOracle, counts: Ints, runs: int, rng: np.random.Generator) -> list[Ints]:
    base, revelation = u.base, u._revelation
    if not isinstance(base, SS | BalancedLH | HR):
        return [u.simulate(counts, rng=rng).tally for _ in range(runs)]
    people = np.repeat(counts[u._sensitive][None, :], runs, axis=0)
    apart, revealed = np.zeros((runs, base._empty().size), np.int64), []
    for run in range(runs):
        alone, pairs, kept = revealing(revelation, counts[u._others], rng)
        together = int(pairs.sum()) if u.reveal == "pair" else 0
        if revelation.constant is None:
            apart[run] = disguised(revelation, int(kept.sum()), together, rng).ravel()
        else:
            people[run] += rng.multinomial(int(kept.sum()) + together, np.full(base.k, 1 / base.k))
        by_itself = int(alone.sum()) + int(pairs.sum()) - together
        revealed.append(np.append(alone + pairs, by_itself))
    drawn = _based(base, people, runs, rng) + apart
    return [np.concatenate(parts) for parts in zip(drawn, revealed, strict=True)]


def _based(base: FrequencyOracle, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
    """Base tallies of people of sensitive values, a run a row."""
    if isinstance(base, SS):
        return batches.subset_members(people, base.omega, base.p_star, runs, rng)
    if isinstance(base, HR):
        return batches.hadamard(people, base.blocks, base.width, base.p_star, runs, rng)
    assert isinstance(base, BalancedLH)
    return _buckets(base, people, runs, rng)


def _buckets(base: BalancedLH, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
    """A bucket of so many values is a random subset of that size, which holds the person's own with some chance."""
    tally, left, rest = np.zeros_like(people), people, 1.0
    for size, number in zip(*np.unique(np.diff(base.edges), return_counts=True), strict=True):
        own = base.p_star * number * size / base.k
        other = (1 - base.p_star) * number * (1 - size / base.k) / (base.g - 1)
        here = rng.binomial(left, min((own + other) / rest, 1.0)).astype(np.int64)
        tally += batches.subset_members(here, int(size), own / (own + other), runs, rng)
        left, rest = left - here, rest - own - other
    return tally
