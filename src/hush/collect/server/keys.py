"""Routes of tokens and backups: admins'."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi import Path as InPath
from starlette.responses import JSONResponse, Response

from hush.collect.refusals import Refused
from hush.collect.server.access import Need
from hush.collect.server.models import Backup, IssuedToken, NewToken
from hush.collect.server.routing import needing, who
from hush.collect.service import Service
from hush.collect.settings import ServerSettings
from hush.errors import NOTHING, Unsaid, message

_TAGS: dict[str, Any] = {"tags": ["admin"]}
After = Annotated[int, Query(ge=0, le=2**31, description="Seconds until then.")]
TokenId = Annotated[str, InPath(description="The id in the token: hush-ROLE-ID-SECRET.")]


def add(api: FastAPI, service: Service, settings: ServerSettings) -> None:
    """Add the routes."""
    listed = {
        "description": "All tokens, without their secrets.",
        "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object"}}}},
    }
    written = {
        "description": "Where the copy is.",
        "content": {
            "application/json": {
                "schema": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
            }
        },
    }

    @api.get("/v1/tokens", **_TAGS, **needing(Need.OPERATOR, listed))
    def tokens(request: Request) -> Response:
        """All tokens, without their secrets."""
        return JSONResponse(service.tokens())

    @api.post("/v1/tokens", **_TAGS, **needing(Need.OPERATOR, IssuedToken, "unknown", body=True, status=201))
    def issue(request: Request, asked: NewToken) -> Response:
        """Issue a token, which is seen only in this answer. Those that there are hold as before."""
        made = service.issue_token(
            asked.role, label=asked.label, collection=asked.collection, seconds=asked.seconds, who=who(request)
        )
        return JSONResponse({"token": made, "id": made.split("-")[2]}, 201)

    @api.delete(
        "/v1/tokens/{token_id}",
        **_TAGS,
        **needing(Need.OPERATOR, {"description": "Done."}, "unknown", "parameter", status=204),
    )
    def revoke(request: Request, token_id: TokenId, after: After = 0) -> Response:
        """Take a token back: at once, or after some seconds, in which the one that follows it can be handed out."""
        service.revoke(token_id, who=who(request), after=after)
        return Response(status_code=204)

    @api.post("/v1/backup", **_TAGS, **needing(Need.OPERATOR, written, "status", body=True, status=201))
    def backup(request: Request, asked: Backup) -> Response:
        """Write a consistent copy of the store into the folder that the operator allowed."""
        if settings.backups is None:
            rule, remedy = "must be allowed by the operator", "start the server with --backups FOLDER"
            raise Refused("forbidden", message("backup", rule, NOTHING, remedy))
        path = Path(settings.backups) / asked.name
        if path.exists():
            rule, got = "must be new", Unsaid("one that is there")
            raise Refused("parameter", message("name", rule, got, "take another name"))
        service.backup(path)
        return JSONResponse({"name": asked.name}, 201)
