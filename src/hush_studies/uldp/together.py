"""Collaborative sampling: the tables of figure 6 and of table 2.

A twentieth of the people report first, with the parameter that is best for theta = 0. What they tell of theta, to three
digits, chooses the parameter of all others. The paper then uses the others' reports only; ours uses all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from hush.randomness import seeded
from hush.types import Floats
from hush_studies.measure import average
from hush_studies.study import Advance, Settings, Table, rows_of
from hush_studies.uldp.computed import DESCRIBED, described, spread
from hush_studies.uldp.empirical import SHAPE, number, shape
from hush_studies.uldp.people import ALL, MechanismSetting, People, chosen, people
from hush_studies.uldp.readings import PROPOSED, READINGS, budgets, made
from hush_studies.uldp.runs import estimates

AHEAD = 0.05
"""The share of people who report first."""


@dataclass(frozen=True, eq=False)
class Told:
    """Of every run: theta as told, not clipped, and the squared error of the final estimate.

    The error is held against the frequencies of everybody; `mse_rest` is that of the second step alone, held against
    the frequencies of those who took part in it.
    """

    theta: Floats
    mse: Floats
    mse_rest: Floats


@cache
def told(name: str, reading: str, population: str, epsilon: float, runs: int, seed: int) -> Told:
    """Two steps, so many times."""
    crowd = people(population)
    at, n = crowd.setting, crowd.n
    first, ahead = made(name, reading, MechanismSetting(at.k, at.sensitive, 0.0), epsilon), round(AHEAD * n)
    where = [ALL.index(population), PROPOSED.index(name), READINGS.index(reading), round(100 * epsilon)]
    rng = seeded([seed, 6, *where])
    thetas, errors, rest = [], [], []
    for _ in range(runs):
        early = rng.multivariate_hypergeometric(crowd.counts, ahead, method="marginals")
        one = estimates(first, early, 1, rng)[0]
        thetas.append(float(one[first._others].sum()))
        then = MechanismSetting(at.k, at.sensitive, round(min(max(thetas[-1], 0.0), 1.0), 3))
        late = crowd.counts - early
        found = estimates(made(name, reading, then, epsilon), late, 1, rng)[0]
        rest.append(float(np.square(found - late / late.sum()).sum()))
        if reading == "ours":
            found = found + (one - found) * (ahead / n)
        errors.append(float(np.square(found - crowd.frequencies).sum()))
    return Told(*(np.array(each) for each in (thetas, errors, rest)))


def _cells(settings: Settings, advance: Advance) -> Iterator[tuple[People, str, str, float, Told]]:
    """Every population, mechanism, reading and budget, and what was told."""
    names, epsilons = chosen(settings.quick), budgets(settings.quick)
    for name, epsilon in product(names, epsilons):
        for each, reading in product(PROPOSED, READINGS):
            found = told(each, reading, name, epsilon, number(settings), settings.seed)
            yield people(name), each, reading, epsilon, found
        advance(1 / len(names) / len(epsilons))


def estimated(settings: Settings, advance: Advance) -> Table:
    """Figure 6: the error with theta as told, beside that with theta known."""
    rows = []
    for crowd, name, reading, epsilon, found in _cells(settings, advance):
        u = made(name, reading, crowd.setting, epsilon)
        errors = [part for mse in (found.mse, found.mse_rest) for part in average(mse)]
        known = spread(u, crowd.frequencies, crowd.n)[0]
        rows.append([*shape(crowd), *described(name, reading, u), *errors, known, number(settings)])
    columns = ("mse", "mse_stderr", "mse_rest", "mse_rest_stderr", "mse_known", "runs")
    return rows_of((*SHAPE, *DESCRIBED, *columns), rows)


def off(settings: Settings, advance: Advance) -> Table:
    """Table 2: how far theta as told is off, relative to theta."""
    rows = []
    for crowd, name, reading, epsilon, found in _cells(settings, advance):
        error = average(np.abs(found.theta - crowd.theta) / crowd.theta)
        due = law(name, reading, crowd, epsilon)
        rows.append([*shape(crowd), name, reading, epsilon, *error, *due, number(settings)])
    columns = ("mechanism", "reading", "epsilon", "off", "off_stderr", "z_star", "off_expected", "runs")
    return rows_of((*SHAPE, *columns), rows)


def law(name: str, reading: str, crowd: People, epsilon: float) -> list[Any]:
    """z* of the first step, and the mean of the error: theta is told with a normal error, from a sample of people."""
    at, ahead = crowd.setting, round(AHEAD * crowd.n)
    star = made(name, reading, MechanismSetting(at.k, at.sensitive, 0.0), epsilon).z_star
    reveal = at.theta * (1 - star) / star / ahead
    sample = at.theta * (1 - at.theta) / ahead * (crowd.n - ahead) / (crowd.n - 1)
    return [star, math.sqrt(2 / math.pi * (reveal + sample)) / at.theta]
