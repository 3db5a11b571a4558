"""Collections as the store has them: what one is, and how it comes to be, opens, closes and is followed by another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from hush.collect.envelope import longest_body
from hush.collect.refusals import Refused
from hush.collect.store import tables
from hush.errors import Unsaid, message
from hush.files.folding import nothing
from hush.mechanisms.spec import Spec

DRAFT, OPEN, CLOSED = "draft", "open", "closed"
REPORTS, AGGREGATES = "reports", "aggregates"
DAY = 86_400


@dataclass(frozen=True)
class StoredCollection:
    """A row of the table of collections; see there."""

    number: int
    id: str
    name: str
    spec: str
    spec_hash: str
    status: str
    target_n: int | None
    wished_error: float | None
    forced: bool
    predecessor: str | None
    began: int | None
    ends: int | None
    period_seconds: int
    horizon: int
    period: int
    pruned_below: int
    forgotten_below: int
    keep: str
    keep_days: int | None
    anyone_submits: bool
    relayed_only: bool
    public: bool
    release_floor: int

    @cached_property
    def parsed(self) -> Spec:
        """The spec itself."""
        return Spec.from_json(self.spec)

    @cached_property
    def one_round(self) -> Spec:
        """The spec of reports that are tallied together."""
        return self.parsed.one_round

    @cached_property
    def tally_bytes(self) -> int:
        """How large an aggregate is."""
        return int(nothing(self.parsed).tally.nbytes)

    @cached_property
    def longest_body(self) -> int:
        """Bytes of the longest batch."""
        return longest_body(self.parsed.mechanism.report_dtype.itemsize)

    @property
    def oldest_period(self) -> int:
        """The first period whose batches are still taken."""
        return max(self.pruned_below, self.period - self.horizon, 0)

    def period_at(self, second: float) -> int:
        """The period of a moment; never one before the latest that was handed out, whatever a clock says."""
        if self.began is None:
            return self.period
        return max(self.period, int((second - self.began) // self.period_seconds))


_FIELDS = [field.name for field in fields(StoredCollection)]
_DERIVED = {name for name, value in vars(StoredCollection).items() if isinstance(value, cached_property)}
_WITHOUT_SPEC = sa.select(*(column for column in tables.collection.c if column.name != "spec"))
Known = Mapping[str, StoredCollection]
"""Collections that were read before, by id."""
_NONE: Known = {}


def listed(connection: sa.Connection, known: Known = _NONE) -> list[StoredCollection]:
    """All collections, the oldest first; specs that are known are neither read nor parsed again."""
    rows = connection.execute(_WITHOUT_SPEC.order_by(tables.collection.c.number)).all()
    return [_completed(connection, row, known) for row in rows]


def found(connection: sa.Connection, id: str, known: Known = _NONE) -> StoredCollection:
    """The collection of that id."""
    row = connection.execute(_WITHOUT_SPEC.where(tables.collection.c.id == id)).one_or_none()
    if row is None:
        rule, remedy = "must be that of a collection", "see `hush collection list`"
        raise Refused("unknown", message("id", rule, Unsaid("an unknown one"), remedy))
    return _completed(connection, row, known)


def _completed(connection: sa.Connection, row: sa.Row[Any], known: Known) -> StoredCollection:
    """A collection of all columns but its spec."""
    before = known.get(row.id)
    if before is not None and before.spec_hash == row.spec_hash:
        made = StoredCollection(spec=before.spec, **row._mapping)
        made.__dict__.update({name: before.__dict__[name] for name in _DERIVED & before.__dict__.keys()})
        return made
    c = tables.collection.c
    spec = connection.execute(sa.select(c.spec).where(c.number == row.number)).scalar_one()
    return StoredCollection(spec=spec, **row._mapping)


def inserted(connection: sa.Connection, **values: Any) -> StoredCollection:
    """A new collection with these values."""
    row = connection.execute(sa.insert(tables.collection).values(**values).returning(tables.collection)).one()
    return _of(row)


def changed(connection: sa.Connection, number: int, **values: Any) -> StoredCollection:
    """A collection with other values; never another spec once it has been open."""
    where = tables.collection.c.number == number
    row = connection.execute(sa.update(tables.collection).where(where).values(**values).returning(tables.collection))
    return _of(row.one())


def followed(connection: sa.Connection, id: str) -> bool:
    """Whether any collection follows this one."""
    c = tables.collection.c
    return connection.execute(sa.select(c.number).where(c.predecessor == id).limit(1)).first() is not None


def deleted(connection: sa.Connection, number: int) -> None:
    """A collection that nobody has reported to is gone, with all that is about it alone.

    Its number may be that of the next one, so nothing may stay that goes by it.
    """
    for table in (tables.token, tables.exclusion, tables.refusal):
        connection.execute(sa.delete(table).where(table.c.collection == number))
    connection.execute(sa.delete(tables.collection).where(tables.collection.c.number == number))


def chain(connection: sa.Connection, id: str) -> list[str]:
    """The collection and those before it that it follows, the first one last."""
    ids = [id]
    while (before := found(connection, ids[-1]).predecessor) is not None:
        ids.append(before)
    return ids


def _of(row: Iterable[Any]) -> StoredCollection:
    return StoredCollection(**dict(zip(_FIELDS, row, strict=True)))
