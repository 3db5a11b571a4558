"""In SQLite, a batch is noted as pending by the table itself: one statement keeps it, and is the whole transaction."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the trigger."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE TRIGGER batch_is_pending AFTER INSERT ON batch BEGIN INSERT INTO pending VALUES (new.seq); END"
        )
