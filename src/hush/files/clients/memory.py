"""Permanent answers in the file: looked up, drawn where they are missing, and kept, many people at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.longitudinal.memory import apart, together
from hush.types import Ints

Array = npt.NDArray[Any]


class StoredMemory:
    """Keeps what the people of one collection drew: a `hush.longitudinal.memory.Memory`.

    Args:
        connection: Of the store, within a transaction.
        collection: Its number there.
    """

    def __init__(self, connection: sqlite3.Connection, collection: int) -> None:
        self._sql, self._collection = connection, collection
        connection.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (id INTEGER PRIMARY KEY, person INT, state INT)")

    def drawn(self, part: int, people: Ints, draw: Callable[[int], Array]) -> Array:
        """What each person drew once."""
        blank = draw(0)
        if blank.itemsize * int(np.prod(blank.shape[1:])) == 0:
            return draw(people.size)  # nothing is drawn
        return self._recall("drawn", part, people, None, blank, lambda states: draw(states.size))

    def answers(self, part: int, people: Ints, states: Ints, draw: Callable[[Ints], Array]) -> Array:
        """The permanent answer of each person in that state."""
        return self._recall("answer", part, people, states, draw(np.zeros(0, np.int64)), draw)

    def _recall(
        self, table: str, part: int, people: Ints, states: Ints | None, blank: Array, draw: Callable[[Ints], Array]
    ) -> Array:
        keys, back = np.unique(together(people, 0 if states is None else states), return_inverse=True)
        wanted = np.stack(apart(keys), axis=1)
        where = "part = ? AND t.collection = ? AND t.person = w.person" + (
            " AND t.state = w.state" if states is not None else ""
        )
        self._sql.execute("DELETE FROM wanted")
        numbered = zip(range(len(wanted)), *wanted.T.tolist(), strict=True)
        self._sql.executemany("INSERT INTO wanted VALUES (?, ?, ?)", numbered)
        found = self._sql.execute(
            f"SELECT w.id, t.item FROM wanted w CROSS JOIN {table} t ON {where}", (part, self._collection)
        ).fetchall()
        items = np.empty((len(wanted), *blank.shape[1:]), blank.dtype)
        there = np.zeros(len(wanted), np.bool_)
        if found:
            at, kept = zip(*found, strict=True)
            items[list(at)] = np.frombuffer(b"".join(kept), blank.dtype).reshape(-1, *blank.shape[1:])
            there[list(at)] = True
        if not there.all():
            new = wanted[~there]
            items[~there] = made = draw(np.ascontiguousarray(new[:, 1]))
            self._keep(table, part, new, made, states is not None)
        return items[back.ravel()]

    def _keep(self, table: str, part: int, new: Ints, made: Array, stated: bool) -> None:
        size = made.itemsize * int(np.prod(made.shape[1:]))
        whole = memoryview(np.ascontiguousarray(made).tobytes())
        blobs = (whole[i : i + size] for i in range(0, len(whole), size))
        places = new if stated else new[:, :1]
        rows = ((self._collection, part, *where, blob) for where, blob in zip(places.tolist(), blobs, strict=True))
        marks = ", ".join("?" * (4 + stated))
        self._sql.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
