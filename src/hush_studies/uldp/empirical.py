"""Tables of measured errors: figures 4, 5, 7, 8 and 9. All runs are drawn from the exact law of the reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from hush.randomness import seeded
from hush_studies.measure import average
from hush_studies.study import Advance, Settings, Table, rows_of
from hush_studies.uldp.computed import DESCRIBED, described, spread
from hush_studies.uldp.measured import FEW, RUNS, TOP, MeasuredUtility, expected_mae, measured
from hush_studies.uldp.people import ALL, People, chosen, people
from hush_studies.uldp.readings import MECHANISMS, PROPOSED, READINGS, budgets, made
from hush_studies.uldp.runs import estimates

SHAPE = ("people", "d", "s", "n", "theta")
SHARES = tuple(i / 10 for i in range(1, 11))
FIXED = 2.0
"""The budget of figure 5."""


def shape(crowd: People) -> list[Any]:
    """What a row says of a population."""
    at = crowd.setting
    return [crowd.name, at.k, at.s, crowd.n, at.theta]


def number(settings: Settings) -> int:
    """How many runs."""
    return FEW if settings.quick else RUNS


def _over(columns: Sequence[str], values: Any, least: int = 2) -> Any:
    """A table of what `values` says of each population of so many values or more, budget, mechanism and reading."""

    def compute(settings: Settings, advance: Advance) -> Table:
        names = [name for name in chosen(settings.quick) if people(name).setting.k >= least]
        sizes = {name: people(name).setting.s + 50 for name in names}
        runs, seed, rows = number(settings), settings.seed, []
        cells = list(product(names, budgets(settings.quick), MECHANISMS, READINGS))

        def work(cell: tuple[str, float, str, str]) -> list[Any]:
            name, epsilon, each, reading = cell
            crowd = people(name)
            u = made(each, reading, crowd.setting, epsilon)
            found = measured(each, reading, name, epsilon, runs, seed)
            return [*shape(crowd), *described(each, reading, u), *values(u, crowd, found)]

        for row, (name, *_) in zip(settings.each(work, cells), cells, strict=True):
            rows.append([*row, runs])
            advance(sizes[name] * len(names) / sum(sizes.values()) / len(cells))
        return rows_of((*SHAPE, *DESCRIBED, *columns), rows)

    return compute


def _squares(u: Any, crowd: People, found: MeasuredUtility) -> list[float]:
    return [found.mse, found.mse_stderr, spread(u, crowd.frequencies, crowd.n)[0]]


def _absolutes(u: Any, crowd: People, found: MeasuredUtility) -> list[float]:
    sds = np.sqrt(u.variances(crowd.frequencies, crowd.n))
    return [found.mae, found.mae_stderr, expected_mae(sds)]


def _tops(u: Any, crowd: People, found: MeasuredUtility) -> list[float]:
    return [found.f1, found.f1_stderr, found.ndcg, found.ndcg_stderr]


squared = _over(("mse", "mse_stderr", "mse_expected", "runs"), _squares)
absolute = _over(("mae", "mae_stderr", "mae_expected", "runs"), _absolutes)
tops = _over(("f1", "f1_stderr", "ndcg", "ndcg_stderr", "runs"), _tops, TOP + 1)


def shares(settings: Settings, advance: Advance) -> Table:
    """Figure 5: the error as more of the values are sensitive; at a share of 1, all are: that is plain LDP."""
    rows, names = [], chosen(settings.quick)
    wanted = (0.1, 0.4, 1.0) if settings.quick else SHARES
    for name in names:
        for share in wanted:
            crowd = people(name).with_share(share)
            for each, reading in product(MECHANISMS, READINGS):
                u = made(each, reading, crowd.setting, FIXED)
                told = [*shape(crowd), share, *described(each, reading, u), spread(u, crowd.frequencies, crowd.n)[0]]
                rows.append([*told, *_measured_share(u, crowd, reading, settings)])
            advance(1 / len(wanted) / len(names))
    return rows_of((*SHAPE, "share", *DESCRIBED, "mse_expected", "mse", "mse_stderr", "runs"), rows)


def _measured_share(u: Any, crowd: People, reading: str, settings: Settings) -> list[Any]:
    """Of the paper's reading only: the other has the same law as in figure 4."""
    if reading == "ours":
        return [None, None, None]
    runs, where = number(settings), [ALL.index(crowd.name), list(MECHANISMS).index(u.name()), crowd.setting.s]
    off = estimates(u, crowd.counts, runs, seeded([settings.seed, 5, *where])) - crowd.frequencies
    squares = np.square(off).sum(axis=1)
    return [*average(squares), runs]


def without_z(settings: Settings, advance: Advance) -> Table:
    """Figure 7: by how much z makes the error smaller, at the same parameter."""
    rows, names = [], chosen(settings.quick)
    for name in names:
        crowd = people(name)
        for epsilon in budgets(settings.quick):
            for each in PROPOSED:
                u, bare = (made(each, reading, crowd.setting, epsilon) for reading in ("paper", "without z"))
                best = made(each, "ours", crowd.setting, epsilon)
                pair = [
                    measured(each, reading, name, epsilon, number(settings), settings.seed)
                    for reading in ("paper", "without z")
                ]
                exact, none, ours = (spread(m, crowd.frequencies, crowd.n)[0] for m in (u, bare, best))
                saved = 1 - pair[0].mse / pair[1].mse
                noise = (1 - saved) * math.hypot(*(found.mse_stderr / found.mse for found in pair))
                told = [*shape(crowd), *described(each, "paper", u)]
                rows.append([*told, 1 - exact / none, saved, noise, 1 - ours / none, number(settings)])
            advance(1 / len(names) / len(budgets(settings.quick)))
    columns = ("saved_expected", "saved", "saved_stderr", "saved_ours", "runs")
    return rows_of((*SHAPE, *DESCRIBED, *columns), rows)
