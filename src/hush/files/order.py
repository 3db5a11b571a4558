"""Rows in an order that says nothing about the one they came in: a report file is a multiset.

Rows are held until they take too much memory. Then each one is dealt to one of 256 buckets, by a random byte of its
own, and the buckets wait in a scratch file. In the end the rows of each bucket are put in a uniform order, in the same
way if there are too many of them, and the buckets follow each other.

Every order is equally likely. Bytes are uniform and independent, so if two rows change places in the input, the law of
who shares a bucket with whom stays what it was; and those who share one come out of it in a uniform order. The law of
the whole order is therefore the same after any exchange of rows, and only the uniform one is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from hush.files.batches import joined
from hush.files.scratch import Place, Scratch
from hush.people.arrow import to_arrow
from hush.randomness import source

MEMORY = 1 << 27
"""Bytes of rows that are held before they are dealt out."""

_BUCKETS = 256  # a byte chooses one, without bias
_ROW_BYTES = 16  # what ordering takes for a row beside its cells


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
        self._buckets: list[list[Place]] = [[] for _ in range(_BUCKETS)]
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
        size = batch.nbytes + _ROW_BYTES * batch.num_rows
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
        for places in filter(None, self._buckets):
            with Shuffler(self._rng, temporary=self._temporary, memory=self._memory) as bucket:
                for place in places:
                    bucket.add(self._read(place, schema))
                yield from bucket

    def _permuted(self) -> Any:

        from hush.kernels.orders import permutation

        rows = self._emptied()
        return rows.take(to_arrow(permutation(self._rng.bit_generator, rows.num_rows)))

    def _deal(self) -> None:

        from hush.kernels.orders import dealt

        rows = self._emptied()
        order, starts = dealt(np.frombuffer(self._rng.bytes(rows.num_rows), np.uint8))
        rows = rows.take(to_arrow(order))
        for places, (start, stop) in zip(self._buckets, pairwise(starts.tolist()), strict=True):
            if stop > start:
                places.append(self._scratch.append(rows.slice(start, stop - start).serialize()))

    def _emptied(self) -> Any:
        """All rows of the pile, which is then empty."""
        pile, self._pile, self._size = self._pile, [], 0
        return joined(pile)

    def _read(self, place: Place, schema: Any) -> Any:
        import pyarrow as pa

        return pa.ipc.read_record_batch(pa.py_buffer(self._scratch.read(place)), schema)
