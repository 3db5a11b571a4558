"""Stores to measure with: a file for SQLite, or a PostgreSQL of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def store(name: str) -> Iterator[tuple[str, Path]]:
    """An empty store, and a folder on the same disk."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if name == "SQLite":
            yield str(folder / "store.db"), folder
            return
        import pgserver

        server = pgserver.get_server(folder / "postgres", cleanup_mode="stop")
        try:
            yield server.get_uri(), folder
        finally:
            server.cleanup()
