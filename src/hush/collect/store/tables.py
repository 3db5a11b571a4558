"""The tables of a store, as they are now; `migrations` makes them, step by step from the first version.

No table says who sent a batch, from where, or when: only in which period. A batch that is not in any aggregate yet
stands in `pending`, which is written in the transaction of the batch itself and cleared in that of the aggregate. So
what is folded follows commits, in whatever order they come, and not numbers.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMES)
_BIG = BigInteger().with_variant(Integer, "sqlite")  # a rowid, which SQLite counts only under this name

collection = Table(
    "collection",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("spec", Text, nullable=False),
    Column("spec_hash", String(64), nullable=False),
    Column("status", String(8), nullable=False),
    Column("target_n", BigInteger),
    Column("wished_error", Float),
    Column("forced", Boolean, nullable=False),  # opened although the planner advised against it
    Column("predecessor", String(32)),
    Column("began", BigInteger),  # second at which period 0 began; none before it is open
    Column("ends", BigInteger),  # second from which it takes nothing any more
    Column("period_seconds", BigInteger, nullable=False),
    Column("horizon", Integer, nullable=False),  # how many periods a batch may be late
    Column("period", Integer, nullable=False),  # the latest that was handed out
    Column("pruned_below", Integer, nullable=False),  # periods whose batch ids are gone, and which are refused
    Column("forgotten_below", Integer, nullable=False),  # periods of which what was kept for so many days is gone
    Column("keep", String(10), nullable=False),
    Column("keep_days", Integer),
    Column("anyone_submits", Boolean, nullable=False),
    Column("relayed_only", Boolean, nullable=False),
    Column("public", Boolean, nullable=False),
    Column("release_floor", Integer, nullable=False),
)

batch = Table(
    "batch",
    metadata,
    Column("seq", _BIG, primary_key=True, autoincrement=True),
    Column("collection", Integer, ForeignKey("collection.number"), nullable=False),
    Column("period", Integer, nullable=False),
    Column("build", String(64), nullable=False),
    Column("id", LargeBinary(16), nullable=False),
    Column("digest", LargeBinary(32), nullable=False),
    Column("accepted", Integer, nullable=False),
    Column("records", LargeBinary),  # none where only aggregates are kept, once they are folded
    UniqueConstraint("collection", "id"),
    Index(None, "collection", "period"),  # what is pruned and rebuilt is found by it
    sqlite_autoincrement=True,  # a number is never given twice
)

pending = Table("pending", metadata, Column("seq", _BIG, primary_key=True, autoincrement=False))

aggregate = Table(
    "aggregate",
    metadata,
    Column("collection", Integer, ForeignKey("collection.number"), primary_key=True, autoincrement=False),
    Column("period", Integer, primary_key=True, autoincrement=False),
    Column("build", String(64), primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

exclusion = Table(
    "exclusion",
    metadata,
    Column("collection", Integer, ForeignKey("collection.number"), primary_key=True, autoincrement=False),
    Column("build", String(64), primary_key=True),
)

refusal = Table(
    "refusal",
    metadata,
    Column("collection", Integer, primary_key=True, autoincrement=False),  # 0 where it names none that there is
    Column("reason", String(32), primary_key=True),
    Column("number", BigInteger, nullable=False),
)

token = Table(
    "token",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("role", String(8), nullable=False),
    Column("collection", Integer, ForeignKey("collection.number")),  # none: of all
    Column("label", Text, nullable=False),
    Column("digest", LargeBinary(32), nullable=False),
    Column("expires", BigInteger),
)

deed = Table(
    "deed",
    metadata,
    Column("seq", _BIG, primary_key=True, autoincrement=True),
    Column("day", String(10), nullable=False),
    Column("who", Text, nullable=False),
    Column("what", String(32), nullable=False),
    Column("collection", String(32)),
    Column("detail", Text, nullable=False),
    sqlite_autoincrement=True,
)

mirror = Table(
    "mirror",
    metadata,
    Column("collection", Integer, ForeignKey("collection.number"), primary_key=True, autoincrement=False),
    Column("view", Text, nullable=False),  # what the collector tells of it; of relays' stores alone
)

outgoing = Table(
    "outgoing",
    metadata,
    Column("seq", _BIG, primary_key=True, autoincrement=True),
    Column("collection", Integer, ForeignKey("collection.number"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("content", LargeBinary, nullable=False),  # an envelope that a relay sends until it is acknowledged
    Column("unsure", Integer, nullable=False),  # tries of which nobody knows whether they came through
    sqlite_autoincrement=True,
)

relayed = Table(
    "relayed",
    metadata,
    Column("collection", Integer, ForeignKey("collection.number"), primary_key=True, autoincrement=False),
    Column("fate", String(16), primary_key=True),
    Column("number", BigInteger, nullable=False),
)

smallest = Table(
    "smallest",
    metadata,
    Column("collection", Integer, ForeignKey("collection.number"), primary_key=True, autoincrement=False),
    Column("number", Integer, nullable=False),  # reports of the smallest batch that came through a relay and is gone
)
