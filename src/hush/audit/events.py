"""Which event to count: chosen on some reports, so that others, fresh ones, can prove it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hush.audit import bounds
from hush.types import Floats, Reports

Statistic = Callable[[Reports], Floats]

_MOST_LEVELS = 400
_SEEN = 10  # false hits, from which on counting them will do
_CLEARLY = 1.05  # better than chance makes it


@dataclass(frozen=True)
class Threshold:
    """A level of a statistic: reports at or above it are the event.

    Args:
        level: The level.
        swapped: Whether the event is likely under the second value of the pair, and its sign reversed.
        promise: The loss that it would prove, if counts come out as they did where it was chosen.
    """

    level: float
    swapped: bool
    promise: float


def best_threshold(first: Floats, second: Floats, trials: int, *, alpha: float, delta: float, bound: str) -> Threshold:
    """The level of the logarithm of the likelihood ratio, from either side, that promises to prove most.

    Args:
        first: The logarithm of the ratio for reports of the first value; NaN for those that are in no event.
        second: The same of the second value.
        trials: How many fresh reports of each will be counted.
        alpha: Error rate of the proof.
        delta: Slack of the claim.
        bound: How the proof divides alpha.
    """
    ways = []
    for swapped, (high, low) in ((False, (first, second)), (True, (-second, -first))):
        found = _promises(high, low, trials, alpha=alpha, delta=delta, bound=bound)
        ways.append(max((Threshold(level, swapped, promise) for level, promise in found), key=lambda way: way.promise))
    straight, turned = ways
    return turned if turned.promise > _CLEARLY * straight.promise else straight


def ratio_words(level: float) -> str:
    """That the logarithm of the likelihood ratio is at least so much, in words."""
    return f"the likelihood ratio is {'infinite' if level > 700 else f'at least {math.exp(level):.4g}'}"


def _promises(
    high: Floats, low: Floats, trials: int, *, alpha: float, delta: float, bound: str
) -> list[tuple[float, float]]:
    """Levels, and what each would prove if counts are as seen, or as the ratio foretells where few were seen.

    The ratio S weighs reports of the first value into those of the second: P₀(S ≥ t) is the mean of exp(-S) over those
    with S ≥ t. That tells how rare a false hit is where counting finds none.
    """
    ascending, others = (np.sort(part[~np.isnan(part)]) for part in (high, low))
    levels = _levels(ascending)
    below = np.searchsorted(ascending, levels, side="left")
    hits = ascending.size - below
    false_hits = others.size - np.searchsorted(others, levels, side="left")
    weighed = np.append(np.cumsum(np.exp(-np.maximum(ascending, -50.0))[::-1])[::-1], 0.0)[below] / high.size
    found = []
    for level, one, zero, share in zip(*(each.tolist() for each in (levels, hits, false_hits, weighed)), strict=True):
        seen = zero / low.size
        expected = round((seen if zero >= _SEEN else max(seen, share)) * trials)
        proved = bounds.epsilon_lower(
            round(one * trials / high.size),
            trials,
            min(expected, trials),
            trials,
            alpha=alpha,
            delta=delta,
            bound=bound,
        )
        found.append((level, proved))
    return found


def _levels(high: Floats) -> Floats:
    """A few hundred levels among those that occur, a little below each, so that rounding does not exclude it."""
    finite = np.where(np.isinf(high), np.sign(high) * 1e300, high)
    distinct = np.unique(finite) if finite.size else np.zeros(1)
    if distinct.size > _MOST_LEVELS:
        distinct = np.unique(np.quantile(finite, np.linspace(0, 1, _MOST_LEVELS), method="lower"))
    return np.asarray(distinct - 1e-9 * np.maximum(np.abs(distinct), 1.0), np.float64)
