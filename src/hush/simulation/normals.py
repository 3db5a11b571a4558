"""Normal numbers for many runs, the same ones for every mechanism that is looked at with them.

Estimates by the normal law are fast, smooth in the budget, and nearly right: they show where to look.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from hush.kernels import chunks
from hush.types import Floats


@dataclass(eq=False)
class Normals:
    """Independent standard normal numbers, a row for each run.

    Args:
        runs: How many rows.
        rng: Draws them, when they are first needed.
    """

    runs: int
    rng: np.random.Generator
    _drawn: dict[int, Floats] = field(default_factory=dict)

    def numbers(self, size: int, pool: int = 0) -> Floats:
        """So many a run, of one of several pools; more are drawn where a mechanism needs more."""
        held = self._drawn.get(pool, np.empty((self.runs, 0)))
        if held.shape[1] < size:
            more = self.rng.standard_normal((self.runs, size - held.shape[1]))
            held = self._drawn[pool] = np.concatenate([held, more], axis=1)
        return np.ascontiguousarray(held[:, :size])


def by_rows(rows: Floats, work: Callable[[Floats], Floats]) -> Floats:
    """A function of every row, on all cores."""
    size = -(-len(rows) // chunks.threads())
    return np.concatenate(chunks.each(len(rows), size, lambda a, b: np.stack([work(row) for row in rows[a:b]])))


def sampled(normals: Floats, shares: Floats) -> Floats:
    """Normal numbers with the covariance of one person's value: diag f - f f'."""
    spread = normals * np.sqrt(shares)
    return np.asarray(spread - np.outer(spread.sum(axis=1), shares), np.float64)


@dataclass(frozen=True)
class Subsets:
    """Subset selection over k values: how large a subset is, and how often it holds one's own and another value."""

    k: int
    omega: int
    p: float
    q: float

    def moments(self, frequencies: Floats) -> tuple[Floats, float, float]:
        """Of membership in one report, over a fixed population: variances; and a, b of the covariances a + b(f + f').

        >>> spread, a, b = Subsets(3, 1, 0.5, 0.25).moments(np.array([0.5, 0.3, 0.2]))
        >>> bool(abs(spread.sum() + 6 * a + 4 * b) < 1e-12)  # every subset has one member: the sum does not vary
        True
        """
        k, omega, p, q = self.k, self.omega, self.p, self.q
        own_other = p * (omega - 1) / (k - 1) - p * q
        pairs = p * (omega - 1) * (omega - 2) + (1 - p) * omega * (omega - 1)
        two_others = pairs / ((k - 1) * max(k - 2, 1)) - q * q
        spread = frequencies * p * (1 - p) + (1 - frequencies) * q * (1 - q)
        return spread, two_others, own_other - two_others

    def noise(self, normals: Floats, frequencies: Floats) -> Floats:
        """Of the debiased memberships of one report: independent but for two directions.

        In these the root of a 2 x 2 matrix makes up the difference.
        """
        spread, a, b = self.moments(frequencies)
        own = np.sqrt(np.maximum(spread - a - 2 * b * frequencies, 1e-300))
        basis, inner = np.linalg.qr(np.stack([np.ones(self.k), frequencies], axis=1) / own[:, None])
        values, vectors = np.linalg.eigh(np.eye(2) + inner @ np.array([[a, b], [b, 0.0]]) @ inner.T)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T - np.eye(2)
        noise = (normals + (normals @ basis) @ root @ basis.T) * own
        return np.asarray(noise / (self.p - self.q), np.float64)
