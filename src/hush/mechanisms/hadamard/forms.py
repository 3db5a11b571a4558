"""Closed forms of Hadamard response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hush.analysis import adds, totals
from hush.analysis.waves import expm1i
from hush.mechanisms.forms import Forms
from hush.mechanisms.hadamard.totals import output_means, outputs_lattice
from hush.types import Complexes, Floats, Ints

if TYPE_CHECKING:
    from hush.mechanisms.hadamard.mechanism import HR


@dataclass(frozen=True, eq=False)
class HadamardForms(Forms):
    """Of Hadamard response."""

    m: HR

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

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
