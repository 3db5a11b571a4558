"""A copy of a store while it runs, and the store again from the copy."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from hush.collect.refusals import Refused
from hush.collect.service import Service
from hush.collect.store import schema
from hush.collect.store.backups import restored
from hush.collect.store.database import Database
from hush.collect.store.intake import Fate
from hush.collect.store.lock import StoreHeld
from hush.errors import HushError, ParameterError, SpecError
from tests.collecting import SPEC, HandClock, arrival, fold, kept, made_database, opened_one, reports_of, send

REPORTS = reports_of([0] * 50, seed=1)


@pytest.fixture
def service(sqlite_database: Database, hand: HandClock) -> Service:
    return Service(sqlite_database, hand)


def test_a_copy_is_one_moment_of_a_store_that_runs(
    service: Service, sqlite_database: Database, hand: HandClock, tmp_path: Path
) -> None:
    id = opened_one(service)
    number = service.directory.named(id).number
    stop = threading.Event()
    done: list[int] = []

    def write() -> None:
        while not stop.is_set():
            batches = [arrival(number, REPORTS, seed=len(done) * 8 + i) for i in range(8)]
            assert kept(sqlite_database, *batches) == [Fate.KEPT] * 8
            fold(sqlite_database, service)
            done.append(8)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for i in range(5):
            while len(done) < 3 * (i + 1):
                pass
            before = sum(done)
            service.backup(tmp_path / f"copy-{i}.db")
            after = sum(done) + 8
            again = made_database(str(tmp_path / f"copy-{i}.db"))
            other = Service(again, hand)
            batches = other.show(id, whole=True)["n"] / 50
            assert before <= batches <= after
            assert batches % 8 == 0  # whole transactions
            fold(again, other)
            assert other.verify(id, who="tests")["equal"]
            again.close()
    finally:
        stop.set()
        writer.join()


def test_a_restored_store_goes_on_where_the_copy_was_made(
    service: Service, sqlite_database: Database, hand: HandClock, tmp_path: Path
) -> None:
    id = opened_one(service)
    first = send(service, sqlite_database, id, REPORTS)
    fold(sqlite_database, service)
    service.backup(tmp_path / "copy.db")
    second = send(service, sqlite_database, id, REPORTS)
    sqlite_database.close()
    store = str(tmp_path / "store.db")
    with pytest.raises(ParameterError, match="must not be there before a copy is restored"):
        restored(tmp_path / "copy.db", store)
    restored(tmp_path / "copy.db", store, replace=True)
    again = made_database(store)
    assert kept(again, first, second) == [Fate.KNOWN, Fate.KEPT]
    other = Service(again, hand)
    fold(again, other)
    assert other.aggregate(id) == (SPEC.aggregate(REPORTS) + SPEC.aggregate(REPORTS)).to_bytes()
    again.close()


def test_a_log_that_was_left_behind_is_not_played_into_the_copy(
    service: Service, sqlite_database: Database, tmp_path: Path
) -> None:
    opened_one(service)
    service.backup(tmp_path / "copy.db")
    store = tmp_path / "other.db"
    store.write_bytes(b"an older store")
    log = Path(f"{store}-wal")
    log.write_bytes(Path(f"{sqlite_database.url.database}-wal").read_bytes())
    assert log.stat().st_size > 0
    restored(tmp_path / "copy.db", str(store), replace=True)
    assert not log.exists()
    again = Database(str(store))
    schema.upgrade(again)
    with again.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
    again.close()


def test_a_restore_that_does_not_end_leaves_the_old_store(
    service: Service, sqlite_database: Database, hand: HandClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that was killed left some of it in the log, which no rename takes along."""
    id = opened_one(service)
    service.backup(tmp_path / "copy.db")
    send(service, sqlite_database, id, REPORTS)
    store = tmp_path / "killed.db"
    for end in ("", "-wal"):
        Path(f"{store}{end}").write_bytes(Path(f"{sqlite_database.url.database}{end}").read_bytes())
    replace = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if target == store:
            raise KeyboardInterrupt
        return replace(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            restored(tmp_path / "copy.db", str(store), replace=True)
    again = made_database(str(store))
    assert Service(again, hand).show(id, whole=True)["n"] == 50
    again.close()
    restored(tmp_path / "copy.db", str(store), replace=True)
    again = made_database(str(store))
    assert Service(again, hand).show(id, whole=True)["n"] == 0
    again.close()


def test_a_copy_is_one_file_for_its_owner(service: Service, tmp_path: Path) -> None:
    copy = tmp_path / "copies" / "copy.db"
    copy.parent.mkdir()
    service.backup(copy)
    assert os.listdir(copy.parent) == ["copy.db"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_a_copy_goes_nowhere_else(service: Service, sqlite_database: Database, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="must be another file than the store"):
        service.backup(str(sqlite_database.url.database))
    with pytest.raises(Refused, match="must be a place where files can be written"):
        service.backup(tmp_path / "nowhere" / "copy.db")


def test_a_store_that_is_open_is_not_replaced(service: Service, sqlite_database: Database, tmp_path: Path) -> None:
    service.backup(tmp_path / "copy.db")
    with pytest.raises(StoreHeld, match="store must be open nowhere else"):
        restored(tmp_path / "copy.db", str(sqlite_database.url.database), replace=True)


def test_what_is_no_copy_is_not_restored(service: Service, tmp_path: Path) -> None:
    def refused(path: Path, words: str, kind: type[HushError] = ParameterError) -> None:
        with pytest.raises(kind, match=words):
            restored(path, str(tmp_path / "new.db"))
        assert not (tmp_path / "new.db").exists()

    refused(tmp_path / "none.db", "must be a file that exists")
    text = tmp_path / "text.db"
    text.write_text("no database" * 1000, encoding="utf-8")
    refused(text, "must be a copy of a store")
    sqlite3.connect(tmp_path / "empty.db").close()
    refused(tmp_path / "empty.db", "must be a copy of a store")
    opened_one(service)
    copy = tmp_path / "copy.db"
    service.backup(copy)
    later = tmp_path / "later.db"
    later.write_bytes(copy.read_bytes())
    with closing(sqlite3.connect(later)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    refused(later, "must be of version", SpecError)
    data = bytearray(copy.read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    copy.write_bytes(data)
    refused(copy, "intact|must be a copy of a store")


def test_a_copy_of_postgresql_is_another_programs(postgres_url: str, hand: HandClock, tmp_path: Path) -> None:
    database = made_database(postgres_url)
    with pytest.raises(Refused, match="use pg_dump"):
        Service(database, hand).backup(tmp_path / "copy.db")
    with pytest.raises(ParameterError, match="use pg_restore"):
        restored(tmp_path / "copy.db", postgres_url)
    database.close()
