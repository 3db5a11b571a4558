"""What an engine is asked for: the aggregates of some pieces, in all or by group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hush.engine.pieces import Piece
from hush.errors import ParameterError, ReportError, Unsaid, message
from hush.estimation import Aggregate
from hush.files.batches import plain
from hush.files.folding import merge, nothing
from hush.files.periods import PERIOD
from hush.files.reports import BATCH_BYTES, reports_of
from hush.mechanisms.spec import Spec
from hush.people.arrow import to_numpy

Parts = dict[Any, bytes]
"""The bytes of an aggregate for each group; of no groups, of all reports under None."""
Engine = Callable[["Job", Sequence[Piece], Callable[[float], None]], Parts]
"""Folds pieces of a job and merges what comes of them; it is told the function that hears how many rows were done."""
Part = TypeVar("Part")

MOST_GROUPS = 10_000
MOST_NUMBERS = 2_000_000
"""Groups times values that are estimated together: each takes up to 2.5 KB as JSON."""
_WIDTH = 16


def unheard(rows: float) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is to be known of some pieces; it can be pickled.

    Args:
        spec: What the reports are of, of any kind; over time, one round.
        by: The kept column whose groups are aggregated one by one; None for all reports together.
        period: Only reports of this period.
    """

    spec: Spec
    by: str | None = None
    period: str | None = None

    def fold(self, pieces: Iterable[Piece], advance: Callable[[float], None] = unheard) -> Parts:
        """The aggregates of some pieces, in bounded memory, on the thread that asks.

        Args:
            pieces: One or many; several that are folded together cost less than one by one.
            advance: Told how many rows were read, batch by batch.
        """
        wanted = (piece for piece in pieces if not self._passed_over(piece, advance))
        reading, totals = _Reading(self, advance), _Totals(self)
        if self.by is None:
            totals.add(None, iter(()))
        try:
            for (said, name, _), some in groupby(wanted, self._group):
                if said:
                    totals.add(name, reading.reports(some))
                else:
                    totals.add_all(reading.grouped(some))
        except ReportError as error:
            raise reading.naming(error) from None
        return totals.parts

    def merge(self, *parts: Parts) -> Parts:
        """The aggregates of all reports of some parts, whoever folded them: strangers are refused."""
        groups = list(dict.fromkeys(group for part in parts for group in part)) or [None] * (self.by is None)
        self.few_enough(len(groups))
        return {group: merge(self.spec, *(part[group] for part in parts if group in part)) for group in groups}

    def few_enough(self, groups: int) -> None:
        """Refuse more groups than fit the memory, as soon as they are seen: a file of a few kilobytes can name many."""
        values = self._values
        most = max(1, min(MOST_GROUPS, MOST_NUMBERS // values))
        if groups > most:
            rule = f"must have at most {most:,} group{'s' * (most > 1)} where each has {values:,} "
            rule += f"value{'s' * (values > 1)}"
            raise ParameterError(message("by", rule, self.by, "choose a coarser column, or fewer values"))

    @cached_property
    def _values(self) -> int:
        return int(nothing(self.spec).tally.size)

    def _passed_over(self, piece: Piece, advance: Callable[[float], None]) -> bool:
        """Whether the folder of a piece says that it is of another period."""
        said = dict(piece.place.values)
        passed = self.period is not None and PERIOD in said and said[PERIOD] != self.period
        if passed:
            advance(piece.rows)
        return passed

    def _group(self, piece: Piece) -> tuple[bool, str | None, str | None]:
        """Whether it is known of which group all of a piece is, and of which; else, the file to look into."""
        said = dict(piece.place.values)
        if self.by is None or self.by in said:
            return True, None if self.by is None else said[self.by], None
        return False, None, str(piece.place)


class _Reading:
    """Reports of pieces, one piece after the other; the one that is being read is known, should it be bad."""

    def __init__(self, job: Job, advance: Callable[[float], None]) -> None:
        self._job, self._advance = job, advance
        self._at: Piece | None = None

    def reports(self, pieces: Iterable[Piece]) -> Iterator[npt.NDArray[Any]]:
        """All reports that the job is about."""
        return (reports_of(self._job.spec, batch) for batch in self._batches(pieces, []))

    def grouped(self, pieces: Iterable[Piece]) -> Iterator[tuple[Any, npt.NDArray[Any]]]:
        """The same by group, as a column tells."""
        by = str(self._job.by)
        for batch in self._batches(pieces, [by]):
            yield from _groups(batch, by, reports_of(self._job.spec, batch))

    def naming(self, error: ReportError) -> ReportError:
        """The error, of the file in which it was found."""
        return error if self._at is None else error.naming(f"reports in {self._at.place}")

    def _batches(self, pieces: Iterable[Piece], kept: list[str]) -> Iterator[Any]:
        """Record batches of pieces, or the rows of the one period that is asked for."""
        import pyarrow.compute as pc

        period = self._job.period
        for piece in pieces:
            self._at = piece
            whole = period is None or PERIOD in dict(piece.place.values)
            for batch in piece.batches(self._job.spec, kept if whole else list(dict.fromkeys([*kept, PERIOD]))):
                yield batch if whole else batch.filter(pc.equal(batch.column(PERIOD).cast("string"), period))
                self._advance(batch.num_rows)


class _Totals:
    """Aggregates by group, as they grow; reports of a group are held until there are enough to be worth a fold."""

    def __init__(self, job: Job) -> None:
        self._job, self._spec = job, job.spec.one_round
        self._found: dict[Any, Aggregate] = {}
        self._held: dict[Any, list[npt.NDArray[Any]]] = {}
        self._bytes = 0

    @property
    def parts(self) -> Parts:
        """All of them, as bytes."""
        return {group: found.to_bytes() for group, found in self._found.items()}

    def add(self, group: Any, reports: Iterator[npt.NDArray[Any]]) -> None:
        """Take reports of one group."""
        some = self._spec.aggregate(reports)
        self._found[group] = self._found[group] + some if group in self._found else some
        self._job.few_enough(len(self._found))

    def add_all(self, grouped: Iterator[tuple[Any, npt.NDArray[Any]]]) -> None:
        """Take reports of several groups, as they come."""
        for group, reports in grouped:
            self._held.setdefault(group, []).append(reports)
            self._job.few_enough(len(self._held))
            self._bytes += reports.nbytes
            if self._bytes > BATCH_BYTES:
                self._settle()
        self._settle()

    def _settle(self) -> None:
        held, self._held, self._bytes = self._held, {}, 0
        for group, some in held.items():
            self.add(group, iter(some))


def _groups(batch: Any, by: str, reports: npt.NDArray[Any]) -> Iterator[tuple[Any, npt.NDArray[Any]]]:
    """The reports of each group, None being a missing cell."""
    import pyarrow as pa

    cells = plain(batch.select([by])).column(0)
    try:
        coded = cells.dictionary_encode()
    except pa.ArrowException:
        raise ParameterError(
            message("by", "must be a column of plain values", Unsaid(f"{cells.type} cells"), "choose another column")
        ) from None
    names = [None if name != name else name for name in coded.dictionary.to_pylist()] + [None]  # NaN is missing too
    codes = to_numpy(coded.indices, len(names) - 1)
    if len(names) <= 1 << 16:
        codes = codes.astype(np.uint16)  # which is sorted in linear time
    ordered = reports.view(f"V{reports.dtype.itemsize}")[np.argsort(codes, kind="stable")].view(reports.dtype)
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    for name, start, end in zip(names, [0, *ends[:-1]], ends, strict=True):
        if end > start:
            yield name, ordered[start:end]


def tree(parts: Iterable[Part], merge: Callable[..., Part], width: int = _WIDTH) -> Part | None:
    """One of many parts, merged some at a time, and these again; None of none.

    Args:
        parts: What `Job.fold` gave, or what stands for it where an engine has it elsewhere.
        merge: `Job.merge`, or what stands for it.
        width: How many are merged at a time, at most.

    >>> tree("abcdefg", lambda *some: f"({''.join(some)})", width=3)
    '((abc)(def)(g))'
    """
    level = list(parts)
    if not level:
        return None
    while len(level) > 1:
        level = [merge(*level[i : i + width]) for i in range(0, len(level), width)]
    return level[0]
