"""Many reports of one value: the tables of figures 6 and 11.

Counts come from the laws in `hush_studies.audit.laws`. Where tau = 5 and epsilon = 1, the attack also runs on real
reports, which its law must agree with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hush.attacks import longitudinal
from hush.longitudinal import Repeated
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.histogram import NoisyHistogram
from hush.randomness import seeded
from hush_studies.audit import laws
from hush_studies.audit import protocols as grids
from hush_studies.audit.proof import attack_runs, likelihood_by_law
from hush_studies.audit.protocols import grid, mechanism
from hush_studies.study import Advance, Settings, Table, rows_of

COLUMNS = (
    "protocol", "k", "epsilon", "delta", "tau", "exact", "attack", "attack_sd", "likelihood",
    "success", "success_stderr", "sequences", "measured",
)  # fmt: skip
CHECKED = (5, 1.0)
"""The tau and the epsilon at which real reports are attacked."""


def outer(settings: Settings, advance: Advance) -> Table:
    """Figure 6."""
    return _table(grids.OUTER, settings, advance)


def inner(settings: Settings, advance: Advance) -> Table:
    """Figure 11."""
    return _table(grid(grids.INNER, settings), settings, advance)


def _table(ks: Sequence[int], settings: Settings, advance: Advance) -> Table:
    epsilons, taus = grid(grids.SMALL, settings), grid(grids.ROUNDS, settings)
    cells = [(name, epsilon, k) for name in grids.REPEATED for epsilon in epsilons for k in ks]
    costs = [1.0 + 0.1 * k * (name == "SS") + 4.0 * (name in ("SHE", "GM", "AGM")) for name, _, k in cells]
    rows: list[list[Any]] = []
    start, quick = settings.seed, settings.quick

    def work(cell: tuple[str, float, int]) -> list[list[Any]]:
        name, epsilon, k = cell
        delta = grids.DELTA if name in grids.GAUSSIAN else 0.0
        seed = [start, 6, grids.REPEATED.index(name), k, round(epsilon * 100)]
        return _cell(name, mechanism(name, k, epsilon, delta), taus, quick, seed)

    for some, cost in zip(settings.each(work, cells), costs, strict=True):
        rows += some
        advance(cost / sum(costs))
    return rows_of(COLUMNS, rows)


def _cell(name: str, m: FrequencyOracle, taus: Sequence[int], quick: bool, seed: list[int]) -> list[list[Any]]:
    found = laws.successes(m, taus, 1_000 if quick else 10_000, [*seed, 0])
    rows = []
    for tau in taus:
        slack, success, rng = tau * m._delta, found[tau], seeded([*seed, 1, tau])
        law = laws.ratio(m, tau)
        exact = laws.composed_loss(m, tau)
        attack = attack_runs(success.rate, m.k, rng, delta=slack)
        ratio = likelihood_by_law(law.levels, law.chances, rng, slack)
        sequences = (10_000 if quick else 100_000) if (tau, m.epsilon) == CHECKED else None
        measured = None if sequences is None else _measured(m, tau, sequences, [*seed, 2])
        stated = [name, m.k, m.epsilon, slack, tau, exact]
        rows.append([*stated, *attack, ratio, success.rate, success.stderr, sequences, measured])
    return rows


def _measured(m: FrequencyOracle, tau: int, sequences: int, seed: list[int]) -> float:
    """How often the attack is right, on real reports of value 0."""
    repeated, values = Repeated(m, tau), np.zeros(sequences, np.int64)
    attack = longitudinal.averaging if isinstance(m, NoisyHistogram) else longitudinal.majority
    reports = repeated.collect(np.zeros((sequences, tau), np.int64), rng=seeded([*seed, 0]))
    return attack(repeated, reports, values, rng=seeded([*seed, 1])).success
