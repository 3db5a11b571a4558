"""Rows of people on their way into the store: whose they are, of which period, and what they hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.mechanisms.spec import Spec
from hush.types import Ints


@dataclass(frozen=True)
class PeopleRows:
    """Some rows.

    Args:
        people: The name of each row's person, as bytes.
        periods: The name of each row's period; None where there are no periods.
        held: What each row holds, as the mechanism takes it: one row each.
        kept: A record batch of what stays beside the reports, in the clear; None for nothing.
    """

    people: Sequence[bytes]
    periods: Sequence[str] | None
    held: npt.NDArray[Any]
    kept: Any = None


def rows_of(spec: Spec, people: Sequence[object], values: Any, period: object = None, kept: Any = None) -> PeopleRows:
    """Rows of labels, as Python has them: a name, a label (or tuple) and a period for each, or one period for all."""
    m, names = spec.mechanism, [name_of(each) for each in people]
    held = m.held(values, spec.domain) if m.kind == "longitudinal" else m._encoded(values, spec.domain)[0]
    if period is None:
        return PeopleRows(names, None, np.asarray(held), kept)
    several = isinstance(period, Sequence) and not isinstance(period, str)
    periods = [str(each) for each in period] if several else [str(period)] * len(names)  # type: ignore[attr-defined]
    return PeopleRows(names, periods, np.asarray(held), kept)


def name_of(person: object) -> bytes:
    """A person's name as bytes; a whole number, also as a double, and its text are one name, as in a CSV file.

    >>> name_of(7), name_of(7.0), name_of("7"), name_of("07")
    (b'7', b'7', b'7', b'07')
    """
    if isinstance(person, bytes):
        return person
    if isinstance(person, (float, np.floating)) and person.is_integer():
        return str(int(person)).encode()
    return str(person).encode()


def numbered(connection: sqlite3.Connection, hashes: Sequence[bytes]) -> Ints:
    """The number of each person, by what the store calls them, 16 bytes; those who are new get one."""
    wanted, back = np.unique(np.array(hashes, "V16"), return_inverse=True)
    each = [bytes(name) for name in wanted]
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS named (id INTEGER PRIMARY KEY, name BLOB)")
    connection.execute("DELETE FROM named")
    connection.executemany("INSERT INTO person (name) VALUES (?) ON CONFLICT DO NOTHING", ((name,) for name in each))
    connection.executemany("INSERT INTO named VALUES (?, ?)", enumerate(each))
    found = connection.execute("SELECT p.id FROM named n CROSS JOIN person p ON p.name = n.name ORDER BY n.id")
    return np.array([number for (number,) in found], np.int64)[back.ravel()]
