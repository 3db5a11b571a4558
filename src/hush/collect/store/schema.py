"""Which version of its tables a store has, and the way from there to this one."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from hush.collect.store.database import Database
from hush.errors import ParameterError, SpecError, Unsaid, cause, message

_STEPS = Path(__file__).with_name("migrations")
_UPGRADING = 0x48555349  # the number of an advisory lock


def latest() -> str:
    """The version of this code."""
    found = ScriptDirectory.from_config(_config()).get_current_head()
    assert found is not None
    return found


def version(connection: sa.Connection) -> str | None:
    """The version of a store; None of an empty one."""
    return MigrationContext.configure(connection).get_current_revision()


def upgrade(database: Database, *, to: str = "head") -> None:
    """Bring a store to a version, by default this code's; one that a later version wrote is refused."""
    try:
        database.write(lambda connection: _upgrade(connection, to)).result()
    except sa.exc.DBAPIError as error:
        rule, got = (
            "must be a database that can be reached and written",
            Unsaid(cause(error.orig or error)),
        )
        raise ParameterError(message("store", rule, got, "check its address, and that it runs")) from error


def _upgrade(connection: sa.Connection, to: str) -> None:
    if connection.dialect.name != "sqlite":
        connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_UPGRADING})"))
    readable(version(connection))
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def readable(there: str | None) -> None:
    """Refuse the version of a store that this code does not know."""
    known = {step.revision for step in ScriptDirectory.from_config(_config()).walk_revisions()}
    if there is not None and there not in known:
        rule = f"must be of version {latest()} or earlier"
        raise SpecError(message("store", rule, there, "upgrade hush, or restore a copy from before"))


def _config() -> Config:
    made = Config()
    made.set_main_option("script_location", str(_STEPS).replace("%", "%%"))
    made.set_main_option("path_separator", "os")
    return made
