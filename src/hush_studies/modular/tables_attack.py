"""Tables of the data reconstruction attack (DRA): figures 3, 6, 8 and 9."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from hush_studies.modular import printed
from hush_studies.modular.attacks import attacked, by_value
from hush_studies.modular.settings import MIDDLE, PEOPLE, PROTOCOLS, SMALL, N, budgets, mechanism, people, trials
from hush_studies.study import Advance, Settings, Table, rows_of

COLUMNS = (
    "protocol", "k", "people", "epsilon", "n", "runs", "dra", "dra_stderr", "dra_expected", "dra_mean", "dra_most",
    "dra_printed", "dra_knowing",
)  # fmt: skip
_VALUES = 1_000_000_000
_LEAST = 10
Known = tuple[str, int, str, float, int, int]
"""A protocol, a domain size, its people, a budget, runs and a seed."""


def _runs(k: int, settings: Settings) -> int:
    """Fewer trials of large domains: what is counted is the chance of a right guess, which varies little."""
    return min(trials(settings), max(_LEAST, _VALUES // (N * k)))


@cache
def _cell(name: str, k: int, crowd: str, epsilon: float, runs: int, seed: int) -> list[Any]:
    m, counts = mechanism(name, k, epsilon), people(crowd, k)
    shares, each = counts / N, by_value(m)
    where = [seed, 3, PROTOCOLS.index(name), PEOPLE.index(crowd), k, round(100 * epsilon)]
    told = [
        float(each @ shares),
        float(each.mean()),
        float(each.max()),
        printed.attack(m),
        min(float(m.asr(shares)), 1.0),
    ]
    return [name, k, crowd, epsilon, N, runs, *attacked(m, counts, runs, where), *told]


def _over(names: Sequence[str], crowds: Sequence[str], settings: Settings, advance: Advance) -> Table:
    cells = [
        (name, k, crowd, epsilon)
        for k in (SMALL, MIDDLE)
        for crowd in crowds
        for name in names
        for epsilon in budgets(settings)
    ]
    cost = [_runs(k, settings) * k for _, k, _, _ in cells]
    rows, known = [], [(*cell, _runs(cell[1], settings), settings.seed) for cell in cells]
    for row, share in zip(settings.each(_made, known), cost, strict=True):
        rows.append(row)
        advance(share / sum(cost))
    return rows_of(COLUMNS, rows)


def _made(cell: Known) -> list[Any]:
    return _cell(*cell)


def zipf(settings: Settings, advance: Advance) -> Table:
    """Figure 3."""
    return _over(PROTOCOLS, ("zipf",), settings, advance)


def spike(settings: Settings, advance: Advance) -> Table:
    """Figure 8."""
    return _over(PROTOCOLS, ("spike",), settings, advance)


def both(settings: Settings, advance: Advance) -> Table:
    """Figure 6: SS and MSS only."""
    return _over(("SS", "MSS"), PEOPLE, settings, advance)


def aligned(settings: Settings, advance: Advance) -> Table:
    """Figure 9: at each budget the domain is the whole geometry that PGR needs for 100 or 1,024 values."""
    bases = (SMALL,) if settings.quick else (SMALL, MIDDLE)
    cells = [
        (base, mechanism("PGR", base, e).size, name, e)  # type: ignore[attr-defined]
        for base in bases
        for e in ((1.0, 5.0) if settings.quick else budgets(settings))
        for name in PROTOCOLS
    ]
    cost = [k * _runs(k, settings) + 30 * k for _, k, _, _ in cells]
    rows, known = [], [(name, k, "spike", e, _runs(k, settings), settings.seed) for _, k, name, e in cells]
    for row, (base, *_), share in zip(settings.each(_made, known), cells, cost, strict=True):
        rows.append([base, *row])
        advance(share / sum(cost))
    return rows_of(("base", *COLUMNS), rows)
