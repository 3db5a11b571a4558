"""Closed forms of Hadamard response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush.analysis import absolute_error, adds, information, totals
from hush.analysis.manipulation import Targets
from hush.analysis.walsh import walsh
from hush.analysis.waves import expm1i
from hush.exact.thresholds import SCALE
from hush.mechanisms.forms import PairKind, TwoLevelForms
from hush.mechanisms.hadamard.totals import output_means, outputs_lattice
from hush.mechanisms.messages import MessageForms
from hush.mechanisms.shape import Shape, weighted
from hush.mechanisms.tunable import Choices, Tunable
from hush.simulation import batches
from hush.types import Complexes, Floats, Ints, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.hadamard.mechanism import HR


@dataclass(frozen=True, eq=False)
class HadamardForms(MessageForms, TwoLevelForms):
    """Of Hadamard response."""

    m: HR

    about: ClassVar[str] = "Hadamard response: a row number that fits half of all categories, mostly the true one."

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

    one_by_one: ClassVar[bool] = False

    @property
    def kinds(self) -> Sequence[int]:
        """One with others in its block, one of another block, one of a block that may be smaller."""
        return sorted({0, 1, min(self.m.blocks, self.m.k - 1)})

    def even_variance(self, n: int) -> float:
        """How often another person's value is of the same block, for all blocks at once."""
        inside, outside = self.m._sizes
        missed = (1 - self.m.p_star) * inside / outside
        each, more = divmod(self.m.k, self.m.blocks)
        pairs = more * (each + 1) ** 2 + (self.m.blocks - more) * each**2
        near = pairs / self.m.k**2
        within = near * (self.m.p_star + missed) + (1 - near) * 2 * missed
        return within / (n * self.m._gap**2) - 1 / (n * self.m.k)

    def absolute_errors(self, counts: Ints, values: Sequence[int]) -> Floats:
        n, block = int(counts.sum()), np.arange(self.m.k) % self.m.blocks
        together = np.bincount(block, counts, self.m.blocks)[block]
        pairs, where = np.unique(np.stack([counts, together], axis=1)[values], axis=0, return_inverse=True)
        kinds = np.stack([pairs[:, 0], pairs[:, 1] - pairs[:, 0], n - pairs[:, 1]])
        return self._rows(n, kinds)[where.ravel()]

    def worst_absolute_error(self, n: int) -> float:
        possible = np.array([True, self.m.k > self.m.blocks, self.m.blocks > 1])
        return float(self._rows(n, n * np.eye(3)[:, possible]).max())

    def _rows(self, n: int, kinds: npt.ArrayLike) -> Floats:
        """A report adds 1, 0 or -1 to a value's row: so many holders, others of its block, people of other blocks."""
        p, half = self.m.p_star, self.m.width // 2
        missed = (1 - p) * half / (self.m.size - half)
        elsewhere = (1 - p) * (self.m.size - self.m.width) / (self.m.size - half)
        near = (p + missed) / 2
        laws = [missed, elsewhere, p], [near, elsewhere, near], [missed, 1 - 2 * missed, missed]
        parts = [(law, -1, many) for law, many in zip(laws, np.asarray(kinds), strict=True)]
        return np.asarray(absolute_error.lattice(parts) / (n * (p - missed)), np.float64)

    def even_information(self) -> float:
        return information.hadamard(self.m.k, self.m.blocks, self.m.width, self.m.p_star)

    def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        return batches.hadamard(people, self.m.blocks, self.m.width, self.m.p_star, runs, rng)

    def held(self, frequencies: Floats) -> Floats:
        favoured = np.zeros((self.m.blocks, self.m.width))
        block, row = self.m._place(np.arange(self.m.k))
        favoured[block, row] = frequencies
        favoured[:, 0] = np.bincount(block, frequencies, self.m.blocks)
        return walsh(favoured).ravel() / 2

    def decoded_noise(self, noise: Floats) -> Floats:
        """Transformed."""
        block, row = self.m._place(np.arange(self.m.k))
        rows = walsh(noise.reshape(len(noise), self.m.blocks, self.m.width))
        return np.asarray(rows[:, block, row] / self.m._gap, np.float64)

    @classmethod
    def tunable(cls, k: int) -> Sequence[Tunable]:
        from hush.mechanisms.hadamard.mechanism import HR

        return (Choices(HR, "blocks", tuple(2**i for i in range((2 * k).bit_length()))),)

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds:
        """What its output says of its block."""
        says, means, least = output_means(self.m, amounts)

        def phi_less_one(theta: npt.NDArray[Any]) -> Complexes:
            return np.asarray(means(expm1i(theta[:, None, None] * says)))

        mean = means(says)
        variance = adds.spread(mean, means(says**2))
        return adds.Adds(phi_less_one, mean, variance, says.size, adds.outputs_swings(says.ravel(), least))

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """That of a sum over people, on the lattice of what outputs say."""
        least, step = outputs_lattice(self.m, amounts)
        return self._summed(amounts, counts, self.report_adds(amounts), least=least, step=step)

    def collection_work(self, n: int) -> float:
        """Outputs, drawn for many people at a time."""
        return totals.COLLECTION + n / 6
