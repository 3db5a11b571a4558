"""Closed forms of utility-optimized mechanisms, from those of their base, and of two that are made for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hush.analysis import adds, totals
from hush.analysis.waves import expm1i
from hush.guarantee import ULDP
from hush.mechanisms.forms import Forms, PureForms, TwoLevelForms
from hush.mechanisms.shape import Shape, fixed, weighted
from hush.types import Bools, Floats, Ints, Reports, Values
from hush.utility import _many
from hush.utility._totals import common_lattice, disguised_adds
from hush.utility.simulating import fast

if TYPE_CHECKING:
    from hush.utility.balanced import BalancedLH
    from hush.utility.oracle import UtilityOracle
    from hush.utility.single import Single


@dataclass(frozen=True, eq=False)
class UtilityForms(Forms):
    """Of a mechanism that discloses values that are not sensitive, where it can."""

    m: UtilityOracle

    # What fakes gain, what tells values apart, and what guesses are worth.

    def variation(self, first: int, second: int) -> float | None:
        """Of sensitive values the base mechanism's, of others how often they are revealed."""
        inner = [int(self.m._inner[value]) for value in (first, second)]
        return self.m.base.forms.variation(*inner) if min(inner) >= 0 else super().variation(first, second)

    def telling(self, first: int, second: int) -> tuple[float, float] | None:
        """Of sensitive values as the base mechanism says; of others, a revealed one speaks for itself."""
        inner = [int(self.m._inner[value]) for value in (first, second)]
        if min(inner) >= 0:
            return self.m.base.forms.telling(*inner)
        return (self.m.z_star, 0.0) if max(inner) < 0 else None

    def spoken(self, reports: Reports, pair: tuple[int, int]) -> Bools | None:
        """All but the reports in which one of the two values reveals itself and is not sensitive."""
        promise = self.m.guarantee
        if not isinstance(promise, ULDP):
            return None
        open_ = [value for value in pair if value not in promise.sensitive]
        return self.m.protected(reports) | ~np.isin(reports["value"], open_)

    def log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """A revealed value speaks for itself; what is protected, as its law says."""
        plain, shown = self.m.protected(reports), reports["value"]
        ratio = np.where(shown == first, np.inf, np.where(shown == second, -np.inf, 0.0))
        ratio[plain] = super().log_ratio(reports[plain], first, second)
        return ratio

    def guess_chance(self, reports: Reports, values: Values) -> Floats:
        """A revealed value is known; what is protected is guessed, as its law says."""
        plain = self.m.protected(reports)
        chance = np.asarray(reports["value"] == values, np.float64)
        chance[plain] = super().guess_chance(reports[plain], values[plain])
        return chance

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    one_by_one: ClassVar[bool] = False

    def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        known = _many.known(self.m)
        return _many.tallies(self.m, people, runs, rng) if known else super().tallies(people, runs, rng)

    @classmethod
    def planned(cls, k: int) -> bool:
        """No: all values are taken to be sensitive there."""
        return False

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds | None:
        """What the base mechanism's report does, or a value that is shown, or a disguise."""
        return disguised_adds(self.m, amounts) or super().report_adds(amounts)

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """The base mechanism's, where all values that people hold are sensitive; else that of a sum over people."""
        held = counts[self.m._sensitive]
        if held.sum() == counts.sum():
            return self.m.base.forms.total_law(amounts[self.m._sensitive], held)
        found = disguised_adds(self.m, amounts)
        if found is None:
            return super().total_law(amounts, counts)
        least, step = common_lattice(self.m, amounts) or (0.0, 0.0)
        return self._summed(amounts, counts, found, least=least, step=step)

    def collection_work(self, n: int) -> float:
        """The base mechanism's, where disguises are drawn without making reports."""
        if self.m._others.size and not fast(self.m._revelation):
            return float(n)
        return self.m.base.forms.collection_work(n)


@dataclass(frozen=True, eq=False)
class BalancedForms(TwoLevelForms, PureForms):
    """Of hashing over a balanced family, all balanced assignments being equally likely."""

    m: BalancedLH

    # What fakes gain, what tells values apart, and what guesses are worth.

    @property
    def shape(self) -> Shape:
        """Buckets differ in size by one at most."""
        m = self.m
        low, high = m._weights
        inside, outside = (weight / m.denominator for weight in (high, low))
        held = cache(lambda: np.diff(m.edges))

        def law() -> Floats:
            return weighted(held(), (held() * inside + (m.k - held()) * outside) / m.k, m.k + 1)

        possible = [size for size, number in m._buckets if number]
        return Shape(m.k, high, low, law, lambda: possible, lambda r, at: held()[r["bucket"][at]])

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds:
        """The own bucket with probability p, and else another; buckets of one size are alike."""
        m, held = self.m, np.diff(self.m.edges)
        own, lost = np.zeros(m.k), np.zeros(m.k)
        np.add.at(own, held - 1, m.p_star * held / m.k)
        np.add.at(lost, held, (1 - m.p_star) * (1 - held / m.k) / (m.g - 1))
        return adds.members(amounts, own, lost).scaled(m.p_star - m.q_star, -m.q_star * float(amounts.sum()))

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """That of a sum over people, whose buckets hold values."""
        least, step = self._support_lattice(amounts)
        return self._summed(amounts, counts, self.report_adds(amounts), least=least, step=step)

    def collection_work(self, n: int) -> float:
        """Sets of values, walked value by value."""
        return totals.COLLECTION + 800.0 * self.m.k


@dataclass(frozen=True, eq=False)
class SingleForms(Forms):
    """Of a single sensitive value."""

    m: Single

    # What fakes gain, what tells values apart, and what guesses are worth.

    @property
    def shape(self) -> Shape:
        """Every report supports the value."""
        return fixed(1, 1, 1, 1)

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds:
        """Its amount, for certain."""
        certain = np.zeros(amounts.size)
        return adds.Adds(lambda theta: expm1i(theta[:, None] * amounts), amounts, certain, amounts.size, adds.no_swings)

    def collection_work(self, n: int) -> float:
        """Nothing is drawn."""
        return totals.COLLECTION + 40.0
