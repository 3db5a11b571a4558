"""Events worth a trial: outputs one by one, one column, two columns, all columns together, boosted trees.

Each is fitted to some reports of two values, and gives a score that is higher the likelier a report is to come from
the first. Which of them is best, and from which score on, others decide (`hush.audit.classifier`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.audit.columns import Bins, Codes, ReportColumn, all_columns, keys, whole
from hush.audit.reading import Path, ReportTable
from hush.errors import missing
from hush.types import Floats

_FINE, _COARSE = 24, 6  # bins of a column by itself, and beside another
_PAIRED = 64  # columns that are paired and boosted
_ADDED = 24  # columns that are added up
_TRIED = 3  # the best columns, and the best pairs
_SHOWN = 50  # outputs that may be named
_GROWN = 20_000  # reports of each value that trees are fitted to
_ENOUGH = 20  # reports for each different output, at which outputs tell all there is to tell
_CELLS = 3e7  # numbers to be looked at
_LEAST_ROWS = 2000
_Z, _BOLD = 2.5, 0.7  # standard errors of doubt in a promise; and in the hope that a rare event is worth a trial


class Candidate(ABC):
    """A score of reports."""

    @abstractmethod
    def score(self, table: ReportTable) -> Floats:
        """Higher for reports that are likelier under the first value."""

    @abstractmethod
    def words(self, level: float, below: bool) -> str:
        """What a report shows whose score is at or above the level (or at or below it)."""


@dataclass(frozen=True)
class Outputs(Candidate):
    """Outputs counted one by one."""

    paths: tuple[Path, ...]
    known: Codes
    scores: Floats
    examples: dict[int, str]

    def score(self, table: ReportTable) -> Floats:
        """The logarithm of the ratio of the counts; zero for an output that was not seen."""
        at, there = self._found(table)
        return np.where(there, self.scores[at], 0.0)

    def known_in(self, table: ReportTable) -> int:
        """How many reports are outputs that were seen before."""
        return int(np.count_nonzero(self._found(table)[1]))

    def _found(self, table: ReportTable) -> tuple[Codes, npt.NDArray[np.bool_]]:
        key = keys(table, self.paths)
        at = np.minimum(np.searchsorted(self.known, key), self.known.size - 1)
        return at, self.known[at] == key

    def words(self, level: float, below: bool) -> str:
        """The outputs."""
        inside = np.nonzero(self.scores <= level if below else self.scores >= level)[0]
        likeliest = inside[np.argsort(-np.abs(self.scores[inside]), kind="stable")][:3]
        shown = [self.examples[i] for i in likeliest.tolist() if i in self.examples]
        if inside.size <= 3:
            return f"the report is {' or '.join(shown)}"
        return f"the report is one of {inside.size}, e.g. {' or '.join(shown)}"


@dataclass(frozen=True)
class Cells(Candidate):
    """One column, or two side by side, in bins; or several, added up."""

    columns: tuple[ReportColumn, ...]
    bins: tuple[Bins, ...]
    scores: tuple[Floats, ...]
    """One table over all bins together, or one for each column, to be added up."""

    def score(self, table: ReportTable) -> Floats:
        """What the tables say."""
        codes = [b.codes(column.read(table)) for column, b in zip(self.columns, self.bins, strict=True)]
        if len(self.scores) == 1:
            return np.asarray(self.scores[0][tuple(codes)], np.float64)
        return np.asarray(sum(s[code] for s, code in zip(self.scores, codes, strict=True)), np.float64)

    def words(self, level: float, below: bool) -> str:
        """The cells."""
        if len(self.scores) > 1:
            more = f" and {len(self.columns) - 3} more" if len(self.columns) > 3 else ""
            return f"{', '.join(map(str, self.columns[:3]))}{more} together favour one value"
        inside = np.argwhere(self.scores[0] <= level if below else self.scores[0] >= level)
        if len(self.columns) == 1:
            runs = self.bins[0].runs(inside[:, 0].tolist())
            return _listed([f"{self.columns[0]} {self.bins[0].spell(*run)}" for run in runs[:3]], len(runs))
        cells = [
            " and ".join(f"{c} {b.spell(int(i))}" for c, b, i in zip(self.columns, self.bins, cell, strict=True))
            for cell in inside[:3]
        ]
        return _listed(cells, len(inside))


def _listed(cells: list[str], of: int) -> str:
    """The first cases, and how many more there are."""
    return ", or ".join(cells) + ("" if of <= len(cells) else f", or one of {of - len(cells)} like cases")


@dataclass(frozen=True)
class Boosted(Candidate):
    """Boosted trees."""

    columns: tuple[ReportColumn, ...]
    model: Any

    def score(self, table: ReportTable) -> Floats:
        """Log-odds."""
        rows = np.stack([column.read(table) for column in self.columns], axis=1)
        return np.asarray(self.model.decision_function(rows), np.float64)

    def words(self, level: float, below: bool) -> str:
        """What can be said of trees."""
        return f"boosted trees score it {'at most' if below else 'at least'} {level:.4g}"


class Fit:
    """Reports of two values to fit candidates to."""

    def __init__(self, ones: list[ReportTable], twos: list[ReportTable]) -> None:
        self._tables = [*ones, *twos]
        self._first = np.repeat([True, False], [sum(t.size for t in part) for part in (ones, twos)])

    @cached_property
    def columns(self) -> list[ReportColumn]:
        """All that move."""
        return all_columns(self._tables)

    @cached_property
    def _ranked(self) -> list[tuple[float, float, ReportColumn, Bins, Codes]]:
        """Columns with what each promises by itself and how significant it is, the most promising first."""
        return sorted(self._judged[0], key=lambda each: each[0], reverse=True)

    @cached_property
    def _judged(self) -> tuple[list[tuple[float, float, ReportColumn, Bins, Codes]], list[float]]:
        """Every column, as above, and what a bold reader would hope of each."""
        found, hopes = [], []
        for column in self.columns:
            values = self._read(column)
            bins = Bins.of(values, _FINE)
            codes = bins.codes(values)
            high, low = (np.bincount(codes[side], minlength=bins.size) for side in (self._first, ~self._first))
            promise = float(promises(high[None], low[None])[0])
            found.append((promise, _surprise(high, low), column, bins, codes))
            hopes.append(float(promises(high[None], low[None], _BOLD)[0]))
        return found, hopes

    def _read(self, column: ReportColumn) -> Floats:
        return np.concatenate([column.read(table) for table in self._tables])

    @cached_property
    def outputs(self) -> Outputs | None:
        """Outputs one by one, if they repeat."""
        paths = whole(self.columns)
        key = np.concatenate([keys(table, paths) for table in self._tables])
        known, at, back = np.unique(key, return_index=True, return_inverse=True)
        if known.size > key.size / 2:
            return None
        high, low = (np.bincount(back[side], minlength=known.size) for side in (self._first, ~self._first))
        scores = _log_ratio(high, low)
        extreme = np.argsort(-np.abs(scores), kind="stable")[:_SHOWN]
        return Outputs(paths, known, scores, {i: self._shown(int(at[i])) for i in extreme.tolist()})

    def _shown(self, row: int) -> str:
        for table in self._tables:
            if row < table.size:
                return table.shown(row)
            row -= table.size
        return "?"

    @property
    def tell_all(self) -> bool:
        """Whether every output came so often that nothing else is left to learn."""
        return self.outputs is not None and self.outputs.known.size * _ENOUGH <= self._first.size

    def singles(self) -> Iterator[Candidate]:
        """The most promising columns, and those with the most hope: a rare event promises little."""
        found, hopes = self._judged
        hoped = [found[at] for at in np.argsort(-np.array(hopes), kind="stable")[:_TRIED].tolist()]
        for column, bins, codes in {each[2]: each[2:] for each in [*self._ranked[:_TRIED], *hoped]}.values():
            yield Cells((column,), (bins,), (self._table(codes, (bins.size,)),))
        for _, column, bins, codes in sorted(self._singled(), key=lambda each: -each[0])[:_TRIED]:
            yield Cells((column,), (bins,), (self._table(codes, (bins.size,)),))

    def _singled(self) -> Iterator[tuple[float, ReportColumn, Bins, Codes]]:
        """Columns of many values that come again, each value by itself, and what a bold reader would hope of each."""
        for _, _, column, coarse, _ in self._judged[0]:
            values = self._read(column)
            bins = None if coarse.values is not None else Bins.singling(values)
            if bins is not None:
                codes = bins.codes(values)
                high, low = (np.bincount(codes[side], minlength=bins.size) for side in (self._first, ~self._first))
                yield float(promises(high[None], low[None], _BOLD)[0]), column, bins, codes

    def pairs(self) -> Iterator[Candidate]:
        """The most promising pairs of columns."""
        ranked = self._ranked[:_PAIRED]
        if len(ranked) < 2:
            return
        bins = [Bins.of(self._read(each[2]), _COARSE) for each in ranked]
        codes = [b.codes(self._read(each[2])) for b, each in zip(bins, ranked, strict=True)]
        left, right = np.triu_indices(len(ranked), 1)
        counts = [_joint(codes, side)[left, right] for side in (self._first, ~self._first)]
        best = np.argsort(promises(counts[0], counts[1]))[::-1][:_TRIED]
        for i, j in zip(left[best].tolist(), right[best].tolist(), strict=True):
            shape = (bins[i].size, bins[j].size)
            scores = self._table(codes[i] * shape[1] + codes[j], shape)
            yield Cells((ranked[i][2], ranked[j][2]), (bins[i], bins[j]), (scores,))

    def together(self) -> Iterator[Candidate]:
        """Columns that differ beyond chance, as if they were independent."""
        telling = sorted((each for each in self._ranked if each[1] > 0), key=lambda each: each[1], reverse=True)[
            :_ADDED
        ]
        if len(telling) > 1:
            tables = tuple(self._table(codes, (bins.size,)) for _, _, _, bins, codes in telling)
            yield Cells(tuple(each[2] for each in telling), tuple(each[3] for each in telling), tables)

    def boosted(self) -> Iterator[Candidate]:
        """Trees over the most promising columns."""
        try:
            from sklearn.ensemble import HistGradientBoostingClassifier

            threads = import_module("threadpoolctl")
        except ImportError:
            raise missing("scikit-learn", "audit", "auditing code that states no law") from None
        columns = tuple(each[2] for each in self._ranked[:_PAIRED])
        if columns and self._first.size >= _LEAST_ROWS:
            some = np.concatenate([np.nonzero(side)[0][:_GROWN] for side in (self._first, ~self._first)])
            rows = np.stack([self._read(column)[some] for column in columns], axis=1)
            model = HistGradientBoostingClassifier(
                random_state=0, max_iter=40, max_leaf_nodes=15, learning_rate=0.2, early_stopping=False
            )
            with threads.threadpool_limits(
                1, user_api="openmp"
            ):  # more threads than free cores would slow it down manifold
                model.fit(rows, self._first[some])
            yield Boosted(columns, model)

    def _table(self, codes: Codes, shape: tuple[int, ...]) -> Floats:
        high, low = (np.bincount(codes[side], minlength=math.prod(shape)) for side in (self._first, ~self._first))
        return _log_ratio(high, low).reshape(shape)


def rows_for(columns: int) -> int:
    """How many reports of each value to fit to, if they have so many columns."""
    return max(_LEAST_ROWS, min(60_000, int(_CELLS / max(columns, 1))))


def _log_ratio(high: Codes, low: Codes) -> Floats:
    """Of counts, drawn a little towards zero."""
    share = (high.sum() + 1) / (low.sum() + 1)
    return np.log((high + 0.5) / (low + 0.5) / share)


def _surprise(high: Codes, low: Codes) -> float:
    """By how much the counts differ beyond what chance explains (in standard errors of a chi-square statistic)."""
    seen = high + low
    expected = seen * (high.sum() / max(seen.sum(), 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        terms = (high - expected) ** 2 / (expected * (1 - high.sum() / max(seen.sum(), 1)))
    freedom = max(int((seen > 0).sum()) - 1, 1)
    return float((np.nan_to_num(terms).sum() - freedom) / math.sqrt(2 * freedom) - 4.0)


def _joint(codes: list[Codes], side: npt.NDArray[np.bool_]) -> Codes:
    """Counts of every pair of columns' bins, as [column, column, cell], by one product of matrices."""
    wide = len(codes) * _COARSE
    rows = int(side.sum())
    total = np.zeros((wide, wide), np.float64)
    stacked = np.stack([code[side] for code in codes], axis=1) + _COARSE * np.arange(len(codes))
    for start in range(0, rows, 8192):
        part = stacked[start : start + 8192]
        hot = np.zeros((len(part), wide), np.float32)
        np.put_along_axis(hot, part, 1.0, axis=1)
        total += hot.T @ hot
    shaped = total.reshape(len(codes), _COARSE, len(codes), _COARSE).transpose(0, 2, 1, 3)
    return shaped.reshape(len(codes), len(codes), _COARSE**2).astype(np.int64)


def promises(high: Codes, low: Codes, z: float = _Z) -> Floats:
    """What the best union of cells would prove, roughly: one row of counts for each way to cut reports into cells."""
    return np.maximum(_one_way(high, low, z), _one_way(low, high, z))


def _one_way(high: Codes, low: Codes, z: float) -> Floats:
    order = np.argsort(-(high + 0.5) / (low + 0.5), axis=1, kind="stable")
    hits, false_hits = (np.cumsum(np.take_along_axis(part, order, axis=1), axis=1) for part in (high, low))
    sizes = (np.maximum(part.sum(axis=1, keepdims=True), 1) for part in (high, low))
    least, most = (
        (counts + z**2 / 2 + sign * z * np.sqrt(counts + z**2 / 4)) / size
        for counts, sign, size in zip((hits, false_hits), (-1, 1), sizes, strict=True)
    )
    return np.asarray(np.log(np.maximum(least, 1e-12) / most).max(axis=1), np.float64)
