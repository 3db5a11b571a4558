"""What is acknowledged is on the disk: the log is synced between the batch's last byte and the answer.

Killing a process does not test that, since the system keeps what was written. So the system calls of a real server are
looked at, where that is allowed; and everywhere SQLite's own sync of its log is made to fail and to be counted.
"""

from __future__ import annotations

import asyncio
import ctypes
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hush.collect.envelope import new_id
from hush.collect.refusals import Refused
from hush.collect.server.grouping import GroupCommit
from hush.collect.server.measures import Measures
from hush.collect.service import Service
from hush.collect.store.database import Database
from hush.collect.store.intake import Fate
from tests.collecting import HandClock, arrival, fold, opened_one, reports_of
from tests.collectors import in_process, opened

BATCHES = 12
REPORTS = reports_of([0] * 100, seed=1)
_CALLS = "pwrite64,fdatasync,fsync,write,writev,sendto,sendmsg"


def traceable() -> None:
    """Skip where no process may look at another one's system calls."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("there is no strace here")
    done = subprocess.run([strace, "-o", "/dev/null", "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"strace may not look here: {done.stderr.strip().splitlines()[-1]}")


def escaped(data: bytes) -> str:
    """Bytes as strace writes them."""
    return "".join(f"\\x{byte:02x}" for byte in data)


def synced_before_answer(lines: list[str], batch: str) -> bool:
    """Whether the log was synced after the batch was written to it, and before its id was sent to whoever asked."""
    log = "<[^>]*" + re.escape(escaped(b"store.db-wal")) + ">"
    written = [
        i
        for i, line in enumerate(lines)
        if re.search(rf"pwrite64\(\d+{log}", line) and escaped(bytes.fromhex(batch)) in line
    ]
    answered = [
        i
        for i, line in enumerate(lines)
        if re.search(r"(write|writev|sendto|sendmsg)\(\d+<(TCP|socket)", line) and escaped(batch.encode()) in line
    ]
    assert len(answered) == 1
    before = [i for i in written if i < answered[0]]
    assert before, "it was answered before it was written"
    thread = lines[before[-1]].split()[0]
    done = rf"^{thread} +(?:(?:fdatasync|fsync)\(\d+{log}|<\.\.\. (?:fdatasync|fsync) resumed>).*= 0$"
    return any(re.search(done, line) for line in lines[before[-1] : answered[0]])


def test_a_real_server_syncs_its_log_before_each_answer(tmp_path: Path) -> None:
    traceable()
    trace = tmp_path / "trace.txt"
    under = ["strace", "-D", "-f", "-yy", "-xx", "-s", "65536", "-e", f"trace={_CALLS}", "-o", str(trace)]
    ids = [new_id() for _ in range(BATCHES)]
    with in_process(tmp_path, under=under) as served:
        to = opened(served)
        for batch in ids:
            assert served.send(to, to.body([0, 1, 2, 3] * 10, batch=batch)).status_code == 200
        served.settled(to, 40 * BATCHES)
    lines = trace.read_text().splitlines()
    assert [synced_before_answer(lines, batch) for batch in ids] == [True] * BATCHES


def test_the_look_at_system_calls_sees_what_is_missing() -> None:
    batch = "ab" * 16
    log, other = f"9<{escaped(b'/x/store.db-wal')}>", f"9<{escaped(b'/x/store.db')}>"
    write = f'7 pwrite64({log}, "{escaped(bytes.fromhex(batch))}", 4096, 0) = 4096'
    sync, elsewhere = f"7 fdatasync({log}) = 0", f"7 fdatasync({other}) = 0"
    failed = f"7 fdatasync({log}) = -1 EIO (Input/output error)"
    answer = f'6 sendto(5<TCP:[1]>, "{escaped(batch.encode())}", 99, 0, NULL, 0) = 99'
    assert synced_before_answer([write, sync, answer], batch)
    assert not synced_before_answer([write, elsewhere, answer], batch)
    assert not synced_before_answer([write, failed, answer], batch)
    assert not synced_before_answer([sync, write, answer], batch)
    assert not synced_before_answer([write, answer, sync], batch)
    with pytest.raises(AssertionError, match="answered before it was written"):
        synced_before_answer([answer, write, sync], batch)


# SQLite asks the file of its log to be synced through a table of methods, of which it is given a changed copy.

_XSYNC = 5  # version, close, read, write, truncate, sync: the place of xSync in sqlite3_io_methods
_POINTERS = 19
_JOURNAL = 28  # SQLITE_FCNTL_JOURNAL_POINTER: the log, in WAL mode
_FAILED = 1034  # SQLITE_IOERR_FSYNC
_SYNC = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)


class Watched:
    """The log of a database, whose syncs are counted, and fail when they are told to."""

    def __init__(self, connection: Any, seen: Callable[[], None]) -> None:
        import _sqlite3

        try:
            control = ctypes.CDLL(_sqlite3.__file__).sqlite3_file_control
        except (AttributeError, OSError):
            pytest.skip("this Python's SQLite hides its functions")
        handle = ctypes.c_void_p.from_address(id(connection) + object.__basicsize__)
        file = ctypes.c_void_p()
        control.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
        assert control(handle, b"main", _JOURNAL, ctypes.byref(file)) == 0
        assert file.value is not None
        self._methods = ctypes.c_void_p.from_address(file.value)
        self._own = self._methods.value
        table = (ctypes.c_void_p * _POINTERS).from_address(self._own or 0)
        real = _SYNC(table[_XSYNC] or 0)
        self.failing = False

        def sync(this: int, flags: int) -> int:
            if self.failing:
                return _FAILED
            done = int(real(this, flags))
            seen()
            return done

        self._callback = _SYNC(sync)
        self._table = (ctypes.c_void_p * _POINTERS)(*table)
        self._table[_XSYNC] = ctypes.cast(self._callback, ctypes.c_void_p).value
        self._methods.value = ctypes.addressof(self._table)

    def leave(self) -> None:
        """Give the file its own methods again."""
        self._methods.value = self._own


@pytest.fixture
def watched(sqlite_database: Database, hand: HandClock) -> Any:
    """The syncs of a store's log, in the order of what happens, and a collection."""
    service = Service(sqlite_database, hand)
    id = opened_one(service)
    happened: list[str] = []

    def watch(connection: Any) -> Watched:
        return Watched(connection.connection.driver_connection, lambda: happened.append("synced"))

    found = sqlite_database.write(watch).result()
    yield found, happened, service, id
    found.leave()


