"""Which event to count: chosen on some reports, so that others, fresh ones, can prove it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hush.audit import bounds
from hush.mechanisms._base import Reports

Floats = npt.NDArray[np.float64]
Statistic = Callable[[Reports], Floats]

_MOST_LEVELS = 400
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
    """The level of a statistic, from either side, that promises to prove most.

    Args:
        first: The statistic of reports of the first value.
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


def _promises(
    high: Floats, low: Floats, trials: int, *, alpha: float, delta: float, bound: str
) -> list[tuple[float, float]]:
    """Levels, and what each would prove, fewer hits than seen being reckoned with."""
    levels = _levels(high)
    hits = high.size - np.searchsorted(np.sort(high), levels, side="left")
    false_hits = low.size - np.searchsorted(np.sort(low), levels, side="left")
    found = []
    for level, one, zero in zip(levels.tolist(), hits.tolist(), false_hits.tolist(), strict=True):
        # An event that was never seen under the second value may be three in so many: do not be dazzled by it.
        expected = round((zero + (3 if zero < 10 else 0)) * trials / low.size)
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
    distinct = np.unique(finite)
    if distinct.size > _MOST_LEVELS:
        distinct = np.unique(np.quantile(finite, np.linspace(0, 1, _MOST_LEVELS), method="lower"))
    return np.asarray(distinct - 1e-9 * np.maximum(np.abs(distinct), 1.0), np.float64)
