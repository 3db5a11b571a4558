"""The one enumerator: every output of a small mechanism, with the exact weight of every value.

Whoever needs a law that has no closed form asks here. A mechanism is small if there are at most MOST_WEIGHTS weights
to look up: outputs, one of each kind, times values. Nothing is enumerated twice: the last few listings are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np

from hush.errors import ParameterError, message
from hush.types import Floats, Reports

MOST_WEIGHTS = 1 << 20


class Enumerable(Protocol):
    """What a mechanism writes that others can list its outputs."""

    def __hash__(self) -> int:
        """Equal ones have one listing."""

    @property
    def k(self) -> int:
        """How many values there are."""

    @property
    def denominator(self) -> int:
        """What weights are divided by to become probabilities."""

    def publics(self) -> Sequence[Any]:
        """Public randomness to enumerate over."""

    def outputs(self, public: Any = None) -> Reports:
        """All reports that are possible given the public randomness, or one of each kind."""

    def copies(self, report: Any) -> int:
        """How many outputs a report stands for."""

    def weight(self, report: Any, value: int) -> int:
        """The probability of a report, given its public randomness, times the denominator."""

    def scores(self, reports: Reports) -> Floats:
        """Log-likelihood of every value, up to a constant for each report."""

    def tally(self, reports: Reports) -> Any:
        """An additive summary of reports."""

    def decode(self, tally: Any, n: int) -> Floats:
        """Frequencies from the tally of n reports."""


@dataclass(frozen=True, eq=False)
class Listing:
    """What can come out, given one public randomness.

    Args:
        m: The mechanism.
        reports: One of each kind.
    """

    m: Enumerable
    reports: Reports

    @cached_property
    def copies(self) -> list[int]:
        """How many outputs each stands for."""
        return [self.m.copies(y) for y in self.reports]

    @cached_property
    def weights(self) -> list[list[int]]:
        """Exact weights, as [output][value], of one copy."""
        return [[self.m.weight(y, v) for v in range(self.m.k)] for y in self.reports]

    @cached_property
    def chances(self) -> Floats:
        """Probabilities, as [output, value], of all copies: one exact weight a row, the others by their scores."""
        scores = self.m.scores(self.reports)
        law = np.zeros(scores.shape)
        for i, y in enumerate(self.reports):
            best = int(np.argmax(scores[i]))
            most = self.copies[i] * self.m.weight(y, best) / self.m.denominator
            if most:
                top = scores[i, best]
                law[i] = most * (scores[i] == np.inf if top == np.inf else np.exp(scores[i] - top))
        return law

    @cached_property
    def decoded(self) -> Floats:
        """What each output alone says of each value's frequency, as [output, value]."""
        rows = [self.m.decode(self.m.tally(self.reports[i : i + 1]), 1) for i in range(len(self.reports))]
        return np.array(rows, np.float64).reshape(len(self.reports), self.m.k)


def listings(m: Enumerable) -> tuple[Listing, ...] | None:
    """One listing for each public randomness that a mechanism has, or gives as examples; None if it is not small."""
    try:
        return enumerated(m)
    except ParameterError:
        return None


def listed(m: Enumerable) -> Listing | None:
    """The whole law of a mechanism without public randomness; None where there is some, or if it is not small."""
    if len(m.publics()) > 1:
        return None
    found = listings(m)
    return None if found is None else found[0]


@lru_cache(maxsize=8)
def enumerated(m: Enumerable) -> tuple[Listing, ...]:
    """As `listings`, for whoever cannot do without: a mechanism that is not small is refused."""
    found, total = [], 0
    for public in m.publics():
        reports = m.outputs(public)
        total += len(reports)
        check_few(total, m.k)
        found.append(Listing(m, reports))
    return tuple(found)


def check_few(outputs: int, k: int) -> None:
    """Refuse so many outputs about so many values; `outputs` of a mechanism asks before it makes them."""
    if outputs * k > MOST_WEIGHTS:
        rule = f"must leave at most {MOST_WEIGHTS} weights to enumerate, outputs times values"
        raise ParameterError(message("k", rule, k, "use a smaller domain, or write the closed form in its forms"))
