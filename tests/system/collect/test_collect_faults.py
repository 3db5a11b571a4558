"""A real server whose disk is full, or whose database is gone: nothing is lost, and it goes on."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from hush.collect.envelope import new_id
from tests.collectors import Opened, Served, in_process, in_thread, opened
from tests.postgres import new_database, running
from tests.waiting import wait_until

pytestmark = pytest.mark.nightly

VALUES = [0, 1, 2, 3] * 100
LOOKING = {"hush.collect.server.health._FRESH_SECONDS": -1.0}
"""Whether a server is ready is looked at whenever someone asks, and not once a second."""


def sent(served: Served, to: Opened, most: int) -> tuple[list[bytes], bytes | None, httpx.Response | None]:
    """Send batches until one is not taken: those that were, the one that was not, and the answer to it."""
    taken: list[bytes] = []
    for _ in range(most):
        data = to.body(VALUES, batch=new_id())
        answer = served.send(to, data)
        if answer.status_code != 200:
            return taken, data, answer
        taken.append(data)
    return taken, None, None


def ready(served: Served, status: int) -> None:
    """Whoever asks three times whether the server is ready is told so: it does not come and go.

    The server must look anew whenever it is asked (`LOOKING`).
    """
    wait_until(lambda: served.ask("GET", "/readyz").status_code == status)
    for _ in range(2):
        assert served.ask("GET", "/readyz").status_code == status


def goes_on(served: Served, to: Opened, taken: list[bytes], refused: bytes) -> None:
    """All that was acknowledged is there once, and what was not can be sent again."""
    answer = served.send(to, refused)
    assert answer.status_code == 200, answer.text
    for data in taken:
        assert served.send(to, data).status_code == 200
    told = served.settled(to, (len(taken) + 1) * len(VALUES))
    assert told["n"] == (len(taken) + 1) * len(VALUES)
    verified = served.ask("POST", f"{to.path}/verify")
    assert (verified.json()["equal"], verified.json()["n"]) == (True, told["n"])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets one set another process's limits")
def test_a_limit_on_files_is_a_full_disk_to_the_server(tmp_path: Path) -> None:
    """The kernel refuses to write beyond a size, until it does not any more."""
    with in_process(tmp_path, constants=LOOKING) as served:
        to = opened(served)
        first, refused, _ = sent(served, to, 5)
        assert (len(first), refused) == (5, None)
        size = max(path.stat().st_size for path in tmp_path.iterdir())
        assert served.process is not None
        before = resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (size + 100_000, before[1]))
        more, refused, answer = sent(served, to, 500)
        assert refused is not None, "the disk was never full"
        assert answer is not None
        assert (answer.status_code, answer.json()["reason"]) == (503, "store")
        assert int(answer.headers["Retry-After"]) > 0
        assert served.ask("GET", f"{to.path}/estimate").status_code == 200  # reading goes on
        ready(served, 503)
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, before)
        ready(served, 200)
        goes_on(served, to, [*first, *more], refused)


def test_a_disk_that_has_room_for_little_is_full_to_whoever_asks_whether_it_is_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch does not fit, while all that is small does: what is asked for each second, say, and what is counted."""
    for name, seconds in LOOKING.items():
        monkeypatch.setattr(name, seconds)
    with in_thread(tmp_path) as served:
        assert served.server is not None
        database, to = served.server.database, opened(served)
        assert served.send(to, to.body([0])).status_code == 200
        served.settled(to, 1)

        def limit(pages: int) -> None:
            database.write(lambda c: c.exec_driver_sql(f"PRAGMA max_page_count={pages}").scalar_one()).result()

        def told(what: str) -> int:
            return int(database.write(lambda c: c.exec_driver_sql(f"PRAGMA {what}").scalar_one()).result())

        limit(told("page_count") + 100_000 // told("page_size"))
        answer = served.send(to, to.body(VALUES * 100))
        assert (answer.status_code, answer.json()["reason"]) == (503, "store")
        ready(served, 503)
        assert served.send(to, to.body([0])).status_code == 200  # which fits
        ready(served, 200)
        assert served.send(to, to.body(VALUES * 100)).status_code == 503
        ready(served, 503)
        limit(1 << 30)
        ready(served, 200)  # though nobody has sent anything
        with database.reading() as connection:
            assert "tried" not in sa.inspect(connection).get_table_names()


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A file system of 2 MB, where one may be mounted."""
    asked = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_takes_nothing_loses_nothing_and_goes_on(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk), in_process(tmp_path, constants=LOOKING, store=str(disk / "store.db")) as served:
        to = opened(served)
        first, refused, _ = sent(served, to, 5)
        assert (len(first), refused) == (5, None)
        ballast = disk / "ballast"
        with ballast.open("wb", buffering=0) as file:
            while shutil.disk_usage(disk).free:
                file.write(bytes(min(65536, shutil.disk_usage(disk).free)))
        more, refused, answer = sent(served, to, 500)
        assert refused is not None
        assert answer is not None
        assert (answer.status_code, answer.json()["reason"]) == (503, "store")
        ready(served, 503)
        ballast.unlink()
        ready(served, 200)
        goes_on(served, to, [*first, *more], refused)


def stopped(server: Any) -> None:
    """Stop PostgreSQL at once, as a crash would."""
    from pgserver._commands import pg_ctl

    pg_ctl(["-w", "-m", "immediate", "stop"], pgdata=server.pgdata, user=server.system_user)


def test_a_database_that_goes_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hush.collect.server.chores.LONGEST_WAIT", 0.1)
    with running() as postgres, in_thread(tmp_path, store=new_database(postgres)) as served:
        to = opened(served)
        first, refused, _ = sent(served, to, 5)
        assert (len(first), refused) == (5, None)
        served.settled(to, 5 * len(VALUES))
        stopped(postgres)
        for _ in range(2):
            _, refused, answer = sent(served, to, 1)
            assert refused is not None
            assert answer is not None
            assert (answer.status_code, answer.json()["reason"]) == (503, "store")
        assert served.ask("GET", f"{to.path}/estimate").json()["reason"] == "store"
        assert served.ask("GET", "/readyz").status_code == 503
        assert served.ask("GET", "/healthz").status_code == 200
        postgres.ensure_postgres_running()
        goes_on(served, to, first, refused)
        counted = served.ask("GET", f"{to.path}/refusals").json()
        assert counted["store"] >= 2  # counted all the same
