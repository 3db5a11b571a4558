"""A collection as others see it: what anyone may know, and what those who run it do."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from hush.collect import shuffled
from hush.collect.directory import Directory
from hush.collect.store import kept, refusing, tables
from hush.collect.store.collections import AGGREGATES, CLOSED, StoredCollection


def public(directory: Directory, collection: StoredCollection, period: int) -> dict[str, Any]:
    """What anyone may see: how a collection is described, and its spec."""
    return {**described(directory, collection, period), "spec": json.loads(collection.spec)}


def encoded(told: dict[str, Any], collection: StoredCollection) -> bytes:
    """What is told of a collection, as JSON, with its spec as it is kept: that may be large, and is not read again."""
    return f'{json.dumps(told)[:-1]}, "spec": {collection.spec}}}'.encode()


def described(directory: Directory, collection: StoredCollection, period: int) -> dict[str, Any]:
    """What anyone may see beside the spec.

    Args:
        directory: Where those before it are.
        collection: Which one.
        period: The one that is handed out.
    """
    ended = collection.ends is not None and directory.clock.now() >= collection.ends
    return {
        "id": collection.id,
        "name": collection.name,
        "status": CLOSED if ended else collection.status,
        "spec_hash": collection.spec_hash,
        "period": period,
        "oldest_period": max(collection.pruned_below, period - collection.horizon, 0),
        "period_seconds": collection.period_seconds,
        "horizon": collection.horizon,
        "ends": collection.ends,
        "predecessor": collection.predecessor,
        "chain": chain(directory, collection),
        "needs_key": collection.relayed_only or not collection.anyone_submits,
        "relayed_only": collection.relayed_only,
        "public": collection.public,
        "release_floor": collection.release_floor,
    }


def chain(directory: Directory, collection: StoredCollection) -> list[str]:
    """The ids of a collection and all it follows, the first one last."""
    ids = [collection.id]
    while (before := directory.named(ids[-1]).predecessor) is not None:
        ids.append(before)
    return ids


def whole(
    connection: sa.Connection,
    collections: Sequence[StoredCollection],
    refused: Counter[tuple[int, str]],
) -> dict[int, dict[str, Any]]:
    """What those who run collections see beside that, by number.

    Args:
        connection: To the store.
        collections: Which ones.
        refused: Refusals that are not in the store yet.
    """
    builds, last = _folded(connection)
    waiting, excluded = _pending(connection), _excluded(connection)
    refusals = refusing.counted(connection) + refused
    found = {}
    for each in collections:
        mine, gone = builds[each.number], excluded[each.number]
        pending = sum(n for build, n in waiting[each.number].items() if build not in gone)
        found[each.number] = {
            "began": each.began,
            "target_n": each.target_n,
            "wished_error": each.wished_error,
            "forced": each.forced,
            "keep": each.keep,
            "keep_days": each.keep_days,
            "n": sum(n for build, n in mine.items() if build not in gone) + pending,
            "pending": pending,
            "builds": dict(sorted((mine + waiting[each.number]).items())),
            "excluded": sorted(gone),
            "refusals": {reason: n for (number, reason), n in sorted(refusals.items()) if number == each.number},
            "last_period": last.get(each.number),
            "shuffled": shuffled.told(connection, each, sum((mine + waiting[each.number]).values())),
        }
    return found


def periods(connection: sa.Connection, collection: StoredCollection) -> list[dict[str, Any]]:
    """The periods of a collection, the first one first.

    `n` counts reports that estimates rest on, `pending` those that will; `over` says that nothing more is taken of it,
    and `kept` that its reports are still there.
    """
    gone = _excluded(connection)[collection.number]
    a, b, p = tables.aggregate.c, tables.batch.c, tables.pending.c
    mine = sa.select(a.period, sa.func.sum(a.number)).where(a.collection == collection.number, a.build.not_in(gone))
    counted = {period: int(n) for period, n in connection.execute(mine.group_by(a.period))}
    waits = sa.select(b.period, sa.func.sum(b.accepted)).join(tables.pending, p.seq == b.seq)
    waits = waits.where(b.collection == collection.number, b.build.not_in(gone))
    pending = {period: int(n) for period, n in connection.execute(waits.group_by(b.period))}
    there = set() if collection.keep == AGGREGATES else set(kept.periods(connection, collection))
    return [
        {
            "period": period,
            "n": counted.get(period, 0),
            "pending": pending.get(period, 0),
            "over": collection.status == CLOSED or period < collection.pruned_below,
            "kept": period in there,
        }
        for period in sorted({*counted, *pending, *there})
    ]


def _folded(connection: sa.Connection) -> tuple[defaultdict[int, Counter[str]], dict[int, int]]:
    c = tables.aggregate.c
    asked = sa.select(c.collection, c.build, sa.func.sum(c.number), sa.func.max(c.period))
    builds: defaultdict[int, Counter[str]] = defaultdict(Counter)
    last: dict[int, int] = {}
    for number, build, n, period in connection.execute(asked.group_by(c.collection, c.build)):
        builds[number][build] = int(n)
        last[number] = max(period, last.get(number, 0))
    return builds, last


def _pending(connection: sa.Connection) -> defaultdict[int, Counter[str]]:
    b, p = tables.batch.c, tables.pending.c
    asked = sa.select(b.collection, b.build, sa.func.sum(b.accepted)).join(tables.pending, p.seq == b.seq)
    found: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for number, build, n in connection.execute(asked.group_by(b.collection, b.build)):
        found[number][build] = int(n)
    return found


def _excluded(connection: sa.Connection) -> defaultdict[int, set[str]]:
    found: defaultdict[int, set[str]] = defaultdict(set)
    for number, build in connection.execute(sa.select(tables.exclusion)):
        found[number].add(build)
    return found
