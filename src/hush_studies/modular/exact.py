"""The mean error of MSS over all values, exactly, and equation 3 as printed: from a few solutions, not a matrix.

Both need, for each block, how long the columns of the gain are at residues that somebody holds. People of the study
hold a few dozen values, so this is quicker than the variances of all (`hush.analysis.modular`), whose mean it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hush.analysis.modular import Blocks
from hush.kernels import chunks
from hush.types import Floats


@dataclass(frozen=True)
class Mean:
    """Mean squared error of a fixed population: what it is, and what equation 3 says literally."""

    exact: float
    printed: float


def mean_error(law: Blocks, frequencies: Floats, n: int) -> Mean:
    """For blocks of n/l reports each."""
    a, b, c, d = law.moments
    count, system = law.m.size, law.system
    level = system.solve(np.ones(law.k))
    folded = system.folded(frequencies)
    scales = law.weights**2 * count
    base = float(system.sandwich_diagonal(scales * a).sum() + scales @ b * (level @ level))
    gap = law.p - law.q
    literal = law.weights * count**2 / gap**2

    def block(j: int, _: int) -> tuple[float, float]:
        m, shares = law.moduli[j], folded[j]
        residue = np.arange(law.k) % m
        seen = system.solve(shares[residue])
        held = sum(shares[at] * _square(system.solve((residue == at) * 1.0)) for at in np.flatnonzero(shares))
        every = float(system.sandwich_diagonal(np.eye(count)[j]).sum())
        flat = _square(law.q[j] * level + gap[j] * seen)
        right = scales[j] * (2 * c[j] * float(level @ seen) + (d[j] + 1) * held - _square(seen))
        return right, literal[j] * (law.q[j] * every + gap[j] * held - flat)

    system.first  # noqa: B018  made before threads ask for it
    right, printed = np.array(chunks.each(count, 1, block)).sum(axis=0)
    people = 1.0 - _square(frequencies)
    return Mean(float(base + right - people) / (law.k * n), float(printed) / (law.k * n**2))


def _square(x: Floats) -> float:
    return float(x @ x)
