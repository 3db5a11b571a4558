"""One writer and many readers, of SQLite or PostgreSQL.

Everything that changes a store goes through one thread, each piece of work a transaction of its own: with SQLite that
connection alone writes and checkpoints, and readers cannot. A store in a file has a lock beside it that one process
holds as long as the store is open, so there is never a second writer. PostgreSQL, where several collectors may write,
takes single statements from two more threads: one fills the time in which the other waits for the disk.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import sqlalchemy as sa
from sqlalchemy.pool import QueuePool, StaticPool

from hush.collect.store.lock import Lock
from hush.collect.store.turns import Turns
from hush.errors import ParameterError, Unsaid, message

T = TypeVar("T")
_PATIENCE = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""Of PostgreSQL: a server that is gone must be known to be gone within seconds, since devices wait."""
_PAGE = 8192
"""Bytes of a page of a new file: half as many calls of the system as with 4,096 for batches of a thousand reports, and
no more of them for single ones."""
_LANES = 2
_IDLE_SECONDS = 1.0
"""After which it is tried whether a connection to PostgreSQL still stands, before a statement is given to it."""
_LOG_BYTES = 1 << 24  # before they are copied into the file, for which batches wait
_PRAGMAS = (
    f"page_size={_PAGE}",  # of a file that is still empty; others stay as they are
    "journal_mode=WAL",
    "synchronous=FULL",
    f"wal_autocheckpoint={_LOG_BYTES // _PAGE}",
    "foreign_keys=ON",
    "secure_delete=ON",  # what is forgotten leaves no bytes in the file
)


class Database:
    """A store's connections.

    Args:
        url: `sqlite:///file` or `postgresql://…`.
        holder: Who holds the lock, for whoever finds it held: the address of a server, say.
    """

    def __init__(self, url: str, *, holder: str = "") -> None:
        self.url = parsed(url)
        self.embedded = self.url.get_backend_name() == "sqlite"
        self._lock = Lock(Path(f"{self.url.database}.lock"), holder) if self.embedded else None
        try:
            self._writing = _sqlite_writer(self.url) if self.embedded else _postgres(self.url, 2)
            self._reading = _sqlite_readers(self.url) if self.embedded else _postgres_readers(self.url)
        except BaseException:
            self._release()
            raise
        self._at_once = self._writing if self.embedded else _postgres_statements(self.url)
        self._thread = ThreadPoolExecutor(1, "hush-writer")
        self.lanes = 1 if self.embedded else _LANES
        """Statements that are written side by side."""
        self._statements = self._thread if self.embedded else ThreadPoolExecutor(_LANES, "hush-statements")
        self.folding = Turns()
        """Of those who change aggregates in this process; see `alone`."""

    def write(self, work: Callable[[sa.Connection], T]) -> Future[T]:
        """Do something in a transaction, after all that was asked for before; its result once it is on the disk."""
        return self._thread.submit(self._in_transaction, work)

    def _in_transaction(self, work: Callable[[sa.Connection], T]) -> T:
        with _told(), self._writing.begin() as connection:
            return work(connection)

    def at_once(self, work: Callable[[sa.Connection], T]) -> Future[T]:
        """Do something where each statement that the driver is given is a transaction of its own.

        With SQLite after all that was asked for before; with PostgreSQL beside it, as other collectors do.
        """
        return self._statements.submit(self._by_statement, work)

    def _by_statement(self, work: Callable[[sa.Connection], T]) -> T:
        with _told(), self._at_once.connect() as connection:
            return work(connection)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection that sees one moment of the store, and cannot change it."""
        with _told(), self._reading.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def locking(self) -> Iterator[sa.Connection]:
        """A connection of PostgreSQL beside the writer's, whose locks last as long as the block does."""
        with _told(), self._writing.connect() as connection, connection.begin():
            yield connection

    def reached(self) -> None:
        """Raise where the store cannot be read."""
        with self.reading() as connection:
            connection.execute(sa.text("SELECT 1"))

    def close(self) -> None:
        """End what was begun, and let go."""
        self._statements.shutdown(wait=True)
        self._thread.shutdown(wait=True)
        self._reading.dispose()
        self._at_once.dispose()
        self._writing.dispose()  # the last one: it checkpoints
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()


