"""Files to take away: the estimate is made here, reports and sums are passed on from the collector as they come."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from nicegui import ui
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse

from hush.workbench import controls, prose
from hush.workbench.collections import downloads
from hush.workbench.guard.sessions import Session
from hush.workbench.visits import Visit


@dataclass(frozen=True)
class _FileSlot:
    """A file that one page of one session may have."""

    session: Session
    url: str
    id: str
    what: str
    name: str


_SLOTS: dict[str, _FileSlot] = {}


def lay_out(visit: Visit, view: dict[str, Any], told: Callable[[], dict[str, Any] | None]) -> None:
    """Lay out what can be taken.

    Args:
        visit: Whose page it is.
        view: The collection.
        told: The latest estimate.
    """
    prose.heading("Take it away")
    with ui.element("div").classes("side"):
        controls.download(
            "Estimate (CSV)", downloads.filename(view, "csv"), lambda: downloads.as_csv(told() or {}), "text/csv"
        )
        controls.download(
            "Estimate (JSON)",
            downloads.filename(view, "json"),
            lambda: downloads.as_json(told() or {}),
            "application/json",
        )
        if visit.session.reads:
            _link(visit, view, "Sums (.hush)", "aggregate", "hush")
        if visit.session.creates and view.get("keep") == "reports":
            _link(visit, view, "Reports (Parquet)", "export", "parquet")
    if not visit.session.creates:
        words = "The reports themselves, as Parquet, are for administrators."
    elif view.get("keep") == "reports":
        words = "The reports are randomized, stand in an order that tells nothing, and can be read by hush estimate."
    else:
        words = "This collection keeps sums alone: there are no reports to take."
    prose.paragraph(words, "muted small")


def _link(visit: Visit, view: dict[str, Any], words: str, what: str, ending: str) -> None:
    slot = secrets.token_urlsafe(18)
    url = visit.settings.collector
    _SLOTS[slot] = _FileSlot(visit.session, url, str(view["id"]), what, downloads.filename(view, ending))
    ui.context.client.on_delete(lambda: _SLOTS.pop(slot, None))
    controls.link(words, f"/collection/file/{slot}", icon="download")


async def pass_on(request: Request) -> Response:
    """Answer with a file of the collector; where it has none, go back to the page, which says why."""
    from hush.collect.refusals import Refused
    from hush.errors import HushError
    from hush.workbench.collections.exporting import export

    slot = _SLOTS.get(request.path_params["slot"])
    session: Session | None = request.scope["state"].get("session")
    if slot is None or session is None or slot.session.id != session.id:
        return PlainTextResponse("This file belongs to a page that is no longer open. Open it again.\n", 403)
    try:
        stream = await export(slot.url, session.token, slot.id, what=slot.what)
    except HushError as error:
        code = error.reason.code if isinstance(error, Refused) else "gone"
        return RedirectResponse(f"/collection?id={quote(slot.id)}&problem={quote(code)}", 303)
    size = {} if stream.size is None else {"Content-Length": stream.size}
    named = {"Content-Disposition": f'attachment; filename="{slot.name}"', "Cache-Control": "no-store"}
    return StreamingResponse(aiter(stream), headers={**named, **size}, media_type=stream.kind)
