"""Answers that say no, as RFC 9457 has them: one shape for whatever goes wrong, wherever it does."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from typing import Any

import sqlalchemy.exc
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from hush.collect.refusals import REASONS, Refused
from hush.collect.server import bodies
from hush.errors import NOTHING, HushError, Unsaid, message

PROBLEM = "application/problem+json"
REFUSED = "hush.refused"
"""The entry of a scope that says why it was refused."""

_LINGER_SECONDS = 2.0
_LINGER_BYTES = 1 << 24
_LOG = logging.getLogger("hush.collect")
_NO_JSON = message("body", "must be JSON, an object", Unsaid("something else"), "see /openapi.json")
_RULES = {"missing": "must be given", "extra_forbidden": "must be left out"}
_BY_STATUS = {400: "malformed", 401: "token", 403: "forbidden", 404: "unknown", 405: "method", 413: "too-large"}


class ProblemResponse(Response):
    """The answer to what was refused.

    Where some of the request's body is still to come, the connection ends with the answer; but not before what was on
    its way is read, for a while: a client that is still sending would find the connection broken, and no answer.
    """

    media_type = PROBLEM

    def __init__(self, refused: Refused, headers: dict[str, str] | None = None) -> None:
        super().__init__(json.dumps(refused.problem(), ensure_ascii=False).encode(), refused.reason.status, headers)
        self.refused = refused
        if refused.retry is not None:
            self.headers["Retry-After"] = str(refused.retry)
        if refused.reason.code == "token":
            self.headers["WWW-Authenticate"] = "Bearer"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        scope[REFUSED] = self.refused
        unread = bodies.WHOLE not in scope and _has_body(scope)
        if unread:
            self.headers["Connection"] = "close"
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": unread})
        if unread:
            if self.refused.reason.code not in ("slow", "interrupted"):
                await _linger(receive)
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _has_body(scope: Scope) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in scope["headers"]
    )


async def _linger(receive: Receive) -> None:
    read = 0
    try:
        async with asyncio.timeout(_LINGER_SECONDS):
            while read < _LINGER_BYTES:
                event = await receive()
                read += len(event.pop("body", b""))
                if event["type"] == "http.disconnect" or not event.get("more_body", False):
                    return
    except TimeoutError:
        return


def unexpected(error: BaseException) -> Refused:
    """What to answer where an error was not meant: it is logged, and nothing of it is told."""
    if isinstance(error, (sqlalchemy.exc.OperationalError, sqlalchemy.exc.InterfaceError, sqlalchemy.exc.TimeoutError)):
        _LOG.error("the store cannot be used: %s", type(error).__name__, exc_info=error)
        got = Unsaid(type(error).__name__)
        return Refused("store", message("store", "must be there", got, "send the same again in a while"))
    _LOG.error("a request failed", exc_info=error)
    return Refused("internal", "something is wrong with the server; its log says more")


def invalid(error: RequestValidationError) -> Refused:
    """What to answer to a request whose body or parameters are not as the interface says; their values are not told."""
    found = error.errors()[0]
    place = [str(part) for part in found["loc"]]
    if place[0] == "body" and (found["type"] == "json_invalid" or len(place) == 1):
        return Refused("malformed", _NO_JSON)
    said = re.sub(r"^(Input|String|Value) should ", "must ", found["msg"])  # as pydantic begins most of what it says
    rule = _RULES.get(found["type"], said if said.startswith("must ") else f"must be right ({said})")
    got = NOTHING if found["type"] == "missing" else Unsaid("another value")
    return Refused("parameter", message(".".join(place[1:]), rule, got, "see /openapi.json"))


def _of_framework(error: HTTPException) -> Refused:
    code = _BY_STATUS.get(error.status_code, "malformed" if error.status_code < 500 else "internal")
    if code == "malformed":
        return Refused(code, _NO_JSON)
    rules = {"unknown": ("address", "must be one of the interface"), "method": ("method", "must be one that is taken")}
    name, rule = rules.get(code, ("request", "must be as the interface says"))
    return Refused(code, message(name, rule, Unsaid("another one"), "see /openapi.json"))


def install(api: FastAPI) -> None:
    """Let every error of an application be answered in this shape."""

    async def on_refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return ProblemResponse(error)

    async def on_parameter(request: Request, error: Exception) -> Response:
        assert isinstance(error, HushError)
        return ProblemResponse(Refused("parameter", error.args[0] if error.args else str(error)))

    async def on_invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return ProblemResponse(invalid(error))

    async def on_framework(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return ProblemResponse(_of_framework(error), dict(error.headers or {}))

    async def on_unexpected(request: Request, error: Exception) -> Response:
        return ProblemResponse(unexpected(error))

    api.add_exception_handler(Refused, on_refused)
    api.add_exception_handler(HushError, on_parameter)
    api.add_exception_handler(RequestValidationError, on_invalid)
    api.add_exception_handler(HTTPException, on_framework)
    for kind in (sqlalchemy.exc.SQLAlchemyError, OSError, Exception):
        api.add_exception_handler(kind, on_unexpected)


def documented(*codes: str) -> dict[int | str, dict[str, Any]]:
    """The answers that a route may give for these reasons, for its entry in the OpenAPI document."""
    found: dict[int | str, dict[str, Any]] = {}
    for status in sorted({REASONS[code].status for code in codes}):
        reasons = [REASONS[code] for code in codes if REASONS[code].status == status]
        told = "; ".join(f"`{reason.code}`: {reason.title}" for reason in reasons)
        headers = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds"}}
        found[status] = {
            "description": told,
            "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            **({"headers": headers} if any(reason.retry is not None for reason in reasons) else {}),
        }
    return found


SCHEMA: dict[str, Any] = {
    "title": "Problem",
    "type": "object",
    "description": "Why something was refused (RFC 9457).",
    "required": ["type", "title", "status", "detail", "reason"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "reason": {"type": "string", "enum": [*REASONS]},
        "parameter": {"type": "string", "description": "What breaks a rule."},
        "remedy": {"type": "string", "description": "What to do."},
        "index": {"type": "integer", "description": "The first record that is wrong."},
    },
}
"""What a problem looks like."""
