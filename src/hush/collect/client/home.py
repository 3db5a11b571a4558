"""The file in which devices keep what they must not forget: accounts, kept answers, and what waits to be sent.

It is an SQLite database with a rollback journal, whose transactions are on the disk when they are done, the folder's
entry included (`synchronous=EXTRA`): an answer that was sent can never be forgotten. Every transaction has a
connection of its own, so that threads, processes and forks may share the file; whoever writes waits for the others,
and a fork waits until no thread is in a transaction: its child would wait for a thread that it has not.
A new file appears whole: it is made under another name, and then linked.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hush.errors import ParameterError, Unsaid, message
from hush.files.clients.schema import PEOPLE_TABLES
from hush.longitudinal.ledger import flush_folder

FILE = "collector.hushdb"
VERSION = 1
APPLICATION = 0x48555343  # "HUSC"
_PATIENCE = 60.0  # seconds that a transaction waits for others
_unforked = threading.RLock()
"""Held by the one thread of this process that is in a transaction, or forks."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_unforked.acquire, after_in_parent=_unforked.release, after_in_child=_unforked.release)

_TABLES = """
CREATE TABLE secret (key BLOB, proof BLOB NOT NULL);
CREATE TABLE link (collection TEXT PRIMARY KEY, chain INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE protocol (id INTEGER PRIMARY KEY, chain INTEGER NOT NULL, hash TEXT NOT NULL, spec TEXT NOT NULL);
CREATE TABLE collection (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, origin TEXT NOT NULL, protocol INTEGER NOT NULL,
    period INTEGER NOT NULL, view TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL DEFAULT 0);
CREATE TABLE batch (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, collection INTEGER NOT NULL, period INTEGER NOT NULL,
    records INTEGER NOT NULL, size INTEGER NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, envelope BLOB,
    part_of INTEGER, tries INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL DEFAULT 0,
    unsure INTEGER NOT NULL DEFAULT 0);
CREATE INDEX batch_by_state ON batch (state, collection, id);
CREATE TABLE answered (
    collection INTEGER NOT NULL, period INTEGER NOT NULL, person INTEGER NOT NULL, tag BLOB NOT NULL,
    batch INTEGER NOT NULL, PRIMARY KEY (collection, period, person)) WITHOUT ROWID;
"""


class Home:
    """The file of one folder.

    Args:
        folder: Where it is; made if it is not there, for its owner alone.
        secret: A key that is kept elsewhere, 16 bytes at least; left out, the file has one of its own.
    """

    def __init__(self, folder: str | os.PathLike[str], *, secret: bytes | None = None) -> None:
        self.path = Path(folder).expanduser().absolute() / FILE  # whatever folder is the current one later
        self._proof: bytes | None = None
        if secret is not None and (not isinstance(secret, bytes) or len(secret) < 16):
            rule, remedy = "must be 16 bytes at least", "draw it once, secrets.token_bytes(32), and keep it elsewhere"
            raise ParameterError(message("secret", rule, Unsaid("something else"), remedy))
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self.path.exists():
                self._make(secret)
        except OSError as error:
            raise self._unusable(error.strerror or type(error).__name__) from None
        with self.transaction(write=False) as sql:
            (kind,), (version,) = (sql.execute(f"PRAGMA {of}").fetchone() for of in ("application_id", "user_version"))
            if kind != APPLICATION:
                raise self._unusable("it is another program's")
            if version != VERSION:
                rule, got = f"must be of version {VERSION}", Unsaid(f"version {version}")
                raise ParameterError(message("home", rule, got, "upgrade hush"))
            key, proof = sql.execute("SELECT key, proof FROM secret").fetchone()
        self._key, self._proof = self._proven(key if secret is None else secret, proof), proof

    def hashed(self, *parts: bytes) -> bytes:
        """16 bytes that tell nothing to whoever has not the key."""
        found = hashlib.blake2b(digest_size=16, key=self._key)
        for part in parts:
            found.update(len(part).to_bytes(8, "little") + part)
        return found.digest()

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[sqlite3.Connection]:
        """All of what is done in it is on the disk afterwards, or nothing; meanwhile nobody else writes."""
        with _unforked, self._connection(write=write) as connection:
            yield connection

    @contextmanager
    def _connection(self, *, write: bool) -> Iterator[sqlite3.Connection]:
        try:
            connection = _connected(f"{self.path.as_uri()}?mode=rw")
            try:
                connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                if self._proof is not None and connection.execute("SELECT proof FROM secret").fetchall() != [
                    (self._proof,)
                ]:
                    raise self._unusable("it was replaced by another one meanwhile; begin anew with a new Collector")
                yield connection
                connection.execute("COMMIT")
            finally:
                connection.close()  # which takes back what was not committed
        except sqlite3.Error as error:
            raise self._unusable(str(error)) from None

    def _make(self, secret: bytes | None) -> None:
        made = self.path.with_name(f".{FILE}-{secrets.token_hex(8)}")
        os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        try:
            own = secrets.token_bytes(32)
            connection = _connected(made.as_uri())
            try:
                connection.execute("BEGIN IMMEDIATE")
                for statement in (PEOPLE_TABLES + _TABLES).split(";")[:-1]:
                    connection.execute(statement)
                row = (own, _proof(own)) if secret is None else (None, _proof(_shortened(secret)))
                connection.execute("INSERT INTO secret VALUES (?, ?)", row)
                connection.execute(f"PRAGMA application_id={APPLICATION}")
                connection.execute(f"PRAGMA user_version={VERSION}")
                connection.execute("COMMIT")
            finally:
                connection.close()
            with suppress(FileExistsError):  # another process was faster: its file is the one
                os.link(made, self.path)
            flush_folder(self.path)
        except sqlite3.Error as error:
            raise self._unusable(str(error)) from None
        finally:
            os.unlink(made)

    def _proven(self, key: bytes | None, proof: bytes) -> bytes:
        if key is None:
            rule, remedy = "must be given for a home that was made with one", "pass the one that is kept elsewhere"
            raise ParameterError(message("secret", rule, Unsaid("nothing"), remedy))
        short = _shortened(key)
        if not secrets.compare_digest(_proof(short), proof):
            rule, remedy = "must be the one that this home was made with", "pass that one; or leave it out"
            raise ParameterError(message("secret", rule, Unsaid("another one"), remedy))
        return short

    def _unusable(self, why: str) -> ParameterError:
        rule, got = "must be a folder whose collector.hushdb can be written", Unsaid(repr(str(self.path.parent)))
        return ParameterError(message("home", rule, got, why))


def _connected(where: str) -> sqlite3.Connection:
    connection = sqlite3.connect(where, timeout=_PATIENCE, isolation_level=None, check_same_thread=False, uri=True)
    try:
        for rule in ("synchronous=EXTRA", "fullfsync=ON", "secure_delete=ON", "temp_store=MEMORY"):
            connection.execute(f"PRAGMA {rule}").fetchall()
    except BaseException:  # it is no database, say
        connection.close()
        raise
    return connection


def _shortened(secret: bytes) -> bytes:
    return secret if len(secret) <= 64 else hashlib.blake2b(secret).digest()


def _proof(key: bytes) -> bytes:
    return hashlib.blake2b(b"home", digest_size=16, key=key).digest()
