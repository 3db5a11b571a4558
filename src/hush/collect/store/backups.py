"""Copies of a store in a file: one moment of it, while it runs, and back again."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from hush.atomic import naming, replacing
from hush.collect.store import schema
from hush.collect.store.database import Database, parsed, read_only
from hush.collect.store.lock import Lock
from hush.errors import ParameterError, Unsaid, message
from hush.files.paths import existing


def copied(database: Database, path: Path) -> None:
    """Write a copy, as of now; readers and the writer go on meanwhile."""
    if not database.embedded:
        raise _of_postgres("backup", "use pg_dump, which copies one moment, too")
    if path.exists() and path.samefile(str(database.url.database)):
        rule, got = "must be another file than the store", Unsaid("the store itself")
        raise ParameterError(message("path", rule, got, "name a new file"))
    with database.reading() as connection:
        source: Any = connection.connection.driver_connection
        _copy(source, path)


def restored(source: Path, store: str, *, replace: bool = False) -> None:
    """Make a store of a copy; no server may have it open.

    Args:
        source: What `copied` wrote.
        store: The address of the store.
        replace: A store that is there is lost.
    """
    url = parsed(store)
    if url.get_backend_name() != "sqlite":
        raise _of_postgres("restore", "use pg_restore")
    existing("backup", source)
    target = Path(str(url.database))
    lock = Lock(Path(f"{target}.lock"), "hush collection restore")
    try:
        if target.exists() and not replace:
            rule, got = "must not be there before a copy is restored", Unsaid("one that is")
            raise ParameterError(
                message("store", rule, got, "move it away, or put the copy in its place with replace=True")
            )
        with closing(read_only(source)) as connection:
            _sound(connection)
            part = target.with_name(f"{target.name}.restoring")
            _copy(connection, part)
        with naming(target):
            if target.exists():
                _in_one_file(target)
            for leftover in (Path(f"{target}-wal"), Path(f"{target}-shm")):
                leftover.unlink(missing_ok=True)  # a log that stayed would be played into the copy
            _synced(target.parent, os.O_RDONLY)
            part.replace(target)
            _synced(target.parent, os.O_RDONLY)
    finally:
        lock.release()


def _in_one_file(store: Path) -> None:
    """Bring the log of a store into its file: whatever ends a restore before its end leaves all of the old one."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")  # of a damaged one there is nothing to be saved


def _sound(connection: sqlite3.Connection) -> None:
    """Refuse what is no copy of a store, or a damaged one, or one of a later version."""
    remedy = "take another copy"
    try:
        (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        (there,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except (sqlite3.Error, TypeError):
        rule, got = "must be a copy of a store", Unsaid("something else, or a damaged one")
        raise ParameterError(message("backup", rule, got, remedy)) from None
    if found != "ok":
        raise ParameterError(message("backup", "must be intact", Unsaid("a damaged one"), remedy))
    schema.readable(there)


def _copy(source: sqlite3.Connection, path: Path) -> None:
    with replacing(path, named=True) as part, naming(path):  # SQLite opens files by their names
        part.chmod(0o600)
        try:
            with closing(sqlite3.connect(part)) as target:
                source.backup(target)
                target.execute("PRAGMA journal_mode=DELETE")  # one file, with no log beside it
        except sqlite3.Error as error:
            raise OSError(str(error)) from None
        _synced(part, os.O_RDWR)
    _synced(Path(os.path.realpath(path)).parent, os.O_RDONLY)


def _synced(path: Path, flags: int) -> None:
    file = os.open(path, flags)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _of_postgres(what: str, remedy: str) -> ParameterError:
    return ParameterError(message(what, "must be of a store in a file", Unsaid("PostgreSQL"), remedy))
