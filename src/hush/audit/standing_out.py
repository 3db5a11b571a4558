"""Which values stand out: one pass over the reports of many values: what outputs and columns say of each.

An event that two values give with different probabilities shows in its counts by value: the value with the most and
the one with the fewest are the pair that it tells apart best. So all pairs are compared in one pass over the values,
event by event. The bounds are rough, since nothing is proved here: it only says which values are worth more reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hush.audit.columns import Bins, Codes, ReportColumn, all_columns, keys, whole
from hush.audit.reading import ReportTable
from hush.types import Floats

_BINS, _COARSE = 24, 6  # of a column by itself, and beside another
_PAIRED = 12  # columns that are paired
_Z = 1.0  # standard errors of doubt in every count: little, so that rare events have a chance, too
_CELLS = 5e7  # counts to be looked at
_DENSE = 2e7  # counts of outputs by value that are all written down
_PAIRS = 64  # the most telling events, whose pairs are named


@dataclass(frozen=True)
class Ranking:
    """Values and pairs of values, the most telling first, by their positions.

    Args:
        values: All of them.
        pairs: Those that the most telling events tell apart.
        columns: How many columns were looked at.
        of: How many columns there are.
    """

    values: list[int]
    pairs: list[tuple[int, int]]
    columns: int
    of: int


def ranked(tables: list[ReportTable], labels: Codes, many: int, size: int) -> Ranking:
    """How telling each value is.

    Args:
        tables: Reports.
        labels: Whose each of them is, as a position 0..many-1.
        many: How many values there are.
        size: Reports made of each value; some may have been left out.
    """
    columns = all_columns(tables)
    most = max(1, int(_CELLS / (_BINS * many)))
    looked = columns if len(columns) <= most else [columns[int(i)] for i in np.linspace(0, len(columns) - 1, most)]
    scores = _Scores(many, size)
    for column in looked:
        values = np.concatenate([column.read(table) for table in tables])
        bins = Bins.of(values, _BINS)
        scores.add(labels, bins.codes(values), bins.size)
        single = None if bins.values is not None else Bins.singling(values)
        if single is not None:
            scores.add(labels, single.codes(values), single.size)
    for codes, cells in _side_by_side(looked, tables):
        scores.add(labels, codes, cells)
    paths = whole(columns)
    known, codes = np.unique(np.concatenate([keys(table, paths) for table in tables]), return_inverse=True)
    if 1 < known.size <= labels.size / 2:
        scores.add(labels, codes, known.size)
    return Ranking(scores.order(), scores.pairs(), len(looked), len(columns))


def _side_by_side(columns: list[ReportColumn], tables: list[ReportTable]) -> Iterator[tuple[Codes, int]]:
    """Two numbers of a report together, which may tell what neither tells by itself: cells, and how many there are."""
    some = [column for column in columns if column.kind == "value"][:_PAIRED]
    cut = []
    for column in some if len(some) > 1 else []:
        values = np.concatenate([column.read(table) for table in tables])
        bins = Bins.of(values, _COARSE)
        cut.append((bins.codes(values), bins.size))
    for (left, high), (right, wide) in combinations(cut, 2):
        yield left * wide + right, high * wide


class _Scores:
    """The best that any event promised of each value so far."""

    def __init__(self, many: int, size: int) -> None:
        self._many, self._size = many, size
        counts = np.arange(size + 1)
        self._least, self._most = (np.log(each) for each in _between(counts, size))
        self._best = np.full(many, -np.inf)
        self._events: list[tuple[float, int, int]] = []

    def add(self, labels: Codes, codes: Codes, bins: int) -> None:
        """Count every bin by value."""
        pooled = np.bincount(codes, minlength=bins)
        below, above = (np.log(each) for each in _between(pooled, self._many * self._size))
        if self._many * bins <= _DENSE:
            self._dense(np.bincount(labels * bins + codes, minlength=self._many * bins), bins, below, above)
        else:
            self._sparse(labels * bins + codes, bins, above)

    def _dense(self, counts: Codes, bins: int, below: Floats, above: Floats) -> None:
        table = counts.reshape(self._many, bins)
        least, most = self._least[table], self._most[table]
        high, low = table.argmax(axis=0), table.argmin(axis=0)
        at = np.arange(bins)
        top, bottom = np.maximum(least[high, at], below), np.minimum(most[low, at], above)
        self._best = np.maximum(self._best, np.maximum((least - bottom).max(axis=1), (top - most).max(axis=1)))
        self._note(top - bottom, high, low)

    def _sparse(self, cells: Codes, bins: int, above: Floats) -> None:
        """Where outputs are too many to write down who never gave which: those that one value gives often."""
        seen, counts = np.unique(cells, return_counts=True)
        value, code = np.divmod(seen, bins)
        promise = self._least[counts] - above[code]
        np.maximum.at(self._best, value, promise)
        extreme = np.argsort(-promise, kind="stable")[:_PAIRS]
        other = (value[extreme] + 1) % self._many
        self._note(promise[extreme], value[extreme], other)

    def _note(self, promise: Floats, high: Codes, low: Codes) -> None:
        best = np.argsort(-promise, kind="stable")[:_PAIRS]
        found = zip(promise[best].tolist(), high[best].tolist(), low[best].tolist(), strict=True)
        self._events = sorted([*self._events, *found], key=lambda event: -event[0])[:_PAIRS]

    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of the best events."""
        return list(dict.fromkeys((high, low) for _, high, low in self._events if high != low))

    def order(self) -> list[int]:
        """Values, those of the best events first, so that a value and the one it differs from stay together."""
        return list(dict.fromkeys([*self._named(), *np.argsort(-self._best, kind="stable").tolist()]))

    def _named(self) -> Iterator[int]:
        for high, low in self.pairs():
            yield high
            yield low


def _between(counts: Codes, size: int) -> tuple[Floats, Floats]:
    """About the least and the largest probability that a count of so many reports allows (Wilson)."""
    centre = (counts + _Z**2 / 2) / (size + _Z**2)
    half = _Z / (size + _Z**2) * np.sqrt(counts * (size - counts) / size + _Z**2 / 4)
    return np.maximum(centre - half, 1e-12), centre + half
