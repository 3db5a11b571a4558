"""Folds step by step, whatever is wrong with one collection: the others go on."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from hush.collect.store.collections import StoredCollection
from hush.collect.store.database import Database
from hush.collect.store.folding import Folded, Unfoldable, step
from hush.collect.store.recent import Recent

ASIDE_SECONDS = 30.0
"""After which a collection whose aggregates cannot grow is tried again: someone may have repaired them."""
_LOG = logging.getLogger("hush.collect")


class Folder:
    """Folds what is pending.

    Args:
        database: The store.
        specs: The collection of a number.
        failed: Called for each collection that is left aside.
        steady: Seconds since any moment.
        recent: Batches that need not be read from the store.
    """

    def __init__(
        self,
        database: Database,
        specs: Callable[[int], StoredCollection],
        *,
        failed: Callable[[], None] = lambda: None,
        steady: Callable[[], float] = time.monotonic,
        recent: Recent | None = None,
    ) -> None:
        self._database, self._specs, self._failed, self._steady = database, specs, failed, steady
        self._recent = recent
        self._aside: dict[int, float] = {}

    def step(self) -> Folded:
        """Fold some; of collections that are not damaged."""
        now = self._steady()
        self._aside = {number: until for number, until in self._aside.items() if until > now}
        while True:
            try:
                return step(self._database, self._specs, without=self._aside, recent=self._recent)
            except Unfoldable as error:
                self._aside[error.number] = now + ASIDE_SECONDS
                _LOG.error("%s", error)
                self._failed()

    def all(self) -> None:
        """Fold all that is pending."""
        while self.step().batches:
            pass
