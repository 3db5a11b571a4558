"""Where the constraint starts to hold: bisection (Algorithm 7), relaxed (CAPRI-R, RBS), a walk, and a Gaussian process.

Each takes a function that tries a budget, and gives the smallest budget that met the constraint, or None. Budgets that
are tried have at most four digits, but for the ends of the range, so that the answer is a number that can be written.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hush.planning.capri.answer import Evidence
from hush.planning.process import Process
from hush.planning.relax import up

Trial = Callable[[float], Evidence]

_NEARER, _FARTHER = 0.06, 0.1
"""How much farther down to look next, as a share of how far down one is: with care, and after a clear failure."""
_LEAST = 0.02
"""The same after a clear failure, at least, as a share of the budget that one came from."""
_AGAIN = 4


def before(epsilon: float) -> float:
    """The next smaller number of four digits.

    >>> before(1.42), before(1.0), before(0.12345)
    (1.419, 0.9999, 0.1234)
    """
    places = 3 - math.floor(math.log10(epsilon))
    whole = math.ceil(round(epsilon * 10.0**places, 6)) - 1
    return whole / 10.0**places if whole >= 1000 else 9999 / 10.0 ** (places + 1)


def closed_in(trial: Trial, low: float, high: float, precision: float) -> Evidence | None:
    """Bisection on a logarithmic scale, to a relative precision, with both ends tried first."""
    first = trial(low)
    if first.satisfied:
        return first
    best = trial(high)
    return _between(trial, low, best, precision) if best.satisfied else None


def _between(trial: Trial, low: float, best: Evidence, precision: float) -> Evidence:
    """Bisection between a budget that fails and one that holds."""
    while best.epsilon - low > precision * best.epsilon:
        middle = up(math.sqrt(low * best.epsilon))
        if middle >= best.epsilon:
            middle = before(best.epsilon)
        if middle <= low:
            break
        found = trial(middle)
        if found.satisfied:
            best = found
        else:
            low = middle
    return best


def lowered(trial: Trial, best: Evidence, low: float, precision: float, clear: Callable[[Evidence], bool]) -> Evidence:
    """The smallest budget that is seen to hold below a given one, down to half of it.

    More budget may be a little worse: an estimated total is one of few numbers where people are few or reports coarse,
    and these numbers move across the cap as the budget grows. Budgets that hold then lie in stretches. We look at
    budgets ever farther down, in steps that grow with the distance, and more sparsely below one that fails by more
    than such a number can matter; so a stretch that is narrower than the steps there may be missed.
    """
    for _ in range(_AGAIN):
        start, held, under = best.epsilon, best, None
        floor, at = max(low, start / 2), before(start)
        while at > floor:
            found = trial(at)
            if found.satisfied:
                held, under = found, None
            elif under is None:
                under = at
            gone = start - at
            further = max(_FARTHER * gone, _LEAST * start) if clear(found) else _NEARER * gone
            at = min(before(at), up(max(at - further, floor / 2)))
        if held is best:
            return best
        best = _between(trial, under or floor, held, precision)
    return best


def bisected(
    trial: Trial, low: float, high: float, precision: float, relaxation: float = 0.0, part: float = 0.0
) -> Evidence | None:
    """Algorithm 7: halve the range until it is no wider than the precision.

    CAPRI-R keeps a little of the half that it drops, and RBS a part of the range. The printed loop does not end where
    that is half the precision, or half the range, or more. What is kept counts from the middle as it is, not as it was
    rounded up to be tried: else a narrow range would stay as wide as it is. And the upper end is tried before it is
    answered, where nothing was found to hold; so is the largest budget before there is said to be none.
    """
    bottom, top = low, high
    tried: dict[float, Evidence] = {}
    while low <= high - precision:
        half, kept = (low + high) / 2, relaxation + part * (high - low)
        middle = up(half)
        if middle >= high:  # nothing of four digits is left above the middle
            break
        tried[middle] = trial(middle)
        if tried[middle].satisfied:
            high = min(max(half + kept, middle), top)
        else:
            low = max(middle - kept, bottom)
    for last in (min(up(high), top), top):
        # What holds below a budget that does not was luck.
        held = [each for each in tried.values() if each.satisfied and each.epsilon >= low]
        if held:
            return min(held, key=lambda each: each.epsilon)
        if last not in tried:
            tried[last] = trial(last)
    return tried[top] if tried[top].satisfied else None


def walked(trial: Trial, low: float, high: float, passes: int, g: float) -> Evidence | None:
    """MPass: walk through the range in steps of 1, then around what was found in smaller ones; none is tried twice.

    Budgets have four digits, so that the walk ends where a step is less than the last of them.
    """
    bottom, top, step = low, high, 1.0
    tried: dict[float, Evidence] = {}
    for _ in range(passes):
        for i in range(math.floor((high - low) / step + 1e-9) + 1):
            at = min(max(up(round(low + i * step, 9)), bottom), top)
            if at not in tried:
                tried[at] = trial(at)
        if top not in tried and not any(each.satisfied for each in tried.values()):
            tried[top] = trial(top)
        held = [at for at, each in tried.items() if each.satisfied]
        if not held:
            return None
        low, high = max(min(held) - step, bottom), min(min(held) + step, top)
        step /= g
    return tried[min(held)]


def modelled(
    trial: Trial,
    low: float,
    high: float,
    goal: float,
    runs: int,
    rng: np.random.Generator,
    *,
    clearly_fails: Callable[[Evidence], bool],
    first: int = 20,
    more: int = 20,
) -> Evidence | None:
    """A Gaussian process over the logarithm of the budget, and expected improvement.

    What is brought to zero is the distance of the share from the threshold, in normal quantiles, since the share
    itself is flat almost everywhere. The answer is the smallest budget that met the constraint, above all that
    clearly failed to.
    """
    tried = [trial(min(up(math.exp(x)), high)) for x in rng.uniform(math.log(low), math.log(high), first)]
    for _ in range(more):
        at = np.array([math.log(e.epsilon) for e in tried])
        off = np.array([abs(_quantile(e, runs) - goal) for e in tried])
        tried.append(trial(min(up(math.exp(_next(at, off, math.log(low), math.log(high)))), high)))
    tried.append(trial(high))
    failed = max((e.epsilon for e in tried if clearly_fails(e)), default=0.0)
    held = (e for e in tried if e.satisfied and e.epsilon > failed)
    return min(held, key=lambda e: e.epsilon, default=None)


def _quantile(found: Evidence, runs: int) -> float:
    from scipy.special import ndtri

    share = min(max(found.probability, 0.5 / runs), 1 - 0.5 / runs)
    return float(ndtri(share))


def _next(at: np.ndarray, off: np.ndarray, low: float, high: float) -> float:
    """Where the distance is expected to fall most below the least so far."""
    from scipy.special import ndtr

    least = at[np.argmin(off)]
    near = least + np.concatenate([-np.geomspace(1e-4, 0.3, 100), np.geomspace(1e-4, 0.3, 100)])
    grid = np.clip(np.concatenate([np.linspace(low, high, 800), near]), low, high)
    process = Process("method='bayes'", 1.5, 1e-3, (1e-8, 1.0), (1e-2, 1e3), (1e-2, 1e1), seed=7)
    mean, spread = process.predicted(at, off, grid)
    gain = off.min() - mean
    z = gain / np.maximum(spread, 1e-12)
    better = gain * ndtr(z) + spread * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return float(grid[np.argmax(better)])
