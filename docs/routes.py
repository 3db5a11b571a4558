"""The tables of the collector's interface, made from the server: python docs/routes.py rewrites collector-api.md.

Each table stands between two marks; a test compares what is there with what this gives.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hush.collect.refusals import REASONS
from hush.collect.server.access import Need
from hush.collect.server.running import Server
from hush.collect.settings import ServerSettings

PAGE = Path(__file__).parent / "collector-api.md"
MARKED = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end -->)", re.S)
_SHOWN = {
    Need.NOTHING.value: "anyone",
    Need.KEY.value: "an ingest or relay key, in the body",
    Need.READER.value: "a reader, or anyone where it is public",
    Need.ADMIN.value: "an admin",
    Need.OPERATOR.value: "an admin of all collections",
    Need.SUBMITTER.value: "an ingest or relay key, as a bearer token",
}
_LISTED = "/v1/collections"


def document() -> dict[str, Any]:
    """The OpenAPI document of a server."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(ServerSettings(store=f"{folder}/store.db", port=0))
        try:
            return server.gate.api.openapi()
        finally:
            server.close()


def routes() -> str:
    """Every route, who may use it and what it does."""
    lines = ["| route | who | what |", "|---|---|---|"]
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            who = "an admin or reader" if path == _LISTED and method == "get" else _SHOWN[operation["x-needs"]]
            queries = [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]
            query = f"`?{'=&'.join(queries)}=`".replace("partial=", "partial") if queries else ""
            lines.append(
                f"| `{method.upper()} {path}` {query} | {who} | {operation['description']} |".replace("  ", " ")
            )
    return "\n".join(lines) + "\n"


def reasons() -> str:
    """Every reason, by status."""
    lines = ["| status | `reason` | what it means | the same again |", "|---:|---|---|---|"]
    for reason in sorted(REASONS.values(), key=lambda each: each.status):
        again = "no" if reason.retry is None else f"after {reason.retry} s, or what `Retry-After` says"
        lines.append(f"| {reason.status} | `{reason.code}` | {reason.title} | {again} |")
    return "\n".join(lines) + "\n"


TABLES: dict[str, Callable[[], str]] = {"routes": routes, "reasons": reasons}


def rendered(page: str) -> str:
    """The page with every marked part made anew."""
    return MARKED.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], page)


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
