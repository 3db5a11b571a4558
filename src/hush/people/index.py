"""Where each of many labels stands: what a dict tells, in a quarter of its memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np


class Index:
    """Places of items, found by equality; of an item that stands in several places, the first.

    Args:
        items: In their order; they are kept, not copied, and must not change.

    >>> index = Index(("cat", "dog", "dog"))
    >>> index.place("dog"), index.place("bird"), index.repeated()
    (1, None, (1, 2))
    """

    def __init__(self, items: Sequence[Hashable]) -> None:
        hashes = np.fromiter(map(hash, items), np.int64, len(items))
        order = np.argsort(hashes, kind="stable")
        self.items = items
        self._places = order.astype(np.min_scalar_type(len(items))).data
        self._hashes = hashes[order].data

    def __reduce__(self) -> tuple[Any, ...]:
        """Made anew in another process, where texts have other hashes."""
        return Index, (self.items,)

    def place(self, item: Hashable) -> int | None:
        """Where an item stands, if it does."""
        wanted = hash(item)
        for at in range(bisect_left(self._hashes, wanted), len(self.items)):
            if self._hashes[at] != wanted:
                break
            if self.items[self._places[at]] == item:
                return self._places[at]
        return None

    def repeated(self) -> tuple[int, int] | None:
        """The first place whose item stood in an earlier one, after that one; None where all items differ."""
        hashes, places = np.asarray(self._hashes), np.asarray(self._places)
        same = np.flatnonzero(hashes[1:] == hashes[:-1])
        first: dict[Hashable, int] = {}
        for place in np.sort(places[np.union1d(same, same + 1)]).tolist():
            if (before := first.setdefault(self.items[place], place)) != place:
                return before, place
        return None
