"""The tables of figures 8 and 15, measured: everybody randomizes, the server tallies, the attacker attacks everybody.

Beside each measurement stands what it should be: the exact attack success, and the variance at the data's own
frequencies (equation 3), averaged over values. And what the paper compares it with: the variance at frequency 0
(equation 4), and for hashing the attack success of equation 15.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import datasets
from hush.analysis.success import local_hashing_paper
from hush.mechanisms.hashing import LH
from hush.randomness import seeded
from hush_studies.measure import repeated
from hush_studies.refined.protocols import ADAPTIVE, FAMILIES, PROTOCOLS, K, budgets, mechanism
from hush_studies.study import Advance, Settings, Table, rows_of

COLUMNS = (
    "protocol", "k", "n", "epsilon", "parameter", "runs", "asr", "asr_stderr", "mse", "mse_stderr",
    "asr_expected", "mse_expected", "asr_paper", "mse_paper",
)  # fmt: skip
_FEW = 5_000  # people of the Adult data, in the quick version
_NANOSECONDS = {"GRR": 20, "BLH": 80, "OLH": 80, "ALH": 80, "SHE": 750}
"""What one report takes on one core, about, to share out the progress bar; 110 for the others."""


def adult(settings: Settings, advance: Advance) -> Table:
    """Figure 8: the ages of the Adult data, all protocols."""
    people = datasets.adult_age().counts
    if settings.quick:
        people = seeded([settings.seed, 8]).multivariate_hypergeometric(people, _FEW)
    return _measured(PROTOCOLS, [people], 8, settings, advance)


def dirichlet(settings: Settings, advance: Advance) -> Table:
    """Figure 15: people drawn from one distribution that was drawn from Dirichlet(1), more and more of them."""
    ns = (500, 2_000, 8_000) if settings.quick else (5_000, 50_000, 500_000)
    drawn = [datasets.dirichlet(K, n, rng=seeded([settings.seed, 15])).counts for n in ns]
    return _measured([each for pair in ADAPTIVE.items() for each in pair], drawn, 15, settings, advance)


def _measured(
    names: Iterable[str],
    populations: list[npt.NDArray[np.int64]],
    figure: int,
    settings: Settings,
    advance: Advance,
) -> Table:
    runs = 10 if settings.quick else 100
    epsilons = (2.0, 4.0, 10.0) if settings.quick else budgets("medium to low", quick=False)
    cells = [(people, name, epsilon) for people in populations for name in names for epsilon in epsilons]
    costs = [_NANOSECONDS.get(name, 110) * int(people.sum()) for people, name, _ in cells]
    rows, start = [], settings.seed

    def work(cell: tuple[npt.NDArray[np.int64], str, float]) -> list[Any]:
        people, name, epsilon = cell
        seed = [start, figure, int(people.sum()), PROTOCOLS.index(name), round(epsilon * 10)]
        return _cell(name, epsilon, people, runs, seed)

    for row, cost in zip(settings.each(work, cells), costs, strict=True):
        rows.append(row)
        advance(cost / sum(costs))
    return rows_of(COLUMNS, rows)


def _cell(name: str, epsilon: float, counts: npt.NDArray[np.int64], runs: int, seed: list[int]) -> list[Any]:
    m, n = mechanism(name, counts.size, epsilon), int(counts.sum())
    found = repeated(m, counts, runs, seed)
    asr, parameter = m.asr(), getattr(m, FAMILIES[name].parameter, None) if name in FAMILIES else None
    paper = local_hashing_paper(m.k, epsilon, m.g) if isinstance(m, LH) else asr
    expected = float(np.mean(m.variances(counts / n, n)))
    measured = [found.asr, found.asr_stderr, found.mse, found.mse_stderr]
    return [name, m.k, n, epsilon, parameter, runs, *measured, asr, expected, paper, m.variance(n)]
