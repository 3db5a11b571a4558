"""Routes of readers: estimates, aggregates, and for admins the reports themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response, StreamingResponse

from hush.collect.envelope import MOST_PERIODS
from hush.collect.server.access import Access, Need
from hush.collect.server.administering import PATH
from hush.collect.server.answering import Answers
from hush.collect.server.models import ShownEstimate, ShownPeriod
from hush.collect.server.routing import Id, held, needing
from hush.collect.service import Service
from hush.collect.store.collections import StoredCollection
from hush.estimation import Aggregate

PARQUET, BYTES = "application/vnd.apache.parquet", "application/octet-stream"
_PIECE = 1 << 18
_TAGS: dict[str, Any] = {"tags": ["estimates"]}
Period = Annotated[int | None, Query(ge=0, lt=MOST_PERIODS, description="Only reports of this one.")]
Level = Annotated[float, Query(gt=0, lt=1, allow_inf_nan=False, description="How sure the margins are.")]


def add(api: FastAPI, service: Service, access: Access) -> None:
    """Add the routes."""
    answers = Answers()

    async def sized(id: str, period: int | None, whole: bool) -> int:
        """What changes whenever the aggregates of a collection do; refused where few have reported, as yet."""
        state = await run_in_threadpool(service.state, id)
        if not whole:
            n = sum(number for at, _, number in state.sizes if period in (None, at))
            access.released(service.directory.named(id), n)
        return hash(state)

    @api.get(f"{PATH}/{{id}}/estimate", **_TAGS, **needing(Need.READER, ShownEstimate, "unknown", "parameter"))
    async def estimate(request: Request, id: Id, period: Period = None, level: Level = 0.95) -> Response:
        """What is estimated so far, of all periods or of one; over time, of each period."""
        collection = service.directory.named(id)
        whole = access.reads(held(request), collection)

        def made() -> bytes:
            told = service.estimate(id, period=period, level=level)
            return bytes(JSONResponse(told if whole else released(access, collection, told)).body)

        seen = await sized(id, period, whole)
        shown = await answers.given(("estimate", id, period, level, whole), seen, made, known=whole)
        return Response(shown, media_type="application/json")

    @api.get(
        f"{PATH}/{{id}}/aggregate",
        response_class=Response,
        **_TAGS,
        **needing(Need.READER, _file("The aggregate, as `hush estimate` reads it.", BYTES), "unknown", "parameter"),
    )
    async def aggregate(request: Request, id: Id, period: Period = None) -> Response:
        """The sums that estimates are made of."""
        collection = service.directory.named(id)
        whole = access.reads(held(request), collection)

        def made() -> bytes:
            found = service.aggregate(id, period=period)
            if not whole:
                access.released(collection, Aggregate.from_bytes(found).n)
            return found

        seen = await sized(id, period, whole)
        shown = await answers.given(("aggregate", id, period, whole), seen, made, known=whole)
        return Response(shown, headers=_named(f"{collection.id}.hush"), media_type=BYTES)

    @api.get(
        f"{PATH}/{{id}}/export",
        response_class=Response,
        **_TAGS,
        **needing(
            Need.ADMIN, _file("All reports that are kept, in no order.", PARQUET), "unknown", "status", "parameter"
        ),
    )
    async def export(id: Id, period: Period = None) -> Response:
        """All reports that are kept, or those of one period, as a Parquet file that `hush estimate` reads."""
        return await answers.made(lambda: _exported(service, id, period), known=True)

    @api.get(f"{PATH}/{{id}}/periods", **_TAGS, **needing(Need.ADMIN, list[ShownPeriod], "unknown"))
    def periods(id: Id) -> Response:
        """The periods that there are reports of: how many count, and whether more may come."""
        return JSONResponse(service.periods(id))


def released(access: Access, collection: StoredCollection, told: dict[str, Any]) -> dict[str, Any]:
    """What anyone may see of an estimate: nothing of too few people, be it in one period."""
    access.released(collection, told["n"])
    if "groups" not in told:
        return told
    return {**told, "groups": [each for each in told["groups"] if each["n"] >= collection.release_floor]}


def _exported(service: Service, id: str, period: int | None) -> Response:
    folder = tempfile.TemporaryDirectory(prefix="hush-export-")
    try:
        path = Path(service.export(id, folder.name, period=period)["path"])
        size = path.stat().st_size
    except BaseException:
        folder.cleanup()
        raise
    headers = {**_named(path.name), "Content-Length": str(size)}
    return StreamingResponse(_pieces(path, folder), headers=headers, media_type=PARQUET)


def _pieces(path: Path, folder: tempfile.TemporaryDirectory[str]) -> Iterator[bytes]:
    with folder, path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def _named(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _file(description: str, kind: str) -> dict[str, Any]:
    return {"description": description, "content": {kind: {"schema": {"type": "string", "format": "binary"}}}}
