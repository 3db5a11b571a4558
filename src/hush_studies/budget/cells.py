"""One question of Optimus, one protocol and one method: which budget, after how many collections and how long.

Every answer is asked once and kept, so that figures share it. The share of collections that keep the threshold at the
budget found is measured with fresh runs.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from functools import cache
from time import perf_counter

import numpy as np

from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.registry import registry
from hush.planning import optimus
from hush.planning.optimus import drawing, losses
from hush.randomness import seeded
from hush.types import Floats
from hush_studies.budget.people import crowd

Method = optimus.Direct | optimus.BS | optimus.RBS | optimus.DBS | optimus.MPass | optimus.Bayes

PROTOCOLS = {"GRR": "GRR", "RAPPOR": "SUE", "OUE": "OUE", "BLH": "BLH", "OLH": "OLH"}
"""As the thesis calls them, and as Hush does."""

THESIS = ("BS", "RBS", "DBS", "MPass", "Bayes")
METHODS = (*THESIS, "direct")
CERTAINTY = 0.9
"""The usual π; the thesis does not print its own."""

_BLOCK = 200


@dataclass(frozen=True)
class Effort:
    """How much is simulated.

    Args:
        runs: Collections at each budget, for the five methods of the thesis.
        most: The same for ours, at most; None for as many as it usually takes.
        checked: Fresh collections at the budget that was found.
    """

    runs: int
    checked: int
    most: int | None = None


FULL, QUICK = Effort(1000, 2000), Effort(200, 300, 400)


@dataclass(frozen=True)
class Cell:
    """An answer.

    Args:
        epsilon: The budget; NaN where none was found.
        low: Lower end of the interval in which the smallest one lies; NaN where the method gives none.
        high: Upper end.
        share: Of fresh collections at this budget that kept the threshold.
        share_stderr: Its standard error, where it is as wanted.
        budgets: How many were tried.
        runs: Simulated collections in all.
        seconds: How long it took.
    """

    epsilon: float
    low: float
    high: float
    share: float
    share_stderr: float
    budgets: int
    runs: int
    seconds: float


def mechanism(protocol: str, k: int, epsilon: float) -> FrequencyOracle:
    """A protocol of the thesis at a budget."""
    return registry()[PROTOCOLS[protocol]](k=k, epsilon=epsilon)


def method(name: str) -> Method:
    """A method with the thesis's parameters."""
    return optimus.METHODS[name]()  # type: ignore[return-value]


def seed_of(seed: int, *told: object) -> list[int]:
    """Where the chance of one cell starts."""
    return [seed, zlib.crc32(repr(told).encode())]


def lost(people: str, protocol: str, epsilon: float, runs: int, rng: np.random.Generator) -> Floats:
    """1 - tau of so many collections, drawn from their exact law."""
    who = crowd(people)
    _, measure = losses.measure("kendall", who, 1)
    m = mechanism(protocol, who.k, epsilon)
    sizes = [min(_BLOCK, runs - at) for at in range(0, runs, _BLOCK)]
    return np.concatenate([measure(drawing.estimates(m, who, size, rng)) for size in sizes])


def threshold(tau: float) -> float:
    """The loss that a coefficient of tau allows."""
    return round(1 - tau, 9)


@cache
def cell(people: str, protocol: str, tau: float, pi: float, how: Method, effort: Effort, seed: int) -> Cell:
    """The budget that one method finds."""
    warm()
    who, told = crowd(people), (people, protocol, tau, pi, how, effort)
    start = perf_counter()
    answer = optimus.budget(
        PROTOCOLS[protocol],
        who,
        threshold=threshold(tau),
        probability=pi,
        method=how,
        runs=effort.most if isinstance(how, optimus.Direct) else effort.runs,
        rng=seeded(seed_of(seed, *told)),
    )
    seconds = perf_counter() - start
    share = math.nan
    if answer.epsilon is not None:
        found = lost(people, protocol, answer.epsilon, effort.checked, seeded(seed_of(seed, *told, "checked")))
        share = float(np.mean(found <= threshold(tau)))
    low, high = answer.interval or (math.nan, math.nan)
    noise = math.sqrt(pi * (1 - pi) / effort.checked)
    epsilon = math.nan if answer.epsilon is None else answer.epsilon
    return Cell(epsilon, low, high, share, noise, len(answer.evidence), answer.runs, seconds)


@cache
def warm() -> None:
    """Compile and import what all methods need, before anything is timed."""
    for how in (optimus.Direct(), optimus.Bayes(initial=2, iterations=1)):
        for protocol in ("GRR", "OUE"):
            optimus.budget(protocol, [50, 30, 20], threshold=0.9, method=how, runs=100, rng=seeded(0))


@dataclass(frozen=True)
class ReportedAndDrawn:
    """Whole collections, from reports and from their exact law.

    Args:
        seconds: Of one collection, report by report.
        seconds_drawn: Of one, drawn.
        losses: Of all from reports.
        drawn: Of all that were drawn.
    """

    seconds: float
    seconds_drawn: float
    losses: Floats
    drawn: Floats


@cache
def collected(people: str, protocol: str, epsilon: float, runs: int, many: int, seed: int) -> ReportedAndDrawn:
    """Randomize everybody, tally and estimate, so many times; and draw many."""
    who = crowd(people)
    m = mechanism(protocol, who.k, epsilon)
    _, measure = losses.measure("kendall", who, 1)
    m.estimate(m.aggregate(m.privatize(np.arange(who.k), rng=seeded(0))))
    found, rng = [], seeded(seed_of(seed, people, protocol, "reports"))
    start = perf_counter()
    for _ in range(runs):
        values = np.repeat(np.arange(who.k), who.draw(rng).counts)
        found.append(m.decode(m.tally(m.privatize(values, rng=rng)), values.size))
    middle = perf_counter()
    drawn = lost(people, protocol, epsilon, many, seeded(seed_of(seed, people, protocol, "drawn")))
    end = perf_counter()
    return ReportedAndDrawn((middle - start) / runs, (end - middle) / many, measure(np.stack(found)), drawn)
