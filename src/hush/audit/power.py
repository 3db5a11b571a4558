"""What an audit could have seen: without that, finding nothing means nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hush.audit import bounds

SURE = 0.9
"""The probability with which an audit finds what it says it would have found, at least."""

SHARE = 0.5
"""The share of the claim that must be proved for finding no violation to mean something, unless another is named."""

RARE = 1 / 200
"""An event that one value gives so often, and the other never, must be found by whoever learns events from reports."""

_MET = 5  # times in each of the samples that choose, at which a rare event is chosen


@dataclass(frozen=True)
class Power:
    """The smallest violations that would have been found with probability `SURE`.

    Args:
        loss: The smallest true loss that the counted event would have shown to exceed the claim, if the other value
            gives it as often as it was seen to; None if no loss would do.
        rarest: The smallest probability of a mark of one value that the other never gives, which would have been chosen
            and shown: a whole report that comes again, or a number in it. None where events are not learned from
            reports, but follow from a law.
        lone: The same of a mark that one value alone gives, of all that were screened; None where none were.
        one: What a value is called.
    """

    loss: float | None
    rarest: float | None = None
    lone: float | None = None
    one: str = "value"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "probability": SURE,
            "loss": self.loss,
            "rarest_event": self.rarest,
            "rarest_event_of_one_value": self.lone,
        }

    def __str__(self) -> str:
        seen = f"a loss of {self.loss:.4g}" if self.loss is not None else "no loss, however large,"
        said = f"By the events that were counted, {seen} would have been found with probability {SURE:.0%}"
        if self.rarest is not None:
            said += f"; a number or report that the other {self.one} never gives, {_often(self.rarest)}"
        if self.lone is not None:
            said += f"; one that a single {self.one} gives, whichever it is, {_often(self.lone)}"
        return f"{said}."


def _often(probability: float) -> str:
    if probability >= 1.0:
        return "by no means"
    return (
        f"if it comes in {f'one of {1 / probability:,.0f}' if probability < 0.1 else f'{probability:.0%} of'} reports"
    )


def smallest_loss(
    false_hits: int, trials: int, claim: float, *, alpha: float, delta: float = 0.0, bound: str = "paper"
) -> float | None:
    """The smallest true loss beyond the claim that an event would have shown with probability `SURE`.

    The other value gives the event with the probability that is as likely too small as too large for what was seen.
    False hits stay below y with probability √SURE, and hits above x, for the smallest x that proves the violation.

    >>> round(smallest_loss(10_000, 100_000, 1.0, alpha=0.01), 3)
    1.064
    """
    from scipy.special import betaincinv

    each = math.sqrt(SURE)
    other = bounds.upper(false_hits, trials, 0.5)
    most = _first(lambda count: _at_least(count + 1, trials, other) <= 1 - each, trials)
    hits = _needed(most, trials, claim, alpha=alpha, delta=delta, bound=bound)
    if hits is None:
        return None
    return math.log((float(betaincinv(hits, trials - hits + 1, each)) - delta) / other)


def rarest_event(
    samples: Sequence[int], trials: int, claim: float, *, alpha: float, delta: float = 0.0, bound: str = "paper"
) -> float:
    """The smallest probability of an event, which the other value never gives, that would have been found: 1 if none.

    It must be seen a few times in every sample that chooses, and then prove the violation.

    Args:
        samples: Reports of each value that candidates are fitted to, that choose among them, and so on.
        trials: Fresh reports of each value that prove.
        claim: The promised epsilon.
        alpha: Error rate of the proof.
        delta: Slack of the claim.
        bound: How the proof divides alpha.
    """
    hits = _needed(0, trials, claim, alpha=alpha, delta=delta, bound=bound)
    if hits is None or min(samples) < _MET:
        return 1.0

    def found(probability: float) -> bool:
        met = math.prod(_at_least(_MET, sample, probability) for sample in samples)
        return met * _at_least(hits, trials, probability) >= SURE

    low, high = -60.0, 0.0  # logarithms
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if found(math.exp(middle)) else (middle, high)
    return math.exp(high)


def _at_least(count: int, trials: int, probability: float) -> float:
    """The probability of so many hits, or more."""
    from scipy.special import betainc

    return 1.0 if count <= 0 else 0.0 if count > trials else float(betainc(count, trials - count + 1, probability))


def _first(holds: Callable[[int], bool], most: int) -> int:
    """The smallest count from 0 on for which something holds that goes on to hold; most if none below."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _needed(false_hits: int, trials: int, claim: float, *, alpha: float, delta: float, bound: str) -> int | None:
    """The fewest hits that prove more than the claim beside so many false ones; None if all of them do not."""
    tail = alpha / bounds.TAILS[bound]
    above = delta + math.exp(min(claim, 700.0)) * bounds.upper(false_hits, trials, tail)
    if above >= 1.0:
        return None
    hits = _first(lambda count: _at_least(count, trials, above) < tail, trials + 1)
    return hits if hits <= trials else None
