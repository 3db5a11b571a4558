"""`POST /v1/collections/{id}/batches`: the one route that devices use, and the one that must be fast."""

from __future__ import annotations

import json

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from hush.collect import checking
from hush.collect.directory import Directory
from hush.collect.envelope import Envelope
from hush.collect.refusals import Refused
from hush.collect.server.grouping import Groups
from hush.collect.store.collections import StoredCollection
from hush.collect.store.intake import Fate
from hush.errors import Unsaid, message


class Submissions:
    """Takes batches.

    Args:
        directory: What collections there are.
        groups: What writes them.
        most_bytes: The longest body.
    """

    def __init__(self, directory: Directory, groups: Groups, *, most_bytes: int) -> None:
        self._directory, self._groups, self._most_bytes = directory, groups, most_bytes

    async def take(self, request: Request) -> Response:
        """Answer a request."""
        data = await self._body(request)
        collection = self._directory.named(request.path_params["id"])
        key, envelope = checking.read(data)
        checking.admitted(self._directory, collection, key)
        partial = "partial" in request.query_params
        arrival, wrong = checking.checked(collection, envelope, partial=partial)
        checking.timely(self._directory, collection, envelope.period)
        fate = await self._groups.keep(arrival)
        return self._answer(collection, envelope, fate, wrong)

    def _answer(self, collection: StoredCollection, envelope: Envelope, fate: Fate, wrong: list[int]) -> Response:
        if fate is Fate.CONFLICT:
            rule, got = "must be new, or that of the very same batch", Unsaid("that of another one")
            raise Refused("conflict", message("batch", rule, got, "draw a new id for a new batch"))
        if fate in (Fate.CLOSED, Fate.PAST):
            checking.timely(self._directory, collection, envelope.period)
            rule, remedy = "must be open, and the period not over", "report no more to it"
            raise Refused("status", message("collection", rule, Unsaid("closed"), remedy))
        told = {"batch": envelope.batch, "period": envelope.period, "accepted": envelope.number - len(wrong)}
        if wrong:
            told["refused"] = [{"index": index, "reason": "record"} for index in wrong]
        return Response(json.dumps(told), media_type="application/json")

    async def _body(self, request: Request) -> bytes:
        parts, size = [], 0
        try:
            async for part in request.stream():
                size += len(part)
                if size > self._most_bytes:
                    rule, got = f"must be at most {self._most_bytes} bytes", Unsaid("a longer one")
                    raise Refused("too-large", message("body", rule, got, "send fewer records at a time"))
                parts.append(part)
        except ClientDisconnect:
            got = Unsaid(f"{size} bytes, and then nothing")
            raise Refused("interrupted", message("body", "must arrive whole", got, "send it again")) from None
        return parts[0] if len(parts) == 1 else b"".join(parts)
