"""In PostgreSQL, records are kept as they are: they are noise, and to try whether they get smaller takes as long as to
write them.
"""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Let records be stored apart, and not compressed; those that are there stay as they are."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE batch ALTER COLUMN records SET STORAGE EXTERNAL")
