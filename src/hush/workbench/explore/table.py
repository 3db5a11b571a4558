"""All mechanisms side by side, for the sliders as they stand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from hush import rules
from hush.analysis import pareto
from hush.errors import HushError
from hush.mechanisms.names import full_name
from hush.mechanisms.settings import takes
from hush.planning.objectives import Z95
from hush.workbench.explore import kept, positions
from hush.workbench.explore.numbers import UnitNumbers, computed, explored

COLUMNS = ("margin", "asr", "gain", "bits")
"""What mechanisms are compared in; of each the least is the best."""


@dataclass(frozen=True)
class ExploredRow:
    """One mechanism.

    Args:
        name: Its short name.
        full_name: What that stands for.
        family: What it is akin to.
        approximate: Whether its promise has a delta.
        margin: Half the width of a 95 % interval of an estimated frequency, the average over the values.
        asr: Chance that the best attacker names the value behind a report.
        gain: What 5 % of fakes add to the frequency of the value that they promote.
        bits: Information bits of a report.
        size: Bytes of a report.
        on_front: Whether no other is at least as good in all four, and better in one.
    """

    name: str
    full_name: str
    family: str
    approximate: bool
    margin: float
    asr: float
    gain: float
    bits: int
    size: int
    on_front: bool = False


@dataclass(frozen=True)
class Explored:
    """The table.

    Args:
        k: Number of values.
        epsilon: Privacy loss of one report.
        n: People who report.
        rows: Of every mechanism that is defined here, the least error first.
        unavailable: Why others are not, by name.
        pending: Names of those that take longer than a moment here, since the sliders do not stand at a position.
    """

    k: int
    epsilon: float
    n: int
    rows: tuple[ExploredRow, ...]
    unavailable: dict[str, str]
    pending: tuple[str, ...] = ()

    def best(self, column: str) -> ExploredRow:
        """The row with the least of a column, among those whose promise has no delta."""
        pure = (row for row in self.rows if not row.approximate)
        return min(pure, key=lambda row: (_clear(getattr(row, column)), _clear(row.margin)))

    def row(self, name: str) -> ExploredRow | None:
        """The row of a mechanism, if it is there."""
        return next((row for row in self.rows if row.name == name), None)

    def completed(self) -> Explored:
        """With those that were left for later; it may take seconds."""
        found, refused = _measured(self.pending, self.k, self.epsilon, waits=True)
        rows = [*self.rows, *(_row(name, numbers, self.n) for name, numbers in found.items())]
        return replace(self, rows=_ranked(rows), unavailable={**self.unavailable, **refused}, pending=())


def explore(k: int, epsilon: float, n: int) -> Explored:
    """Every mechanism's error, attack success, manipulation gain and bits, within a moment.

    >>> found = explore(100, 1.0, 100_000)
    >>> found.best("bits").name, 0.01 < found.best("margin").margin < 0.02
    ('PGR', True)
    """
    rules.integer("k", k, 2, positions.MOST_VALUES, "count the values of your domain")
    rules.epsilon(epsilon, least=positions.LEAST_EPSILON, most=positions.MOST_EPSILON)
    rules.integer("n", n, 1, positions.MOST_PEOPLE, "count the people who report")
    later = () if kept.is_position(k, epsilon) else kept.SLOW
    found, refused = _measured((name for name in explored() if name not in later), k, epsilon)
    return Explored(k, epsilon, n, _ranked(_row(name, each, n) for name, each in found.items()), refused, later)


def _measured(
    names: Iterable[str], k: int, epsilon: float, *, waits: bool = False
) -> tuple[dict[str, UnitNumbers], dict[str, str]]:
    """Numbers of mechanisms, from what is kept where that is quicker, and why others have none."""
    found, refused = {}, {}
    for name in names:
        ready = None if waits else kept.kept(name, k, epsilon)
        try:
            found[name] = ready or computed(name, k, epsilon)
        except HushError as error:
            refused[name] = str(error)
    return found, refused


def _row(name: str, numbers: UnitNumbers, n: int) -> ExploredRow:
    cls = explored()[name]
    margin = Z95 * math.sqrt(numbers.variance / n)
    told = full_name(cls), cls.family, "delta" in takes(cls)
    return ExploredRow(name, *told, margin, numbers.asr, numbers.gain, numbers.bits, numbers.size)


def _ranked(rows: Iterable[ExploredRow]) -> tuple[ExploredRow, ...]:
    """The least error first, with the fronts: a promise without a delta is never beaten by one with it."""
    places = {name: place for place, name in enumerate(explored())}
    ordered = sorted(rows, key=lambda row: (_clear(row.margin), places[row.name]))
    pure = [row for row in ordered if not row.approximate]
    best = {row.name for row in _front(pure)} | {row.name for row in _front(ordered) if row.approximate}
    return tuple(replace(row, on_front=row.name in best) for row in ordered)


def _front(rows: list[ExploredRow]) -> list[ExploredRow]:
    """Rows that none beats."""
    points = [[_clear(getattr(row, column)) for column in COLUMNS] for row in rows]
    return [row for row, best in zip(rows, pareto.front(points), strict=True) if best] if rows else []


def _clear(number: float) -> float:
    """What is known of a number: of those that are kept, not every digit is."""
    return float(f"{number:.{kept.DIGITS - 1}g}")
