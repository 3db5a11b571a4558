"""Routes of admins, and the one that shows anyone what a collection is."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from starlette.responses import JSONResponse, Response

from hush.collect.server.access import Access, Need
from hush.collect.server.models import (
    Exclusion,
    HeldKey,
    NewCollection,
    Opening,
    PublicCollection,
    Successor,
    Verification,
    WholeCollection,
)
from hush.collect.server.routing import Id, held, needing, who
from hush.collect.service import Service
from hush.collect.store.deeds import MOST_LISTED
from hush.collect.tokens import ADMIN, READER
from hush.collect.warming import warm

PATH = "/v1/collections"
_JSON = "application/json"
_SHORTLY = "public, max-age=5"
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many, at most.")]
_TAGS: dict[str, Any] = {"tags": ["collections"]}


def add(api: FastAPI, service: Service, access: Access) -> None:
    """Add the routes."""
    listed = {
        "description": "All that the token may see.",
        "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object"}}}},
    }
    found = {"description": "What was found.", "content": {"application/json": {"schema": {"type": "object"}}}}

    @api.post(PATH, **_TAGS, **needing(Need.OPERATOR, WholeCollection, "unknown", body=True, status=201))
    def create(request: Request, asked: NewCollection) -> Response:
        """Make a collection, as a draft."""
        return _json(service.create(**asked.model_dump(exclude_unset=True), who=who(request)), 201)

    @api.get(PATH, **_TAGS, **needing(Need.READER, listed))
    def list_collections(request: Request) -> Response:
        """All collections, for an admin; those that it may read, for a reader."""
        token = access.named(held(request), ADMIN, READER)
        number = service.directory.number
        mine = [each for each in service.list() if token.collection in (None, number(each["id"]))]
        if token.role == READER:
            mine = [service.show(each["id"], whole=False) for each in mine]
        return _json(mine)

    @api.get(f"{PATH}/{{id}}", **_TAGS, **needing(Need.NOTHING, PublicCollection, "unknown"))
    def show(request: Request, id: Id) -> Response:
        """What a collection is: its spec, and the period that reports are of. An admin sees more."""
        token, collection = held(request), service.directory.named(id)
        whole = token is not None and token.role == ADMIN and token.collection in (None, collection.number)
        shown = _json(service.show(id, whole=True)) if whole else Response(service.shown(id), media_type=_JSON)
        shown.headers["Vary"] = "Authorization"
        if token is None:
            shown.headers["Cache-Control"] = _SHORTLY
        return shown

    @api.post(
        f"{PATH}/{{id}}/open", **_TAGS, **needing(Need.ADMIN, WholeCollection, "unknown", "status", "plan", body=True)
    )
    def open_collection(request: Request, id: Id, asked: Opening | None = None) -> Response:
        """Let a collection take batches, where the planner finds that it can give what was asked for."""
        warm([service.directory.named(id)])
        return _json(service.open(id, **({} if asked is None else asked.model_dump()), who=who(request)))

    @api.post(f"{PATH}/{{id}}/close", **_TAGS, **needing(Need.ADMIN, WholeCollection, "unknown", "status"))
    def close(request: Request, id: Id) -> Response:
        """Let a collection take no more batches."""
        return _json(service.close(id, who=who(request)))

    @api.post(
        f"{PATH}/{{id}}/succeed", **_TAGS, **needing(Need.OPERATOR, WholeCollection, "unknown", body=True, status=201)
    )
    def succeed(request: Request, id: Id, asked: Successor) -> Response:
        """Make the collection that follows this one, as a draft."""
        return _json(service.succeed(id, **asked.model_dump(exclude_unset=True), who=who(request)), 201)

    @api.post(f"{PATH}/{{id}}/exclude", **_TAGS, **needing(Need.ADMIN, found, "unknown", "status", body=True))
    def exclude(request: Request, id: Id, asked: Exclusion) -> Response:
        """Drop what a release of a client sent, and will send; or let it count again."""
        return _json(service.exclude(id, asked.build, undo=asked.undo, who=who(request)))

    @api.post(f"{PATH}/{{id}}/verify", **_TAGS, **needing(Need.ADMIN, found, "unknown", "status", body=True))
    def verify(request: Request, id: Id, asked: Verification | None = None) -> Response:
        """Rebuild the aggregates from what was kept, and compare; where they differ, they can be repaired."""
        return _json(service.verify(id, repair=asked is not None and asked.repair, who=who(request)))

    @api.get(f"{PATH}/{{id}}/key", **_TAGS, **needing(Need.SUBMITTER, HeldKey, "unknown"))
    def key(request: Request, id: Id) -> Response:
        """Say whether a key holds for batches of a collection, before anything is made with it."""
        held_ = access.submits(held(request), service.directory.named(id))
        return _json({"id": held_.id, "role": held_.role, "expires": held_.expires})

    @api.delete(
        f"{PATH}/{{id}}", **_TAGS, **needing(Need.OPERATOR, {"description": "Done."}, "unknown", "status", status=204)
    )
    def delete(request: Request, id: Id) -> Response:
        """Delete a draft that nothing follows: nobody has reported to it. Its keys go with it."""
        service.delete(id, who=who(request))
        return Response(status_code=204)

    @api.get(f"{PATH}/{{id}}/refusals", **_TAGS, **needing(Need.ADMIN, found, "unknown"))
    def refusals(id: Id) -> Response:
        """How many batches were refused, by reason."""
        service.directory.named(id)
        return _json(service.refusals(id))

    @api.get("/v1/deeds", tags=["admin"], **needing(Need.OPERATOR, listed, "parameter"))
    def deeds(limit: Limit = 100) -> Response:
        """What administrators did, the latest first."""
        return _json(service.deeds(limit))


def _json(told: Any, status: int = 200) -> Response:
    return JSONResponse(told, status)
