"""Tallies of many collections at once, drawn from their exact law: one row a run.

`people` is a two-dimensional array of counts: one row for every run, or a single row that all runs share.
"""

from __future__ import annotations

import numpy as np

from hush.types import Floats, Ints


def populations(shares: Floats, n: int, runs: int, rng: np.random.Generator) -> Ints:
    """For every run, how many of n people hold each value, drawn at random."""
    return multinomials(shares, np.full(runs, n), rng)


def multinomials(shares: Floats, totals: Ints, rng: np.random.Generator) -> Ints:
    """For every total, how many of so many people fall to each share."""
    from hush.kernels import runs as kernels

    out = np.empty((totals.size, shares.size), np.int64)
    kernels.multinomials(rng, shares, totals.astype(np.int64), out)
    return out


def thinned(people: Ints, p: float, runs: int, rng: np.random.Generator) -> Ints:
    """How many of the people in each cell are chosen, each with probability p."""
    from hush.kernels import runs as kernels

    out = np.empty((runs, people.shape[1]), np.int64)
    kernels.thin(rng, np.ascontiguousarray(people), p, out)
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


def uniform_sets(sizes: Ints, rng: np.random.Generator) -> Ints:
    """How often each of s values is a member of uniform random sets, so many of each size 0..s in every row."""
    from hush.kernels import runs as kernels

    out = np.empty((sizes.shape[0], sizes.shape[1] - 1), np.int64)
    kernels.sets(rng, sizes, out)
    return out


def residues(people: Ints, moduli: Ints, runs: int, rng: np.random.Generator) -> Ints:
    """How many people of each block have each residue, side by side, where everybody joins a block at random."""
    from hush.kernels import runs as kernels

    out = np.empty((runs, int(moduli.sum())), np.int64)
    kernels.residues(rng, np.ascontiguousarray(people), moduli, out)
    return out
