"""What a report of modular subset selection adds to the estimated total, to first order.

The estimate is least squares with the numbers of reports that the moduli happen to get. Given those numbers it is
linear in the reports; with each at its mean it is linear for good. What that leaves out has mean zero and no
correlation with what it keeps, so that variance and skewness are right but for a relative l/n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hush.analysis.adds import Adds, members, no_swings, spread
from hush.analysis.modular_system import System
from hush.types import Complexes, Floats, Ints

if TYPE_CHECKING:
    from hush.mechanisms.modular.mechanism import MSS


def first_order_adds(m: MSS, amounts: Floats, counts: Ints) -> Adds:
    """For people counted by value: what a report adds beyond the true total, which is nothing on average over all."""
    law, number = m.blocks, len(m.moduli)
    system = System(m.k, m.moduli, law.weights / number)
    parts = system.folded(system.solve(amounts))
    true = system.folded(counts / counts.sum())
    blocks = []
    for j, (size, omega) in enumerate(zip(m.moduli, m.omegas, strict=True)):
        p, q, says = float(law.p[j]), float(law.q[j]), float(law.weights[j]) * parts[j]
        own, lost = np.zeros(size), np.zeros(size)
        own[omega - 1] = p
        if omega < size:
            lost[omega] = 1 - p
        level = float(says.mean())
        shift = omega * level - q * float(says.sum()) - (p - q) * float(says @ true[j])
        blocks.append(members(says - level, own, lost).scaled(p - q, shift))
    residues = [np.arange(m.k) % size for size in m.moduli]

    def phi_less_one(theta: npt.NDArray[Any]) -> Complexes:
        return np.asarray(sum(b.phi_less_one(theta)[:, at] for b, at in zip(blocks, residues, strict=True)) / number)

    def folded(name: str) -> Floats:
        return np.asarray(sum(getattr(b, name)[at] for b, at in zip(blocks, residues, strict=True)) / number)

    cells = sum(b.cells for b in blocks) + m.k
    mean = folded("mean")
    return Adds(phi_less_one, mean, spread(mean, folded("square")), cells, no_swings)
