"""Collections as a relay has them: those of its collector, with the same specs and the periods that it hands out.

A relay takes a period a little shorter than its collector does: not in the last period in which the collector still
takes it, for that is the time in which the relay sends what it has. For the same reason it takes nothing of a
collection that is about to end.
"""

from __future__ import annotations

import json
import re
from typing import Any

import sqlalchemy as sa

from hush.collect.envelope import MOST_PERIODS, MOST_RECORDS
from hush.collect.managing import spec_of
from hush.collect.refusals import Refused
from hush.collect.store import collections, tables
from hush.collect.store.collections import CLOSED, DRAFT, OPEN, REPORTS, StoredCollection
from hush.errors import HushError, SpecError, Unsaid, message

MOST_BYTES = 1 << 25
"""Records of one batch that is passed on; a collector takes bodies of twice that unless told otherwise."""
LONGEST_MARGIN = 3600
"""Seconds before the end of a collection from which on a relay takes nothing, at most; a period where that is less."""
_PASSED_ON = ("name", "spec_hash", "period_seconds", "horizon", "predecessor", "chain", "public")
_COUNTS = {"period": MOST_PERIODS, "oldest_period": MOST_PERIODS, "horizon": MOST_PERIODS, "period_seconds": 1 << 40}


def checked(view: Any, id: str) -> dict[str, Any]:
    """What a collector tells of a collection, where it holds together and its spec is what its hash says."""
    if not isinstance(view, dict) or view.get("id") != id or view.get("status") not in (DRAFT, OPEN, CLOSED):
        raise _unusable("must be the public view of the collection", "something else")
    for name, most in _COUNTS.items():
        value = view.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < most:
            raise _unusable(f"must have a whole number as {name}", "something else")
    ends, chain = view.get("ends"), view.get("chain")
    if not isinstance(view.get("name"), str) or not (ends is None or type(ends) is int):
        raise _unusable("must have a name, and an end or none", "something else")
    if not isinstance(chain, list) or not all(isinstance(at, str) and re.fullmatch("[0-9a-f]{32}", at) for at in chain):
        raise _unusable("must have the chain of what it follows", "something else")
    try:
        spec = spec_of(view.get("spec"))
    except Refused as error:
        raise SpecError(f"the collector's spec cannot be used: {error}") from None
    if spec.hash != view.get("spec_hash"):
        raise _unusable("must have the hash of its spec", "another one")
    return view


def oldest(view: dict[str, Any]) -> int:
    """The first period that the relay takes."""
    return int(max(view["oldest_period"], view["period"] - view["horizon"] + 1, 0))


def over(collection: StoredCollection, now: float) -> bool:
    """Whether the relay takes nothing of a collection any more, and all that it took has come to the store."""
    return collection.ends is not None and now >= collection.ends + _margin(collection.period_seconds) / 2


def most_records(collection: StoredCollection) -> int:
    """How many records one batch that is passed on may have."""
    return min(MOST_RECORDS, MOST_BYTES // collection.parsed.mechanism.report_dtype.itemsize)


def begun(connection: sa.Connection, view: dict[str, Any], *, anyone: bool, least: int, now: float) -> StoredCollection:
    """The relay's own row of a collection, new or from before; one whose spec has changed is refused.

    A new one is refused where it would end before the relay has taken anything.
    """
    known = views(connection).get(view["id"])
    if known is not None and known["spec_hash"] != view["spec_hash"]:
        raise changed_spec(known, view)
    if view["horizon"] < 1:
        rule = "must be at least 1 for a relay, which sends when the period is over"
        raise SpecError(message("horizon", rule, view["horizon"], "make the collection with a longer one"))
    ends = _ends(view)
    if known is None and ends is not None and ends <= now:
        rule = f"must be ones that end in more than {_margin(view['period_seconds'])} seconds, in which a relay sends"
        raise SpecError(
            message("collections", rule, Unsaid("one that ends sooner"), "follow it by one that ends later")
        )
    made = _inserted(connection, view) if known is None else collections.found(connection, view["id"])
    if 2 * least > most_records(made):
        rule = f"must be at most {most_records(made) // 2} for records of this collection's size"
        raise SpecError(message("least", rule, least, "take a smaller one"))
    return refreshed(connection, view, anyone=anyone)


def refreshed(connection: sa.Connection, view: dict[str, Any], *, anyone: bool | None = None) -> StoredCollection:
    """The row with what the collector tells now; periods never go back."""
    row = collections.found(connection, view["id"])
    values: dict[str, Any] = {
        "status": view["status"],
        "ends": _ends(view),
        "period": max(row.period, view["period"]),
        "pruned_below": max(row.pruned_below, oldest(view)),
    }
    if anyone is not None:
        values["anyone_submits"] = anyone
    mine = tables.mirror.c.collection == row.number
    connection.execute(sa.update(tables.mirror).where(mine).values(view=json.dumps(view)))
    return collections.changed(connection, row.number, **values)


def views(connection: sa.Connection) -> dict[str, dict[str, Any]]:
    """What the collector last told of each collection, by id."""
    rows = connection.execute(sa.select(tables.mirror.c.view))
    return {view["id"]: view for view in (json.loads(row[0]) for row in rows)}


def described(view: dict[str, Any], collection: StoredCollection, *, least: int) -> dict[str, Any]:
    """What a device sees beside the spec: the collection, with the keys and periods of the relay."""
    return {
        "id": collection.id,
        "status": collection.status,
        "period": collection.period,
        "oldest_period": max(collection.oldest_period, collection.pruned_below),
        "ends": collection.ends,
        "needs_key": not collection.anyone_submits,
        "relayed_only": False,
        "release_floor": view.get("release_floor"),
        **{name: view.get(name) for name in _PASSED_ON},
        "relay": {"least": least},
    }


def changed_spec(known: dict[str, Any], view: dict[str, Any]) -> SpecError:
    """A collector that changed what it may not."""
    rule = f"must stay {known['spec_hash'][:12]}…, as it was when the relay began"
    got = Unsaid(f"{view['spec_hash'][:12]}…")
    return SpecError(message("the collector's spec_hash", rule, got, "ask its operator: no spec changes once open"))


def _margin(period_seconds: int) -> int:
    return min(period_seconds, LONGEST_MARGIN)


def _ends(view: dict[str, Any]) -> int | None:
    """The second from which on the relay takes nothing."""
    return None if view["ends"] is None else int(view["ends"]) - _margin(view["period_seconds"])


def _inserted(connection: sa.Connection, view: dict[str, Any]) -> StoredCollection:
    if any(each.id == view["id"] for each in collections.listed(connection)):
        rule, got = "must be the relay's own", Unsaid("a collector's, which has this collection itself")
        raise SpecError(message("store", rule, got, "name another file"))
    made = collections.inserted(
        connection,
        id=view["id"],
        name=view["name"],
        spec=spec_of(view["spec"]).to_json(),
        spec_hash=view["spec_hash"],
        status=DRAFT,
        forced=False,
        period_seconds=view["period_seconds"],
        horizon=view["horizon"],
        period=0,
        pruned_below=0,
        forgotten_below=0,
        keep=REPORTS,
        anyone_submits=False,
        relayed_only=False,
        public=False,
        release_floor=1,
    )
    connection.execute(sa.insert(tables.mirror).values(collection=made.number, view=json.dumps(view)))
    return made


def _unusable(rule: str, got: str) -> HushError:
    return SpecError(message("the collector's answer", rule, Unsaid(got), "check its address"))
