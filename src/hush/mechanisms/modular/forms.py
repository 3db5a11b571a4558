"""Closed forms of modular subset selection."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hush.analysis import information, totals
from hush.analysis.hypergeometric import log_hypergeometric
from hush.analysis.manipulation import Targets
from hush.exact.thresholds import SCALE
from hush.mechanisms.forms import Forms, PairKind
from hush.mechanisms.modular import fakes
from hush.mechanisms.modular.moduli import choose_moduli, nearest_anchor, usual_moduli
from hush.mechanisms.modular.totals import first_order_adds
from hush.mechanisms.shape import SupportLaw
from hush.mechanisms.tunable import ForBudget, Tunable
from hush.simulation import batches
from hush.simulation.normals import Normals, Subsets, by_rows, sampled
from hush.types import Floats, Ints, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.modular.mechanism import MSS


_ROUGH = 1e-6
"""How well least squares are solved for the normal law."""
_PLANNED_FOR = 1 << 14
"""Values up to which it is planned with: beyond, PGR is shorter and as exact at any budget up to nine, and the error of
modular subset selection takes longer to find than everything else together."""
_TUNED_FOR = 4_096
"""Values up to which moduli are chosen for what matters."""
_WANTED: dict[str, str | dict[str, float]] = {"bits": "bits", "work": "bits", "attack": "attack", "accuracy": "error"}
_BALANCE = {"error": 0.5, "attack": 1.0, "bits": 0.25}


@dataclass(frozen=True, eq=False)
class ModularForms(Forms):
    """Of modular subset selection."""

    m: MSS

    about: ClassVar[str] = (
        "Modular subsets: what the category leaves when divided by one of a few numbers, hidden among others."
    )
    compared_with: ClassVar[str] = "SS"
    warning: ClassVar[str] = "Fakes can choose the block where they weigh most."

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

    @property
    def support_laws(self) -> list[SupportLaw]:
        """A subset of the residues of each block: k modulo m of them are left by one value more than the others."""
        m, found = self.m, []
        for modulus, omega, keep in zip(m.moduli, m.omegas, m.keeps, strict=True):
            each, more = divmod(m.k, modulus)
            large = np.arange(max(0, omega - (modulus - more)), min(omega, more) + 1)
            sizes = omega * each + large
            favor = keep * (modulus - omega) / ((SCALE - keep) * omega)
            weights = np.exp(log_hypergeometric(large, more, modulus - more, omega)) * (sizes * (favor - 1) + m.k)
            found.append(SupportLaw(1 / len(m.moduli), sizes, weights / weights.sum(), favor))
        return found

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    one_by_one: ClassVar[bool] = False
    costly: ClassVar[bool] = True

    def even_variance(self, n: int) -> float:
        return self.m.blocks.even_variance(n)

    def worst_variance(self, n: int) -> float:
        """Concave in the population: a proved bound."""
        return self.m.blocks.worst_variance(n)

    def single_absolute_error(self, counts: Ints) -> float:
        """Values are not alike: the normal value of the mean variance over which one it is."""
        n = int(counts.sum())
        return math.sqrt(2 / math.pi * self.m.variance(n, counts[0] / n))

    def even_information(self) -> float:
        blocks = zip(self.m.moduli, self.m.omegas, self.m.blocks.p.tolist(), strict=True)
        return sum(information.modular(self.m.k, *block) for block in blocks) / len(self.m.moduli)

    @property
    def server_work(self) -> float:
        """On average over the blocks; the solution is found once, at the end."""
        return sum(self.m.omegas) / len(self.m.omegas)

    def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        """Subset selection in every block, or randomized response where a subset has one member."""
        rows = batches.residues(people, np.array(self.m.moduli), runs, rng)
        parts = np.split(rows, self.m._starts[1:-1], axis=1)
        here = np.stack([part.sum(axis=1) for part in parts], axis=1)
        tallies = []
        for part, size, omega, p in zip(parts, self.m.moduli, self.m.omegas, self.m.blocks.p.tolist(), strict=True):
            if omega == 1:
                tallies.append(batches.direct(part, p, (1 - p) / (size - 1), runs, rng))
            else:
                tallies.append(batches.subset_members(part, omega, p, runs, rng))
        return np.concatenate([*tallies, here], axis=1)

    def estimates(self, tallies: Ints, n: int) -> Floats:
        """Of few values for all rows at once, by the normal equations; where a block is empty, one by one."""
        if not self.m.blocks.system.small:
            return super().estimates(tallies, n)
        law, starts = self.m.blocks, self.m._starts
        whole = tallies[:, starts[-1] :].min(axis=1) > 0
        out = np.empty((len(tallies), self.m.k))
        for i in np.flatnonzero(~whole):
            out[i] = self.m.decode(tallies[i], n)
        rows = tallies[whole]
        matrix, right = np.zeros((len(rows), self.m.k, self.m.k)), np.zeros((len(rows), self.m.k))
        for j, size in enumerate(self.m.moduli):
            residue, people = np.arange(self.m.k) % size, rows[:, starts[-1] + j]
            seen = rows[:, starts[j] : starts[j + 1]] / people[:, None]
            weight = law.weights[j] * people
            right += weight[:, None] * ((seen - law.q[j]) / (law.p[j] - law.q[j]))[:, residue]
            matrix += weight[:, None, None] * (residue[:, None] == residue)
        out[whole] = np.linalg.solve(matrix, right[:, :, None])[:, :, 0]
        return out

    def normal_report(self, normals: Normals, frequencies: Floats) -> Floats:
        """Residues of every block, from its share of the people, and the least squares of all."""
        law, right, start = self.m.blocks, np.zeros((normals.runs, self.m.k)), 0
        own, drawn = (normals.numbers(int(sum(self.m.moduli)), pool) for pool in (0, 1))
        for j, (size, omega) in enumerate(zip(self.m.moduli, self.m.omegas, strict=True)):
            residue, part = np.arange(self.m.k) % size, slice(start, start + size)
            held = np.bincount(residue, frequencies, size).astype(np.float64)
            block = Subsets(size, omega, float(law.p[j]), float(law.q[j]))
            noise = np.asarray(block.noise(own[:, part], held) + sampled(drawn[:, part], held), np.float64)
            right += (law.weights[j] * np.sqrt(len(self.m.moduli))) * noise[:, residue]
            start += size
        return by_rows(right, lambda row: law.system.solve(row, tolerance=_ROUGH))

    @classmethod
    def planned(cls, k: int) -> bool:
        return k <= _PLANNED_FOR

    @classmethod
    def settled(cls, k: int, epsilon: float) -> Mapping[str, Any]:
        """The usual moduli, which switch between budgets."""
        return {"moduli": usual_moduli(k, epsilon)}

    @classmethod
    def tunable(cls, k: int) -> Sequence[Tunable]:
        from hush.mechanisms.modular.mechanism import MSS

        return (ForBudget(MSS, "moduli", _moduli),) if k <= _TUNED_FOR else ()

    # The law of a total.

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """That of a first-order term, right but for one part in n; with a single modulus, nothing is left out."""
        kind = "exact" if len(self.m.moduli) == 1 else "near"
        return self._summed(amounts, counts, first_order_adds(self.m, amounts, counts), kind=kind)

    def collection_work(self, n: int) -> float:
        """Sets of residues, walked residue by residue."""
        return totals.COLLECTION + 1000.0 * self.m.k


def _moduli(k: int, epsilon: float, matters: str) -> tuple[int, ...]:
    """Moduli for what matters, at about this budget."""
    return _chosen(k, nearest_anchor(epsilon), matters)


@lru_cache(maxsize=256)
def _chosen(k: int, epsilon: float, matters: str) -> tuple[int, ...]:
    """Kept, since they take a while and wishes are often asked for again."""
    return choose_moduli(k, epsilon, weights=_WANTED.get(matters, _BALANCE))
