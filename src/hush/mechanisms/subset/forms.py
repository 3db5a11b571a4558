"""Closed forms of subset selection."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hush.analysis import adds, capacity, information, totals
from hush.analysis.crowd import CrowdLaw
from hush.analysis.manipulation import Targets, how_many
from hush.exact.thresholds import SCALE
from hush.mechanisms.fakes import in_rows, members
from hush.mechanisms.forms import PairKind, PureForms, TwoLevelForms
from hush.mechanisms.shape import Shape, fixed
from hush.mechanisms.subset.lengths import subset_bits
from hush.mechanisms.tunable import Family, Tunable, integers
from hush.simulation import batches
from hush.simulation.normals import Normals, Subsets
from hush.types import Floats, Ints, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.subset.mechanism import SS


@dataclass(frozen=True, eq=False)
class SubsetForms(TwoLevelForms, PureForms):
    """Of subset selection."""

    m: SS

    about: ClassVar[str] = "Subset selection: a few categories, more often than not the true one among them."

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """As many targets as fit into a subset."""
        return self.supported_sum(targets, min(how_many(targets), self.m.omega))

    def random_sum(self, targets: Targets) -> float:
        """Any value is a member as often as another."""
        return self.supported_sum(targets, how_many(targets) * self.m.omega / self.m.k)

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """As many targets as fit; the other members are random."""
        m = self.m
        inside = min(targets.size, m.omega)
        rest = np.setdiff1d(np.arange(m.k), targets)

        def subsets(rows: int) -> Values:
            chosen = members(targets, inside, rows, rng), members(rest, m.omega - inside, rows, rng)
            return np.sort(np.concatenate(chosen, axis=1), axis=1)

        return in_rows(m, "subset", size, subsets, m.packed)

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Any subset."""
        m = self.m

        def subsets(rows: int) -> Values:
            return np.sort(members(np.arange(m.k), m.omega, rows, rng), axis=1)

        return in_rows(m, "subset", size, subsets, m.packed)

    def telling(self, first: int, second: int) -> tuple[float, float]:
        """Subsets that hold one of the two values."""
        m = self.m
        both = m.p_star * (m.omega - 1) / (m.k - 1)
        return m.p_star - both, m.q_star - both

    def pair_kinds(self) -> list[PairKind]:
        """All pairs are alike."""
        m = self.m
        p = Fraction(m.keep, SCALE)
        return [(p - (m.omega - p) / (m.k - 1), p * (m.omega - 1) / (m.k - 1))]

    def crowds(self) -> list[CrowdLaw]:
        """Among all subsets alike, which of a few values are members is a draw without putting back."""
        k, omega, own = self.m.k, self.m.omega, Fraction(self.m.keep, SCALE)
        if not Fraction(omega, k) < own < 1:
            return []
        patterns = {}
        for inside in product((True, False), repeat=min(k, 3)):
            members, others = omega, k - omega
            chance = Fraction(1)
            for one in inside:
                chance *= Fraction(members if one else others, members + others)
                members, others = members - one, others - (not one)
            if chance > 0:
                patterns[inside] = chance
        return [CrowdLaw.of_levels(patterns, own * k / omega, (1 - own) * k / (k - omega))]

    def guess_chance(self, reports: Reports, values: Values) -> Floats:
        """Any member is guessed."""
        from hush.kernels import attack

        out = np.empty(values.size)
        attack.of_members(self.m.members(reports), values, out)
        return out

    @property
    def shape(self) -> Shape:
        """A report supports omega values."""
        low, high = self.m._weights
        return fixed(self.m.k, self.m.omega, high, low)

    @property
    def number_of_outputs(self) -> int:
        """One for each subset, counted where that is quick."""
        m = self.m
        return math.comb(m.k, m.omega) if m.k <= 10_000 else super().number_of_outputs

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    one_by_one: ClassVar[bool] = False
    costly: ClassVar[bool] = True

    def even_information(self) -> float:
        return information.subset(self.m.k, self.m.omega, self.m.p_star)

    @property
    def server_work(self) -> float:
        return self.m.omega

    def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        return batches.subset_members(people, self.m.omega, self.m.p_star, runs, rng)

    def estimates(self, tallies: Ints, n: int) -> Floats:
        return self.m.decode(tallies, n)

    def normal_noise(self, normals: Normals, frequencies: Floats, n: int) -> Floats:
        members = Subsets(self.m.k, self.m.omega, self.m.p_star, self.m.q_star)
        return members.noise(normals.numbers(self.m.k), frequencies) / np.sqrt(n)

    @classmethod
    def tunable(cls, k: int) -> Sequence[Tunable]:
        from hush.mechanisms.subset.mechanism import SS

        offered = Family(
            SS, "omega", _sizes, _support, _bits, whole=True, asr=_success, reach=np.minimum, work=np.asarray
        )
        return (offered,)

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds:
        """The amounts of omega values, one of which is the own one or not."""
        m = self.m
        own, lost = np.zeros(m.k), np.zeros(m.k)
        own[m.omega - 1], lost[m.omega] = m.p_star, 1 - m.p_star
        middle = float(amounts.mean())  # every report supports omega values
        shift = m.omega * middle - m.q_star * float(amounts.sum())
        return adds.members(amounts - middle, own, lost).scaled(m.p_star - m.q_star, shift)

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """That of a sum over people, which counts from all values being the first one."""
        m, step = self.m, capacity.lattice(amounts.tolist(), from_first=True)
        gap = m.p_star - m.q_star
        least = (m.omega * float(amounts[0]) - m.q_star * float(amounts.sum())) / gap
        return self._summed(amounts, counts, self.report_adds(amounts), least=least, step=step / gap)

    def collection_work(self, n: int) -> float:
        """Sets of values, walked value by value."""
        return totals.COLLECTION + 800.0 * self.m.k

    def wrong_guesses_alike(self) -> bool:
        """Nothing tells values apart but their names."""
        return True


def _sizes(k: int) -> Floats:
    return integers(1, k - 1)


def _support(k: int, e: Floats, omega: Floats) -> tuple[Floats, Floats]:
    p = omega * e / (omega * e + k - omega)
    return p, (omega - p) / (k - 1)


def _bits(k: int, omega: Floats) -> Floats:
    return np.array([float(subset_bits(k, int(size))) for size in omega.ravel()]).reshape(omega.shape)


def _success(k: int, p: Floats, q: Floats, omega: Floats) -> Floats:
    return np.asarray(p / omega, np.float64)
