"""A store in a file has one writer, ever: one process, one connection; and what it acknowledged is there."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from hush.collect.service import Service
from hush.collect.store import schema, tables
from hush.collect.store.database import Database
from hush.collect.store.intake import Fate
from hush.collect.store.lock import StoreHeld
from hush.errors import ParameterError
from tests.collecting import DAY, SPEC, HandClock, arrival, fold, kept, made_database, opened_one, reports_of

pytestmark = pytest.mark.boundary

REPORTS = reports_of([0] * 500, seed=1)

OTHER = """
import sys
from hush.collect.store.database import Database
from hush.collect.store.lock import StoreHeld
try:
    Database(sys.argv[1]).close()
    print("opened")
except StoreHeld as held:
    print(held)
"""


def in_another_process(path: Path) -> str:
    """What another process hears that opens the same store."""
    done = subprocess.run([sys.executable, "-c", OTHER, str(path)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_second_process_cannot_open_the_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    database = Database(str(path), holder="http://127.0.0.1:8000")
    said = in_another_process(path)
    assert said == (
        "store must be open nowhere else, got held by http://127.0.0.1:8000; speak to the server, or stop it"
    )
    link = tmp_path / "link.db"
    link.symlink_to(path)
    assert "must be open nowhere else" in in_another_process(link)
    with pytest.raises(StoreHeld):
        Database(str(tmp_path / ".." / tmp_path.name / "store.db"))
    database.close()
    assert in_another_process(path) == "opened"


def test_a_process_that_is_killed_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    code = f"""
import os, signal
from hush.collect.store.database import Database
Database({str(path)!r})
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -9
    assert in_another_process(path) == "opened"


def test_readers_can_neither_write_nor_checkpoint(sqlite_database: Database, hand: HandClock) -> None:
    service = Service(sqlite_database, hand)
    number = service.directory.named(opened_one(service)).number
    kept(sqlite_database, arrival(number, REPORTS))
    path = Path(str(sqlite_database.url.database))
    log = Path(f"{path}-wal")
    before = path.read_bytes(), log.stat().st_size
    assert before[1] > 0
    with sqlite_database.reading() as connection:
        for statement in ("DELETE FROM batch", "CREATE TABLE x (y)", "INSERT INTO pending VALUES (7)"):
            with pytest.raises(sa.exc.OperationalError, match="readonly"):
                connection.exec_driver_sql(statement)
        assert connection.execute(sa.select(sa.func.count()).select_from(tables.batch)).scalar_one() == 1
    raw = sqlite_database._reading.raw_connection()
    reader = raw.driver_connection
    assert isinstance(reader, sqlite3.Connection)
    reader.execute("PRAGMA query_only=OFF")  # even so: the file is open for reading only
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("DELETE FROM batch")
    for mode in ("PASSIVE", "FULL", "RESTART", "TRUNCATE"):
        with pytest.raises(sqlite3.OperationalError):
            reader.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()
    raw.invalidate()
    assert (path.read_bytes(), log.stat().st_size) == before


def test_there_is_one_connection_that_writes(sqlite_database: Database) -> None:
    names = {sqlite_database.write(lambda _: threading.current_thread().name).result() for _ in range(20)}
    assert len(names) == 1
    used = {
        sqlite_database.write(lambda connection: id(connection.connection.driver_connection)).result()
        for _ in range(20)
    }
    assert len(used) == 1


def test_the_writer_asks_for_everything_to_be_on_the_disk(sqlite_database: Database) -> None:
    def asked(connection: sa.Connection) -> dict[str, object]:
        names = ("journal_mode", "synchronous", "wal_autocheckpoint", "foreign_keys", "secure_delete")
        return {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in names}

    found = sqlite_database.write(asked).result()
    assert found == {
        "journal_mode": "wal", "synchronous": 2, "wal_autocheckpoint": 2048, "foreign_keys": 1, "secure_delete": 1,
    }  # fmt: skip


