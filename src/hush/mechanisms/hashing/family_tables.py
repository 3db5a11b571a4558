"""Tables of how many reports have each member of the family and each bucket, and two ways from there to a tally.

`ByMember` looks every value up under every member: 65,535 k steps. `ByBucket` transforms: since the hash is linear over
bits, g transforms of 2^16 numbers have the answers for all values. Both are exact, and differ only in their time.
Where a report has a bit for each bucket, its row is added at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hush.kernels import chunks
from hush.types import Ints

MOST_REPORTS = (1 << 31) - 1
"""What a table of 32-bit counts holds, sums of them included."""

_BLOCK = 1 << 13
_COLUMNS = 16  # counts that share a line of the cache


class FamilyTable(ABC):
    """Counts of reports, with room for so many, on values with these places and g buckets."""

    shape: tuple[int, int]
    rows: ClassVar[bool] = False
    """Whether a report has a bit for each bucket; else it has one bucket."""

    def __init__(self, places: Ints, g: int) -> None:
        from hush.kernels import family

        self.places, self.g = places, g
        self.shape = (family.MEMBERS, g) if isinstance(self, ByMember) else (g, family.MEMBERS + 1)
        self.counts = np.zeros(self.shape, np.int32)
        self.n = 0

    def has_room(self, reports: int) -> bool:
        """Whether the counts, and sums of them, stay in range with so many more."""
        return self.n + self._most(reports) <= MOST_REPORTS

    def add(self, member: npt.NDArray[np.uint16], bucket: npt.NDArray[np.uint8]) -> None:
        """Count more reports."""
        self._count(member, bucket)
        self.n += self._most(member.size)

    def _most(self, reports: int) -> int:
        """What so many reports add to all counts together, at most."""
        return reports * self.g if self.rows else reports

    @abstractmethod
    def settled(self) -> Ints:
        """The support counts of all reports in the table, which is used up."""

    @abstractmethod
    def _count(self, member: npt.NDArray[np.uint16], bucket: npt.NDArray[np.uint8]) -> None:
        """Add to the counts."""

    def _summed(self, start: int, stop: int, work: Callable[[int, int, Ints], None]) -> Ints:
        """The sum of what `work(first, last, out)` adds up over a range, cut into one piece a thread."""

        def piece(first: int, last: int) -> Ints:
            out = np.zeros(self.places.size, np.int64)
            work(start + first, start + last, out)
            return out

        size = stop - start
        return np.asarray(np.sum(chunks.each(size, -(-size // chunks.threads()), piece), axis=0), np.int64)


class ByMember(FamilyTable):
    """A row for each member: best when values are few."""

    def _count(self, member: npt.NDArray[np.uint16], bucket: npt.NDArray[np.uint8]) -> None:
        from hush.kernels import family

        family.count_by_member(member, bucket, self.counts)

    def settled(self) -> Ints:
        from hush.kernels import family

        buckets = family.buckets(self.g)
        look_up = family.look_up
        return self._summed(0, family.MEMBERS, lambda a, b, out: look_up(self.counts, buckets, self.places, a, b, out))


class ByBucket(FamilyTable):
    """A row for each bucket: best when buckets are few."""

    def _count(self, member: npt.NDArray[np.uint16], bucket: npt.NDArray[np.uint8]) -> None:
        from hush.kernels import family

        family.count_by_bucket(member, bucket, family.sequence(), self.counts)

    def settled(self) -> Ints:
        """The share of the first transformed row is the number of reports."""
        from hush.kernels import family

        chunks.each(self.shape[1], _BLOCK, lambda a, b: family.transform_buckets(self.counts, a, b))
        windows = family.windows(self.places, self.g)
        gathered = self._summed(1, self.g, lambda a, b, out: family.gather(self.counts, windows, a, b, out))
        return (gathered + self.n) // self.g


class RowsByMember(ByMember):
    """A row for each member, to which those of reports are added."""

    rows: ClassVar[bool] = True

    def _count(self, member: npt.NDArray[np.uint16], bucket: npt.NDArray[np.uint8]) -> None:
        from hush.kernels import family

        family.count_rows_by_member(member, bucket, self.counts)


class RowsByBucket(RowsByMember):
    """The same, turned into a row for each bucket in the end: a report's counts lie together while it is added."""

    def settled(self) -> Ints:
        from hush.kernels import family

        turned, element = ByBucket(self.places, self.g), family.sequence()[: family.MEMBERS]
        order = np.argsort((element & 255) << 8 | element >> 8)
        for first in range(0, self.g, _COLUMNS):
            some = slice(first, first + _COLUMNS)
            turned.counts[some, 1:] = self.counts[order, some].T
        turned.n = int(self.counts.sum(dtype=np.int64))
        return turned.settled()
