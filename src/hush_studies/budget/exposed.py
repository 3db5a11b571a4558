"""Tables of what a report gives away: figures 6.1 to 6.5, on the water meters.

The adversary guesses the likeliest amount. Exact numbers are for one who holds all amounts equally likely; beside them
everybody's report is made and attacked, by that adversary and by one who knows how amounts are spread.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from hush.planning import capri
from hush.randomness import seeded
from hush.types import Floats
from hush_studies.budget.cells import mechanism, seed_of
from hush_studies.budget.people import clients
from hush_studies.study import Advance, Settings, Table, rows_of

PROTOCOLS = ("GRR", "RAPPOR", "OUE")
LIMITS = (0, 5, 10, 20)
BUDGETS = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0)
_FEW = (0.5, 2.0, 5.0)
MEASURES = ("precision", "recall", "f_score")


def budgets(settings: Settings) -> tuple[float, ...]:
    """Of the figures; the thesis does not print its own."""
    return _FEW if settings.quick else BUDGETS


@dataclass(frozen=True, eq=False)
class Attacked:
    """How often each amount was guessed for each true one, as [true, guessed]."""

    uniform: Floats
    informed: Floats


@cache
def attacked(protocol: str, epsilon: float, seed: int) -> Attacked:
    """Everybody reports once, and every report is attacked twice."""
    people = clients("Water")
    m, rng = mechanism(protocol, people.k, epsilon), seeded(seed_of(seed, protocol, epsilon, "attacked"))
    values = np.repeat(np.arange(people.k), people.counts)
    reports = m.privatize(values, rng=rng)
    found = []
    for prior in (None, people.counts / people.n):
        table = np.zeros((people.k, people.k))
        np.add.at(table, (values, m.attack(reports, prior, rng=rng)), 1.0)
        found.append(table)
    return Attacked(*found)


def success(guessed: Floats) -> tuple[float, float]:
    """The share of right guesses, and the mean squared distance."""
    amounts = np.arange(len(guessed))
    squares = np.square(amounts[:, None] - amounts)
    return float(np.trace(guessed) / guessed.sum()), float((guessed * squares).sum() / guessed.sum())


def told_apart(guessed: Floats, limit: int) -> tuple[float | None, ...]:
    """Precision, recall and F-score of guessing that an amount is at most a limit; None where that is not defined.

    >>> told_apart(np.array([[3.0, 1.0], [2.0, 4.0]]), 0)[:2]
    (0.6, 0.75)
    """
    right = float(guessed[: limit + 1, : limit + 1].sum())
    named, there = float(guessed[:, : limit + 1].sum()), float(guessed[: limit + 1].sum())
    if named == 0:
        return None, right / there, None
    precision, recall = right / named, right / there
    return precision, recall, 2 * precision * recall / (precision + recall) if right else None


def guesses(settings: Settings, advance: Advance) -> Table:
    """Figure 6.1."""
    people, rows = clients("Water"), []
    for protocol in PROTOCOLS:
        for epsilon in budgets(settings):
            exact = capri.exposure(mechanism(protocol, people.k, epsilon), people)
            seen = attacked(protocol, epsilon, settings.seed)
            noise = math.sqrt(exact.asr * (1 - exact.asr) / people.n)
            rows.append(
                [protocol, epsilon, exact.asr, exact.mse, *success(seen.uniform), noise, *success(seen.informed)]
            )
            advance(1 / len(PROTOCOLS) / len(budgets(settings)))
    measured = ("asr_measured", "mse_measured", "asr_stderr", "asr_informed", "mse_informed")
    return rows_of(("protocol", "epsilon", "asr", "mse", *measured), rows)


def limits(limit: int) -> Callable[[Settings, Advance], Table]:
    """Figures 6.2 to 6.5."""

    def compute(settings: Settings, advance: Advance) -> Table:
        people, rows = clients("Water"), []
        for protocol in PROTOCOLS:
            for epsilon in budgets(settings):
                exact = capri.exposure(mechanism(protocol, people.k, epsilon), people, limit=limit)
                seen = attacked(protocol, epsilon, settings.seed)
                numbers = [exact.precision, exact.recall, exact.f_score]
                noise = math.sqrt(exact.recall * (1 - exact.recall) / people.counts[: limit + 1].sum())
                measured = told_apart(seen.uniform, limit)
                rows.append([protocol, epsilon, limit, *numbers, *measured, noise, *told_apart(seen.informed, limit)])
                advance(1 / len(PROTOCOLS) / len(budgets(settings)))
        columns = [*MEASURES, *(f"{each}_measured" for each in MEASURES), "recall_stderr"]
        return rows_of(("protocol", "epsilon", "limit", *columns, *(f"{each}_informed" for each in MEASURES)), rows)

    return compute
