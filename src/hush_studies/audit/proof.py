"""What counts of hits prove, the way the paper does it: 10^6 trials, alpha = 0.01, averages over 5 runs.

The attack's event is that the best guess names the first value. Values are alike to these protocols, so that a guess
that is right with probability s names a given wrong value with probability (1 - s) / (k - 1).
"""

from __future__ import annotations

import numpy as np

from hush.audit import bounds
from hush.audit.events import best_threshold
from hush.types import Floats

TRIALS = 10**6
ALPHA = 0.01
RUNS = 5
CHOOSING = 0.1
"""The share of reports that choose an event; the others prove it."""

_TRIED = 200  # events among which a law chooses


def proved(hits: int, false_hits: int, trials: int = TRIALS, delta: float = 0.0) -> float:
    """The loss that is proved, by the paper's intervals."""
    return bounds.epsilon_lower(hits, trials, false_hits, trials, alpha=ALPHA, delta=delta, bound="paper")


def attack_runs(
    success: float, k: int, rng: np.random.Generator, *, delta: float = 0.0, made: tuple[int, int] | None = None
) -> tuple[float, float]:
    """The loss that the attack proves in 10^6 trials: average and standard deviation over runs.

    Args:
        success: How often a guess is right.
        k: Domain size.
        rng: Draws the hits of each run from their law.
        delta: Slack of the claim.
        made: Hits and false hits of the first run, if it was made on 10^6 reports of each value.
    """
    wrong = (1 - success) / (k - 1)
    drawn = [(int(rng.binomial(TRIALS, success)), int(rng.binomial(TRIALS, max(wrong, 0.0)))) for _ in range(RUNS)]
    if made is not None:
        drawn[0] = made
    found = [proved(*hits, delta=delta) for hits in drawn]
    return float(np.mean(found)), float(np.std(found, ddof=1))


def likelihood(first: Floats, second: Floats, delta: float = 0.0) -> float:
    """The loss that the likelihood ratio proves, from its logarithm over as many reports of either value.

    Args:
        first: Of reports of the first value.
        second: Of reports of the second.
        delta: Slack of the claim.
    """
    choosing = round(CHOOSING * first.size)
    trials = first.size - choosing
    event = best_threshold(first[:choosing], second[:choosing], trials, alpha=ALPHA, delta=delta, bound="paper")
    high, low = (-second, -first) if event.swapped else (first, second)
    hits, false_hits = (int(np.count_nonzero(part[choosing:] >= event.level)) for part in (high, low))
    return proved(hits, false_hits, trials, delta)


def likelihood_by_law(levels: Floats, chances: Floats, rng: np.random.Generator, delta: float = 0.0) -> float:
    """The same in 10^6 trials where the ratio's law is known, and symmetric: it chooses the event, and draws the hits.

    Args:
        levels: What the logarithm of the ratio can be, ascending and symmetric about zero, up to a factor.
        chances: How likely each level is under the first value; the second value mirrors them.
        rng: Draws.
        delta: Slack of the claim.
    """
    first, second = (np.minimum(np.cumsum(law)[::-1], 1.0) for law in (chances[::-1], chances))
    tried = np.unique(np.searchsorted(-first, -np.geomspace(1e-6, 1.0, _TRIED)))
    tried = np.arange(levels.size) if levels.size <= _TRIED else tried[tried < levels.size]
    expected = [(round(TRIALS * first[i]), round(TRIALS * second[i])) for i in tried]
    best = tried[int(np.argmax([proved(*hits, delta=delta) for hits in expected]))]
    hits, false_hits = (int(rng.binomial(TRIALS, tail[best])) for tail in (first, second))
    return proved(hits, false_hits, delta=delta)
