"""Which of what devices sent goes into one envelope, and in which order: nothing here reads or writes a store."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import hush
from hush.collect.envelope import Envelope, new_id
from hush.collect.relay.mirror import most_records
from hush.collect.store.collections import StoredCollection
from hush.randomness import source

BUILD = f"hush-relay/{hush.__version__}"
"""Which client the collector sees, whoever it was."""
MIXED = 4
"""Envelopes whose records are permuted together, of whole periods: more would be more than memory should hold."""


def random_order(number: int) -> NDArray[np.uint32]:
    """An order that tells nothing: every one is equally likely, by secure randomness."""
    from hush.kernels.orders import permutation

    return permutation(source(None).bit_generator, number)


def groups(sizes: NDArray[np.int64], *, least: int, most: int, leave: int) -> Iterator[slice]:
    """Batches that go together, in the order given: in few groups, about as large as each other.

    Args:
        sizes: How many records each batch has.
        least: Records of a group, at least.
        most: Records from which on a group has no more batches, unless it needs them.
        leave: Records that stay behind, at least: what comes later finds company in them. Where it is 0, nothing stays.
    """
    ends = np.cumsum(sizes)
    total, start, taken = int(ends[-1]), 0, 0
    while (left := total - leave - taken) >= least:
        enough = int(np.searchsorted(ends, taken + least)) + 1
        even = -(-left // -(-left // most))
        stop = max(enough, int(np.searchsorted(ends, taken + even, "right")))
        if leave:
            stop = min(stop, int(np.searchsorted(ends, total - leave, "right")))
        elif total - ends[stop - 1] < least:
            stop = len(ends)
        if stop < enough:
            return
        yield slice(start, stop)
        start, taken = stop, int(ends[stop - 1])


def permuted(records: bytes, size: int) -> bytes:
    """Records in a random order."""
    rows = np.frombuffer(records, np.dtype((np.void, size)))
    return rows[random_order(len(rows))].tobytes()


def envelopes(collection: StoredCollection, period: int, records: bytes, *, parts: int = 1) -> list[Envelope]:
    """Permuted records in as few envelopes as they need, all of about one size, with ids of their own.

    Args:
        collection: Whose records they are.
        period: Of all of them.
        records: One after the other.
        parts: How many envelopes there are, at least.
    """
    size = collection.parsed.mechanism.report_dtype.itemsize
    number = len(records) // size
    parts = max(parts, -(-number // most_records(collection)))
    cuts = [number * part // parts * size for part in range(parts + 1)]
    mixed = permuted(records, size)
    return [
        Envelope(collection.id, collection.spec_hash, new_id(), period, BUILD, size, mixed[start:stop])
        for start, stop in itertools.pairwise(cuts)
    ]
