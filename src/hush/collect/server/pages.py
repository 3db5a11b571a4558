"""The client for web pages, at an address that never changes what it holds, and the page that shows it at work.

The scripts are built from clients/javascript and lie in hush/collect/pages, so that whoever installs the server has
them; what the server does not ship, it does not serve.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from fastapi import FastAPI, Path, Request
from starlette.responses import JSONResponse, Response

import hush
from hush.collect.refusals import Refused
from hush.collect.server.access import Need
from hush.collect.server.models import ShownScripts
from hush.collect.server.routing import needing
from hush.errors import Unsaid, message

SCRIPT = "text/javascript"
_TYPES = {".js": f"{SCRIPT}; charset=utf-8", ".css": "text/css; charset=utf-8", ".json": "application/json"}
_HTML = "text/html; charset=utf-8"
_FOREVER = "public, max-age=31536000, immutable"
_DEMO = "index.html"
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)
"""What the page of the demo may do: run its own scripts, and speak to this server."""
_VERSION = "{{version}}"
_TAGS: dict[str, Any] = {"tags": ["pages"]}
Version = Annotated[str, Path(description="The server's own.", examples=[hush.__version__])]
File = Annotated[str, Path(description="A file's name.", examples=["hush.js"])]


@dataclass(frozen=True)
class Served:
    """A file as it is sent."""

    content: bytes
    kind: str

    @property
    def integrity(self) -> str:
        """What a page's `integrity` says of it."""
        return "sha384-" + base64.b64encode(hashlib.sha384(self.content).digest()).decode()


@cache
def scripts() -> dict[str, Served]:
    """The modules for web pages, by name."""
    return {name: each for name, each in _shipped("pages").items() if name.endswith(".js")}


@cache
def demo() -> dict[str, Served]:
    """The demo's page and what belongs to it, by name; they name the version of the scripts that they use."""
    return {
        name: Served(each.content.replace(_VERSION.encode(), hush.__version__.encode()), each.kind)
        for name, each in _shipped("pages", "demo").items()
    }


def _shipped(*folder: str) -> dict[str, Served]:
    found = files("hush.collect").joinpath(*folder).iterdir()
    named = ((each, "." + each.name.rpartition(".")[2]) for each in found if each.is_file())
    return {each.name: Served(each.read_bytes(), _TYPES.get(end, _HTML)) for each, end in named}


def add(api: FastAPI) -> None:
    """Add the routes."""
    script = {
        "description": "The module. It is the same for ever.",
        "content": {SCRIPT: {"schema": {"type": "string"}}},
        "headers": {"ETag": {"schema": {"type": "string"}, "description": "Its hash."}},
    }
    page = {"description": "The page.", "content": {"text/html": {"schema": {"type": "string"}}}}
    part = {
        "description": "What the page needs.",
        "content": {kind.partition(";")[0]: {"schema": {"type": "string"}} for kind in (*_TYPES.values(), _HTML)},
    }

    @api.get("/client", **_TAGS, **needing(Need.NOTHING, ShownScripts))
    async def client() -> Response:
        """Which scripts for web pages there are, with their hashes, for `integrity`."""
        shown = [
            {"path": f"/client/{hush.__version__}/{name}", "integrity": each.integrity, "bytes": len(each.content)}
            for name, each in scripts().items()
        ]
        return JSONResponse({"version": hush.__version__, "scripts": shown})

    @api.get(
        "/client/{version}/{file}",
        response_class=Response,
        **_TAGS,
        **needing(Need.NOTHING, script, "unknown"),
    )
    async def module(version: Version, file: File) -> Response:
        """The client for web pages, as a module that pages of any origin may load. A version never changes."""
        found = scripts().get(file) if version == hush.__version__ else None
        if found is None:
            rule, got = f"must be one of this server, {hush.__version__}, and its file", Unsaid("another one")
            raise Refused("unknown", message("version", rule, got, "see /client"))
        headers = {
            "Cache-Control": _FOREVER,
            "Cross-Origin-Resource-Policy": "cross-origin",
            "ETag": f'"{found.integrity}"',
        }
        return Response(found.content, headers=headers, media_type=found.kind)

    @api.get("/demo", response_class=Response, **_TAGS, **needing(Need.NOTHING, page))
    async def shown() -> Response:
        """A page that shows the client at work."""
        return _page(_DEMO)

    @api.get("/demo/{file}", response_class=Response, **_TAGS, **needing(Need.NOTHING, part, "unknown"))
    async def belonging(file: File, request: Request) -> Response:
        """What the page of the demo needs."""
        return _page(file)


def _page(name: str) -> Response:
    found = demo().get(name)
    if found is None:
        rule, got = "must be one that the demo has", Unsaid("another one")
        raise Refused("unknown", message("file", rule, got, "see /demo"))
    return Response(found.content, headers={"Content-Security-Policy": _POLICY}, media_type=found.kind)
