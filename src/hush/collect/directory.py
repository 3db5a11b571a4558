"""What every request needs to know, in memory: the collections, with their specs, and who may do what.

It is read from the store when the process starts, whenever it changes something itself, and now and then, since
another collector may have.
"""

from __future__ import annotations

import threading

import sqlalchemy as sa

from hush.collect.clock import Clock
from hush.collect.refusals import Refused
from hush.collect.store import collections
from hush.collect.store.collections import StoredCollection
from hush.collect.store.database import Database
from hush.collect.tokens import StoredToken, Tokens
from hush.errors import Unsaid, message


class Directory:
    """The collections of a store, and its tokens.

    Args:
        database: The store.
        clock: What tells the period.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self.clock = database, clock
        self._reading = threading.Lock()
        self._by_id: dict[str, StoredCollection] = {}
        self._by_number: dict[int, StoredCollection] = {}
        self.tokens = Tokens({})
        self.refresh()

    def refresh(self) -> None:
        """Read the store again. Specs that are known are not parsed again.

        One reads at a time, so that what is known never goes back to what was read before it.
        """
        with self._reading:
            self._refresh()

    def _refresh(self) -> None:
        with self._database.reading() as connection:
            listed, tokens = collections.listed(connection, self._by_id), StoredToken.listed(connection)
        self._by_id = {each.id: each for each in listed}
        self._by_number = {each.number: each for each in listed}
        self.tokens = Tokens(tokens)

    def seen(self, connection: sa.Connection, id: str) -> StoredCollection:
        """The collection of an id as a connection sees it, of the same moment as all else that it reads."""
        return collections.found(connection, self.named(id).id, self._by_id)

    def all(self) -> list[StoredCollection]:
        """All collections, the oldest first."""
        return list(self._by_id.values())

    def get(self, id: str) -> StoredCollection | None:
        """The collection of an id, where there is one."""
        return self._by_id.get(id)

    def named(self, id: str) -> StoredCollection:
        """The collection of an id."""
        found = self._by_id.get(id)
        if found is None:
            rule, remedy = "must be that of a collection", "ask whoever runs the collection for its address"
            raise Refused("unknown", message("collection", rule, Unsaid("an unknown one"), remedy))
        return found

    def number(self, id: str) -> int:
        """The number of a collection; 0 where there is none of that id."""
        found = self._by_id.get(id)
        return 0 if found is None else found.number

    def numbered(self, number: int) -> StoredCollection:
        """The collection of a number that stands in the store; another collector may have made it just now."""
        if number not in self._by_number:
            self.refresh()
        return self._by_number[number]

    def period(self, collection: StoredCollection) -> int:
        """The period of now."""
        return collection.period_at(self.clock.now())
