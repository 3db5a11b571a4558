"""Pieces of work: a range of row groups of one file, which any worker can read by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hush.files.places import FilePlace
from hush.files.reports import ReportFile, read_batches
from hush.mechanisms.spec import Spec

_LEAST, _MOST, _BYTES = 1 << 18, 1 << 24, 1 << 28
"""Reports of a piece, and the bytes that they may take, about: a second of a core's work, and little to do again."""
_PIECES = 64
"""So many pieces, at least, if they are not too small: many cores share a few files evenly."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Some reports of one file; it can be pickled, and read wherever its place can be reached.

    Args:
        place: The file: where it lies, on which filesystem, and what the folders above it say of its rows.
        form: "parquet", "arrow" (an IPC file) or "stream".
        start: The first row group or record batch.
        stop: The one after the last; a stream is read from its beginning to its end.
        rows: How many reports these have; about so many where only reading would tell.
    """

    place: FilePlace
    form: str
    start: int
    stop: int
    rows: int

    def batches(self, spec: Spec, kept: Sequence[str] = ()) -> Iterator[Any]:
        """Arrow record batches of the reports and of some columns beside them, in bounded memory."""
        return read_batches(self.place, self.form, None if self.form == "stream" else self.units, spec, kept)

    @property
    def units(self) -> range:
        """Its row groups or record batches."""
        return range(self.start, self.stop)


def pieces(files: Sequence[ReportFile], rows: int | None = None) -> list[Piece]:
    """All reports of some files, cut at row groups, by what their footers say: no report is read.

    Args:
        files: Whole ones, as `hush.read` or `hush.engine.opened` know them.
        rows: Cut where this many have come together; a row group is never cut.
    """
    found, total = [], sum(file.rows or 0 for file in files)
    for file in files:
        most = min(_MOST, _BYTES // file.spec.mechanism.report_dtype.itemsize)
        most = rows or max(1, min(most, max(_LEAST, total // _PIECES)))
        if file.rows is None:
            found.append(Piece(place=file.path, form=file.form, start=0, stop=1, rows=_guessed(file)))
            continue
        start, some = 0, 0
        for i, size in enumerate(file.sizes, 1):
            some += size
            if some and (some >= most or i == len(file.sizes)):
                found.append(Piece(place=file.path, form=file.form, start=start, stop=i, rows=some))
                start, some = i, 0
    return found


def _guessed(file: ReportFile) -> int:
    """About how many reports a stream has, by its length."""
    with file.path.open() as opened:
        return int(opened.size()) // file.spec.mechanism.report_dtype.itemsize