@contextmanager
def _told() -> Iterator[None]:
    """Say what a driver raises in the words of SQLAlchemy, whoever asked it: a store fails in one way."""
    try:
        yield
    except (sqlite3.Error, psycopg.Error) as error:
        raise sa.exc.OperationalError(None, None, error) from error


def parsed(url: str) -> sa.URL:
    """The address of a store: that of a file, of PostgreSQL, or simply a path."""
    rule, remedy = "must be a file, sqlite:///FILE or postgresql://…", "use e.g. --store hush-collector.db"
    try:
        found = sa.make_url(url) if "://" in url else sa.URL.create("sqlite", database=url)
    except (sa.exc.ArgumentError, ValueError):
        raise ParameterError(message("store", rule, Unsaid("another address"), remedy)) from None
    if found.get_backend_name() == "postgresql":
        return found.set(drivername="postgresql+psycopg")
    if found.drivername not in ("sqlite", "sqlite+pysqlite") or not found.database or found.database == ":memory:":
        got = Unsaid(found.drivername if found.database else "no file")  # never the password
        raise ParameterError(message("store", rule, got, remedy))
    where = os.path.realpath(found.database)  # one store has one lock, whatever it is called
    return found.set(drivername="sqlite+pysqlite", database=where)


def _engine(url: sa.URL | str, **more: Any) -> sa.Engine:
    return sa.create_engine(url, hide_parameters=True, **more)  # errors are logged, and parameters hold secrets


def _sqlite_writer(url: sa.URL) -> sa.Engine:
    path = Path(str(url.database))
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))

    def connect() -> sqlite3.Connection:
        made = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30.0)
        try:
            for pragma in _PRAGMAS:
                made.execute(f"PRAGMA {pragma}")
        except BaseException:  # it is no database, say
            made.close()
            raise
        return made

    return _explicit(_engine("sqlite+pysqlite://", creator=connect, poolclass=StaticPool), "BEGIN IMMEDIATE")


def _sqlite_readers(url: sa.URL) -> sa.Engine:
    def connect() -> sqlite3.Connection:
        made = read_only(Path(str(url.database)))
        made.execute("PRAGMA query_only=ON")
        return made

    made = _engine("sqlite+pysqlite://", creator=connect, poolclass=QueuePool, pool_size=8, max_overflow=8)
    return _explicit(made, "BEGIN")


def read_only(path: Path) -> sqlite3.Connection:
    """A connection that the system itself lets read only."""
    where = f"file:{_escaped(str(path.resolve()))}?mode=ro"
    return sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False, timeout=30.0)


def _escaped(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _explicit(engine: sa.Engine, begin: str) -> sa.Engine:
    """SQLAlchemy begins transactions itself: Python's module would begin them late, and some not at all."""

    def on_begin(connection: Any) -> None:
        connection.exec_driver_sql(begin)

    sa.event.listen(engine, "begin", on_begin)
    return engine


def _postgres(url: sa.URL, size: int, **more: Any) -> sa.Engine:
    settings = {"pool_pre_ping": True, "max_overflow": 4, **more}
    made = _engine(url, pool_size=size, pool_recycle=1800, connect_args=_PATIENCE, **settings)
    sa.event.listen(made, "connect", _durable)
    return made


def _postgres_statements(url: sa.URL) -> sa.Engine:
    """Connections that begin nothing, and are tried only where they have not been used for a while: to try one takes
    as long as to write a small batch.
    """
    made = _postgres(url, _LANES, max_overflow=0, pool_pre_ping=False, isolation_level="AUTOCOMMIT")

    def given_back(connection: Any, record: Any) -> None:
        record.info["used"] = time.monotonic()

    def taken(connection: Any, record: Any, proxy: Any) -> None:
        if time.monotonic() - record.info.get("used", 0.0) > _IDLE_SECONDS:
            try:
                connection.execute("SELECT 1")
            except psycopg.Error:
                raise sa.exc.DisconnectionError from None  # SQLAlchemy makes another one

    sa.event.listen(made, "checkin", given_back)
    sa.event.listen(made, "checkout", taken)
    return made


def _postgres_readers(url: sa.URL) -> sa.Engine:
    made = _postgres(url, 4)
    return made.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def _durable(connection: Any, record: Any) -> None:
    """What is committed is on the disk, whatever the server's settings say."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW synchronous_commit")
        if cursor.fetchone()[0] in ("off", "local"):
            cursor.execute("SET synchronous_commit TO on")
    connection.commit()
