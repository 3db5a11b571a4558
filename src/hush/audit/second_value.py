"""Does it matter which value the first one is told apart from? The exact law of an audit by the attack.

Section 4.2 of "Revealing the true cost of LDP protocols" (PoPETs 2024) takes values 1 and 2, and reports that drawing
the second at random made no difference. Hits of Algorithm 1 are binomial, and so are false hits, whose probability is
that of guessing the first value from a report of the second. So the expected bound is a sum over both counts, for each
second value, for one that is drawn once for the whole audit, and for one that is drawn afresh for every report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hush import rules
from hush.analysis.success import best_guesses
from hush.audit import bounds
from hush.errors import ParameterError, message
from hush.exact.enumeration import listed
from hush.mechanisms.base import FrequencyOracle
from hush.types import Floats

_NEVER = 1e-18  # counts that are no likelier do not count


@dataclass(frozen=True)
class SecondValue:
    """The bound that an audit by the attack proves on average.

    Args:
        first: The value whose guesses are counted.
        fixed: For each second value; NaN for the first itself.
        once: With a second value that is drawn evenly from the others, once for the audit.
        afresh: With one that is drawn anew for every report.
    """

    first: int
    fixed: Floats
    once: float
    afresh: float

    @property
    def matters(self) -> bool:
        """Whether it makes a difference which one it is, of more than rounding."""
        others = self.fixed[~np.isnan(self.fixed)]
        return bool(np.ptp(others) > 1e-9)


def guess_table(m: FrequencyOracle) -> Floats:
    """How often the best guess from a report of each value is each value, as [value, guess]; by enumeration."""
    found = listed(m)
    if found is None:
        rule = "must be small enough to list all outputs, and without public randomness"
        raise ParameterError(message("m", rule, m, "use a smaller k"))
    return np.asarray(found.chances.T @ best_guesses(found.chances), np.float64)


def second_value(
    m: FrequencyOracle, first: int = 0, *, trials: int = 10_000, alpha: float = 0.01, bound: str = "paper"
) -> SecondValue:
    """What the choice of the second value does to the expected bound of an audit by the attack.

    Args:
        m: A mechanism whose outputs can be listed.
        first: The value whose guesses are counted.
        trials: Reports of each of the two values.
        alpha: Probability that the bound is wrong, at most.
        bound: "paper" or "one-sided".

    >>> import hush
    >>> second_value(hush.GRR(k=4, epsilon=1.0)).matters
    False
    """
    rules.integer("first", first, 0, m.k - 1, "count values from 0")
    chances = guess_table(m)[:, first]
    others = np.arange(m.k) != first
    terms: dict[str, Any] = {"trials": trials, "alpha": alpha, "bound": bound}
    means = {p: expected_bound(chances[first], p, **terms) for p in np.unique(chances[others].round(15)).tolist()}
    fixed = np.array([np.nan if v == first else means[float(chances[v].round(15))] for v in range(m.k)])
    afresh = expected_bound(chances[first], float(chances[others].mean()), **terms)
    return SecondValue(first, fixed, float(np.nanmean(fixed)), afresh)


def expected_bound(
    hit: float,
    false_hit: float,
    *,
    trials: int = 10_000,
    alpha: float = 0.01,
    delta: float = 0.0,
    bound: str = "paper",
) -> float:
    """The mean of the proved loss over both binomial counts, exact.

    >>> round(expected_bound(0.5, 0.25, trials=1000), 4)
    0.4507
    """
    rules.integer("trials", trials, 1, 10**7, "use e.g. 10**4")
    tail = alpha / bounds.TAILS[bounds.named(bound)]
    ones, often = _counts(trials, hit)
    zeros, seldom = _counts(trials, false_hit)
    lower = np.array([bounds.lower(int(x), trials, tail) for x in ones]) - delta
    upper = np.array([bounds.upper(int(x), trials, tail) for x in zeros])
    with np.errstate(divide="ignore"):
        high = np.where(lower > 0, np.log(np.maximum(lower, 1e-300)), -np.inf)
    proved = np.maximum(high[:, None] - np.log(upper)[None, :], 0.0)
    return float(often @ proved @ seldom)


def _counts(trials: int, probability: float) -> tuple[np.ndarray, Floats]:
    """The counts that occur, and how likely each is."""
    from scipy.stats import binom

    low, high = (int(binom.ppf(q, trials, probability)) for q in (1e-16, 1 - 1e-16))
    counts = np.arange(max(low - 1, 0), min(high + 1, trials) + 1)
    chances = binom.pmf(counts, trials, probability)
    kept = chances > _NEVER
    return counts[kept], np.asarray(chances[kept] / chances[kept].sum(), np.float64)
