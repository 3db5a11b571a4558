"""Fixtures of the collector's tests."""

from tests.collecting import (  # noqa: F401
    database,
    hand,
    postgres,
    postgres_url,
    service,
    sqlite_database,
    store_url,
)
