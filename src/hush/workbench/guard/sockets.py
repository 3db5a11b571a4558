"""A socket belongs to one page, and both to one session, whichever transport carries it and whatever it says.

NiceGUI takes the page from what a message says of itself: who knows the number of somebody's page could speak as them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from nicegui import Client, core
from socketio.exceptions import ConnectionRefusedError

from hush.workbench.guard.gate import cookie_of

_LOG = logging.getLogger("hush.workbench")
_OF_A_PAGE = ("event", "javascript_response", "ack", "log")
_AGAIN = "Implicit handshake failed"  # in these words it is known to the page, which loads itself anew
_NO_COOKIE = "The session is another one"  # without cookies, it would load itself forever


def bind() -> None:
    """Let NiceGUI hear only what a socket of the page's own session says of that page."""
    handlers = core.sio.handlers["/"]
    handlers["connect"] = _connecting(handlers["connect"])
    handlers["handshake"] = _shaking(handlers["handshake"])
    for name in _OF_A_PAGE:
        handlers[name] = _speaking(handlers[name])


def may_speak(client_id: object, scope: Any) -> bool:
    """Whether a request is of the session that a page was opened in; of a page that is gone, anyone may ask.

    Args:
        client_id: NiceGUI's number of the page.
        scope: Of the request, as ASGI has it.
    """
    client = Client.instances.get(client_id) if isinstance(client_id, str) else None
    if client is None:
        return True
    of_page, own = (each.get("state", {}).get("session") for each in (client.request.scope, scope))
    if of_page is not None and own is not None and of_page.id == own.id:
        return True
    _LOG.warning("refused: a socket of another session than its page")
    return False


def _connecting(handler: Callable[..., Any]) -> Callable[..., Any]:
    async def connect(sid: str, data: dict[str, Any], auth: Any = None) -> None:
        asked = parse_qs(data.get("QUERY_STRING", "")).get("client_id", [""])[0]
        if not may_speak(asked, data["asgi.scope"]):
            raise ConnectionRefusedError(_AGAIN if cookie_of(data["asgi.scope"]) else _NO_COOKIE)
        await handler(sid, data, auth)

    return connect


def _shaking(handler: Callable[..., Any]) -> Callable[..., Any]:
    async def handshake(sid: str, data: Any) -> bool:
        named = isinstance(data, dict) and isinstance(data.get("client_id"), str)
        if not named or not may_speak(data["client_id"], core.sio.get_environ(sid)["asgi.scope"]):
            return False
        return bool(await handler(sid, data))

    return handshake


def _speaking(handler: Callable[..., Any]) -> Callable[..., Any]:
    def heard(sid: str, message: Any) -> None:
        if isinstance(message, dict) and message.get("client_id") in core.sio.rooms(sid):
            handler(sid, message)

    return heard
