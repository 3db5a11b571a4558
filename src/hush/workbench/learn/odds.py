"""What one report tells about a person: how likely an answer was held to be before, and after."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hush import rules
from hush.mechanisms.base import FrequencyOracle
from hush.types import Floats


@dataclass(frozen=True)
class Moved:
    """What somebody believes of one answer of one person.

    Args:
        before: How likely they held it, from 0 to 1.
        after: How likely after the report.
        factor: By how much the report moved the odds of this answer against any other.
        bound: By how much any report can.
    """

    before: float
    after: float
    factor: float
    bound: float

    @property
    def odds_before(self) -> float:
        """Of the answer against all others."""
        return self.before / (1 - self.before)

    @property
    def odds_after(self) -> float:
        """The same after the report."""
        return self.after / (1 - self.after)

    @property
    def sentence(self) -> str:
        """Both, as counts of a hundred people of whom one would believe the same."""
        return f"{of_hundred(self.before)} of 100 cases before the report, in {of_hundred(self.after)} after it."

    @property
    def odds(self) -> str:
        """Both as odds."""
        return f"from {against(self.odds_before)} to {against(self.odds_after)}"


def moved(m: FrequencyOracle, before: float, *, answer: int = 0, report: int | None = None) -> Moved:
    """What a report does to the belief in an answer, all others being alike.

    Args:
        m: The mechanism.
        before: How likely the answer was held to be, strictly between 0 and 1.
        answer: The answer.
        report: The answer that the report names, where reports are values; the answer itself if left out.

    >>> from hush import GRR
    >>> round(moved(GRR(k=2, epsilon=1.0), 0.5).after, 3)
    0.731
    """
    prior = rules.number("before", before, 0.0, 1.0, "use e.g. 0.1")
    chances = likelihoods(m, answer if report is None else report)
    others = np.delete(chances, answer)
    rest = float(others.mean())
    own = float(chances[answer])
    after = own * prior / (own * prior + rest * (1 - prior))
    ratio = max(own, rest) / min(own, rest)
    return Moved(prior, after, ratio, math.exp(m.epsilon))


def likelihoods(m: FrequencyOracle, report: int) -> Floats:
    """How likely a report that names a value is with each value."""
    made = np.full(m.k, report, m.report_dtype)
    return np.exp(m.log_prob(made, np.arange(m.k)))


def of_hundred(share: float) -> str:
    """A share as a count of a hundred, with a decimal where it is near an end.

    >>> of_hundred(0.25), of_hundred(0.0034), of_hundred(0.9991)
    ('25', '0.34', '99.91')
    """
    count = 100 * share
    return f"{count:.0f}" if 1 <= count <= 99 else f"{min(count, 99.99):.4g}" if count > 1 else f"{count:.2g}"


def against(odds: float) -> str:
    """Odds as people say them.

    >>> against(1 / 9), against(3.0), against(1.0), against(0.41)
    ('1:9', '3:1', '1:1', '1:2.4')
    """
    return f"{odds:.2g}:1" if odds > 1 else f"1:{1 / odds:.2g}"
