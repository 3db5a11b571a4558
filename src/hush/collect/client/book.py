"""What a server told of its collection, checked, and remembered, so that it cannot tell otherwise later."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hush.collect.envelope import MOST_PERIODS
from hush.collect.loss import Loss, SpecBounds, loss, parsed
from hush.errors import SpecError, Unsaid, message
from hush.mechanisms.spec import Spec

LONGEST_CHAIN = 1000
_LATEST = 1000  # batches whose fate is kept in any case


@dataclass(frozen=True)
class Offer:
    """A collection as a server tells of it.

    Args:
        collection: Its id.
        origin: Where it is.
        spec: What makes reports; its hash was checked.
        loss: What one answer loses, as computed here.
        status: "draft", "open" or "closed".
        period: The period of now.
        chain: The ids of the collection and all it follows, the first one last.
        plain: What of it is kept, to go on while the server cannot be reached.
        moved: Whether it may have been elsewhere before.
        told: The period that the server told, which may be below one that it told before; None for the period.
    """

    collection: str
    origin: str
    spec: Spec
    loss: Loss
    status: str
    period: int
    chain: tuple[str, ...]
    plain: Mapping[str, Any]
    moved: bool = False
    told: int | None = None


def offered(
    collection: str,
    origin: str,
    view: Mapping[str, Any],
    known: Offer | None = None,
    bounds: SpecBounds | None = None,
) -> Offer:
    """What a server told, checked: nothing of it is believed that can be computed.

    Args:
        collection: The id that was asked for.
        origin: Where it was asked for.
        view: What was told.
        known: What was told before: the loss of a spec that is the same is not computed again.
        bounds: How large the spec may be.
    """
    period, chain = view.get("period"), view.get("chain")
    if view.get("id") != collection or view.get("status") not in ("draft", "open", "closed"):
        raise _odd("id and status", "be those of the collection that was asked for")
    if type(period) is not int or not 0 <= period < MOST_PERIODS:
        raise _odd("period", f"be an integer in 0..{MOST_PERIODS - 1}")
    if not isinstance(chain, list) or not _is_chain(chain, collection):
        raise _odd("chain", f"be the ids of this collection and of those that it follows, at most {LONGEST_CHAIN}")
    spec = parsed(view.get("spec"), view.get("spec_hash"), bounds)
    found = known.loss if known is not None and known.spec.hash == spec.hash else loss(spec)
    plain = {"status": view["status"], "chain": chain, "needs_key": bool(view.get("needs_key"))}
    return Offer(collection, origin, spec, found, view["status"], period, tuple(chain), plain)


def _is_chain(ids: list[Any], first: str) -> bool:
    known = all(isinstance(id, str) and re.fullmatch("[0-9a-f]{32}", id) for id in ids)
    return known and 1 <= len(ids) <= LONGEST_CHAIN and ids[0] == first and len(set(ids)) == len(ids)


def _odd(what: str, rule: str) -> SpecError:
    got, remedy = Unsaid("something else"), "report nothing to this server"
    return SpecError(message(what, f"must {rule}", got, remedy))


def remember(sql: sqlite3.Connection, offer: Offer) -> tuple[int, int, int]:
    """Enter what was told; the collection's number, its protocol's, and the greatest period that was ever told.

    Chains only grow together: collections that were once told to be of one chain stay of one, whatever is told later.
    A collection that is known keeps its spec, and stays where it is: another server that gives itself out for it, or
    for one of its chain, does not get the answers that are kept for it, by which people could be told again.
    """
    chain = _joined(sql, offer.chain)
    row = sql.execute(
        "SELECT c.id, c.protocol, c.period, c.view, c.origin, p.hash "
        "FROM collection c JOIN protocol p ON p.id = c.protocol WHERE c.name = ?",
        [offer.collection],
    ).fetchone()
    view = json.dumps(offer.plain, sort_keys=True)
    if row is None:
        protocol = _protocol(sql, chain, offer)
        made = sql.execute(
            "INSERT INTO collection (name, origin, protocol, period, view) VALUES (?, ?, ?, ?, ?)",
            (offer.collection, offer.origin, protocol, offer.period, view),
        )
        return int(made.lastrowid or 0), protocol, offer.period
    number, protocol, period, before, origin, known = row
    if known != offer.spec.hash:
        rule, got = f"must stay {known[:12]}…, as it was", Unsaid(f"{offer.spec.hash[:12]}…")
        raise SpecError(message("spec_hash", rule, got, "report nothing to this server: specs never change"))
    if origin != offer.origin:
        if not offer.moved:
            rule, remedy = f"must be at {origin}, where it was", "pass moved=True, if you know that it has moved"
            raise SpecError(message("collection", rule, Unsaid(offer.origin), remedy))
        sql.execute("UPDATE collection SET origin = ? WHERE id = ?", (offer.origin, number))
    if offer.period > period:
        _forget(sql, number, offer.period)
    if offer.status == "closed":  # nobody answers again: what they answered need not be told from another value
        sql.execute("UPDATE answered SET tag = x'' WHERE collection = ?", [number])
    if offer.period > period or before != view:
        sql.execute(
            "UPDATE collection SET period = MAX(period, ?), view = ? WHERE id = ?", (offer.period, view, number)
        )
    return int(number), int(protocol), max(int(period), offer.period)


def remembered(sql: sqlite3.Connection, collection: str) -> Offer | None:
    """What was told of a collection the last time; None of one that is not known."""
    row = sql.execute(
        "SELECT c.period, c.view, c.origin, p.spec "
        "FROM collection c JOIN protocol p ON p.id = c.protocol WHERE c.name = ?",
        [collection],
    ).fetchone()
    if row is None:
        return None
    plain, spec = json.loads(row[1]), Spec.from_json(row[3])
    return Offer(collection, row[2], spec, loss(spec), plain["status"], int(row[0]), tuple(plain["chain"]), plain)


def _joined(sql: sqlite3.Connection, ids: tuple[str, ...]) -> int:
    """The one chain that all of these are of, from now on."""
    marks = ", ".join("?" * len(ids))
    rows = sql.execute(f"SELECT collection, chain FROM link WHERE collection IN ({marks})", ids).fetchall()
    chains = sorted({chain for _, chain in rows})
    if not chains:
        (chain,) = sql.execute("SELECT COALESCE(MAX(chain), 0) + 1 FROM link").fetchone()
    else:
        chain, *others = chains
        for other in others:
            for table in ("link", "protocol"):
                sql.execute(f"UPDATE {table} SET chain = ? WHERE chain = ?", (chain, other))
    new = set(ids) - {id for id, _ in rows}
    sql.executemany("INSERT INTO link VALUES (?, ?)", ((id, chain) for id in sorted(new)))
    return int(chain)


def _protocol(sql: sqlite3.Connection, chain: int, offer: Offer) -> int:
    """What answers are kept under: of collections of one server and chain with the same spec, the same."""
    spec = offer.spec
    row = sql.execute(
        "SELECT MIN(p.id) FROM protocol p JOIN collection c ON c.protocol = p.id "
        "WHERE p.chain = ? AND p.hash = ? AND c.origin = ?",
        (chain, spec.hash, offer.origin),
    ).fetchone()
    if row[0] is not None:
        return int(row[0])
    made = sql.execute("INSERT INTO protocol (chain, hash, spec) VALUES (?, ?, ?)", (chain, spec.hash, spec.to_json()))
    return int(made.lastrowid or 0)


def _forget(sql: sqlite3.Connection, collection: int, period: int) -> None:
    """Forget who answered what in earlier periods, which are never asked about again; the accounts stay."""
    sql.execute("DELETE FROM answered WHERE collection = ? AND period < ?", (collection, period))
    sql.execute(
        "DELETE FROM batch WHERE collection = ? AND period < ? AND state != 'waiting' "
        "AND id < (SELECT MAX(id) FROM batch) - ?",  # others may be about to tell what became of theirs
        (collection, period, _LATEST),
    )