def test_one_writer_many_readers_and_checkpoints_leave_a_sound_file(tmp_path: Path, hand: HandClock) -> None:
    """Readers come and go, the log is copied into the file again and again, and every batch is there once."""
    database = made_database(str(tmp_path / "store.db"))
    service = Service(database, hand)
    id = opened_one(service)
    number = service.directory.named(id).number
    database.write(lambda connection: connection.exec_driver_sql("PRAGMA wal_autocheckpoint=8")).result()
    stop, wrong = threading.Event(), []

    def read() -> None:
        seen = 0
        while not stop.is_set():
            try:
                with database.reading() as connection:
                    count = sa.select(sa.func.count()).select_from(tables.batch)
                    first = connection.execute(count).scalar_one()
                    latest = sa.select(tables.batch.c.records).order_by(tables.batch.c.seq.desc()).limit(5)
                    assert all(bytes(row.records) == REPORTS.tobytes() for row in connection.execute(latest))
                    assert connection.execute(count).scalar_one() == first >= seen
                seen = first
            except Exception as error:
                wrong.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for i in range(60):
        assert kept(database, *(arrival(number, REPORTS, seed=3 * i + j) for j in range(3))) == [Fate.KEPT] * 3
        if i % 5 == 0:
            fold(database, service)
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    fold(database, service)
    assert service.verify(id, who="tests")["equal"]
    assert service.estimate(id)["n"] == 180 * 500
    database.close()
    assert sorted(os.listdir(tmp_path)) == ["store.db", "store.db.lock"]  # the log is in the file
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*), count(DISTINCT id) FROM batch").fetchone() == (180, 180)


def test_a_full_store_takes_nothing_loses_nothing_and_goes_on(sqlite_database: Database, hand: HandClock) -> None:
    """A limit on the file's pages, which SQLite itself holds."""
    service = Service(sqlite_database, hand)
    id = opened_one(service)
    number = service.directory.named(id).number

    def limit(pages: int) -> None:
        sqlite_database.write(lambda c: c.exec_driver_sql(f"PRAGMA max_page_count={pages}").scalar_one()).result()

    limit(200)
    taken = []
    for seed in range(1000):
        try:
            assert kept(sqlite_database, arrival(number, REPORTS, seed=seed)) == [Fate.KEPT]
        except sa.exc.OperationalError:
            break
        taken.append(seed)
    assert 0 < len(taken) < 1000
    with pytest.raises(sa.exc.OperationalError, match="full"):
        kept(sqlite_database, arrival(number, REPORTS, seed=2000))
    limit(1 << 30)
    assert kept(sqlite_database, *(arrival(number, REPORTS, seed=seed) for seed in taken)) == [Fate.KNOWN] * len(taken)
    assert kept(sqlite_database, arrival(number, REPORTS, seed=len(taken))) == [Fate.KEPT]
    fold(sqlite_database, service)
    due = sum(SPEC.aggregate(REPORTS) for _ in range(len(taken) + 1))
    assert service.aggregate(id) == due.to_bytes()  # type: ignore[union-attr]


@pytest.mark.parametrize("keep", ["reports", "aggregates"])
def test_what_is_forgotten_is_nowhere_in_the_file(tmp_path: Path, hand: HandClock, keep: str) -> None:
    database = made_database(str(tmp_path / "store.db"))
    service = Service(database, hand)
    id = opened_one(service, horizon=0, keep=keep, keep_days=1)
    number = service.directory.named(id).number
    for seed, size in enumerate((1, 30, 500)):  # in a page of the table, and in pages of their own
        kept(database, arrival(number, REPORTS[:size], seed=seed))
    fold(database, service)
    hand.forward(5 * DAY)
    service.maintain()
    database.close()
    content = (tmp_path / "store.db").read_bytes()
    ids = [arrival(number, REPORTS, seed=seed).id for seed in range(3)]
    parts = [REPORTS[i : i + 4].tobytes() for i in range(0, 500, 4)]
    assert [each for each in [*ids, *parts] if each in content] == []


def test_a_store_is_for_its_owner_alone(sqlite_database: Database) -> None:
    path = Path(str(sqlite_database.url.database))
    for name in (path, f"{path}-wal", f"{path}-shm", f"{path}.lock"):
        assert stat.S_IMODE(os.stat(name).st_mode) == 0o600


def test_a_place_where_no_store_can_be_is_said(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="store must be in a folder that can be written"):
        Database(str(tmp_path / "nowhere" / "store.db"))
    (tmp_path / "folder").mkdir()
    database = Database(str(tmp_path / "folder"))
    with pytest.raises(ParameterError, match="store must be a database that can be reached and written"):
        schema.upgrade(database)
    database.close()


def test_a_number_is_never_given_twice(sqlite_database: Database, hand: HandClock) -> None:
    """What is pending is known by its number, and SQLite would give that of a deleted row again."""
    service = Service(sqlite_database, hand)
    id = opened_one(service, horizon=0, keep_days=1)
    number = service.directory.named(id).number
    seen = []
    for period in (0, 5, 10):
        kept(sqlite_database, arrival(number, REPORTS, seed=period, period=period))
        fold(sqlite_database, service)
        with sqlite_database.reading() as connection:
            seen += connection.execute(sa.select(tables.batch.c.seq)).scalars().all()
        hand.forward(5 * DAY)
        service.maintain()
    assert seen == [1, 2, 3]
