"""Copies of a store in a file: one moment of it, while it runs, and back again."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

from hush.atomic import replacing
from hush.collect.store.database import Database
from hush.errors import ParameterError, Unsaid, message


def copied(database: Database, path: Path) -> None:
    """Write a copy, as of now; readers and the writer go on meanwhile."""
    if not database.embedded:
        rule, got = "must be a store in a file", Unsaid("PostgreSQL")
        raise ParameterError(message("backup", rule, got, "use pg_dump, which copies one moment, too"))
    with replacing(path) as part, database.reading() as connection:
        os.close(os.open(part, os.O_CREAT | os.O_RDWR, 0o600))
        target = sqlite3.connect(part)
        try:
            source: Any = connection.connection.driver_connection
            source.backup(target)
        finally:
            target.close()
