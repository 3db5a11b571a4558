"""The first version of the store."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_BIG = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "collection",
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("spec_hash", sa.String(64), nullable=False),
        sa.Column("status", sa.String(8), nullable=False),
        sa.Column("target_n", sa.BigInteger),
        sa.Column("wished_error", sa.Float),
        sa.Column("forced", sa.Boolean, nullable=False),
        sa.Column("predecessor", sa.String(32)),
        sa.Column("began", sa.BigInteger),
        sa.Column("ends", sa.BigInteger),
        sa.Column("period_seconds", sa.BigInteger, nullable=False),
        sa.Column("horizon", sa.Integer, nullable=False),
        sa.Column("period", sa.Integer, nullable=False),
        sa.Column("pruned_below", sa.Integer, nullable=False),
        sa.Column("forgotten_below", sa.Integer, nullable=False),
        sa.Column("keep", sa.String(10), nullable=False),
        sa.Column("keep_days", sa.Integer),
        sa.Column("anyone_submits", sa.Boolean, nullable=False),
        sa.Column("relayed_only", sa.Boolean, nullable=False),
        sa.Column("public", sa.Boolean, nullable=False),
        sa.Column("release_floor", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_collection"),
        sa.UniqueConstraint("id", name="uq_collection_id"),
    )
    op.create_table(
        "batch",
        sa.Column("seq", _BIG, primary_key=True, autoincrement=True, nullable=False),
        sa.Column("collection", sa.Integer, nullable=False),
        sa.Column("period", sa.Integer, nullable=False),
        sa.Column("build", sa.String(64), nullable=False),
        sa.Column("id", sa.LargeBinary(16), nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("accepted", sa.Integer, nullable=False),
        sa.Column("records", sa.LargeBinary),
        sa.ForeignKeyConstraint(["collection"], ["collection.number"], name="fk_batch_collection"),
        sa.PrimaryKeyConstraint("seq", name="pk_batch"),
        sa.UniqueConstraint("collection", "id", name="uq_batch_collection_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_batch_collection_period", "batch", ["collection", "period"])
    op.create_table(
        "pending",
        sa.Column("seq", _BIG, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_pending"),
    )
    op.create_table(
        "aggregate",
        sa.Column("collection", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("period", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("build", sa.String(64), nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["collection"], ["collection.number"], name="fk_aggregate_collection"),
        sa.PrimaryKeyConstraint("collection", "period", "build", name="pk_aggregate"),
    )
    op.create_table(
        "exclusion",
        sa.Column("collection", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("build", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(["collection"], ["collection.number"], name="fk_exclusion_collection"),
        sa.PrimaryKeyConstraint("collection", "build", name="pk_exclusion"),
    )
    op.create_table(
        "refusal",
        sa.Column("collection", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("reason", sa.String(32), nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("collection", "reason", name="pk_refusal"),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("role", sa.String(8), nullable=False),
        sa.Column("collection", sa.Integer),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("expires", sa.BigInteger),
        sa.ForeignKeyConstraint(["collection"], ["collection.number"], name="fk_token_collection"),
        sa.PrimaryKeyConstraint("id", name="pk_token"),
    )
    op.create_table(
        "deed",
        sa.Column("seq", _BIG, primary_key=True, autoincrement=True, nullable=False),
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("what", sa.String(32), nullable=False),
        sa.Column("collection", sa.String(32)),
        sa.Column("detail", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_deed"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "mirror",
        sa.Column("collection", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("view", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["collection"], ["collection.number"], name="fk_mirror_collection"),
        sa.PrimaryKeyConstraint("collection", name="pk_mirror"),
    )
    op.create_table(
        "outgoing",
        sa.Column("seq", _BIG, primary_key=True, autoincrement=True, nullable=False),
        sa.Column("collection", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("unsure", sa.Integer, nullable=False),
        sa.ForeignKeyConstraint(["collection"], ["collection.number"], name="fk_outgoing_collection"),
        sa.PrimaryKeyConstraint("seq", name="pk_outgoing"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "relayed",
        sa.Column("collection", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("fate", sa.String(16), nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["collection"], ["collection.number"], name="fk_relayed_collection"),
        sa.PrimaryKeyConstraint("collection", "fate", name="pk_relayed"),
    )
    op.create_table(
        "smallest",
        sa.Column("collection", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.ForeignKeyConstraint(["collection"], ["collection.number"], name="fk_smallest_collection"),
        sa.PrimaryKeyConstraint("collection", name="pk_smallest"),
    )
