"""Tallies of many collections at once, drawn from their exact law: one row a run.

`people` is a two-dimensional array of counts: one row for every run, or a single row that all runs share.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def populations(shares: Floats, n: int, runs: int, rng: np.random.Generator) -> Ints:
    """For every run, how many of n people hold each value, drawn at random."""
    from hush.kernels import runs as kernels

    out = np.empty((runs, shares.size), np.int64)
    kernels.populations(rng, shares, n, out)
    return out


def independent_bits(people: Ints, p: float, q: float, runs: int, rng: np.random.Generator) -> Ints:
    """As `tallies.independent_bits`. O(k) a run."""
    from hush.kernels import runs as kernels

    out = np.empty((runs, people.shape[1]), np.int64)
    kernels.bits(rng, people, p, q, out)
    return out


def direct(people: Ints, p: float, q: float, runs: int, rng: np.random.Generator) -> Ints:
    """As `tallies.direct`. O(k) a run."""
    from hush.kernels import runs as kernels

    out = np.empty((runs, people.shape[1]), np.int64)
    kernels.responses(rng, people, p, q, out)
    return out


def subset_members(people: Ints, omega: int, p: float, runs: int, rng: np.random.Generator) -> Ints:
    """As `subsets.subset_members`. O(k · sqrt(omega)) a run."""
    from hush.kernels import runs as kernels

    out = np.empty((runs, people.shape[1]), np.int64)
    kernels.subsets(rng, people, omega, p, out)
    return out


def hadamard(people: Ints, blocks: int, width: int, p: float, runs: int, rng: np.random.Generator) -> Ints:
    """How often each output of Hadamard response is reported. O(K log K) a run, for K outputs."""
    from hush.kernels import runs as kernels

    out = np.empty((runs, blocks * width), np.int64)
    kernels.hadamard(rng, people, blocks, width, p, out)
    return out
