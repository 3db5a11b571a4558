"""Who may do what: the bearer token of a request against what a route asks for."""

from __future__ import annotations

from enum import Enum

from starlette.requests import Request

from hush.collect.directory import Directory
from hush.collect.refusals import Refused
from hush.collect.store.collections import StoredCollection
from hush.collect.tokens import ADMIN, INGEST, READER, RELAY, StoredToken
from hush.errors import NOTHING, Unsaid, message

_REMEDY = "send Authorization: Bearer and a token that may do this"


class Need(Enum):
    """What a route asks for."""

    NOTHING = "anyone"
    KEY = "ingest"  # which stands in the body
    READER = "reader"
    ADMIN = "admin"
    OPERATOR = "admin of all collections"
    SUBMITTER = "ingest or relay"


class Access:
    """Looks at tokens.

    Args:
        directory: Which tokens there are.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def holder(self, request: Request) -> StoredToken | None:
        """The token of a request; None where it has none. One that does not hold is refused everywhere."""
        given = request.headers.get("authorization")
        if given is None:
            return None
        scheme, _, token = given.partition(" ")
        bearer = scheme.lower() == "bearer"
        held = self._directory.tokens.holder(token.strip(), self._directory.clock.now()) if bearer else None
        if held is None:
            rule = "must be one that was issued, and neither expired nor taken back"
            raise Refused("token", message("token", rule, Unsaid("another one"), "ask whoever runs the server for one"))
        return held

    def admitted(self, request: Request, need: Need) -> StoredToken | None:
        """The token of a request, where it is enough for what a route needs; a reader's own routes look themselves."""
        held = self.holder(request)
        if need in (Need.ADMIN, Need.OPERATOR):
            held = self.named(held, ADMIN)
            if need is Need.OPERATOR and held.collection is not None:
                got = Unsaid("one for a single collection")
                raise Refused("forbidden", message("token", "must be for all collections", got, _REMEDY))
            id = request.path_params.get("id")
            if id is not None and held.collection not in (None, self._directory.number(id)):
                raise _of_another()
        return held

    def named(self, held: StoredToken | None, *roles: str) -> StoredToken:
        """Refuse whoever has no token of these roles."""
        rule = f"must be of the role {' or '.join(roles)}"
        if held is None:
            raise Refused("token", message("token", rule, NOTHING, _REMEDY))
        if held.role not in roles:
            raise Refused("forbidden", message("token", rule, Unsaid(f"one of the role {held.role}"), _REMEDY))
        return held

    def submits(self, held: StoredToken | None, collection: StoredCollection) -> StoredToken:
        """The token of someone who may send batches of a collection with it."""
        found = self.named(held, *((RELAY,) if collection.relayed_only else (INGEST, RELAY)))
        if found.collection not in (None, collection.number):
            raise _of_another()
        return found

    def reads(self, held: StoredToken | None, collection: StoredCollection) -> bool:
        """Whether someone may read all of a collection's estimates; False where only what is public."""
        if held is not None and held.role in (ADMIN, READER) and held.collection in (None, collection.number):
            return True
        if collection.public:
            return False
        self.named(held, READER, ADMIN)
        raise _of_another()

    def released(self, collection: StoredCollection, n: int) -> None:
        """Refuse what is public, but of too few people as yet."""
        if n < collection.release_floor:
            rule, got = f"must be at least {collection.release_floor} before anyone may see it", Unsaid("fewer")
            raise Refused("forbidden", message("n", rule, got, "come back when more have reported"))


def _of_another() -> Refused:
    rule, got = "must be for this collection", Unsaid("one for another")
    return Refused("forbidden", message("token", rule, got, _REMEDY))
