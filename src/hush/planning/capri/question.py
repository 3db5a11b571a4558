"""What is asked: which of the four outcomes of a capacity decision is bounded, and by how much.

The decision says that the capacity is exceeded where the estimated total is above the cap. It is a true or false
positive or negative by whether the true total is.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ParameterError, Unsaid, message
from hush.planning.capri.answer import Evidence
from hush.planning.capri.population import Population

METRICS = ("fn", "fp", "tp", "tn", "error")
"""False negatives and positives, true ones, and "error": whichever false outcome the true total allows."""

_LEAST = 1e-12  # of probabilities that are told apart
_HIGHEST = 1e120
_SLACK = 1e-12


def exceeds(total: npt.ArrayLike, cap: float, size: float = 0.0) -> Any:
    """Whether a total, or each of several, is above the cap, by more than doubles err.

    A decoded total that equals the cap may come out a hair above it; the law counts it as not exceeding, and so does
    this. A server should decide by it.

    Args:
        total: What was estimated.
        cap: The capacity.
        size: Where amounts have both signs, and so may cancel, about what they would add up to if none were negative.

    >>> exceeds(500.00000000000006, 500), exceeds(500.1, 500)
    (False, True)
    >>> exceeds(1.4e-14, 0), exceeds(1.4e-14, 0, size=50)
    (True, False)
    """
    given = np.asarray(total, np.float64)
    if not (np.isfinite(given).all() and math.isfinite(cap) and math.isfinite(size)):
        got = Unsaid("one that is not")
        raise ParameterError(message("total", "and cap and size must be finite numbers", got, "check the estimate"))
    above = given - cap > _SLACK * np.maximum(np.abs(given), max(abs(cap), size))
    return above if above.ndim else bool(above)


def level(total: float, cap: float, size: float = 0.0) -> bool:
    """Whether a total equals the cap, as far as doubles tell."""
    return not exceeds(total, cap, size) and not exceeds(cap, total, size)


@dataclass(frozen=True)
class CapacityQuestion:
    """A bound on the probability of one outcome."""

    metric: str
    threshold: float
    cap: float
    over: bool
    """Whether the true total is above the cap."""
    tied: bool = False
    """Whether the total, as an earlier collection estimated it, equals the cap."""
    estimated: bool = False
    """Whether the total is an estimate."""
    size: float = 0.0
    """What all amounts would add up to, if none were negative."""

    @property
    def kept_small(self) -> bool:
        """Whether the probability must stay below the threshold, not reach it."""
        return self.metric in ("fn", "fp", "error")

    def probability(self, at_most: float) -> float:
        """Of the metric, where the estimated total does not exceed the cap with this probability."""
        if self._impossible:
            return 0.0
        wrong = at_most if self.over else 1 - at_most
        return wrong if self.kept_small else 1 - wrong

    def bounded(self, wrong: float) -> float:
        """Of the metric, where a wrong decision has this probability, or at most this."""
        wrong = min(wrong, 1.0)
        return self.probability(wrong if self.over else 1 - wrong)

    def counts(self, *, exceeded: bool) -> bool:
        """Whether it counts for the metric to say that the cap is exceeded, or is not."""
        return self.probability(0.0 if exceeded else 1.0) == 1.0

    def satisfied(self, probability: float) -> bool:
        """Whether the constraint is met."""
        return probability < self.threshold if self.kept_small else probability >= self.threshold

    def clearly_fails(self, found: Evidence) -> bool:
        """Whether even the interval of what was found does not meet the constraint."""
        return not self.satisfied(found.low if self.kept_small else found.high)

    @property
    def settled(self) -> str:
        """Why no budget matters, or the empty string."""
        if self.tied:
            return "the total, as it was estimated, equals the cap, so on which side the truth lies is not known"
        if not self._impossible:
            return ""
        side = "is above the cap" if self.over else "is not above the cap"
        kind = {"fn": "false negative", "tp": "true positive", "fp": "false positive", "tn": "true negative"}
        total = "the estimated total" if self.estimated else "the true total"
        return f"{total} {side}, so there can be no {kind[self.metric]}"

    @property
    def _impossible(self) -> bool:
        """Whether the true total is on the other side of what the metric counts."""
        return self.metric in (("fp", "tn") if self.over else ("fn", "tp"))


def size_of(people: Population) -> float:
    """What people's amounts would add up to if none were negative."""
    return float(np.abs(people.amounts) @ people.counts)


def question(metric: str, threshold: float, cap: float, people: Population) -> CapacityQuestion:
    """A checked question about a population."""
    named, wanted, limit = wish(metric, threshold, cap)
    if limit < 0 <= people.amounts.min():
        rule = "must not be negative where no amount is, since every total exceeds it"
        raise ParameterError(message("cap", rule, cap, "give the capacity in the amounts' unit"))
    size = size_of(people)
    same = level(people.total, limit, size)
    if same and not people.estimated:
        rule = "must differ from the true total, since an estimate is then as often above as below"
        raise ParameterError(message("cap", rule, cap, "move it by one unit to the side that shall count"))
    over = bool(exceeds(people.total, limit, size))
    return CapacityQuestion(named, wanted, limit, over, same, people.estimated, size)


def wish(metric: str, threshold: float, cap: float) -> tuple[str, float, float]:
    """What is wished, checked, before anything is known of the people."""
    if not isinstance(metric, str) or metric.lower() not in METRICS:
        rule = f"must be one of {', '.join(METRICS)}"
        raise ParameterError(message("metric", rule, metric, "'fn' bounds missed exceedances"))
    if isinstance(cap, bool) or not isinstance(cap, numbers.Real) or not math.isfinite(cap):
        raise ParameterError(message("cap", "must be a finite number", cap, "give the capacity in the amounts' unit"))
    if abs(float(cap)) > _HIGHEST:
        rule = f"must be a number up to {_HIGHEST:g}"
        raise ParameterError(message("cap", rule, cap, "give the capacity in a larger unit"))
    wanted = rules.number("threshold", threshold, 0.0, 1.0, "use e.g. 0.01")
    if not _LEAST <= wanted <= 1 - _LEAST:
        rule = f"must be at least {_LEAST:g} and at most 1 - {_LEAST:g}, since probabilities are not known better"
        raise ParameterError(message("threshold", rule, threshold, "use e.g. 0.01"))
    return metric.lower(), wanted, float(cap)
