"""The tables of a store: made step by step from nothing, as the code says; and refused where they are later."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from hush.collect.store import schema
from hush.collect.store.database import Database, parsed
from hush.collect.store.tables import metadata
from hush.errors import ParameterError, SpecError


def steps() -> list[str]:
    """All versions, the first one first."""
    found = ScriptDirectory.from_config(schema._config()).walk_revisions()
    return [step.revision for step in found][::-1]


@pytest.fixture
def empty(store_url: str) -> Database:
    """A store without tables."""
    return Database(store_url)


def version(database: Database) -> str | None:
    with database.reading() as connection:
        return schema.version(connection)


def test_every_step_from_the_first_on_makes_what_the_code_says(empty: Database) -> None:
    try:
        for step in steps():
            schema.upgrade(empty, to=step)
            assert version(empty) == step
        assert version(empty) == schema.latest()
        with empty.reading() as connection:
            assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    finally:
        empty.close()


def test_steps_are_one_line_from_the_first() -> None:
    assert steps()[0] == "0001"
    assert ScriptDirectory.from_config(schema._config()).get_heads() == [schema.latest()]


def test_a_comparison_sees_what_is_missing(empty: Database) -> None:
    try:
        schema.upgrade(empty)
        empty.write(lambda connection: connection.execute(sa.text("DROP INDEX ix_batch_collection_period"))).result()
        with empty.reading() as connection:
            found = compare_metadata(MigrationContext.configure(connection), metadata)
        assert [each[0] for each in found] == ["add_index"]
    finally:
        empty.close()


def test_upgrading_twice_is_nothing(empty: Database) -> None:
    try:
        schema.upgrade(empty)
        schema.upgrade(empty)
        assert version(empty) == schema.latest()
    finally:
        empty.close()


def test_a_store_of_a_later_version_is_refused(empty: Database) -> None:
    try:
        schema.upgrade(empty)
        later = sa.text("UPDATE alembic_version SET version_num = '9999'")
        empty.write(lambda connection: connection.execute(later)).result()
        with pytest.raises(SpecError, match=r"store must be of version .* or earlier, got '9999'; upgrade hush"):
            schema.upgrade(empty)
    finally:
        empty.close()


def test_a_step_that_fails_leaves_the_store_as_it_was(empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    from hush.collect.store.migrations.versions import v0001_first

    real = v0001_first.op.create_index

    def broken(*given: object, **named: object) -> None:
        raise sa.exc.OperationalError("", {}, Exception("disk full"))

    try:
        monkeypatch.setattr("alembic.op.create_index", broken)
        with pytest.raises(ParameterError, match="store must be a database that can be reached and written"):
            schema.upgrade(empty)
        assert version(empty) is None
        monkeypatch.setattr("alembic.op.create_index", real)
        schema.upgrade(empty)
        assert version(empty) == schema.latest()
    finally:
        empty.close()


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database at all, but long enough to look at" * 100, encoding="utf-8")
    database = Database(str(path))
    with pytest.raises(ParameterError, match=r"store must be a database .*file is not a database"):
        schema.upgrade(database)
    database.close()
    assert path.read_text(encoding="utf-8").startswith("no database at all")


def test_a_server_that_is_not_there_is_said_without_its_password() -> None:
    database = Database("postgresql://hush:secret@127.0.0.1:1/nothing")
    with pytest.raises(ParameterError, match="store must be a database that can be reached") as refused:
        schema.upgrade(database)
    database.close()
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "mysql://root:secret@host/db",
        "sqlite://",
        "sqlite:///:memory:",
        "redis://x",
        "postgresql://a:secret@host:port/x",
    ],
)
def test_another_database_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ParameterError, match="store must be a file") as refused:
        Database(url)
    assert "secret" not in str(refused.value)


def test_a_path_may_be_called_as_it_likes(tmp_path: Path) -> None:
    path = tmp_path / "a b?c%20d#e.db"
    database = Database(str(path))
    schema.upgrade(database)
    assert version(database) == schema.latest()
    database.close()
    assert path.exists()
    assert parsed(f"sqlite:///{tmp_path}/x.db").database == str(tmp_path / "x.db")
