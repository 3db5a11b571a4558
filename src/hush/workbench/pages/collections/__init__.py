"""Collections: all of them, one of them, and a new one. What each page needs is imported when it is opened."""

from __future__ import annotations

from nicegui import app
from starlette.requests import Request
from starlette.responses import Response

from hush.workbench.frame import page
from hush.workbench.visits import Visit


@page("/collections", "Collections", order=50, about="Make a collection, open it, and watch its error bars shrink.")
async def collections(visit: Visit) -> None:
    """Lay out the list."""
    from hush.workbench.pages.collections.listing import lay_out

    await lay_out(visit)


@page("/collection", "Collection")
async def collection(visit: Visit) -> None:
    """Lay out one of them."""
    from hush.workbench.pages.collections.one import lay_out

    await lay_out(visit)


@page("/collections/new", "New collection")
async def new(visit: Visit) -> None:
    """Lay out the form for a new one, or for one that follows another."""
    from hush.workbench.pages.collections.making import lay_out

    await lay_out(visit)


async def handed_over(request: Request) -> Response:
    """Pass a file of the collector on."""
    from hush.workbench.pages.collections.taking import pass_on

    return await pass_on(request)


app.add_route("/collection/file/{slot}", handed_over, methods=["GET"])
