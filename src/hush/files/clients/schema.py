"""The file: an SQLite database of one process at a time, whose transactions are on the disk when they are done."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hush.errors import ParameterError, Unsaid, message

VERSION = 1
APPLICATION = 0x48555348  # "HUSH"
PEOPLE_TABLES = """
CREATE TABLE person (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE);
CREATE TABLE account (
    collection INTEGER NOT NULL, person INTEGER NOT NULL, reports INTEGER NOT NULL,
    PRIMARY KEY (collection, person)) WITHOUT ROWID;
CREATE TABLE drawn (
    collection INTEGER NOT NULL, part INTEGER NOT NULL, person INTEGER NOT NULL, item BLOB NOT NULL,
    PRIMARY KEY (collection, part, person)) WITHOUT ROWID;
CREATE TABLE answer (
    collection INTEGER NOT NULL, part INTEGER NOT NULL, person INTEGER NOT NULL, state INTEGER NOT NULL,
    item BLOB NOT NULL, PRIMARY KEY (collection, part, person, state)) WITHOUT ROWID;
"""
"""People, how often each reported in each collection, and the answers that each keeps: what `StoredMemory` asks for."""
_TABLES = """
CREATE TABLE secret (key BLOB NOT NULL);
CREATE TABLE collection (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, spec TEXT NOT NULL);
CREATE TABLE period (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE reported (
    collection INTEGER NOT NULL, period INTEGER NOT NULL, person INTEGER NOT NULL, times INTEGER NOT NULL,
    PRIMARY KEY (collection, period, person)) WITHOUT ROWID;
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, output TEXT NOT NULL, rows INTEGER NOT NULL,
    batch BLOB NOT NULL);
"""


def opened(path: Path | None) -> sqlite3.Connection:
    """The file's connection, which holds its lock until it is closed; a new file is made where there is none.

    Without a path everything stays in memory, and is gone afterwards.
    """
    try:
        if path is not None:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        where = ":memory:" if path is None else path
        connection = sqlite3.connect(where, timeout=0, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, getattr(error, "strerror", None) or str(error)) from None
    try:
        for rule in ("locking_mode=EXCLUSIVE", "synchronous=FULL", "secure_delete=ON", "temp_store=MEMORY"):
            connection.execute(f"PRAGMA {rule}").fetchall()
        connection.execute("BEGIN EXCLUSIVE")
        _check(connection, path)
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        connection.close()
        if "locked" in str(error):
            rule, remedy = "must be used by one process at a time", "wait until the other one is done"
            raise ParameterError(message("clients", rule, Unsaid("one that is in use"), remedy)) from None
        raise _unusable(path, str(error)) from None
    except sqlite3.DatabaseError:
        connection.close()
        raise _unusable(path, "it is something else, or damaged") from None
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection, path: Path | None) -> None:
    """Make the tables of an empty file; refuse one of another kind or of a later version."""
    kind, version = (connection.execute(f"PRAGMA {of}").fetchone()[0] for of in ("application_id", "user_version"))
    if (kind, version) == (0, 0) and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        for statement in (PEOPLE_TABLES + _TABLES).split(";")[:-1]:
            connection.execute(statement)
        connection.execute("INSERT INTO secret VALUES (?)", [secrets.token_bytes(32)])
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute(f"PRAGMA user_version={VERSION}")
    elif kind != APPLICATION:
        raise _unusable(path, "it is another program's")
    elif version != VERSION:
        rule = f"must be of version {VERSION}"
        raise ParameterError(message("clients", rule, Unsaid(f"version {version}"), "upgrade hush"))


def _unusable(path: Path | None, why: str) -> ParameterError:
    got = Unsaid(repr(str(path)))
    return ParameterError(message("clients", "must be a file of `--clients`, or a new one", got, why))


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it is on the disk afterwards, or none."""
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
