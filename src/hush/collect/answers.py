"""What a collection says so far: estimates as JSON, the same as `hush estimate --json` gives of its reports."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from hush.collect.managing import refusing
from hush.collect.refusals import Refused
from hush.collect.store import aggregates
from hush.collect.store.collections import StoredCollection
from hush.errors import NOTHING, message
from hush.estimation import Aggregate, intervals
from hush.files import estimates, means
from hush.files.collections import Collection
from hush.files.folding import nothing
from hush.files.periods import PERIOD
from hush.rules import integer
from hush.strict_json import plain

RANDOMNESS = ["unknown"]
"""Where clients' randomness comes from, a server cannot know."""


def over_time(collection: StoredCollection) -> bool:
    """Whether people keep their answers, so that periods must be estimated one by one."""
    return bool(collection.parsed.mechanism.kind == "longitudinal")


def parts_of(connection: sa.Connection, collection: StoredCollection, *, period: int | None) -> dict[Any, Aggregate]:
    """What is estimated from: one aggregate, or over time one for each period, where none is named."""
    with refusing():
        _checked(period)
    if over_time(collection) and period is None:
        return dict(aggregates.by_period(connection, collection))
    return {None: aggregates.together(connection, collection, period=period)}


def estimated(
    collection: StoredCollection, parts: dict[Any, Aggregate], *, period: int | None, level: float
) -> dict[str, Any]:
    """The estimate of one period, or of all; over time, one for each period."""
    with refusing():
        intervals.tail(level)
    course = over_time(collection) and period is None
    found = Collection(collection.parsed, parts, RANDOMNESS, None if period is None else str(period))
    by = PERIOD if course else None
    empty = not any(part.n for part in parts.values())
    if empty:
        head = Collection(collection.parsed, {None: nothing(collection.parsed)}, RANDOMNESS, found.period).to_dict()
        return {**head, "level": level, **({"by": by, "groups": []} if course else {"estimate": None})}
    if collection.parsed.mechanism.kind == "numeric":
        return _plain(means.as_dict(found, means.means_of(found, level), by, level))
    settings = estimates.EstimateSettings(level, False, None)
    return _plain(estimates.as_dict(found, estimates.results_of(found, settings), by, settings))


def aggregated(connection: sa.Connection, collection: StoredCollection, *, period: int | None) -> bytes:
    """The aggregate of one period, or of all, as `hush estimate` reads it."""
    with refusing():
        _checked(period)
    if over_time(collection) and period is None:
        rule = "must be given where people keep their answers: reports of several periods are not independent"
        raise Refused("parameter", message("period", rule, NOTHING, "name one period"))
    return aggregates.together(connection, collection, period=period).to_bytes()


def _checked(period: int | None) -> None:
    if period is not None:
        integer("period", period, 0, (1 << 31) - 1, "name one that the server handed out")


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = plain(data)
    return found
