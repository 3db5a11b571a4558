"""What client builds are called in aggregates: as they call themselves, as long as these are not too many.

Clients say what they are, and some lie. So a name is looked at before anything is tallied under it.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from hush.collect.store import tables
from hush.collect.store.collections import StoredCollection

MOST_BUILDS = 256
"""Client builds of one collection that have aggregates of their own."""
MOST_TALLIES = 1 << 27
"""Bytes of aggregates that one period of a collection has, about."""
FEWEST_BUILDS = 4
OTHERS = "(others)"
"""What all further builds are called, in aggregates and batches; no client can call itself so."""


def most_builds(collection: StoredCollection) -> int:
    """How many builds have aggregates of their own: fewer where these are large."""
    return min(MOST_BUILDS, max(FEWEST_BUILDS, MOST_TALLIES // collection.tally_bytes))


class BuildNames:
    """The names of builds, at one moment of a store.

    Args:
        connection: One that sees that moment.
        specs: The collection of a number.
    """

    def __init__(self, connection: sa.Connection, specs: Callable[[int], StoredCollection]) -> None:
        self._connection, self._specs = connection, specs
        self._known: dict[int, set[str]] = {}
        self._room: dict[int, int] = {}

    def named(self, number: int, build: str) -> str:
        """What a build of a collection is called from now on; excluded ones have no aggregate, and need no room."""
        if number not in self._known:
            self._read(number)
        known = self._known[number]
        if build in known:
            return build
        if not self._room[number]:
            return OTHERS
        self._room[number] -= 1
        known.add(build)
        return build

    def _read(self, number: int) -> None:
        a, gone = tables.aggregate.c, tables.exclusion.c
        asked = sa.select(a.build).where(a.collection == number, a.build != OTHERS).distinct()
        own = set(self._connection.execute(asked).scalars())
        excluded = self._connection.execute(sa.select(gone.build).where(gone.collection == number)).scalars()
        self._room[number] = max(0, most_builds(self._specs(number)) - len(own))
        self._known[number] = own | set(excluded)
