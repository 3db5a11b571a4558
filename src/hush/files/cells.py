"""The cells of people's rows, as what a mechanism takes: a reader for each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, Unsaid, message
from hush.files.reports import BATCH_BYTES, column_of
from hush.mechanisms.spec import Spec
from hush.people.amounts import AmountReader
from hush.people.arrow import records, to_arrow, to_numpy
from hush.people.coding import EQUAL, Coder, Likeness, largest
from hush.people.domain import Domain

Reader = Coder | AmountReader

_WIDE = 8  # bytes of a value, as mechanisms take it


class CellReaders:
    """Reads the cells of some columns, row by row, and counts those that meant nothing.

    Between reading and randomizing, a row's values take few bytes and are never labels: one number, or for a tuple one
    record of numbers.

    Args:
        spec: What takes the values.
        columns: The columns that hold them: for a tuple one for each attribute, in order; else one.
        clip: Whether numbers beyond the range count as its end; of a tuple, those of the columns that hold numbers.
        alike: What a cell may differ in from its label; of a tuple, those of the columns that have labels.
    """

    def __init__(self, spec: Spec, columns: Sequence[str], *, clip: bool = False, alike: Likeness = EQUAL) -> None:
        self.columns = list(columns)
        self._single = not hasattr(spec.domain, "domains")
        if spec.mechanism.kind == "numeric":
            self._readers: list[Reader] = [_amounts(spec, *columns, clip=clip, alike=alike)]
            types = [np.dtype(float)]
        else:
            domains = [spec.domain] if self._single else list(spec.domain.domains)
            pairs = zip(domains, columns, _each(domains, clip=clip, alike=alike), strict=True)
            self._readers = [Coder(domain, name, clip=some, alike=same) for domain, name, (some, same) in pairs]
            types = [np.min_scalar_type(domain.size - 1) for domain in domains]
        self._dtype = types[0] if self._single else np.dtype([(f"a{j}", kind) for j, kind in enumerate(types)])

    @property
    def rows(self) -> int:
        """How many rows to hold at a time, at most, as what the mechanism takes."""
        return max(256, BATCH_BYTES // (_WIDE * len(self.columns)))

    def encode(self, batch: Any, first_row: int) -> Any:
        """The values of the first columns of a record batch, as one Arrow array.

        Args:
            batch: With these columns first, in order.
            first_row: The number of its first row in the file, from 1.
        """
        found = [reader.encode(batch.column(j), first_row) for j, reader in enumerate(self._readers)]
        if self._single:
            return to_arrow(found[0].astype(self._dtype, copy=False))
        rows = np.empty(batch.num_rows, self._dtype)
        for name, values in zip(self._dtype.names or (), found, strict=True):
            rows[name] = values
        return column_of(rows)

    def values(self, coded: Any) -> npt.NDArray[Any]:
        """What the mechanism takes, of an array that `encode` gave: of tuples, integers of shape (n, d)."""
        if self._single:
            return to_numpy(coded)
        rows = records(coded, self._dtype)
        return np.stack([rows[name] for name in self._dtype.names or ()], axis=1).astype(np.int64, copy=False)

    @property
    def unmatched(self) -> dict[str, int]:
        """For each column, how many cells said something that is no label."""
        return {name: reader.unmatched for name, reader in zip(self.columns, self._readers, strict=True)}

    @property
    def missing(self) -> dict[str, int]:
        """For each column, how many cells said nothing."""
        return {name: reader.missing for name, reader in zip(self.columns, self._readers, strict=True)}

    @property
    def clipped(self) -> dict[str, int]:
        """For each column, how many cells were numbers beyond the range."""
        return {name: reader.clipped for name, reader in zip(self.columns, self._readers, strict=True)}


def _each(domains: Sequence[Domain], *, clip: bool, alike: Likeness) -> list[tuple[bool, Likeness]]:
    """What is asked for, where it says something; of one column, or where it says nothing anywhere, as it was asked."""
    clips = [clip and largest(domain) is not None for domain in domains]
    likes = [EQUAL if domain.labels is None else alike for domain in domains]
    return list(
        zip(
            clips if any(clips) else [clip] * len(domains),
            likes if any(each != EQUAL for each in likes) else [alike] * len(domains),
            strict=True,
        )
    )


def _amounts(spec: Spec, column: str, *, clip: bool, alike: Likeness) -> AmountReader:
    if alike.option is not None:
        raise ParameterError(message(alike.option, "needs labels", Unsaid("numbers"), "leave it out"))
    return AmountReader(spec.mechanism, column, clip=clip)
