"""Closed forms of utility-optimized mechanisms, and of the two base mechanisms that only they have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from hush.guarantee import ULDP
from hush.mechanisms.forms import Forms, PureForms, TwoLevelForms
from hush.mechanisms.shape import Shape, fixed, weighted
from hush.types import Bools, Floats, Reports, Values

if TYPE_CHECKING:
    from hush.utility.balanced import BalancedLH
    from hush.utility.oracle import UtilityOracle
    from hush.utility.single import Single


@dataclass(frozen=True, eq=False)
class UtilityForms(Forms):
    """Of a mechanism over the sensitive values that others use in disguise."""

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

    # The law of a total.


@dataclass(frozen=True, eq=False)
class BalancedForms(TwoLevelForms, PureForms):
    """Of local hashing over a balanced family."""

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


@dataclass(frozen=True, eq=False)
class SingleForms(Forms):
    """Of a domain of one value."""

    m: Single

    # What fakes gain, what tells values apart, and what guesses are worth.

    @property
    def shape(self) -> Shape:
        """Every report supports the value."""
        return fixed(1, 1, 1, 1)

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
