"""Which web pages' scripts may speak to the server: of batches and public specs those that were allowed, else none.
The client's own scripts any page may load.

Nothing is ever allowed with credentials, and no preflight allows `Authorization`: a page can do what anyone can, and
nothing more. A batch that is sent as `text/plain`, as `sendBeacon` does, needs no preflight at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.responses import Response
from starlette.types import Scope

_SHARED = re.compile(r"/v1/collections/[^/]+(/batches)?")
_SCRIPTS = "/client/"
_ANYONE = (b"access-control-allow-origin", b"*")
_EXPOSED = (b"access-control-expose-headers", b"Retry-After")
_ANY = [_ANYONE, _EXPOSED]
_VARY = (b"vary", b"Origin")
_SECONDS = "86400"


class Origins:
    """The rules of cross-origin requests.

    Args:
        allowed: The origins; None for all.
    """

    def __init__(self, allowed: Iterable[str] | None) -> None:
        self._allowed = None if allowed is None else frozenset(allowed)

    def headers(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """What an answer to a request says of who may read it."""
        if scope["path"].startswith(_SCRIPTS):
            return [_ANYONE]
        if not _SHARED.fullmatch(scope["path"]):
            return []
        if self._allowed is None:
            return _ANY
        origin = _header(scope, b"origin")
        if origin is not None and origin.decode("latin-1") in self._allowed:
            return [(b"access-control-allow-origin", origin), _EXPOSED, _VARY]
        return [_VARY]

    def preflight(self, scope: Scope) -> Response | None:
        """The answer to a browser that asks before it sends; None where that was not asked, or not of this address."""
        found = _SHARED.fullmatch(scope["path"])
        if found is None or _header(scope, b"access-control-request-method") is None:
            return None
        if len(self.headers(scope)) == 1 and self._allowed is not None:
            return Response(status_code=204)  # allows nothing
        allowed = {
            "Access-Control-Allow-Methods": "POST" if found[1] else "GET",
            "Access-Control-Allow-Headers": "Content-Type",
            "Access-Control-Max-Age": _SECONDS,
        }
        return Response(status_code=204, headers=allowed)


def _header(scope: Scope, name: bytes) -> bytes | None:
    return next((value for each, value in scope["headers"] if each == name), None)