def test_every_batch_waits_for_a_sync_of_the_log(sqlite_database: Database, watched: Any) -> None:
    _, happened, service, id = watched
    number = service.directory.named(id).number

    async def one_by_one() -> None:
        groups = GroupCommit(sqlite_database, Measures())
        for seed in range(10):
            assert await groups.keep(arrival(number, REPORTS, seed=seed)) is Fate.KEPT
            happened.append("answered")

    asyncio.run(one_by_one())
    assert happened == ["synced", "answered"] * 10


def test_a_batch_whose_sync_fails_is_not_acknowledged_and_may_come_again(
    sqlite_database: Database, watched: Any
) -> None:
    log, happened, service, id = watched
    number = service.directory.named(id).number

    async def keep(seed: int) -> Fate:
        return await GroupCommit(sqlite_database, Measures()).keep(arrival(number, REPORTS, seed=seed))

    assert asyncio.run(keep(1)) is Fate.KEPT
    log.failing = True
    with pytest.raises(Refused) as refused:
        asyncio.run(keep(2))
    assert refused.value.reason.code == "store"
    log.failing = False
    happened.clear()
    assert asyncio.run(keep(2)) is Fate.KEPT
    assert happened == ["synced"]
    assert asyncio.run(keep(1)) is Fate.KNOWN
    assert fold(sqlite_database, service) == 2
    assert service.verify(id, who="tests")["equal"]
    assert service.estimate(id)["n"] == 200
