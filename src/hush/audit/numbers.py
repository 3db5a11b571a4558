"""Audits of mechanisms for means: one report about a number of a range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hush.audit.inputs import NumberInputs
from hush.audit.target import Claim, Target
from hush.errors import ParameterError, message
from hush.mechanisms.collected import from_outside
from hush.mechanisms.numeric.base import Numeric
from hush.types import Bools, Floats, Reports


@dataclass(frozen=True)
class NumberTarget(Target):
    """One report about a number from low to high.

    Args:
        mechanism: A mechanism for means.
        also: Numbers to ask about, besides those of the grid.

    >>> import hush
    >>> target = NumberTarget(hush.Duchi(low=0.0, high=10.0, epsilon=1.0))
    >>> [target.inputs.at(each) for each in target.first_pair]
    [0.0, 10.0]
    """

    mechanism: Numeric
    also: tuple[float, ...] = ()
    threaded = True
    seedable = True
    lawful = True

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Numeric):
            rule, remedy = "must estimate a mean", "pass e.g. hush.Piecewise(low=0.0, high=1.0, epsilon=1.0)"
            raise ParameterError(message("mechanism", rule, type(self.mechanism), remedy))

    @property
    def name(self) -> str:  # type: ignore[override]
        """The mechanism's name."""
        return self.mechanism.name()

    @cached_property
    def inputs(self) -> NumberInputs:
        """Numbers from end to end."""
        return NumberInputs(self.mechanism.low, self.mechanism.high, self.also)

    def including(self, pair: Sequence[Any]) -> Target:
        """The same mechanism, which can be asked about these two numbers as well."""
        more = self.inputs.including(pair)
        return replace(self, also=more.also)

    @property
    def k(self) -> int:  # type: ignore[override]
        """How many numbers there are to ask about."""
        return self.inputs.size

    @property
    def claim(self) -> Claim | None:  # type: ignore[override]
        """What the mechanism promises."""
        return Claim(self.mechanism.guarantee.epsilon)

    @property
    def screened(self) -> bool:  # type: ignore[override]
        """Of Hush's own mechanisms the conformance suite has seen the whole law."""
        return from_outside(type(self.mechanism))

    @property
    def first_pair(self) -> tuple[int, int]:  # type: ignore[override]
        """The two ends."""
        return 0, self.k - 1

    @property
    def likely_pairs(self) -> list[tuple[int, int]]:
        """The two ends, between which a report of ours loses most."""
        return [self.first_pair]

    @property
    def identity(self) -> dict[str, Any]:
        """The spec, thresholds included, and its hash."""
        m = self.mechanism
        return {**super().identity, "mechanism": m.to_dict(), "spec_hash": m.spec_hash}

    def draw(self, value: int, size: int, rng: np.random.Generator | None) -> Reports:
        """Reports of one number."""
        return self.draws(np.full(size, value), rng)

    def draws(self, values: Any, rng: np.random.Generator | None) -> Reports:
        """One report of each number, in order."""
        reports: Reports = self.mechanism.privatize(self.inputs.given(values), rng=rng)
        return reports

    def features(self, reports: Reports) -> Floats:
        """The one number that a report is."""
        return np.asarray(reports, np.float64)

    def log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """How much likelier each report is under the first number, in logarithm, from the law that is stated."""
        return self.mechanism.forms.log_ratio(reports, self.inputs.at(first), self.inputs.at(second))

    @property
    def _middle(self) -> float:
        return self.mechanism.low + self.mechanism.width / 2

    def guesses(self, reports: Reports, first: int, coin: np.random.Generator) -> Bools:
        """Whether a report says a number in the half of the range where the first one is."""
        m = self.mechanism
        said = m.low + m.decode(reports) * (m.width / m.steps)
        return np.asarray(said < self._middle if self.inputs.at(first) < self._middle else said >= self._middle)

    def guessed(self, first: int) -> str:
        """That it does, in words."""
        return f"the report says {'less than' if self.inputs.at(first) < self._middle else 'at least'} {self._middle:g}"

    def exact_epsilon(self) -> float:
        """The loss by the law that it states."""
        return self.mechanism.exact_epsilon()
