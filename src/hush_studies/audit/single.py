"""One report: the tables of figures 1 to 5, 8 and 10.

Reports of two values are made once; the paper's attack guesses from each of them, and the likelihood ratio judges it.
That is the first of the attack's five runs. The other four draw the number of right and of wrong guesses from their
law, which the counts of the first run must agree with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from hush.kernels import chunks
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.hashing import LHO
from hush.randomness import CHUNK, seeded
from hush.testing.museum import MissingReset, MissingResetOUE, MissingResetSUE
from hush.types import Floats
from hush_studies.audit import protocols as grids
from hush_studies.audit.proof import TRIALS, attack_runs, likelihood
from hush_studies.audit.protocols import grid, mechanism
from hush_studies.study import Advance, Settings, Table, rows_of

COLUMNS = (
    "protocol", "k", "epsilon", "delta", "exact", "attack", "attack_sd", "likelihood",
    "success", "reports", "hits", "false_hits",
)  # fmt: skip
Compute = Callable[[Settings, Advance], Table]
Cell = tuple[str, FrequencyOracle]
_SLOW = {"SHE": 6.0, "GM": 6.0, "AGM": 6.0, "SS": 2.0}  # shares of the progress bar, for a value of the domain
_FEW = 100_000  # reports of each value in the quick version


@dataclass(frozen=True)
class Audited:
    """What the attack and the likelihood ratio prove of one mechanism, and the counts of the attack's first run."""

    attack: float
    attack_sd: float
    likelihood: float
    hits: int
    false_hits: int


def loss(m: FrequencyOracle) -> float:
    """What a report truly loses."""
    return m.true_epsilon() if isinstance(m, MissingReset) else m.exact_epsilon()


def success(m: FrequencyOracle) -> float:
    """How often the best guess is truly right."""
    return m.true_asr() if isinstance(m, MissingReset) else m.asr()


@cache
def audited(m: FrequencyOracle, reports: int, seed: tuple[int, ...]) -> Audited:
    """Make so many reports of values 0 and 1, and prove what they prove."""
    (hits, first), (false_hits, second) = (_judged(m, value, reports, [*seed, value]) for value in (0, 1))
    made, delta = (hits, false_hits) if reports == TRIALS else None, m._delta
    attack, spread = attack_runs(success(m), m.k, seeded([*seed, 2]), delta=delta, made=made)
    return Audited(attack, spread, likelihood(first, second, delta), hits, false_hits)


def _judged(m: FrequencyOracle, value: int, size: int, seed: Sequence[int]) -> tuple[int, Floats]:
    """How often the best guess from a report of this value is 0, and the log-ratios of 0 to 1, on all cores."""
    m.privatize([value])  # compiles, and fills caches, before threads start

    def work(start: int, stop: int) -> tuple[int, Floats]:
        reports = m.privatize(np.full(stop - start, value), rng=seeded([*seed, start, 0]))
        right = m.forms.guess_chance(reports, np.zeros(reports.size, np.int64))
        coin = seeded([*seed, start, 1]).random(reports.size)
        return int(np.count_nonzero(coin < right)), m.forms.log_ratio(reports, 0, 1)

    parts = chunks.each(size, CHUNK, work)
    return sum(hits for hits, _ in parts), np.concatenate([ratios for _, ratios in parts])


def _table(cells: Iterable[Cell], settings: Settings, advance: Advance) -> Table:
    listed, reports = list(cells), _FEW if settings.quick else TRIALS
    costs = [(1 + _SLOW.get(m.name(), 1.0) * m.k / 50) for _, m in listed]
    rows, start = [], settings.seed

    def work(cell: Cell) -> list[Any]:
        name, m = cell
        found = audited(m, reports, _seed(start, m))
        proofs = [found.attack, found.attack_sd, found.likelihood]
        counts = [success(m), reports, found.hits, found.false_hits]
        return [name, m.k, m.epsilon, m._delta, loss(m), *proofs, *counts]

    for row, cost in zip(settings.each(work, listed), costs, strict=True):
        rows.append(row)
        advance(cost / sum(costs))
    return rows_of(COLUMNS, rows)


def _seed(start: int, m: FrequencyOracle) -> tuple[int, ...]:
    """From what a protocol is, so that it has the same numbers in all figures."""
    letters = int.from_bytes(m.name().encode(), "little")
    budget = 0 if np.isinf(m.epsilon) else round(m.epsilon * 100)
    return start, letters, m.k, budget, round(m._delta * 10**9), getattr(m, "g", 0)


def _over(
    names: Sequence[str], ks: tuple[int, ...], epsilons: tuple[float, ...], deltas: tuple[float, ...] = (0.0,)
) -> Compute:
    """All protocols over all domain sizes, budgets and deltas."""

    def compute(settings: Settings, advance: Advance) -> Table:
        cells = (
            (name, mechanism(name, k, epsilon, delta))
            for name in names
            for k in grid(ks, settings)
            for delta in grid(deltas, settings)
            for epsilon in grid(epsilons, settings)
            if grids.exists(name, epsilon, delta)
        )
        return _table(cells, settings, advance)

    return compute


example = _over(grids.PURE, (100,), (2.0,))
pure = _over(grids.PURE, grids.SIZES, grids.BUDGETS)
approximate = _over(grids.APPROXIMATE, grids.SIZES, grids.BUDGETS, (grids.DELTA,))
outer_deltas = _over(grids.APPROXIMATE, grids.OUTER_DELTAS, grids.SMALL, grids.DELTAS)
inner_deltas = _over(grids.APPROXIMATE, grids.INNER_DELTAS, grids.SMALL, grids.DELTAS)


def hashing_only(settings: Settings, advance: Advance) -> Table:
    """Figure 5: hashing without noise; its table has the number of buckets g in place of epsilon."""
    cells = [LHO(k=k, g=g) for k in grid(grids.SIZES, settings) for g in grid(grids.BUCKETS, settings)]
    found = _table([("LHO", m) for m in cells], settings, advance)
    columns = tuple("g" if name == "epsilon" else name for name in found.columns)
    at = columns.index("g")
    return rows_of(columns, ([*row[:at], m.g, *row[at + 1 :]] for row, m in zip(found.rows, cells, strict=True)))


def missing_reset(settings: Settings, advance: Advance) -> Table:
    """Figure 8: SUE and OUE as pure-LDP 1.1.2 had them."""
    cells: list[Cell] = [
        (name, broken(k=k, epsilon=epsilon))
        for name, broken in (("SUE", MissingResetSUE), ("OUE", MissingResetOUE))
        for k in grid(grids.SIZES, settings)
        for epsilon in grid(grids.BUDGETS, settings)
    ]
    return _table(cells, settings, advance)
