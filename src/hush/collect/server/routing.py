"""A route of the interface: it says what it needs, and looks for that before it reads a body.

What it needs stands in the OpenAPI document as `x-needs`, beside the reasons for which it refuses.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any

from fastapi import Path, Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.routing import request_response

from hush.collect.refusals import REASONS
from hush.collect.server.access import Access, Need
from hush.collect.server.bodies import Bodies
from hush.collect.server.problems import documented
from hush.collect.tokens import StoredToken

ALWAYS = ("rate", "busy", "store", "internal")
"""Reasons for which every route may refuse."""
WITH_TOKEN = ("token", "forbidden")
WITH_BODY = ("malformed", "interrupted", "slow", "too-large", "parameter")
Id = Annotated[str, Path(description="The collection's id.", examples=["0123456789abcdef0123456789abcdef"])]


class GuardedRoute(APIRoute):
    """A route that looks at who asks first, and reads bodies within limits."""

    access: Access
    bodies: Bodies
    most_bytes: int

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What FastAPI does with a request, behind that."""
        handler = super().get_route_handler()
        need, has_body = Need((self.openapi_extra or {}).get("x-needs", "anyone")), self.body_field is not None

        async def guarded(request: Request) -> Response:
            request.state.held = self.access.admitted(request, need)
            if not has_body:
                return await handler(request)
            data = await self.bodies.read(request.scope, request.receive, most=self.most_bytes)
            try:
                request._body = data  # where Starlette looks first
                return await handler(request)
            finally:
                self.bodies.release(data)

        return guarded


class RawRoute(APIRoute):
    """A route whose endpoint takes the request as it is: in the document like all others, and nothing between."""

    def __init__(self, path: str, endpoint: Callable[..., Awaitable[Response]], **more: Any) -> None:
        super().__init__(path, endpoint, **more)
        self.app = request_response(endpoint)


def guarded(access: Access, bodies: Bodies, *, most_bytes: int) -> type[GuardedRoute]:
    """The routes of one server."""
    return type("ServerRoute", (GuardedRoute,), {"access": access, "bodies": bodies, "most_bytes": most_bytes})


def needing(
    need: Need, answer: dict[str, Any] | type[Any], *reasons: str, body: bool = False, status: int = 200
) -> dict[str, Any]:
    """What a route's decorator is told: who may use it, what it answers, and why it may refuse.

    Args:
        need: Whose token.
        answer: The model of what it answers, or the entry of the document.
        reasons: Further ones for which it may refuse.
        body: Whether it takes one.
        status: Of the answer.
    """
    codes = [*reasons, *ALWAYS, *WITH_TOKEN, *(WITH_BODY if body else ())]
    bearer: dict[str, list[str]] = {"bearer": []}
    security = {Need.READER: [bearer, {}], Need.NOTHING: [{}, bearer]}.get(need, [bearer])
    told = answer if isinstance(answer, dict) else {"model": answer}
    return {
        "responses": {status: told, **documented(*(code for code in REASONS if code in codes))},
        "openapi_extra": {"x-needs": need.value, "security": security},
        "status_code": status,
        "response_model": None,
    }


def held(request: Request) -> StoredToken | None:
    """The token that a request came with."""
    found: StoredToken | None = request.state.held
    return found


def who(request: Request) -> str:
    """What people call the token that a request came with."""
    found = held(request)
    return "anyone" if found is None else found.label or found.id
