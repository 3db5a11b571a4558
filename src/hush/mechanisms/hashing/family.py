"""The public family of 65,535 hash functions, for so many values and buckets: `hush.kernels.family`, with checks.

All members are known to everyone, so a server counts reports by member and bucket and does the rest once, whatever
their number; a device looks bucket sizes up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ParameterError, ReportError, message
from hush.kernels import chunks
from hush.mechanisms.hashing.family_tables import ByBucket, ByMember, FamilyTable, RowsByBucket, RowsByMember
from hush.types import Ints, Reports, Values

Piece = tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint8]]
"""Members of some reports, and what each says: a bucket, or a row of bits."""

MEMBERS = (1 << 16) - 1
"""Number of functions, and the largest domain."""

MOST_BUCKETS = 256
"""So that a bucket is one byte, and a table of all members and buckets no more than 64 megabytes."""

_ROWS = 1 << 20  # reports looked at together
_CELLS = 1 << 16  # bucket sizes counted together, so that the cache holds them
_MEMBER_STEP, _BUCKET_STEP = 1, 6  # what a table's two ways take for a cell, in steps of counting one by one


def nearest(best: float) -> int:
    """The power of two that is closest to the best number of buckets, in the ratio of g - 1.

    The variance is a function of g - 1 that is symmetric about its minimum in the logarithm.

    >>> [nearest(g) for g in (2.0, 2.7, 2.8, 56.0, 1e9)]
    [2, 2, 4, 64, 256]
    """
    below = 1 << max(1, int(min(best, MOST_BUCKETS)).bit_length() - 1)
    above = min(2 * below, MOST_BUCKETS)
    return below if (best - 1) ** 2 < (below - 1) * (above - 1) else above


def checked_buckets(k: int, g: object) -> int:
    """A number of buckets that the family has, for a domain that it hashes."""
    rules.integer("k", k, 2, MEMBERS, "use hash='affine' for more values")
    whole = rules.integer("g", g, 2, MOST_BUCKETS, "use hash='affine' for more buckets")
    if whole & (whole - 1):
        rule = "must be a power of two with hash='family'"
        raise ParameterError(message("g", rule, whole, f"use {nearest(whole)}, or hash='affine'"))
    return whole


@dataclass(frozen=True)
class HashFamily:
    """All members, on the values 0..k-1, with g buckets."""

    k: int
    g: int

    @cached_property
    def _buckets(self) -> npt.NDArray[np.uint8]:
        from hush.kernels import family

        return family.buckets(self.g)

    @cached_property
    def _places(self) -> Ints:
        from hush.kernels import family

        return family.places(self.k)

    @property
    def shared(self) -> int:
        """Under how many members two values share a bucket, whichever they are."""
        return (MEMBERS + 1) // self.g - 1

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """u2 member, u1 bucket."""
        return np.dtype([("member", "<u2"), ("bucket", "u1")])

    def homes(self, member: int) -> npt.NDArray[np.uint8]:
        """The bucket of every value."""
        return self._buckets[member + self._places]

    def reports(self, values: Values, rng: np.random.Generator, keep: int, columns: list[npt.NDArray[Any]]) -> None:
        """Fill the columns; keep is out of 2^64, all of which means no noise."""
        from hush.kernels import family
        from hush.kernels.words import rejection

        if keep >> 64:
            family.member_only(rng, values, self._places, self._buckets, *columns)
        else:
            law = self.g, np.uint64(keep), rejection(self.g - 1)
            family.member_reports(rng, values, self._places, self._buckets, *law, *columns)

    def parts(self, reports: Reports) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint8]]:
        """Members and buckets, if they are well formed."""
        member, bucket = (np.ascontiguousarray(reports[name]) for name in ("member", "bucket"))
        for name, column, most in (("members", member, MEMBERS), ("buckets", bucket, self.g)):
            if column.size and int(column.max()) >= most:
                rule = f"must have {name} below {most}"
                raise ReportError(message("reports", rule, int(column.max()), "check their spec"))
        return member, bucket

    def validate(self, reports: Reports) -> None:
        """Raise ReportError if a member or a bucket does not exist."""
        for start in range(0, reports.size, _ROWS):
            self.parts(reports[start : start + _ROWS])

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        """Whether each report supports the value beside it."""
        member, bucket = self.parts(reports)
        return np.asarray(self._buckets[member + self._places[values]] == bucket)

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        """Which values each report supports."""
        from hush.kernels import family

        out = np.empty((reports.size, self.k), np.bool_)
        family.support_matrix(*self.parts(reports), self._buckets, self._places, out)
        return out

    def support_sizes(self, reports: Reports) -> Ints:
        """How many values each report supports."""
        from hush.kernels import family

        member, bucket = self.parts(reports)
        if reports.size >= MEMBERS:
            return self.sizes[member, bucket].astype(np.int64)
        out = np.empty(reports.size, np.int64)
        family.support_sizes(member, bucket, self._buckets, self._places, out)
        return out

    @cached_property
    def sizes(self) -> npt.NDArray[np.uint16]:
        """How many values each member sends to each bucket; made once, read-only."""
        table = self.sizes_of(np.arange(self.k))
        table.setflags(write=False)
        return table

    def sizes_of(self, values: Values) -> npt.NDArray[np.uint16]:
        """How many of these values each member sends to each bucket, shape (65535, g)."""
        from hush.kernels import family

        table, places = np.zeros((MEMBERS, self.g), np.uint16), self._places[values]
        chunks.each(MEMBERS, _CELLS // self.g, lambda a, b: family.bucket_sizes(self._buckets, places, a, b, table))
        return table

    def distinct(self, reports: Reports) -> tuple[Reports, Ints]:
        """Different reports, and how often each came."""
        member, bucket = self.parts(reports)
        codes, counts = np.unique(member.astype(np.uint32) * np.uint32(self.g) + bucket, return_counts=True)
        out = np.empty(codes.size, self.report_dtype)
        out["member"], out["bucket"] = codes // self.g, codes % self.g
        return out, counts.astype(np.int64)

    # Tallies.

    def tally(self, parts: Iterable[Reports]) -> tuple[Ints, int]:
        """Support counts of all reports, and their number."""
        from hush.kernels import family

        pieces = (self.parts(part[at : at + _ROWS]) for part in parts for at in range(0, part.size, _ROWS))
        return self._tally(pieces, family.count_directly, ByMember, ByBucket)

    def tally_rows(self, pieces: Iterable[Piece]) -> tuple[Ints, int]:
        """The same of members and rows of bits, one for each bucket; a million reports at a time, at most."""
        from hush.kernels import family

        return self._tally(pieces, family.count_rows_directly, RowsByMember, RowsByBucket)

    def _tally(
        self,
        pieces: Iterable[Piece],
        directly: Callable[..., None],
        by_member: type[FamilyTable],
        by_bucket: type[FamilyTable],
    ) -> tuple[Ints, int]:
        """The first few reports counted one by one, more in a table.

        Once counting one by one would have taken longer than a table, a table it is: never twice the best way's time.
        """
        tally, n = np.zeros(self.k, np.int64), 0
        table: FamilyTable | None = None
        for member, said in pieces:
            n += member.size
            if table is not None and not table.has_room(member.size):
                tally += table.settled()
                table = None
            if table is None and n * self.k <= min(self._member_work, self._bucket_work):
                directly(member, said, self._buckets, self._places, tally)
                continue
            if table is None:
                way = by_member if self._member_work < self._bucket_work else by_bucket
                table = way(self._places, self.g)
            table.add(member, said)
        if table is not None:
            tally += table.settled()
        return tally, n

    @property
    def _member_work(self) -> int:
        return _MEMBER_STEP * MEMBERS * self.k

    @property
    def _bucket_work(self) -> int:
        return _BUCKET_STEP * MEMBERS * self.g
