"""What stands before everything else: no request and no socket passes that does not come from the workbench's own page.

NiceGUI's sockets take any origin, and Starlette looks at no host. So both are looked at here, on HTTP and on the
handshake of a socket; what carries a session is known by it; and every answer says what a browser may do with it.
"""

from __future__ import annotations

import logging
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hush.workbench.guard.hosts import Hosts
from hush.workbench.guard.sessions import COOKIE, Session, Sessions

_LOG = logging.getLogger("hush.workbench")
_SAFE = ("GET", "HEAD")
_METHODS = (*_SAFE, "POST")
_SOCKETS = "/_nicegui_ws/"
_ASSETS = ("/_nicegui/", "/favicon.ico")
_UPLOADS = "/upload/"
_SHORT = 1 << 20
"""Bytes of the longest request that is no file."""
_DROPPED = (b"x-forwarded-prefix", b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-for", b"forwarded")
"""What NiceGUI or Starlette would believe of a proxy, and anyone could say."""
_REFUSED_SOCKET = 4403
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
"""What a page may do: nothing comes from elsewhere and nothing goes there. NiceGUI's pages have scripts in them and
evaluate what the server sends, so that neither can be forbidden."""
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with "no-referrer" forms would say that they have no origin
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class WorkbenchGate:
    """The workbench, guarded.

    Args:
        app: What answers.
        hosts: Under which names it is reached.
        sessions: Who is there.
        most_upload: Bytes of the longest file; other requests are short.
    """

    def __init__(self, app: ASGIApp, hosts: Hosts, sessions: Sessions, *, most_upload: int) -> None:
        self.app, self._hosts, self._sessions, self._most_upload = app, hosts, sessions, most_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        why = self._refusal(scope)
        if why is not None:
            _LOG.warning("refused: %s", why)
            await self._refuse(scope, receive, send, why)
            return
        scope["headers"] = [each for each in scope["headers"] if each[0].lower() not in _DROPPED]
        session = self._sessions.of(cookie_of(scope))
        if scope["type"] == "websocket":
            scope.setdefault("state", {}).update(session=session)
            await self.app(scope, receive, send)
            return
        fresh = session is None and not scope["path"].startswith((*_ASSETS, _SOCKETS))
        session = self._sessions.new() if fresh else session
        scope.setdefault("state", {}).update(session=session, most_upload=self._most_upload)
        await self.app(scope, self._bounded(scope, receive), self._marked(scope, send, session if fresh else None))

    def _refusal(self, scope: Scope) -> str | None:
        """Why a request is refused; None where it is not."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host"), headers.get("origin")
        if len(headers.getlist("host")) != 1 or not self._hosts.known(host):
            return "the host that the request names is not this workbench"
        scheme = scope.get("scheme", "http").replace("ws", "http")
        if origin is not None and not self._hosts.same(origin, host, scheme):
            return "the page that asks is of another origin"
        if scope["type"] == "websocket":
            return None if origin is not None else "a socket must name its origin"
        if scope["method"] not in _METHODS:
            return "the method is not one of GET, HEAD and POST"
        if scope["method"] not in _SAFE and origin is None:
            return "a request that changes something must name its origin"
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate":
            return "the page that asks is of another site"
        length = headers.get("content-length")
        if length is not None and (not length.isdigit() or int(length) > self._most(scope)):
            return f"a request has at most {self._most(scope)} bytes"
        return None

    def _most(self, scope: Scope) -> int:
        return self._most_upload if scope["path"].startswith(_UPLOADS) else _SHORT

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, why: str) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": _REFUSED_SOCKET, "reason": why})
            return
        status = 413 if "bytes" in why else 405 if "method" in why else 403
        response: Response = PlainTextResponse(f"Refused: {why}.\n", status, headers=_HEADERS)
        await response(scope, receive, send)

    def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        """A body that says nothing of its length ends where it becomes too long."""
        came = 0

        async def bounded() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > self._most(scope):
                return {"type": "http.disconnect"}
            return message

        return bounded

    def _marked(self, scope: Scope, send: Send, fresh: Session | None) -> Send:
        """Answers with what a browser is to know, and a cookie where there was none."""

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                said = any(each.startswith(f"{COOKIE}=") for each in headers.getlist("set-cookie"))
                if fresh is not None and not said:
                    headers.append("set-cookie", cookie(fresh, secure=scope.get("scheme") == "https"))
            await send(message)

        return marked


def cookie(session: Session, *, secure: bool) -> str:
    """The cookie of a session: no script reads it, and no other site's page sends it."""
    return f"{COOKIE}={session.id}; Path=/; HttpOnly; SameSite=Strict" + ("; Secure" if secure else "")


def cookie_of(scope: Scope) -> str | None:
    """What the cookie of a request says."""
    try:
        found = SimpleCookie(Headers(scope=scope).get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value
