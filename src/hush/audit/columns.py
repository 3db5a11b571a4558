"""Columns of numbers made from reports, and their cutting into a few bins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hush.audit.reading import Numbers, Path, ReportTable, finite, spell
from hush.types import Floats

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ReportColumn:
    """A number of every report.

    Args:
        path: Where it stands.
        kind: "value"; "bit" of an integer; or "place", the binary place of the last digit of a double. The last two
            show what a number's size does not: a mark in a seed, or noise that was added in floating point.
        at: Which bit.
    """

    path: Path
    kind: str = "value"
    at: int = 0

    def read(self, table: ReportTable) -> Floats:
        """The column of these reports."""
        raw = table.column(self.path)
        if self.kind == "bit":
            return ((_integers(raw) >> self.at) & 1).astype(np.float64)
        return last_place(finite(raw)) if self.kind == "place" else finite(raw)

    def __str__(self) -> str:
        where = spell(self.path)
        if self.kind == "value":
            return where
        return f"bit {self.at} of {where}" if self.kind == "bit" else f"the place of the last binary digit of {where}"


def all_columns(tables: list[ReportTable]) -> list[ReportColumn]:
    """Every column that is not the same in all reports."""
    found: list[ReportColumn] = []
    for path in sorted({p for t in tables for p in t.paths()}, key=lambda p: [(isinstance(q, str), q) for q in p]):
        raw = np.concatenate([t.column(path) for t in tables])
        tidy = finite(raw) if raw.dtype.kind == "f" else raw.astype(np.int64)
        low, high = tidy.min(), tidy.max()
        if low == high:
            continue
        found.append(ReportColumn(path))
        if raw.dtype.kind == "f" and not np.array_equal(raw, np.rint(raw)):
            found.append(ReportColumn(path, "place"))
        elif high - low > 1:
            found += [ReportColumn(path, "bit", at) for at in _moving_bits(_integers(raw))]
    return found


def _integers(raw: Numbers) -> Codes:
    if raw.dtype.kind == "f":
        raw = np.clip(finite(raw), -(2.0**62), 2.0**62)
    return raw.astype(np.int64)


def _moving_bits(whole: Codes) -> list[int]:
    """Bits that are not the same in all of them, up to the sign."""
    moving = int(np.bitwise_or.reduce(whole) ^ np.bitwise_and.reduce(whole))
    size = max(int(whole.max()).bit_length(), int(whole.min()).bit_length()) + 1
    return [at for at in range(min(size, 64)) if moving >> at & 1]


def last_place(x: Floats) -> Floats:
    """The exponent of the last binary digit that is not zero: x is an odd multiple of two to this power.

    >>> last_place(np.array([1.0, 0.75, 6.0, 0.0])).tolist()
    [0.0, -2.0, 1.0, 1100.0]
    """
    part, exponent = np.frexp(x)
    whole = np.abs(np.ldexp(part, 53)).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(whole == 0, 1100.0, exponent - 53.0 + zeros)


@dataclass(frozen=True)
class Bins:
    """A cutting of the line: a number's bin is how many cuts it exceeds.

    Args:
        cuts: Ascending.
        values: The one value in each bin, where there is only one.
    """

    cuts: Floats
    values: Floats | None

    @classmethod
    def of(cls, column: Floats, most: int) -> Bins:
        """One bin for each value if they are few, else bins that hold as many each."""
        values = np.unique(column)
        if values.size <= most:
            return cls((values[1:] + values[:-1]) / 2, values)
        return cls(np.unique(np.quantile(column, np.arange(1, most) / most, method="nearest")), None)

    @classmethod
    def singling(cls, column: Floats) -> Bins | None:
        """One bin for each value, if they come again, however many: a rare one is lost in a bin with others."""
        values = np.unique(column)
        return cls((values[1:] + values[:-1]) / 2, values) if 2 * values.size <= column.size else None

    @property
    def size(self) -> int:
        """The number of bins."""
        return self.cuts.size + 1

    def codes(self, column: Floats) -> Codes:
        """The bin of every number."""
        if self.cuts.size == 1:
            return (column > self.cuts[0]).astype(np.int64)
        return np.searchsorted(self.cuts, column, side="left")

    def spell(self, code: int, last: int | None = None) -> str:
        """A bin in words, or several from one to the last, which are no single values."""
        end = code if last is None else last
        if self.values is not None:
            return f"is {self.values[code]:.10g}"
        if code == 0:
            return f"is at most {self.cuts[end]:.6g}" if end < self.cuts.size else "is anything"
        if end == self.cuts.size:
            return f"is above {self.cuts[code - 1]:.6g}"
        low, high = self.cuts[code - 1], self.cuts[end]
        return f"is above {low:.6g} and at most {high:.6g}"

    def runs(self, codes: list[int]) -> list[tuple[int, int]]:
        """Ascending bins, the first and the last of those that touch; single values are runs of their own."""
        found: list[tuple[int, int]] = []
        for code in codes:
            if self.values is None and found and found[-1][1] == code - 1:
                found[-1] = found[-1][0], code
            else:
                found.append((code, code))
        return found


_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def whole(columns: Iterable[ReportColumn]) -> tuple[Path, ...]:
    """The paths that make up a report; membership only of what has no items that stand in order."""
    paths = tuple(dict.fromkeys(column.path for column in columns))
    listed = {path[:-1] for path in paths if path and isinstance(path[-1], int) and path[-2:-1] != ("has",)}
    return tuple(path for path in paths if path[-2:-1] != ("has",) or path[:-2] not in listed)


def keys(table: ReportTable, paths: Iterable[Path]) -> Codes:
    """A number that tells different reports apart (to about one in 2^64), from what stands at these paths."""
    total = np.zeros(table.size, np.uint64)
    for path in paths:
        raw = table.column(path)
        near = finite(raw) + 0.0  # no minus zero
        total = (total ^ near.view(np.uint64)) * _MULTIPLIER
        if raw.dtype.kind in "iu" and raw.dtype.itemsize == 8:  # what a double cannot hold
            total += (raw.astype(np.int64) - np.clip(near, -(2.0**62), 2.0**62).astype(np.int64)).view(np.uint64)
        total ^= total >> np.uint64(29)
    return total.view(np.int64)
