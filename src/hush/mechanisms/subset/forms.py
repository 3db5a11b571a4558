"""Closed forms of subset selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hush.analysis import adds, capacity, information, totals
from hush.mechanisms.forms import PureForms
from hush.mechanisms.subset.lengths import subset_bits
from hush.mechanisms.tunable import Family, Tunable, integers
from hush.simulation import batches
from hush.simulation.normals import Normals, Subsets
from hush.types import Floats, Ints

if TYPE_CHECKING:
    from hush.mechanisms.subset.mechanism import SS


@dataclass(frozen=True, eq=False)
class SubsetForms(PureForms):
    """Of subset selection."""

    m: SS

    # What fakes gain, what tells values apart, and what guesses are worth.

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
