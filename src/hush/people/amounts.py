"""Which number a cell of a column means, where numbers are sent and not labels.

A cell means the number that it is or reads as. Empty cells, NaN and infinities are missing, and refused.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from hush.errors import DomainError, Unsaid, message
from hush.people.arrow import to_numpy
from hush.people.coding import plain
from hush.people.columns import missing
from hush.people.labels import number
from hush.types import Floats


class Range(Protocol):
    """What takes numbers: a mechanism for means."""

    @property
    def low(self) -> float:
        """The smallest."""

    @property
    def high(self) -> float:
        """The largest."""

    def clip(self, values: Any) -> Floats:
        """Numbers beyond the range, moved to the end that they passed."""


class AmountReader:
    """Turns columns into numbers that a mechanism takes.

    Args:
        m: The mechanism, whose range they must lie in.
        column: The column's name, for messages.
        clip: Move numbers beyond the range to the end that they passed.
    """

    def __init__(self, m: Range, column: str, *, clip: bool = False) -> None:
        self.m, self.column, self.clip = m, column, clip
        self.unmatched = self.missing = 0  # such cells are refused
        self.clipped = 0
        """How many numbers lay beyond the range, and were moved."""

    def encode(self, cells: Any, first_row: int) -> Floats:
        """The numbers of an Arrow array; `first_row` is the number of its first row in the file, from 1."""
        whole = plain(cells, self.column)
        found = _read(whole)
        unread = ~np.isfinite(found)
        if unread.any():
            at = int(np.argmax(unread))
            got = Unsaid("a missing value" if missing(whole[at].as_py()) else "another value, which may be private")
            raise self._refused(first_row + at, "must be a number", got, "replace what is missing or no number")
        outside = (found < self.m.low) | (found > self.m.high)
        if self.clip:
            self.clipped += int(outside.sum())
            return self.m.clip(found)
        if outside.any():
            rule = f"must be a number from {self.m.low:,.12g} to {self.m.high:,.12g}"
            remedy = "add --clip, so that numbers beyond count as the nearest of these, or collect with a wider range"
            got = Unsaid("another one, which may be private")
            raise self._refused(first_row + int(np.argmax(outside)), rule, got, remedy)
        return found

    def _refused(self, row: int, rule: str, got: Unsaid, remedy: str) -> DomainError:
        return DomainError(message(f"column {self.column}, row {row}", rule, got, remedy))


def _read(cells: Any) -> Floats:
    """Numbers, NaN where a cell is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        quickly = pc.cast(cells, pa.float64())
    except pa.ArrowException:  # one cell is no number, or is one that only Python reads, with spaces around it, say
        return np.array([np.nan if (read := number(cell)) is None else read for cell in cells.to_pylist()], np.float64)
    return to_numpy(quickly, np.nan)
