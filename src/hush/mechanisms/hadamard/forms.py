"""Closed forms of Hadamard response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush.analysis import absolute_error, adds, information, totals
from hush.analysis.walsh import walsh
from hush.analysis.waves import expm1i
from hush.mechanisms.hadamard.totals import output_means, outputs_lattice
from hush.mechanisms.messages import MessageForms
from hush.mechanisms.tunable import Choices, Tunable
from hush.simulation import batches
from hush.types import Complexes, Floats, Ints

if TYPE_CHECKING:
    from hush.mechanisms.hadamard.mechanism import HR


@dataclass(frozen=True, eq=False)
class HadamardForms(MessageForms):
    """Of Hadamard response."""

    m: HR

    # What fakes gain, what tells values apart, and what guesses are worth.

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
