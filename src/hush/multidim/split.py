"""Splitting (SPL): every attribute is reported, each with its share of the budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ParameterError, message
from hush.estimation.laws import EstimateLaw
from hush.guarantee import LDP, ApproxLDP, above, together
from hush.multidim import checks
from hush.multidim._beside import SideBySide
from hush.multidim.choice import AnyMechanism
from hush.multidim.loss import enumerated
from hush.types import Floats, Ints, Reports


def share_of(epsilon: float, d: int) -> float:
    """One of d equal shares of a budget, rounded down so that d of them never exceed it.

    >>> share_of(1.0, 3) * 3 <= 1.0
    True
    """
    share = epsilon / d
    while Fraction(share) * d > Fraction(epsilon):
        share = math.nextafter(share, 0.0)
    return share


@dataclass(frozen=True, kw_only=True)
class Split(SideBySide):
    """A collection whose report has every attribute's own report, each drawn by itself."""

    def exact_epsilon(self, changed: int | None = None) -> float:
        """The losses of the attributes that lose most, added up; at this guarantee's delta by enumeration."""
        most = checks.changed(changed, self.d)
        if self._delta:
            return enumerated(self, most, Fraction(self._delta))
        losses = sorted((component.exact_epsilon() for component in self.components), reverse=True)[:most]
        return math.inf if math.inf in losses else above(sum(map(Fraction, losses), start=Fraction(0)))

    def sample(self, tuples: Ints, rng: np.random.Generator) -> Reports:
        """Attribute by attribute, each for all rows."""
        out = np.empty(len(tuples), self.report_dtype)
        for j, (name, component) in enumerate(zip(self._fields, self.components, strict=True)):
            out[name] = component.sample(np.ascontiguousarray(tuples[:, j]), rng)
        return out

    def decode(self, tally: Ints, n: int) -> tuple[Floats, ...]:
        """Each attribute's own estimate."""
        return tuple(c.decode(part, n) for c, part in zip(self.components, self._tallies(tally), strict=True))

    def laws(self, tally: Ints, n: int) -> tuple[EstimateLaw | None, ...]:
        """Each attribute's own."""
        return tuple(c.law(part, n) for c, part in zip(self.components, self._tallies(tally), strict=True))

    def variances(self, frequencies: Sequence[npt.ArrayLike], n: int) -> tuple[Floats, ...]:
        """Each attribute's own variance."""
        pairs = zip(self.components, frequencies, strict=True)
        return tuple(c.variances(np.asarray(shares, np.float64), n) for c, shares in pairs)

    @cached_property
    def denominator(self) -> int:
        """The product of the attributes' denominators."""
        return math.prod(component.denominator for component in self.components)

    def weight(self, report: Any, values: Sequence[int]) -> int:
        """The product of the attributes' weights."""
        parts = zip(self._fields, self.components, values, strict=True)
        return math.prod(component.weight(report[name], int(v)) for name, component, v in parts)

    def _log_prob(self, reports: Reports, tuples: Ints) -> Floats:
        total = np.zeros(reports.size)
        for j, (name, component) in enumerate(zip(self._fields, self.components, strict=True)):
            total += component._log_prob(np.ascontiguousarray(reports[name]), tuples[:, j])
        return total

    def _scores(self, reports: Reports, attribute: int, priors: tuple[Floats, ...]) -> Floats:
        return self.components[attribute].scores(np.ascontiguousarray(reports[self._fields[attribute]]))

    def best_guesses(self, tau: int) -> tuple[float | None, ...]:
        """Those of the attributes' mechanisms, where they are known."""
        return tuple(component.forms.best_guess(tau) for component in self.components)

    def asr(self, attribute: int) -> float:
        """That of the attribute's mechanism: the other parts say nothing about it."""
        return self.components[checks.attribute(attribute, self.d)].asr()


@dataclass(frozen=True, kw_only=True)
class SPL(AnyMechanism, Split):
    """Report every attribute, each by a mechanism with budget epsilon/d.

    Args:
        sizes: Domain size of each attribute.
        epsilon: Privacy loss of one report, in nats.
        mechanism: A registered mechanism, or one for each attribute; "ADP" stands for GRR or OUE, whichever has less
            variance there.
        options: Other parameters of the mechanism, such as {"p": 0.7}; an attribute's delta is not split.
        chosen: What the mechanism of each attribute chose for itself, as a spec has it; chosen when left out.

    >>> SPL(sizes=(2, 100), epsilon=2.0).mechanism
    ('GRR', 'OUE')
    """

    def _settle(self) -> None:
        if self.budget < rules.MIN_EPSILON:
            rule = f"must give each of {self.d} attributes {rules.MIN_EPSILON:g} or more"
            raise ParameterError(message("epsilon", rule, self.epsilon, "choose a larger budget"))
        super()._settle()

    @cached_property
    def budget(self) -> float:
        """epsilon/d, rounded down so that d of them never exceed epsilon."""
        return share_of(self.epsilon, self.d)

    def _combined(self, promises: Sequence[LDP | ApproxLDP]) -> LDP | ApproxLDP:
        """Budgets add up, and so do deltas."""
        return together(promises)
