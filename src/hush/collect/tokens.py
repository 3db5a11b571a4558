"""Who may do what: tokens for people and programs, keys for devices.

A token is `hush-ROLE-ID-SECRET`. The store has its id and the SHA-256 of the whole, never the secret, which has 128
bits: nobody finds it by trying. Of two tokens for the same thing both hold until one expires or is taken back, so that
tokens can be changed without a gap.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from hush.collect.store import tables

ADMIN, READER, INGEST, RELAY = "admin", "reader", "ingest", "relay"
ROLES = (ADMIN, READER, INGEST, RELAY)
"""Manage everything; read estimates; submit batches; submit them for others, without telling who."""


@dataclass(frozen=True)
class StoredToken:
    """What the store has of a token.

    Args:
        id: In it, in the clear.
        role: What it is for.
        collection: The number of the collection that it is for; None for all.
        label: What people call it.
        digest: SHA-256 of the whole token.
        expires: The second from which it does not hold any more.
    """

    id: str
    role: str
    collection: int | None
    label: str
    digest: bytes
    expires: int | None

    @classmethod
    def listed(cls, connection: sa.Connection) -> dict[str, StoredToken]:
        """All of a store, by id."""
        rows = connection.execute(sa.select(tables.token).order_by(tables.token.c.id))
        return {each.id: cls(**{**each._mapping, "digest": bytes(each.digest)}) for each in rows}


def issued(
    connection: sa.Connection, role: str, *, label: str, collection: int | None = None, expires: int | None = None
) -> str:
    """A new token: this is the only time that it is seen."""
    id, secret = secrets.token_hex(4), secrets.token_urlsafe(16)
    made = f"hush-{role}-{id}-{secret}"
    values = {"id": id, "role": role, "collection": collection, "label": label, "expires": expires}
    connection.execute(sa.insert(tables.token).values(**values, digest=hashlib.sha256(made.encode()).digest()))
    return made


def expired(connection: sa.Connection, now: float) -> list[str]:
    """Drop the tokens that do not hold any more, whatever the clock says later; what people called them."""
    c = tables.token.c
    gone = sa.delete(tables.token).where(c.expires.is_not(None), c.expires <= int(now)).returning(c.label)
    return sorted(connection.execute(gone).scalars())


class Tokens:
    """Looks tokens up.

    Args:
        known: Those of the store, by id.
    """

    def __init__(self, known: Mapping[str, StoredToken]) -> None:
        self.known = known

    def holder(self, given: str, now: float) -> StoredToken | None:
        """The token that someone gave, where it is one and holds; compared in constant time."""
        parts = given.split("-", 3)
        found = self.known.get(parts[2]) if len(parts) == 4 else None
        digest = hashlib.sha256(given.encode()).digest()
        same = hmac.compare_digest(digest, found.digest if found is not None else bytes(32))
        if found is None or not same or (found.expires is not None and now >= found.expires):
            return None
        return found
