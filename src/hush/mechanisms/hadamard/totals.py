"""What outputs of Hadamard response add to a total: one fast transform in place of a table of outputs and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hush.analysis.capacity import lattice
from hush.analysis.walsh import walsh
from hush.types import Floats

if TYPE_CHECKING:
    from hush.mechanisms.hadamard.mechanism import HR

Means = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]


def output_means(m: HR, amounts: Floats) -> tuple[Floats, Means, float]:
    """What each output adds to the total, as (blocks, width); how such terms are averaged for each value; and the
    least probability of an output.
    """
    blocks, rows = m._place(np.arange(m.k))
    (supported, others), p = m._sizes, m.p_star
    inside, outside = p / supported, (1 - p) / others

    def means(terms: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """For each value, the mean of a term of the output, shape (..., blocks, width)."""
        within = (terms.sum(axis=-1)[..., blocks] + walsh(terms)[..., blocks, rows]) / 2
        return np.asarray(outside * terms.sum(axis=(-2, -1))[..., None] + (inside - outside) * within)

    return walsh(_spread(m, amounts)) / m._gap, means, min(inside, outside)


def outputs_lattice(m: HR, amounts: Floats) -> tuple[float, float]:
    """The least that an output adds, and the largest step of which all others are so many more; 0 if there is none."""
    says = walsh(_spread(m, amounts))
    unit = lattice(amounts.tolist())
    if not unit:
        return float(says.min()) / m._gap, 0.0
    places = walsh(_spread(m, np.rint(amounts / unit)).astype(np.int64))
    least = int(places.min())
    return unit * least / m._gap, unit * int(np.gcd.reduce((places - least).ravel())) / m._gap


def _spread(m: HR, amounts: Floats) -> Floats:
    """Amounts by block and row."""
    held = np.zeros((m.blocks, m.width))
    held[m._place(np.arange(m.k))] = amounts
    return held
