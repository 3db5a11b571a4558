"""A real PostgreSQL for tests: one server a process, a database of its own for each test.

`pgserver` brings the server; as root it runs it as the user `pgserver`, whom it makes, and who must be able to enter
the folder. It has no wheel for Python 3.13 and later, and tests of PostgreSQL are left out there, and only there.
"""

from __future__ import annotations

import fcntl
import secrets
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

WHY_NOT = "pgserver has no wheel for this Python"
HAS_WHEEL = sys.version_info < (3, 13)


@contextmanager
def running() -> Iterator[Any]:
    """A server, with a folder that is gone afterwards."""
    if not HAS_WHEEL:
        pytest.skip(WHY_NOT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where XDG_RUNTIME_DIR is not set, it says so
        import pgserver

    folder = Path(tempfile.mkdtemp(prefix="hush-postgres-"))
    folder.chmod(0o755)
    try:
        with _one_at_a_time():  # two who make the same user at once fail, and one may leave the list of users locked
            started = pgserver.get_server(folder / "data", cleanup_mode="stop")
        with started as server:
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    with open(Path(tempfile.gettempdir(), "hush-postgres.lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """The server that tests share; it does not wait for the disk, since no test cuts the power."""
    with running() as server:
        server.psql("ALTER SYSTEM SET fsync = off")
        server.psql("SELECT pg_reload_conf()")
        yield server


def new_database(server: Any) -> str:
    """The address of a new, empty database."""
    name = f"hush_{secrets.token_hex(8)}"
    server.psql(f"CREATE DATABASE {name}")
    return str(server.get_uri(name))


def drop_database(server: Any, url: str) -> None:
    """Drop it, whoever is still connected."""
    name = url.partition("@/")[2].partition("?")[0]
    server.psql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgres_url(postgres: Any) -> Iterator[str]:
    """A database of PostgreSQL for one test."""
    url = new_database(postgres)
    yield url
    drop_database(postgres, url)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store, once of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    return str(request.getfixturevalue("postgres_url"))
