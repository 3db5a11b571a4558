"""A collection as others see it: what anyone may know, and what those who run it do."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from hush.collect import shuffled
from hush.collect.directory import Directory
from hush.collect.store import refusing, tables
from hush.collect.store.collections import CLOSED, StoredCollection


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
