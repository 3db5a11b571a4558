"""Rows in an order that says nothing about the one they came in: a report file is a multiset.

Rows are held until they take too much memory. Then each one is dealt to one of 256 buckets, by a random byte of its
own, and the buckets wait in a scratch file. In the end the rows of each bucket are put in a uniform order, in the same
way if there are too many of them, and the buckets follow each other.

Every order is equally likely. Bytes are uniform and independent, so if two rows change places in the input, the law of
who shares a bucket with whom stays what it was; and those who share one come out of it in a uniform order. The law of
the whole order is therefore the same after any exchange of rows, and only the uniform one is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hush.files.batches import joined
from hush.files.scratch import Place, Scratch
from hush.people.arrow import to_arrow
from hush.randomness import source

MEMORY = 1 << 27
"""Bytes of rows that are held before they are dealt out."""

_BUCKETS = 256  # a byte chooses one, without bias
_ROW_BYTES = 16  # what ordering takes for a row beside its cells


class _Piece(NamedTuple):
    """Some rows that wait."""

    place: Place
    bare: bool
    """Whether cells lie there and nothing else, or a record batch."""


class Shuffler:
    """Takes rows, then gives all of them in a uniformly random order, once.

    Rows are Arrow record batches of one schema, without dictionaries (see `plain`).

    Args:
        rng: Left out, the randomness is cryptographically secure; `hush.seeded(7)` is for simulation and tests.
        temporary: The folder of the temporary file that more rows than fit the memory need.
        memory: Bytes of rows that are held; `MEMORY` if left out.
    """

    def __init__(
        self, rng: np.random.Generator | None = None, *, temporary: Path | None = None, memory: int | None = None
    ) -> None:
        self._rng, self._temporary = source(rng), temporary
        self._memory = MEMORY if memory is None else memory
        self._scratch = Scratch(temporary)
        self._buckets: list[list[_Piece]] = [[] for _ in range(_BUCKETS)]
        self._pile: list[Any] = []
        self._size = 0
        self.rows = 0
        """How many were taken."""

    def __enter__(self) -> Shuffler:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._scratch.close()

    def add(self, batch: Any) -> None:
        """Take some rows, or none."""
        size = _size(batch)
        if self._pile and self._size + size > self._memory:
            self._deal()
        self._pile.append(batch)
        self._size += size
        self.rows += batch.num_rows

    def __iter__(self) -> Iterator[Any]:
        if not self._pile:
            return
        if not any(self._buckets):
            yield self._permuted()
            return
        schema = self._pile[0].schema
        self._deal()
        for pieces in filter(None, self._buckets):
            with Shuffler(self._rng, temporary=self._temporary, memory=self._memory) as bucket:
                for piece in pieces:
                    bucket.add(self._read(piece, schema))
                yield from bucket

    def _permuted(self) -> Any:
        from hush.kernels.orders import permutation, shuffle

        rows = self._emptied()
        alone = _cells(rows)
        if alone is None:
            return rows.take(to_arrow(permutation(self._rng.bit_generator, rows.num_rows)))
        cells = alone.copy()
        shuffle(self._rng.bit_generator, cells, np.empty_like(cells))
        return _batch(cells, rows.schema)

    def _deal(self) -> None:
        from hush.kernels.orders import deal

        rows = self._emptied()
        alone = _cells(rows)
        cells = np.arange(rows.num_rows, dtype=np.uint32) if alone is None else alone
        dealt = np.empty_like(cells)
        ends = pairwise(deal(self._rng.bit_generator, cells, dealt).tolist())
        made = self._rows_apart(rows.take(to_arrow(dealt)), ends) if alone is None else self._cells_apart(dealt, ends)
        for pieces, piece in zip(self._buckets, made, strict=True):
            if piece is not None:
                pieces.append(piece)

    def _rows_apart(self, rows: Any, ends: Iterable[tuple[int, int]]) -> Iterator[_Piece | None]:
        """Put each bucket's rows into the scratch file."""
        for start, stop in ends:
            some = rows.slice(start, stop - start)
            yield _Piece(self._scratch.append(some.serialize()), bare=False) if some.num_rows else None

    def _cells_apart(self, cells: npt.NDArray[Any], ends: Iterable[tuple[int, int]]) -> Iterator[_Piece | None]:
        """Put all buckets' cells into the scratch file at once, each a part of what lies there."""
        first, width = self._scratch.append(cells).start, cells.itemsize
        for start, stop in ends:
            place = Place(first + start * width, (stop - start) * width)
            yield _Piece(place, bare=True) if stop > start else None

    def _emptied(self) -> Any:
        """All rows of the pile, which is then empty."""
        pile, self._pile, self._size = self._pile, [], 0
        return joined(pile)

    def _read(self, piece: _Piece, schema: Any) -> Any:
        import pyarrow as pa

        data = self._scratch.read(piece.place)
        return _batch(data, schema) if piece.bare else pa.ipc.read_record_batch(pa.py_buffer(data), schema)


def _size(batch: Any) -> int:
    """What ordering takes for a batch: its cells twice and a byte each, or the cells and the numbers of their rows."""
    more = batch.num_rows * _ROW_BYTES if _cells(batch) is None else batch.num_rows + batch.nbytes
    return int(batch.nbytes) + more


def _cells(batch: Any) -> npt.NDArray[Any] | None:
    """The cells of a batch as numbers of 1, 2, 4 or 8 bytes, where there is one such column, and none is missing."""
    import pyarrow as pa

    column = batch.column(0) if batch.num_columns == 1 else None
    if column is None or column.null_count or not pa.types.is_primitive(column.type):
        return None
    if column.type.bit_width not in (8, 16, 32, 64):
        return None
    kind, n, start = np.dtype(f"u{column.type.bit_width // 8}"), len(column), column.offset
    return np.frombuffer(column.buffers()[1], kind, start + n)[start:] if n else np.zeros(0, kind)


def _batch(cells: npt.NDArray[Any], schema: Any) -> Any:
    """The batch that has these cells, or the bytes of them."""
    import pyarrow as pa

    kind = schema.field(0).type
    n = 8 * cells.nbytes // kind.bit_width
    return pa.record_batch([pa.Array.from_buffers(kind, n, [None, pa.py_buffer(cells)])], schema=schema)
