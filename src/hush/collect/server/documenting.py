"""The OpenAPI document: the route of batches in it, and what all routes share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hush.collect.refusals import REASONS
from hush.collect.server.access import Need
from hush.collect.server.gate import SUBMIT
from hush.collect.server.models import BatchReceipt
from hush.collect.server.problems import SCHEMA, documented
from hush.collect.server.routing import ALWAYS, WITH_BODY, WITH_TOKEN, RawRoute, needing

_REASONS = (
    *ALWAYS,
    *WITH_BODY,
    *WITH_TOKEN,
    "unknown",
    "conflict",
    "spec",
    "status",
    "period-past",
    "period-ahead",
    "record",
)
_ENVELOPE = {
    "type": "string",
    "format": "binary",
    "description": "The key behind its length in one byte, then the envelope.",
}
_JSON = {
    "type": "object",
    "required": ["envelope"],
    "additionalProperties": False,
    "properties": {
        "key": {"type": "string", "maxLength": 64, "description": "The ingest key, where one is needed."},
        "envelope": {"type": "string", "format": "byte", "description": "The envelope, in base64."},
    },
}
_PARTIAL = "Take what is right, and say which records are not: for relays' keys alone. It may stand without a value."


def add_submit(api: FastAPI, take: Callable[[Request], Awaitable[Response]]) -> None:
    """Put the route of batches into an application, and into its document."""
    route = RawRoute(
        SUBMIT,
        take,
        methods=["POST"],
        name="submit",
        tags=["batches"],
        summary="Submit",
        description=(
            "Send a batch: one envelope, under any media type, or JSON with it in base64. The same batch may be sent"
            " any number of times; it is answered the same, and counts once. A batch is taken whole or not at all."
        ),
        response_model=None,
        responses={
            200: {"model": BatchReceipt, "description": "It is kept, on the disk."},
            **documented(*(code for code in REASONS if code in _REASONS)),
        },
        openapi_extra={
            "x-needs": Need.KEY.value,
            "security": [],
            "parameters": [
                {
                    "name": "id",
                    "in": "path",
                    "required": True,
                    "schema": {"type": "string"},
                    "description": "The collection's id.",
                },
                {
                    "name": "partial",
                    "in": "query",
                    "allowEmptyValue": True,
                    "schema": {"type": "boolean"},
                    "description": _PARTIAL,
                },
            ],
            "requestBody": {
                "required": True,
                "content": {
                    "application/octet-stream": {"schema": _ENVELOPE},
                    "text/plain": {"schema": _ENVELOPE},
                    "application/json": {"schema": _JSON},
                },
            },
        },
    )
    api.router.routes.append(route)


def complete(api: FastAPI) -> None:
    """Let the document have what its routes refer to."""
    made = api.openapi

    def completed() -> dict[str, Any]:
        if api.openapi_schema is None:
            document = made()
            _without_others(document)
            components = document.setdefault("components", {})
            components.setdefault("schemas", {})["Problem"] = SCHEMA
            components["securitySchemes"] = {
                "bearer": {"type": "http", "scheme": "bearer", "description": "A token that the server issued."}
            }
        assert api.openapi_schema is not None
        return api.openapi_schema

    api.openapi = completed  # type: ignore[method-assign]

    @api.get("/openapi.json", include_in_schema=False, **needing(Need.NOTHING, {"description": "The document."}))
    def document() -> Response:
        """The document of all routes."""
        return JSONResponse(api.openapi(), headers={"Cache-Control": "public, max-age=60"})


def _without_others(document: dict[str, Any]) -> None:
    """Take out the refusals that FastAPI adds of its own, in another shape than ours."""
    for methods in document["paths"].values():
        for operation in methods.values():
            if "application/json" in operation["responses"].get("422", {}).get("content", {}):
                del operation["responses"]["422"]
    for name in ("HTTPValidationError", "ValidationError"):
        document.get("components", {}).get("schemas", {}).pop(name, None)
