"""What is no page: the printed link, signing in and out, files, the sheet of styles, and what is not there."""

from __future__ import annotations

import html
from urllib.parse import parse_qs

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from hush.errors import HushError, ParameterError
from hush.workbench import theme
from hush.workbench.collector import CollectorLink
from hush.workbench.controls import files
from hush.workbench.frame import PAGES
from hush.workbench.guard.gate import cookie
from hush.workbench.guard.sessions import Session
from hush.workbench.visits import Bench

_FOREVER = "public, max-age=31536000, immutable"
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0a66b0"/>'
    '<path d="M9 8v16M9 16h8M17 11v13M22 20v4M26 22v2" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>'
)
PROBLEMS = {
    "token": "This token is not one that reads or administers collections there. Copy it whole, and try once more.",
    "away": "The collector does not answer at the moment. Try once more in a while.",
    "link": "This link is not of this start of the workbench. It prints a new one whenever it starts.",
    "plain": "The collector is on another machine and has no TLS, so that no token is sent there. Whoever runs this "
    "workbench can name its https address, or allow it with --plaintext.",
    "none": "This workbench was started without a collector: `hush workbench --collector URL` has one.",
}
"""What the page for signing in may say went wrong."""


def add(api: FastAPI, bench: Bench) -> None:
    """Add the routes."""

    @api.get(theme.address())
    async def sheet() -> Response:
        return Response(theme.stylesheet(), media_type="text/css", headers={"Cache-Control": _FOREVER})

    @api.get("/favicon.ico")
    async def icon() -> Response:
        return Response(_ICON, media_type="image/svg+xml", headers={"Cache-Control": "public, max-age=86400"})

    @api.get("/healthz")
    async def health() -> Response:
        return JSONResponse({"status": "ok"})

    @api.get("/enter")
    async def enter(request: Request, key: str = "") -> Response:
        if not bench.sessions.holds(key):
            return _to("/sign-in?problem=link")
        session: Session = request.scope["state"]["session"]
        session.entered = True
        if bench.token and bench.settings.collector:
            await _signed(bench, session, bench.token)
        return _renewed(bench, request, session, "/")

    @api.post("/sign-in")
    async def sign_in(request: Request) -> Response:
        given = parse_qs((await request.body()).decode("utf-8", "replace"))
        then = given.get("then", ["/"])[0]
        then = then if then in PAGES else "/"
        if not bench.settings.collector:
            return _to("/sign-in?problem=none")
        session: Session = request.scope["state"]["session"]
        problem = await _signed(bench, session, given.get("token", [""])[0].strip())
        return _renewed(bench, request, session, then) if problem is None else _to(f"/sign-in?problem={problem}")

    @api.post("/sign-out")
    async def sign_out(request: Request) -> Response:
        session: Session = request.scope["state"]["session"]
        session.forget()
        return _renewed(bench, request, session, "/")

    api.add_route(f"{files.PATH}{{slot}}", files.take, methods=["POST"])


async def _signed(bench: Bench, session: Session, token: str) -> str | None:
    """Let a session have a token, if the collector knows it; else, which problem there is."""
    from hush.collect.refusals import Refused

    link = CollectorLink(bench.settings.collector, token, plaintext=bench.settings.plaintext)
    try:
        session.role = await link.role()
    except Refused as error:
        return "token" if error.reason.status in (401, 403) else "away"
    except ParameterError as error:  # it is not even sent
        return "token" if error.parameter == "token" else "plain"
    except HushError:
        return "away"
    session.token = token
    return None


def _renewed(bench: Bench, request: Request, session: Session, to: str) -> Response:
    """Go on under a new number: the one before may have been seen."""
    response = _to(to)
    response.headers.append("set-cookie", cookie(bench.sessions.renewed(session), secure=request.url.scheme == "https"))
    return response


def _to(address: str) -> Response:
    return RedirectResponse(address, 303)


def missing(request: Request, error: Exception) -> Response:
    """What is said where nothing is; it costs nothing."""
    return _plain("There is no such page", "See what there is on the start page.", 404)


def failed(request: Request, error: Exception) -> Response:
    """What is said where an answer could not be made."""
    return _plain("Something went wrong here", "The log of the workbench has it. Try once more.", 500)


def _plain(title: str, words: str, status: int) -> Response:
    return HTMLResponse(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="{theme.address()}"><body><main class="nicegui-content stack">'
        f'<h1>{html.escape(title)}</h1><p class="lead">{html.escape(words)}</p>'
        '<p><a href="/">To the start page</a></p></main>',
        status,
    )
