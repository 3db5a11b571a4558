"""Hadamard response (HR).

Acharya, Sun and Zhang (AISTATS 2019): outputs form blocks of equal width (a power of two); a value owns a row of
its block's Hadamard matrix and favours the columns where the row is +1. Decoding is one fast Walsh-Hadamard
transform of the counts. With one block the oracle is pure; with more, values in other blocks are supported less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import optimal
from hush.errors import ParameterError, message
from hush.estimation.bounds import Bounded, Term, Terms
from hush.estimation.laws import EstimateLaw, Supports
from hush.mechanisms.direct import counted, unsigned
from hush.mechanisms.forms import Forms
from hush.mechanisms.hadamard.forms import HadamardForms
from hush.mechanisms.inference import shares
from hush.mechanisms.two_level import TwoLevel
from hush.types import Floats, Ints, Reports, Values


@dataclass(frozen=True, kw_only=True)
class HR(TwoLevel):
    """Report one of K outputs, likelier where the value's Hadamard row is +1.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.
        blocks: Number of blocks, a power of two; left out, that of the least mean variance. The paper's, about
            e^epsilon / 2, is `hush.analysis.optimal.hadamard_blocks_paper`.

    >>> HR(k=100, epsilon=1.0).bits
    7
    """

    blocks: int = None  # type: ignore[assignment]

    full_name: ClassVar[str] = "Hadamard response"
    companion: ClassVar[type[Forms]] = HadamardForms
    family: ClassVar[str] = "Hadamard"
    sufficient: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen = optimal.hadamard_blocks(self.k, self.epsilon) if self.blocks is None else self.blocks
        count = rules.integer("blocks", chosen, 1, 2 * self.k, "use a power of two, or leave it out")
        if count & (count - 1):
            raise ParameterError(message("blocks", "must be a power of two", count, "use e.g. 4, or leave it out"))
        self._set(blocks=count)

    @property
    def width(self) -> int:
        """Outputs in a block: the least power of two with a row other than the first for each of its values."""
        return 2 ** (-(-self.k // self.blocks)).bit_length()

    @property
    def size(self) -> int:
        """Number of outputs, K."""
        return self.blocks * self.width

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The smallest unsigned integer that holds K-1."""
        return unsigned(self.size - 1)

    @property
    def _sizes(self) -> tuple[int, int]:
        return self.width // 2, self.size - self.width // 2

    @property
    def bits(self) -> int:
        return (self.size - 1).bit_length()

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.kernels.hadamard import respond
        from hush.kernels.words import rejection

        out = np.empty(values.size, self.report_dtype)
        respond(rng, values, self.width, self.blocks, np.uint64(self.keep), rejection(self._sizes[1]), out)
        return out

    def _place(self, values: Values) -> tuple[Values, Values]:
        """The block of each value and its row there."""
        return values % self.blocks, values // self.blocks + 1

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        block, row = self._place(values)
        at = reports.astype(np.int64)
        even = np.bitwise_count(at % self.width & row) % 2 == 0
        return np.asarray((at // self.width == block) & even)

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return self.supports(reports[:, None], np.arange(self.k))

    def tally(self, reports: Reports) -> Ints:
        return counted(reports, self.size)

    @property
    def _gap(self) -> float:
        """Mean of a report's +1 or -1 in its own row: what the transform is divided by."""
        inside, outside = self._sizes
        return self.p_star - (1 - self.p_star) * inside / outside

    def decode(self, tally: Ints, n: int) -> Floats:
        """The transform of each block's counts, at the rows of its values."""
        from hush.kernels.hadamard import walsh_hadamard

        counts = tally.reshape(self.blocks, self.width).astype(np.int64)
        for block in counts:
            walsh_hadamard(block)
        block, row = self._place(np.arange(self.k))
        return np.asarray(counts[block, row] / (n * self._gap), dtype=np.float64)

    def terms(self) -> Terms:
        inside, outside = self._sizes
        square, step = (self.p_star + (1 - self.p_star) * inside / outside) / self._gap**2, 1 / self._gap
        least = square if self.blocks == 1 else 2 * (1 - self.p_star) * inside / outside / self._gap**2
        return Terms(Term(square - 1, step - 1, step + 1), Term(square, step, step), least)

    def law(self, tally: Ints, n: int) -> EstimateLaw:
        """With one block supports are two binomials; with more, people in other blocks say less."""
        block, _ = self._place(np.arange(self.k))
        raw = self.decode(tally, n)
        if self.blocks == 1:
            counts = np.rint((raw * self._gap * n + n) / 2).astype(np.int64)
            return Supports(counts, n, self.p_star, 0.5)
        inside, outside = self._sizes
        missed = (1 - self.p_star) * inside / outside
        near = Supports(tally.reshape(self.blocks, self.width).sum(axis=1)[block], n, self.p_star + missed, 2 * missed)
        terms = self.terms()
        return Bounded(raw, n, terms, replace(terms.other, variance=terms.least), near)

    def variances(self, frequencies: Floats, n: int = 1) -> Floats:
        """Exact: a report from the same block falls into it more often than one from another."""
        block, _ = self._place(np.arange(self.k))
        near = np.asarray(np.bincount(block, frequencies, self.blocks)[block], np.float64)
        return np.asarray(self._spread(near, frequencies.sum() - near) / n - frequencies / n, dtype=np.float64)

    def _spread(self, near: Floats, far: Floats) -> Floats:
        """The mean square of what one report adds to a value, with people so frequent in its block and elsewhere."""
        inside, outside = self._sizes
        missed = (1 - self.p_star) * inside / outside
        return np.asarray((near * (self.p_star + missed) + far * 2 * missed) / self._gap**2)

    def variance(self, n: int = 1, frequency: float = 0.0) -> float:
        """Variance of a value's estimate, in the mean over the values, whose blocks may differ in size by one."""
        rules.population(n, frequency)
        share = (1.0 - frequency) / (self.k - 1)
        held = np.bincount(np.arange(self.k) % self.blocks, minlength=self.blocks)
        near = np.asarray(share * (held - 1) + frequency, np.float64)
        return float(((held @ self._spread(near, 1 - near)) / self.k - frequency) / n)

    @property
    def _members(self) -> Ints:
        """How many values each block has."""
        each, more = divmod(self.k, self.blocks)
        return np.repeat([each + 1, each], [more, self.blocks - more])

    def outputs(self, public: Any = None) -> Reports:
        return np.arange(self.size, dtype=self.report_dtype)

    def _largest_supported(self, prior: Floats) -> Floats:
        """For each output, the largest prior of a value that it supports, or zero; each settles half its block."""
        best = np.zeros((self.blocks, self.width))
        open_columns = [np.arange(self.width) for _ in range(self.blocks)]
        for value in np.argsort(-prior, kind="stable").tolist():
            block, row = value % self.blocks, value // self.blocks + 1
            left = open_columns[block]
            even = np.bitwise_count(left & row) % 2 == 0
            best[block, left[even]] = prior[value]
            open_columns[block] = left[~even]
        return best.ravel()

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """Each output has one best probability: inside some value's codeword, or outside all of them."""
        inside, outside = self._sizes
        if prior is not None:
            best = self._largest_supported(belief := shares(prior, self.k))
            chance = np.maximum(best * self.p_star / inside, belief.max() * (1 - self.p_star) / outside)
            return float(chance.sum())
        rows = self._members
        # One row leaves half of its block uncovered, two rows a quarter, three (one the sum of the others) nothing.
        bare = np.select([rows == 0, rows == 1, rows == 2], [1.0, 0.5, 0.25], 0.0).sum() * self.width
        best = (self.size - bare) * self.p_star / inside + bare * (1 - self.p_star) / outside
        return float(best / self.k)
