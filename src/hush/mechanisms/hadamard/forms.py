"""Closed forms of Hadamard response."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from hush.analysis.manipulation import Targets
from hush.analysis.walsh import walsh
from hush.exact.thresholds import SCALE
from hush.mechanisms.forms import PairKind, TwoLevelForms
from hush.mechanisms.shape import Shape, weighted
from hush.types import Floats, Ints, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.hadamard.mechanism import HR


@dataclass(frozen=True, eq=False)
class HadamardForms(TwoLevelForms):
    """Of Hadamard response."""

    m: HR

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """The first column of a block supports all of its values; values of other blocks decode to nothing."""
        m = self.m
        if isinstance(targets, int):
            return min(targets, -(-m.k // m.blocks)) / m._gap
        return float(np.bincount(m._place(targets)[0]).max() / m._gap)

    def random_sum(self, targets: Targets) -> float:
        """Every row but the first has as many -1 as +1."""
        return 0.0

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """One transform of the targets' rows gives what every output decodes to; the best ones share the fakes."""
        from hush.kernels.hadamard import walsh_hadamard

        m = self.m
        rows = np.zeros((m.blocks, m.width), np.int64)
        rows[m._place(targets)] = 1
        for block in rows:
            walsh_hadamard(block)
        return rng.choice(np.flatnonzero(rows == rows.max()), size).astype(m.report_dtype)

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Any output."""
        return rng.integers(0, self.m.size, size, dtype=self.m.report_dtype)

    def telling(self, first: int, second: int) -> tuple[float, float]:
        """Of two blocks, their codewords; of one, the halves that the codewords do not share."""
        m = self.m
        half = m.width // 2
        elsewhere = (1 - m.p_star) * half / (m.size - half)
        if first % m.blocks != second % m.blocks:
            return m.p_star, elsewhere
        return m.p_star / 2, elsewhere / 2

    def pair_kinds(self) -> list[PairKind]:
        """Codewords of one block share half of their outputs, those of two blocks none."""
        m = self.m
        p = Fraction(m.keep, SCALE)
        half = m.width // 2
        gap = p - (1 - p) * half / (m.size - half)
        apart, together = (gap, Fraction(0)), (gap / 2, p / 2)
        return [kind for kind, exists in ((apart, m.blocks > 1), (together, m.k > m.blocks)) if exists]

    def best_chances(self, prior: Floats) -> Floats:
        """The likeliest value that an output supports, or the likeliest of all."""
        m = self.m
        inside, outside = m._sizes
        supported = m._largest_supported(prior) * m.p_star / inside
        return np.asarray(np.maximum(supported, prior.max() * (1 - m.p_star) / outside), np.float64)

    @property
    def shape(self) -> Shape:
        """Outputs differ in how many values they support, and in which."""
        m = self.m
        low, high = m._weights

        @cache
        def table() -> Ints:
            """Half of a transform of the rows in use."""
            rows = np.zeros((m.blocks, m.width), np.int64)
            rows[m._place(np.arange(m.k))] = 1
            return np.asarray((walsh(rows) + rows.sum(axis=1, keepdims=True)) // 2, np.int64).ravel()

        def law() -> Floats:
            inside, outside = (weight / m.denominator for weight in (high, low))
            return weighted(table(), (table() * inside + (m.k - table()) * outside) / m.k, m.k + 1)

        def possible() -> list[int]:
            return np.unique(table()).tolist()

        return Shape(m.k, high, low, law, possible, lambda r, at: table()[r[at]], alike=False, numbered=table)

    @property
    def number_of_outputs(self) -> int:
        """K."""
        return self.m.size

    def moments(self, chances: Floats) -> tuple[Floats, Floats]:
        """One transform; a report adds +1 or -1 over the gap in a value's own block."""
        m = self.m
        kept = chances.reshape(m.blocks, m.width)
        block, row = m._place(np.arange(m.k))
        return walsh(kept)[block, row] / m._gap, kept.sum(axis=1)[block] / m._gap**2

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
