"""Estimates from the normal law with the mechanism's exact covariance: fast, smooth in the budget, and nearly right.

They show where to look; what is concluded near the threshold comes from the exact law. The same normal numbers serve
all budgets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError
from hush.mechanisms._base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.subset import SS
from hush.planning.optimus.population import Population

Floats = npt.NDArray[np.float64]


def subset_moments(m: SS, frequencies: Floats) -> tuple[Floats, float, float]:
    """Of membership in one report, over a fixed population: variances; and a, b of the covariances a + b(f + f').

    >>> spread, a, b = subset_moments(SS(k=3, epsilon=1.0, omega=1), np.array([0.5, 0.3, 0.2]))
    >>> bool(abs(spread.sum() + 6 * a + 4 * b) < 1e-12)  # every subset has one member: the sum does not vary
    True
    """
    k, omega, p, q = m.k, m.omega, m.p_star, m.q_star
    own_other = p * (omega - 1) / (k - 1) - p * q
    pairs = p * (omega - 1) * (omega - 2) + (1 - p) * omega * (omega - 1)
    two_others = pairs / ((k - 1) * max(k - 2, 1)) - q * q
    spread = frequencies * p * (1 - p) + (1 - frequencies) * q * (1 - q)
    return spread, two_others, own_other - two_others


@dataclass(eq=False)
class Normal:
    """Normal estimates for so many runs, the same numbers at every budget."""

    people: Population
    runs: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self._drawn = np.empty((self.runs, 0))

    @cached_property
    def _first(self) -> Floats:
        return self.rng.standard_normal((self.runs, self.people.k))

    @cached_property
    def _second(self) -> Floats:
        return self.rng.standard_normal((self.runs, self.people.k))

    @cached_property
    def _sampled(self) -> Floats | float:
        """What drawing the people at random adds."""
        if self.people.counts is not None:
            return 0.0
        roots = np.sqrt(self.people.truth)
        spread = self.rng.standard_normal((self.runs, self.people.k)) * roots
        return (spread - np.outer(spread.sum(axis=1), self.people.truth)) / np.sqrt(self.people.n)

    def estimates(self, m: FrequencyOracle) -> Floats | None:
        """One a row; None where the mechanism does not know its variances."""
        noise = self._noise(m)
        return None if noise is None else self.people.truth + self._sampled + noise

    def _noise(self, m: FrequencyOracle) -> Floats | None:
        f, n = self.people.truth, self.people.n
        if isinstance(m, GRR) and type(m)._simulate is GRR._simulate:
            return self._responses(m)
        if isinstance(m, SS) and type(m)._simulate is SS._simulate:
            return self._members(m)
        if isinstance(m, HR):
            return self._transformed(m)
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

    def _members(self, m: SS) -> Floats:
        """Independent but for two directions, in which the root of a 2 x 2 matrix makes up the difference."""
        f, n = self.people.truth, self.people.n
        spread, a, b = subset_moments(m, f)
        own = np.sqrt(np.maximum(spread - a - 2 * b * f, 1e-300))
        basis, inner = np.linalg.qr(np.stack([np.ones(m.k), f], axis=1) / own[:, None])
        values, vectors = np.linalg.eigh(np.eye(2) + inner @ np.array([[a, b], [b, 0.0]]) @ inner.T)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T - np.eye(2)
        noise = (self._first + (self._first @ basis) @ root @ basis.T) * own
        return np.asarray(noise / ((m.p_star - m.q_star) * np.sqrt(n)), np.float64)

    def _transformed(self, m: HR) -> Floats:
        """Independent messages, transformed; a fixed population's own share is taken off every variance."""
        f, n, inside = self.people.truth, self.people.n, m.width // 2
        block, row = m._place(np.arange(m.k))
        rare = (1 - m.p_star) / m._sizes[1]
        favoured = np.zeros((m.blocks, m.width))
        favoured[block, row] = f
        favoured[:, 0] = np.bincount(block, f, m.blocks)
        share = rare + (m.p_star / inside - rare) * _walsh_hadamard(favoured) / 2
        messages = self._messages(m.size).reshape(self.runs, m.blocks, m.width) * np.sqrt(np.maximum(share, 0.0))
        noise = _walsh_hadamard(messages)[:, block, row] / (m._gap * np.sqrt(n))
        exact = m.variances(f, n)
        return np.asarray(noise * np.sqrt(exact / (exact + f / n)), np.float64)

    def _messages(self, size: int) -> Floats:
        """Normal numbers for every message; more are drawn where a budget has more messages."""
        if self._drawn.shape[1] < size:
            more = self.rng.standard_normal((self.runs, size - self._drawn.shape[1]))
            self._drawn = np.concatenate([self._drawn, more], axis=1)
        return np.ascontiguousarray(self._drawn[:, :size])


def _walsh_hadamard(rows: Floats) -> Floats:
    """The transform along the last axis."""
    width, half = rows.shape[-1], 1
    while half < width:
        pairs = rows.reshape(*rows.shape[:-1], width // (2 * half), 2, half)
        first, second = pairs[..., 0, :], pairs[..., 1, :]
        rows = np.stack([first + second, first - second], axis=-2).reshape(*rows.shape)
        half *= 2
    return rows
