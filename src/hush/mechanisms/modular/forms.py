"""Closed forms of modular subset selection."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from hush.analysis.manipulation import Targets
from hush.exact.thresholds import SCALE
from hush.mechanisms.forms import Forms, PairKind
from hush.mechanisms.modular import fakes
from hush.types import Floats, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.modular.mechanism import MSS


@dataclass(frozen=True, eq=False)
class ModularForms(Forms):
    """Of modular subset selection."""

    m: MSS

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """At the margin of a large even population, since its decoder is not linear."""
        return fakes.largest(self.m, targets)

    def random_sum(self, targets: Targets) -> float:
        """A random subset of a random block."""
        return fakes.mean(self.m, targets)

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """Of the best block, and of equally good residues any."""
        return fakes.reports(self.m, targets, size, rng)

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Any subset of any block."""
        return fakes.random(self.m, size, rng)

    def maximal_gain(self, targets: Targets, fraction: float, frequencies: float | Floats) -> float:
        """Solved for as the decoder does: fakes make their own block heavier."""
        return fakes.gained(self.m, targets, fraction, frequencies)

    def telling(self, first: int, second: int) -> tuple[float, float]:
        """On average over the blocks, of which some have the same residue for both values and say nothing."""
        law, differ = self.m.blocks, (first - second) % self.m.blocks.m > 0
        both = law.p * (law.omegas - 1) / (law.m - 1)
        return float((differ * (law.p - both)).mean()), float((differ * (law.q - both)).mean())

    def pair_kinds(self) -> list[PairKind]:
        """Two values share a residue in the blocks that divide their difference; one worse kind stands for those."""
        m = self.m
        gaps, apart, extra = [], [], []
        for modulus, omega, keep in zip(m.moduli, m.omegas, m.keeps, strict=True):
            p = Fraction(keep, SCALE * len(m.moduli))
            gaps.append(p - (Fraction(omega, len(m.moduli)) - p) / (modulus - 1))
            apart.append(p * (omega - 1) / (modulus - 1))
            extra.append(p - apart[-1])
        differences = {d for modulus in m.moduli for d in range(modulus, m.k, modulus)}
        shared = {tuple(j for j, modulus in enumerate(m.moduli) if d % modulus == 0) for d in differences}
        kinds = [
            (sum(gaps) - sum(gaps[j] for j in blocks), sum(apart) + sum(extra[j] for j in blocks))
            for blocks in {(), *shared}
        ]
        first, *rest = sorted(kinds, reverse=True)
        kinds = [first] if not rest else [first, (rest[0][0], max(both for _, both in rest))]
        return [(Fraction(variation), Fraction(both)) for variation, both in kinds]

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
