"""Estimates from the normal law with the mechanism's covariance: fast, smooth in the budget, and nearly right.

They show where to look; what is concluded comes from the exact law. The same normal numbers serve all budgets. The
covariance is exact for randomized response, subset selection and mechanisms with independent coordinates; for Hadamard
response, projective geometry and modular subsets it is exact where people are drawn at random, and else has the exact
variances; of others it has the exact variances alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hush.analysis.optimal import analytic_gaussian_scale
from hush.analysis.walsh import walsh
from hush.errors import ParameterError
from hush.kernels import chunks
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.histogram import AGM, SHE
from hush.mechanisms.modular import MSS
from hush.mechanisms.projective import PGR
from hush.mechanisms.projective.counts import over_hyperplanes
from hush.mechanisms.subset import SS
from hush.planning.optimus import messages
from hush.planning.optimus.population import Population
from hush.types import Floats

_ROUGH = 1e-6
"""How well the least squares of modular subsets are solved here."""


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


@dataclass(eq=False)
class Normal:
    """Normal estimates for so many runs, the same numbers at every budget."""

    people: Population
    runs: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self._drawn = [np.empty((self.runs, 0)), np.empty((self.runs, 0))]

    @property
    def _first(self) -> Floats:
        return self._numbers(self.people.k)

    @cached_property
    def _second(self) -> Floats:
        return self._numbers(self.people.k, 1)

    @cached_property
    def _sampled(self) -> Floats | float:
        """What drawing the people at random adds."""
        if self.people.counts is not None:
            return 0.0
        return sampled(self.rng.standard_normal((self.runs, self.people.k)), self.people.truth) / np.sqrt(self.people.n)

    def estimates(self, m: FrequencyOracle) -> Floats | None:
        """One a row; None where the mechanism does not know its variances."""
        whole = self._whole(m)
        if whole is not None:
            return np.asarray(self.people.truth + whole / np.sqrt(self.people.n), np.float64)
        noise = self._noise(m)
        return None if noise is None else np.asarray(self.people.truth + self._sampled + noise, np.float64)

    def _whole(self, m: FrequencyOracle) -> Floats | None:
        """What one report adds where it is known for people drawn at random; else None.

        In a fixed population the covariance lacks that of a person's value, diag f - f f'.
        """
        if isinstance(m, HR):
            drawn = self._transformed(m)
        elif isinstance(m, PGR):
            drawn = self._projected(m)
        elif isinstance(m, MSS):
            drawn = self._solved(m)
        else:
            return None
        if self.people.counts is None:
            return drawn
        f, exact = self.people.truth, m.variances(self.people.truth, 1)
        return (drawn + np.outer(self._one, f)) * np.sqrt(exact / (exact + f))

    @cached_property
    def _one(self) -> Floats:
        return self.rng.standard_normal(self.runs)

    def _noise(self, m: FrequencyOracle) -> Floats | None:
        f, n = self.people.truth, self.people.n
        if isinstance(m, GRR) and type(m)._simulate is GRR._simulate:
            return self._responses(m)
        if isinstance(m, SS) and type(m)._simulate is SS._simulate:
            return Subsets(m.k, m.omega, m.p_star, m.q_star).noise(self._first, f) / np.sqrt(n)
        # The noise on the grid is this to many digits, which take longer to find than a glance is worth.
        if type(m) is AGM:
            return np.asarray(self._first * (analytic_gaussian_scale(m.epsilon, m.delta) / np.sqrt(n)), np.float64)
        if type(m) is SHE:
            return np.asarray(self._first * (np.sqrt(8 / n) / m.epsilon), np.float64)
        try:
            return np.asarray(self._first * np.sqrt(m.variances(f, n)), np.float64)
        except (NotImplementedError, ParameterError):
            return None

    def _responses(self, m: GRR) -> Floats:
        """Those who keep their value, and the rest over all values."""
        f, n, gap = self.people.truth, self.people.n, m.p_star - m.q_star
        kept = self._first * np.sqrt(f * gap * (1 - gap))
        spread = self._second * np.sqrt((1 - gap) / m.k)
        others = spread - (spread.sum(axis=1, keepdims=True) + kept.sum(axis=1, keepdims=True)) / m.k
        return np.asarray((kept + others) / (gap * np.sqrt(n)), np.float64)

    def _transformed(self, m: HR) -> Floats:
        """Messages, transformed."""
        noise = sampled(self._numbers(m.size), messages.chances(m, self.people.truth))
        block, row = m._place(np.arange(m.k))
        rows = walsh(noise.reshape(self.runs, m.blocks, m.width))
        return np.asarray(rows[:, block, row] / m._gap, np.float64)

    def _projected(self, m: PGR) -> Floats:
        """Messages, summed over hyperplanes."""
        noise = sampled(self._numbers(m.size), messages.chances(m, self.people.truth))
        return _by_rows(noise, lambda row: over_hyperplanes(row, m.k, m._space)) / m._gap

    def _solved(self, m: MSS) -> Floats:
        """Residues of every block, from its share of the people, and the least squares of all."""
        law, right, start = m.blocks, np.zeros((self.runs, m.k)), 0
        own, drawn = (self._numbers(int(sum(m.moduli)), i) for i in (0, 1))
        for j, (size, omega) in enumerate(zip(m.moduli, m.omegas, strict=True)):
            residue, part = np.arange(m.k) % size, slice(start, start + size)
            held = np.bincount(residue, self.people.truth, size).astype(np.float64)
            block = Subsets(size, omega, float(law.p[j]), float(law.q[j]))
            noise = np.asarray(block.noise(own[:, part], held) + sampled(drawn[:, part], held), np.float64)
            right += (law.weights[j] * np.sqrt(len(m.moduli))) * noise[:, residue]
            start += size
        return _by_rows(right, lambda row: law.system.solve(row, tolerance=_ROUGH))

    def _numbers(self, size: int, pool: int = 0) -> Floats:
        """Normal numbers, so many a run; more are drawn where a budget needs more."""
        missing = size - self._drawn[pool].shape[1]
        if missing > 0:
            more = self.rng.standard_normal((self.runs, missing))
            self._drawn[pool] = np.concatenate([self._drawn[pool], more], axis=1)
        return np.ascontiguousarray(self._drawn[pool][:, :size])


def _by_rows(rows: Floats, work: Callable[[Floats], Floats]) -> Floats:
    """A function of every row, on all cores."""
    size = -(-len(rows) // chunks.threads())
    return np.concatenate(chunks.each(len(rows), size, lambda a, b: np.stack([work(row) for row in rows[a:b]])))


def sampled(normals: Floats, shares: Floats) -> Floats:
    """Normal numbers with the covariance of one person's value: diag f - f f'."""
    spread = normals * np.sqrt(shares)
    return np.asarray(spread - np.outer(spread.sum(axis=1), shares), np.float64)
