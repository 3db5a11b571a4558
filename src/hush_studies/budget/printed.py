"""Algorithms 1 to 6 of the thesis word for word, mistakes included, to see where they lead.

Each takes a function that simulates so many collections at a budget and gives their losses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hush.types import Floats

Simulate = Callable[[float, int], Floats]

LOW, HIGH, PHI = 0.001, 20.0, 0.01


@dataclass(frozen=True)
class EndedAt:
    """Where an algorithm ended.

    Args:
        epsilon: What it returns; None where it fails, or does not end.
        width: Of the range that is left.
        steps: Budgets tried.
        lowest: The smallest budget that it asked for.
        probability: The largest "probability of satisfaction" that it computed.
    """

    epsilon: float | None
    width: float
    steps: int
    lowest: float = LOW
    probability: float = 0.0


def binary(
    simulate: Simulate, omega: float, pi: float, runs: int, *, g: float = np.inf, most: int = 100, mean: bool = True
) -> EndedAt:
    """Algorithm 1; with g, Algorithm 2. Not more than so many steps; without the mean, as section 3.4 has it."""
    low, high, steps, largest = LOW, HIGH, 0, 0.0
    while high - low >= PHI and steps < most:
        middle, step = (low + high) / 2, (high - low) / g
        losses = simulate(min(max(middle, LOW), HIGH), runs)
        share = float(np.mean(losses <= omega))
        largest, steps = max(largest, share), steps + 1
        if share >= pi and (not mean or losses.mean() <= omega):
            high = middle + step
        else:
            low = middle - step
    return EndedAt(high if high - low < PHI else None, high - low, steps, LOW, largest)


def dynamic(simulate: Simulate, omega: float, pi: float, least: int, most: int, c: float) -> EndedAt:
    """Algorithm 3: sums over all runs are divided by the number that was desired, run or not."""
    low, high, steps, largest = LOW, HIGH, 0, 0.0
    while high - low >= PHI:
        middle = (low + high) / 2
        losses = simulate(middle, least)
        gap = abs(float(losses.mean()) - omega)
        desired = most if gap * most <= c else int(c / gap)
        if desired > least:
            losses = np.concatenate([losses, simulate(middle, desired - least)])
        with np.errstate(divide="ignore", invalid="ignore"):
            share, average = (np.float64(each) / desired for each in ((losses <= omega).sum(), losses.sum()))
        largest, steps = max(largest, float(share)), steps + 1
        low, high = (low, middle) if share >= pi and average <= omega else (middle, high)
    return EndedAt(high, high - low, steps, LOW, largest)


def passes(simulate: Simulate, omega: float, pi: float, runs: int, number: int, g: float) -> EndedAt:
    """Algorithm 4: it fails where nothing satisfies, and leaves the range where its lower end does."""
    satisfied: list[float] = []
    low, high, step, steps, lowest = LOW, HIGH, 1.0, 0, LOW
    for _ in range(number):
        at = low
        while at <= high:
            lowest, steps = min(lowest, at), steps + 1
            if at > 0:
                losses = simulate(at, runs)
                if losses.mean() <= omega and np.mean(losses <= omega) >= pi:
                    satisfied.append(at)
            at += step
        if not satisfied:
            return EndedAt(None, high - low, steps, lowest)
        low, high, step = min(satisfied) - step, min(satisfied) + step, step / g
    return EndedAt(min(satisfied), high - low, steps, lowest)


def mean_met(simulate: Simulate, omega: float, runs: int) -> float:
    """The budget at which the objective of Algorithm 5, |mean loss - omega|, is least: where the mean is omega."""
    low, high = np.log(LOW), np.log(HIGH)
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (low, middle) if simulate(float(np.exp(middle)), runs).mean() <= omega else (middle, high)
    return float(np.exp(high))
